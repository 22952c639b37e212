"""What greedy steps take and leave, against the formulas written out."""

import numpy as np
import pytest

from ufselect import GreedyProjection
from ufselect.gram import gram_operator
from ufselect.sets.units import Units
from ufselect.solvers.rebuild.placement import Placement
from ufselect.solvers.rebuild.problem import Problem, filled
from ufselect.solvers.rebuild.search import ColumnSearch
from ufselect.solvers.rebuild.steps import greedy_steps, steps_of


def steps(X, count):
    gram = gram_operator(X)
    placement = Placement(np.ones(X.shape[1], dtype=bool), count)
    return greedy_steps(gram, placement, Units.single(X.shape[1]), [], gram.squared_column_norms())


def left(X, columns, weight):
    """Return the regularised error as a share of the variance."""
    A = X - X.mean(axis=0)
    part = A[:, columns]
    penalties = np.diag(weight * np.square(part).sum(axis=0))
    weights = np.linalg.lstsq(part.T @ part + penalties, part.T @ A)[0]
    error = np.sum(np.square(A - part @ weights)) + np.sum(penalties @ np.square(weights))
    return error / np.sum(np.square(A))


@pytest.mark.parametrize("weight", [0.0, 0.01, 2.0])
@pytest.mark.parametrize("shape", [(40, 9), (15, 30)])
def test_the_share_left_is_that_of_the_map(shape, weight):
    X = np.random.default_rng(0).standard_normal(shape) * np.linspace(1, 5, shape[1])
    found = steps(X, 6)
    assert found.share_left(weight) == pytest.approx(left(X, found.columns, weight))


def test_more_columns_than_the_rank_leave_nothing():
    X = np.random.default_rng(1).standard_normal((8, 20))
    found = steps(X, 12)
    assert found.order.size == 12
    assert found.share_left() == pytest.approx(0.0, abs=1e-9)
    assert 0 < found.share_left(0.1) < 1


def test_the_steps_are_those_of_greedy_projection():
    X = np.random.default_rng(2).standard_normal((30, 12)) @ np.random.default_rng(3).random((12, 12))
    greedy = GreedyProjection(5, target="features").fit(X)
    choice = steps(X, 5).choice()
    np.testing.assert_array_equal(choice.order, np.argsort(greedy.ranking_)[:5])
    assert choice.penalty == 0
    assert choice.errors == [pytest.approx(left(X, choice.order, 0.0))]
    assert np.all(choice.gains[choice.order] == 0)


def test_a_search_without_a_penalty_takes_the_same_steps():
    X = np.random.default_rng(4).standard_normal((30, 12)) @ np.random.default_rng(5).random((12, 12))
    placement = Placement(np.ones(12, dtype=bool), 5)
    problem = Problem.of(gram_operator(X), placement, 0)
    found, expected = steps_of(filled(ColumnSearch(problem.empty(0.0), placement), [])), problem.greedy([])
    np.testing.assert_array_equal(found.order, expected.order)
    assert found.share_left(0.3) == pytest.approx(expected.share_left(0.3))
    np.testing.assert_allclose(found.gains, np.where(np.isin(np.arange(12), found.order), 0, expected.gains))


def test_no_column_leaves_all():
    X = np.random.default_rng(6).standard_normal((10, 4))
    gram = gram_operator(X)
    found = greedy_steps(
        gram, Placement(np.zeros(4, dtype=bool), 2), Units.single(4), [], gram.squared_column_norms()
    )
    assert found.share_left() == 1.0
    assert found.choice().order.size == 0


@pytest.mark.parametrize("seed", range(3))
def test_more_columns_than_the_rank_are_those_of_greedy_projection_too(seed):
    X = np.random.default_rng(seed).standard_normal((20, 60))
    placement = Placement(np.ones(60, dtype=bool), 40)
    found = Problem.of(gram_operator(X), placement, 2).greedy([])
    greedy = GreedyProjection(40, target="features").fit(X)
    np.testing.assert_array_equal(found.order, np.argsort(greedy.ranking_)[:40])
