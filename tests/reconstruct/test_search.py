"""The search against solving its least-squares problems anew for every set, over many rows and over few."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from tests.reconstruct.oracles import brute_force_error, brute_force_left_out, folds_by_value, table

from ufselect.gram import FactoredGram, RowInfo, gram_operator
from ufselect.reconstruct.placement import Placement
from ufselect.reconstruct.ridge import RIDGES, ridge_units
from ufselect.reconstruct.search import (
    MIN_RELATIVE_GAIN,
    Problem,
    Search,
    centred_rows,
)

TALL, WIDE = (25, 9), (9, 14)


def searched(X, weight, size, start=(), leaves_out=True, compares_prices=True, **rules):
    """Return a search, the centred data in its units and the penalties."""
    allowed = rules.pop("allowed", np.ones(X.shape[1], dtype=bool))
    problem = Problem(gram_operator(X), Placement(allowed, size, **rules), start=start)
    search = Search(problem, weight, leaves_out=leaves_out, compares_prices=compares_prices)
    A = (X - X.mean(axis=0)) / problem.gram.scale
    return search, A, weight * np.square(A).sum(axis=0)


def follows(search, A, penalties):
    """Compare errors and gains with what brute force finds."""
    error, total = brute_force_error(A, penalties, search.members), search.problem.total
    assert search.error() == pytest.approx(error, rel=1e-6, abs=1e-8 * total)
    gains = search.gains_outside()
    others = np.setdiff1d(np.arange(A.shape[1]), search.chosen)
    falls = [error - brute_force_error(A, penalties, [*search.members, j]) for j in others]
    np.testing.assert_allclose(gains[others], falls, rtol=1e-5, atol=1e-6 * total)
    assert not gains[search.chosen].any()


@given(
    seed=st.integers(0, 50),
    shape=st.sampled_from([TALL, WIDE]),
    weight=st.sampled_from([0.02, 0.3, 2.0]),
    columns=st.lists(st.integers(0, 8), min_size=1, max_size=4, unique=True),
    leaves_out=st.booleans(),
)
def test_error_and_gains_follow_every_step_and_exchange(seed, shape, weight, columns, leaves_out):
    search, A, penalties = searched(table(seed, *shape), weight, 4, leaves_out=leaves_out)
    for column in columns:
        search.add(column)
    follows(search, A, penalties)
    search = search.sweep()
    search = search.grow()
    follows(search, A, penalties)
    if search.leaves_out:
        expected = brute_force_left_out(A, penalties, search.members)
        assert search.error_left_out() == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("shape", [TALL, WIDE])
@pytest.mark.parametrize("leaves_out", [True, False])
def test_every_step_takes_the_column_of_least_error(seed, shape, leaves_out):
    search, A, penalties = searched(table(seed, *shape), 0.1, 4, leaves_out=leaves_out)
    error_of = brute_force_left_out if search.leaves_out else brute_force_error
    search = search.grow()
    for place in range(4):
        done = search.chosen[:place]
        errors = [error_of(A, penalties, [*done, j]) for j in range(shape[1]) if j not in done]
        assert error_of(A, penalties, search.chosen[: place + 1]) == pytest.approx(min(errors))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("shape", [TALL, WIDE])
def test_every_swap_lowers_the_errors_until_none_would(seed, shape):
    search, A, penalties = searched(table(seed, *shape), 0.1, 4)
    for column in range(4):
        search.add(column)
    errors = [brute_force_error] + [brute_force_left_out] * search.leaves_out
    before = [error(A, penalties, search.chosen) for error in errors]
    while (swept := search.sweep()).n_exchanged > search.n_exchanged:
        search = swept
        after = [error(A, penalties, search.chosen) for error in errors]
        assert np.all(np.array(after) < before)
        assert sorted(search.chosen) == sorted(search.members)
        before = after
    for place in range(4):
        for column in set(range(shape[1])) - set(search.members):
            swapped = [*search.members[:place], column, *search.members[place + 1 :]]
            tried = np.array([error(A, penalties, swapped) for error in errors])
            assert np.any(tried > (1 - 2 * MIN_RELATIVE_GAIN) * np.array(before))


@pytest.mark.parametrize("shape", [TALL, WIDE])
def test_units_that_stay_come_first_and_stay(shape):
    X = table(3, *shape)
    X[:, 0] = 1e-3 * np.random.default_rng(0).standard_normal(shape[0])  # worth nothing
    search, _, _ = searched(X, 0.05, 3, start=[0], leaves_out=False)
    assert search.chosen == [0]
    search = search.grow()
    search = search.sweep()
    assert 0 in search.chosen
    free, _, _ = searched(X, 0.05, 3, leaves_out=False)
    free.add(0)
    free = free.grow()
    free = free.sweep()
    assert 0 not in free.chosen


def test_more_members_than_rows_are_followed_too():
    search, A, penalties = searched(table(4, *WIDE), 0.2, 14)
    for column in range(13):
        search.add(column)
        expected = brute_force_left_out(A, penalties, search.members)
        assert search.error_left_out() == pytest.approx(expected)
    follows(search, A, penalties)


@pytest.mark.parametrize("shape", [TALL, WIDE])
def test_without_penalties_a_column_in_the_span_does_not_join(shape):
    X = table(5, *shape)
    X[:, 5] = X[:, 0] - 2 * X[:, 1]
    search, _, _ = searched(X, 0.0, 4)
    for column in (0, 1, 5):
        search.add(column)
    assert search.members == [0, 1]
    assert search.chosen == [0, 1, 5]


def test_many_sparse_columns_have_the_gains_of_those_that_stand_for_them():
    X = sparse.csr_array(table(0, 30, 9) * (np.random.default_rng(1).random((30, 9)) < 0.5))
    problem = Problem(gram_operator(X), Placement(np.ones(9, dtype=bool), 2), most_targets=6)
    assert problem.targets.shape[0] == 9
    search = Search(problem, 0.1)
    search.add(3)
    S, T = problem.gram.to_dense(), problem.targets
    inner = S + 0.1 * np.diag(S.diagonal())

    def explained(columns):
        return np.trace(T[columns].T @ np.linalg.solve(inner[np.ix_(columns, columns)], T[columns]))

    falls = [explained([3, j]) - explained([3]) for j in (0, 1, 5)]
    np.testing.assert_allclose(search.gains_outside()[[0, 1, 5]], falls, rtol=1e-8)


def test_weighted_rows_are_repeated_ones():
    rng = np.random.default_rng(6)
    rows, times = rng.standard_normal((6, 20)), np.array([1.0, 3, 1, 2, 1, 1])
    repeated = np.repeat(rows, times.astype(int), axis=0)
    mean = repeated.mean(axis=0)
    weighted = FactoredGram(np.sqrt(times)[:, None] * (rows - mean), 9)
    weighted.row_weights = times
    found = []
    for gram in (weighted, FactoredGram(repeated - mean, 9)):
        problem = Problem(gram, Placement(np.ones(20, dtype=bool), 3))
        assert problem.weights is not None
        search = Search(problem, 0.3)
        search.add(2)
        search.add(5)
        sums = [problem.errors_left_out(np.array([1, 4]))(weight).sum() for weight in (0.1, 1.0)]
        found.append([search.error_left_out(), *sums, problem.penalty(np.array([1, 4]))])
    np.testing.assert_allclose(found[0], found[1])


def with_rows(X, size=3, weights=None):
    gram = gram_operator(X, rows=weights)
    rows = centred_rows(X, gram, weights)
    return Problem(gram, Placement(np.ones(X.shape[1], dtype=bool), size), rows=rows)


@pytest.mark.parametrize("shape", [TALL, WIDE])
@pytest.mark.parametrize("weight", [0.0, 0.3])
def test_errors_of_rows_left_out_are_those_of_refitting_without_each(shape, weight):
    X, columns = table(1, *shape), [2, 7, 5]
    problem = with_rows(X)
    A = (X - X.mean(axis=0)) / problem.gram.scale
    expected = brute_force_left_out(A, weight * np.square(A).sum(axis=0), columns)
    errors = problem.errors_left_out(np.array(columns))(weight)
    assert errors.shape == (shape[0],)
    assert errors.sum() == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("shape", [(31, 9), (12, 40)])
@pytest.mark.parametrize("columns", [np.array([1, 4, 6]), np.arange(0, 40, 2)])
def test_fold_errors_are_those_of_refitting(shape, columns):
    X, columns = table(0, *shape), columns[columns < shape[1]]
    others = np.setdiff1d(np.arange(shape[1]), columns)
    problem = with_rows(X)
    units = ridge_units(np.square(X - X.mean(axis=0)).sum(axis=0)[columns])
    totals = []
    for ridge in RIDGES[::4]:
        total = 0.0
        for fold in folds_by_value(X):
            is_out = np.isin(np.arange(len(X)), fold)
            rows, mean = X[~is_out], X[~is_out].mean(axis=0)
            inner = (rows - mean)[:, columns].T @ (rows - mean)
            weights = np.linalg.solve(inner[:, columns] + np.diag(ridge * units), inner)
            total += np.square(((X - mean) - (X - mean)[:, columns] @ weights)[is_out][:, others]).sum()
        totals.append(total)
    found = problem.fold_errors(columns).sum() * problem.gram.scale**2
    assert found == pytest.approx(min(totals), rel=1e-6)


def test_better_columns_are_favoured_and_equal_ones_are_not():
    rng = np.random.default_rng(2)
    three = rng.standard_normal((60, 3))
    X = np.hstack([three, three @ rng.standard_normal((3, 10)), rng.standard_normal((60, 3))])
    told, noise = np.array([0, 1, 2]), np.array([13, 14, 15])
    problem = with_rows(X)
    assert problem.favours(told, noise)
    assert not problem.favours(noise, told)
    assert not problem.favours(told, told)
    times = rng.integers(1, 4, 60)
    weighted, repeated = with_rows(X, 3, RowInfo(times.astype(float))), with_rows(np.repeat(X, times, axis=0))
    for first, second in ((told, noise), (noise, told)):
        assert weighted.favours(first, second) == repeated.favours(first, second)


def test_with_many_rows_nothing_is_compared_unless_few_of_them_have_the_variance():
    X = np.random.default_rng(4).standard_normal((5000, 5))
    worse, better = np.array([0]), np.array([1])
    X[:, 2] = X[:, 1]
    assert with_rows(X).favours(worse, better)
    X[:20] *= 1000
    assert not with_rows(X).favours(worse, better)


@pytest.mark.parametrize("shape", [(30, 8), (8, 30)])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("has_weights", [False, True])
def test_rows_are_those_behind_s(shape, kind, has_weights):
    rng = np.random.default_rng(5)
    X = kind(rng.standard_normal(shape) + 3)
    weights = RowInfo(rng.integers(1, 4, shape[0]).astype(float), np.arange(shape[0]) % 2)
    weights = weights if has_weights else None
    gram = gram_operator(X, rows=weights)
    values, _ = centred_rows(X, gram, weights)
    np.testing.assert_allclose(values.T @ values, gram.to_dense(), atol=1e-12)


def test_rows_with_missing_values_are_not_taken():
    X = np.random.default_rng(6).standard_normal((30, 8))
    gram = gram_operator(X)
    X[0, 0] = np.nan
    assert centred_rows(X, gram, None) is None


@pytest.mark.parametrize("exponent", [-1000, 1021])
def test_the_unit_of_the_data_does_not_matter(exponent):
    X = np.random.default_rng(0).standard_normal((60, 4)) + 1
    with np.errstate(over="raise"):
        found, _ = centred_rows(X * 2.0**exponent, gram_operator(X * 2.0**exponent), None)
    np.testing.assert_allclose(found, centred_rows(X, gram_operator(X), None)[0], rtol=1e-12)


def test_rows_are_heavy_tailed_where_few_hold_most_of_the_variance():
    rng = np.random.default_rng(0)

    def is_heavy_tailed(rows, weights=None):
        gram = FactoredGram(rows, len(rows) if weights is None else int(weights.sum()))
        gram.row_weights = weights
        return Problem(gram, Placement(np.ones(rows.shape[1], dtype=bool), 2)).is_heavy_tailed

    found = [is_heavy_tailed(np.outer(rng.standard_normal(60), rng.random(90))) for _ in range(100)]
    assert np.mean(found) < 0.05  # one component has the heaviest tails of all normal data
    for height in (1.0, 2.6, 3.4, 8.0):
        rows, times = rng.standard_normal((60, 190)), rng.integers(1, 4, 60)
        rows[:4] *= height
        heavy = is_heavy_tailed(np.repeat(rows, times, axis=0))
        assert is_heavy_tailed(np.sqrt(times)[:, None] * rows, times.astype(float)) == heavy
    assert heavy


@given(seed=st.integers(0, 30), rule=st.sampled_from(["costs", "regions", "spacing"]))
def test_no_rule_is_broken(seed, rule):
    rng, places = np.random.default_rng(seed), np.arange(14)
    rules = {
        "costs": {"prices": rng.uniform(1, 3, 14), "budget": 7.0},
        "regions": {"regions": places % 3, "least": np.array([1, 0, 0]), "most": np.array([2, 1, 1])},
        "spacing": {"positions": places[:, None] * 1.0, "min_distance": 3.0},
    }
    search, _, _ = searched(table(seed, *WIDE), 0.1, 4, allowed=places != 4, **rules[rule])
    search = search.grow()
    for _ in range(2):
        search = search.sweep()
        search = search.grow()
        members = np.array(search.chosen)
        assert members.size <= 4
        assert search.placement.broken_by(members) == ""
        assert search.placement.unmet(members).size == 0
        assert 4 not in members
        assert len(set(search.chosen)) == len(search.chosen)


def test_prices_decide_where_they_are_to():
    rules = {"prices": np.where(np.arange(14) == 3, 1.0, 50.0), "budget": 60.0}
    cheap, _, _ = searched(table(2, *WIDE), 0.1, 1, **rules)
    cheap = cheap.grow()
    assert cheap.chosen == [3]
    best, A, penalties = searched(table(2, *WIDE), 0.1, 1, compares_prices=False, **rules)
    best = best.grow()
    errors = [brute_force_left_out(A, penalties, [column]) for column in range(14)]
    assert best.chosen == [int(np.argmin(errors))]


@pytest.mark.parametrize("shape", [TALL, WIDE])
def test_the_order_is_that_of_greedy_steps_among_the_members(shape):
    search, A, penalties = searched(table(7, *shape), 0.1, 3)
    for column in (8, 3, 6):
        search.add(column)
    order = search.order().tolist()
    for place in range(3):
        errors = {
            j: brute_force_error(A, penalties, [*order[:place], j]) for j in {3, 8, 6} - {*order[:place]}
        }
        assert min(errors, key=errors.get) == order[place]


def test_nothing_is_exchanged_where_nothing_was_selected():
    for shape in (TALL, WIDE):
        assert searched(table(1, *shape), 0.1, 0)[0].sweep().n_exchanged == 0


@pytest.mark.parametrize("weight", [0.0, 0.01, 2.0])
@pytest.mark.parametrize("shape", [(40, 9), (15, 30)])
def test_the_share_left_is_that_of_the_map(shape, weight):
    X = np.random.default_rng(0).standard_normal(shape) * np.linspace(1, 5, shape[1])
    search, A, _ = searched(X, 0.0, 6)
    columns = np.sort(search.problem.grown()[0])
    expected = brute_force_error(A, weight * np.square(A).sum(axis=0), columns.tolist())
    assert search.problem.share_left(columns)(weight) == pytest.approx(expected / np.square(A).sum())
    assert search.problem.share_left(np.empty(0, dtype=int))(weight) == 1.0
