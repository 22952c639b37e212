"""Groups of columns in the search for columns to reconstruct from, against trying every set of groups."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ufselect import ReconstructionSelector
from ufselect._columns import Units
from ufselect.gram import gram_operator
from ufselect.reconstruct.placement import Placement
from ufselect.reconstruct.search import Problem, Search

CODES = np.array([0, 1, 1, 2, 3, 3, 3, 4, 0, 5])


def table(seed: int, n_samples: int = 40) -> np.ndarray:
    rng = np.random.default_rng(seed)
    mixed = rng.standard_normal((n_samples, 4)) @ rng.standard_normal((4, CODES.size))
    return mixed + 0.5 * rng.standard_normal((n_samples, CODES.size))


def error_of(X: np.ndarray, weight: float, units: tuple[int, ...]) -> float:
    """Minimise the regularised error by least squares on rows augmented with the roots of the penalties."""
    A = X - X.mean(axis=0)
    columns = np.flatnonzero(np.isin(CODES, units))
    roots = np.sqrt(weight * np.square(A[:, columns]).sum(axis=0))
    rows = np.vstack([A[:, columns], np.diag(roots)])
    request = np.vstack([A, np.zeros((columns.size, A.shape[1]))])
    return float(np.sum((request - rows @ np.linalg.lstsq(rows, request, rcond=None)[0]) ** 2))


def searched(X: np.ndarray, weight: float, size: int) -> Search:
    placement = Placement(np.ones(CODES.size, dtype=bool), size)
    return Search(Problem(gram_operator(X), placement, Units(CODES)), weight)


@given(
    seed=st.integers(0, 20),
    n_samples=st.sampled_from([8, 40]),
    weight=st.sampled_from([0.05, 2.0]),
    chosen=st.lists(st.integers(0, 5), max_size=3, unique=True),
)
def test_gains_of_groups_follow_every_step_and_exchange(seed, n_samples, weight, chosen):
    X = table(seed, n_samples)
    search = searched(X, weight, 4)
    scale = search.problem.gram.scale**2
    for unit in chosen:
        search.add(unit)
    for _ in range(2):
        before = error_of(X, weight, tuple(search.chosen))
        assert search.error() * scale == pytest.approx(before)
        others = [unit for unit in range(6) if unit not in search.chosen]
        falls = [before - error_of(X, weight, (*search.chosen, unit)) for unit in others]
        gains = search.gains_outside()[others] * scale
        assert gains == pytest.approx(falls, rel=1e-5, abs=1e-6 * search.problem.total * scale)
        search = search.sweep()
        search = search.grow()


@pytest.mark.parametrize("seed", range(3))
def test_greedy_takes_the_best_group_and_no_exchange_is_left_that_pays(seed):
    X = table(seed)
    search = searched(X, 0.05, 2)
    search = search.grow()
    first = min(range(6), key=lambda unit: error_of(X, 0.05, (unit,)))
    assert search.chosen[0] == first
    while (swept := search.sweep()).n_exchanged > search.n_exchanged:
        search = swept
    assert len(set(search.chosen)) == 2
    error = error_of(X, 0.05, tuple(search.chosen))
    assert search.error() * search.problem.gram.scale**2 == pytest.approx(error)
    for stays in search.chosen:
        assert min(error_of(X, 0.05, (stays, unit)) for unit in range(6) if unit != stays) > 0.999 * error


@pytest.mark.parametrize("seed", range(3))
def test_the_selector_finds_groups_about_as_good_as_the_best(seed):
    """Of all 15 pairs; exchanges of one group may end in a pair that only a double exchange would better."""
    X = table(seed)
    selector = ReconstructionSelector(2, feature_groups=CODES, penalty=0.05, max_iter=9).fit(X)
    chosen = tuple(np.unique(CODES[selector.support_]))
    assert len(chosen) == 2
    np.testing.assert_array_equal(selector.support_, np.isin(CODES, chosen))
    errors = sorted(error_of(X, 0.05, pair) for pair in combinations(range(6), 2))
    assert error_of(X, 0.05, chosen) <= errors[1] * (1 + 1e-9)
    assert selector.objective_history_[-1] == pytest.approx(
        error_of(X, 0.05, chosen) / np.square(X - X.mean(axis=0)).sum()
    )


def test_a_group_counts_as_a_whole_and_not_by_the_mean_of_its_columns():
    """Two columns that only together explain the rest, beside one that explains some of it."""
    rng = np.random.default_rng(0)
    first, second = rng.standard_normal((2, 200))
    rest = np.outer(first, rng.standard_normal(8)) + np.outer(second, rng.standard_normal(8))
    alone = first + second + 0.3 * rng.standard_normal(200)
    X = np.column_stack([first, second, alone, rest])
    labels = ["pair", "pair", "alone", *[f"rest {j}" for j in range(8)]]
    chosen = ReconstructionSelector(1, feature_groups=labels).fit(X).get_support(indices=True)
    assert chosen.tolist() == [0, 1]


@pytest.mark.filterwarnings("ignore::ufselect.exceptions.RepeatedColumnsWarning")
def test_copies_within_a_group_join_without_effect():
    X = table(3)
    X[:, 2] = X[:, 1]
    selector = ReconstructionSelector(3, feature_groups=CODES, penalty=0, keep=[1]).fit(X)
    assert selector.support_[[1, 2]].all()
    assert np.unique(CODES[selector.support_]).size == 3
    assert np.isfinite(selector.objective_history_).all()


def test_a_copy_that_no_longer_lies_in_the_span_joins_after_an_exchange():
    X = table(5)
    X[:, 5] = X[:, 9]  # group 3 holds a copy of the column that is group 5
    search = searched(X, 0.0, 2)
    search.add(5)
    search.add(3)
    assert 5 not in search.members
    while (swept := search.sweep()).n_exchanged > search.n_exchanged:
        search = swept
    expected = np.flatnonzero(np.isin(CODES, search.chosen))
    assert sorted(search.members) == expected.tolist() or {3, 5} <= set(search.chosen)
    error = error_of(X, 0.0, tuple(search.chosen))
    assert search.error() * search.problem.gram.scale**2 == pytest.approx(error)


def test_the_order_is_that_of_greedy_steps_among_the_chosen():
    X = table(7)
    search = searched(X, 0.0, 3)
    for unit in (4, 3, 1):
        search.add(unit)
    order = search.order().tolist()
    for place in range(3):
        left = {4, 3, 1} - {*order[:place]}
        assert order[place] == min(left, key=lambda unit: error_of(X, 0.0, (*order[:place], unit)))


def test_without_penalty_more_columns_than_rows_give_finite_errors():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((12, 60))
    with np.errstate(all="raise"):
        selector = ReconstructionSelector(20, penalty=0).fit(X)
    assert selector.support_.sum() == 20
    assert 0 <= selector.objective_history_[-1] < 1e-6
