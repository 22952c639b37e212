"""Groups of columns in the search for columns to rebuild from, against trying every set of groups."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ufselect import RebuildSelector
from ufselect.gram import gram_operator
from ufselect.sets.units import Units
from ufselect.solvers.rebuild.placement import Placement
from ufselect.solvers.rebuild.search import ColumnSearch
from ufselect.solvers.rebuild.span import RegularisedSpan, greedy_order

CODES = np.array([0, 1, 1, 2, 3, 3, 3, 4, 0, 5])


def table(seed: int, n_samples: int = 40) -> np.ndarray:
    rng = np.random.default_rng(seed)
    mixed = rng.standard_normal((n_samples, 4)) @ rng.standard_normal((4, CODES.size))
    return mixed + 0.5 * rng.standard_normal((n_samples, CODES.size))


def error_of(X: np.ndarray, weight: float, units: tuple[int, ...], targets: list[int] | None = None) -> float:
    """Minimise the regularised error by least squares on rows augmented with the roots of the penalties."""
    A = X - X.mean(axis=0)
    columns = np.flatnonzero(np.isin(CODES, units))
    aims = A if targets is None else A[:, targets]
    roots = np.sqrt(weight * np.square(A[:, columns]).sum(axis=0))
    rows = np.vstack([A[:, columns], np.diag(roots)])
    wanted = np.vstack([aims, np.zeros((columns.size, aims.shape[1]))])
    return float(np.sum((wanted - rows @ np.linalg.lstsq(rows, wanted, rcond=None)[0]) ** 2))


def spanned(X: np.ndarray, weight: float, targets: list[int] | None = None) -> RegularisedSpan:
    gram = gram_operator(X)
    aims = None if targets is None else gram.to_dense()[:, targets]
    norms = gram.squared_column_norms() if aims is None else np.square(aims).sum(axis=1)
    return RegularisedSpan(gram, weight * gram.diag(), norms, CODES.size, aims, units=Units(CODES))


@pytest.mark.parametrize("targets", [None, [2, 5, 9]])
@given(
    seed=st.integers(0, 20),
    weight=st.sampled_from([0.0, 0.1, 2.0]),
    moves=st.lists(st.integers(0, 5), min_size=1, max_size=6),
)
def test_gains_of_units_follow_every_move(targets, seed, weight, moves):
    X = table(seed)
    span = spanned(X, weight, targets)
    chosen: list[int] = []
    for unit in moves:
        columns = np.flatnonzero(unit == CODES).tolist()
        if unit in chosen:
            span.remove(span.departure(columns))
            chosen.remove(unit)
        elif len(chosen) < 4:
            for column in columns:
                span.add(column)
            chosen.append(unit)
    scale = span.gram.scale**2
    before = error_of(X, weight, tuple(chosen), targets)
    others = [unit for unit in range(6) if unit not in chosen]
    falls = [before - error_of(X, weight, (*chosen, unit), targets) for unit in others]
    gains = span.unit_gains(span.remainders, np.array(others)) * scale
    assert gains == pytest.approx(falls, rel=1e-5, abs=1e-6 * span.total * scale)


@pytest.mark.parametrize("seed", range(6))
def test_greedy_takes_the_best_group_and_no_exchange_is_left_that_pays(seed):
    X = table(seed)
    search = ColumnSearch(spanned(X, 0.05), Placement(np.ones(CODES.size, dtype=bool), 2))
    search.grow()
    first = min(range(6), key=lambda unit: error_of(X, 0.05, (unit,)))
    assert search.chosen[0] == first
    while search.sweep():
        pass
    assert len(set(search.chosen)) == 2
    error = error_of(X, 0.05, tuple(search.chosen))
    assert search.span.error() * search.span.gram.scale**2 == pytest.approx(error)
    for stays in search.chosen:
        assert min(error_of(X, 0.05, (stays, unit)) for unit in range(6) if unit != stays) > 0.999 * error


@pytest.mark.parametrize("seed", range(6))
def test_the_selector_finds_groups_about_as_good_as_the_best(seed):
    """Of all 15 pairs; exchanges of one group may end in a pair that only a double exchange would better."""
    X = table(seed)
    selector = RebuildSelector(2, groups=CODES, penalty=0.05, max_iter=9).fit(X)
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
    chosen = RebuildSelector(1, groups=labels).fit(X).get_support(indices=True)
    assert chosen.tolist() == [0, 1]


def test_copies_within_a_group_join_without_effect():
    X = table(3)
    X[:, 2] = X[:, 1]
    selector = RebuildSelector(3, groups=CODES, penalty=0, keep=[1]).fit(X)
    assert selector.support_[[1, 2]].all()
    assert np.unique(CODES[selector.support_]).size == 3
    assert np.isfinite(selector.objective_history_).all()


def test_a_copy_that_no_longer_lies_in_the_span_joins_after_an_exchange():
    X = table(5)
    X[:, 5] = X[:, 9]  # group 3 holds a copy of the column that is group 5
    search = ColumnSearch(spanned(X, 0.0), Placement(np.ones(CODES.size, dtype=bool), 2))
    search.add(5)
    search.add(3)
    assert 5 not in search.span.members
    while search.sweep():
        pass
    expected = np.flatnonzero(np.isin(CODES, search.chosen))
    assert sorted(search.span.members) == expected.tolist() or {3, 5} <= set(search.chosen)
    error = error_of(X, 0.0, tuple(search.chosen))
    assert search.span.error() * search.span.gram.scale**2 == pytest.approx(error)


def test_the_order_is_that_of_greedy_steps_among_the_chosen():
    X = table(7)
    A = X - X.mean(axis=0)
    S = A.T @ A
    parts = [np.flatnonzero(unit == CODES) for unit in (4, 3, 1)]
    places = np.concatenate(parts)
    inside = [np.searchsorted(np.sort(places), part) for part in parts]
    members = np.sort(places)
    order = greedy_order(S[np.ix_(members, members)], (S @ S)[np.ix_(members, members)], inside)
    left = [0, 1, 2]
    expected: list[int] = []
    units = (4, 3, 1)
    while left:
        best = min(left, key=lambda part: error_of(X, 0.0, tuple(units[p] for p in [*expected, part])))
        expected.append(best)
        left.remove(best)
    assert order == expected


def test_without_penalty_more_columns_than_rows_give_finite_errors():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((12, 60))
    with np.errstate(all="raise"):
        selector = RebuildSelector(20, penalty=0).fit(X)
    assert selector.support_.sum() == 20
    assert 0 <= selector.objective_history_[-1] < 1e-6
