"""Rows and groups of rows: exchanges against all exchanges, proofs and bounds of groups by brute force."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.dscofs.examples import random_scatter

from ufselect._columns import Units
from ufselect.dscofs.algorithm import variance_bound
from ufselect.dscofs.row_search import BranchAndBound, improve_by_exchanges
from ufselect.gram import FormedGram
from ufselect.gram.spectrum import leading_sum


@pytest.mark.parametrize("seed", range(4))
def test_no_single_exchange_helps_after_the_swaps(seed):
    S = random_scatter(seed)
    support, captured = improve_by_exchanges(FormedGram(S, 16), np.arange(4), 2)
    assert captured == pytest.approx(leading_sum(S[np.ix_(support, support)], 2))
    others = sorted(set(range(12)) - set(support))
    exchanged = [
        leading_sum(S[np.ix_(c, c)], 2)
        for i in range(4)
        for j in others
        for c in [[*np.delete(support, i), j]]
    ]
    assert max(exchanged) <= captured * (1 + 1e-8)


def test_swaps_handle_one_row_and_all_rows():
    S = random_scatter(0)
    support, captured = improve_by_exchanges(FormedGram(S, 16), np.array([0]), 1)
    assert support == [np.diag(S).argmax()]
    assert captured == pytest.approx(np.diag(S).max())
    everything, total = improve_by_exchanges(FormedGram(S, 16), np.arange(12), 3)
    np.testing.assert_array_equal(everything, np.arange(12))
    assert total == pytest.approx(np.linalg.eigvalsh(S)[-3:].sum())


UNITS = Units(np.array([0, 1, 0, 2, 3, 3, 3, 4, 5, 5, 6, 4]))


def rows_of(chosen):
    return np.flatnonzero(np.isin(UNITS.codes, chosen))


def value(S, chosen, m):
    rows = rows_of(chosen)
    return leading_sum(S[np.ix_(rows, rows)], m)


def best_of_all(S, r, m, fixed=()):
    return max(
        value(S, chosen, m) for chosen in combinations(range(UNITS.count), r) if set(fixed) <= set(chosen)
    )


@pytest.mark.parametrize("fixed", [(), (0,), (2, 6)])
@pytest.mark.parametrize("seed", range(4))
def test_no_single_exchange_of_groups_helps_after_the_swaps(seed, fixed):
    S = random_scatter(seed)
    start = [0, 2, 6]
    history = []
    support, captured = improve_by_exchanges(
        FormedGram(S, 16), rows_of(start), 2, UNITS, fixed, report=history.append
    )
    chosen = np.unique(UNITS.codes[support])
    assert np.array_equal(support, rows_of(chosen))
    assert set(fixed) <= set(chosen)
    assert captured == pytest.approx(value(S, chosen, 2)) == history[-1]
    assert captured > value(S, start, 2)
    assert np.all(np.diff(history) >= 0)
    exchanged = [
        value(S, [*(set(chosen) - {leaving}), entering], 2)
        for leaving in set(chosen) - set(fixed)
        for entering in set(range(UNITS.count)) - set(chosen)
    ]
    assert max(exchanged) <= captured * (1 + 1e-8)


def test_one_group_and_all_groups():
    S = random_scatter(0)
    support, captured = improve_by_exchanges(FormedGram(S, 16), rows_of([1]), 1, UNITS)
    assert captured == pytest.approx(best_of_all(S, 1, 1))
    everything, _ = improve_by_exchanges(FormedGram(S, 16), np.arange(12), 3, UNITS)
    np.testing.assert_array_equal(everything, np.arange(12))
    assert support.size < 12


@settings(max_examples=30)
@given(
    seed=st.integers(0, 10**6),
    r=st.integers(1, 6),
    m=st.integers(1, 4),
    fixed=st.sampled_from([(), (4,), (1, 3)]),
)
def test_branch_and_bound_of_groups_equals_brute_force_and_bounds_hold(seed, r, m, fixed):
    S = random_scatter(seed)
    fixed = fixed[:r]
    best = best_of_all(S, r, m, fixed)
    start = [*fixed, *(unit for unit in range(UNITS.count) if unit not in fixed)][:r]
    support, captured, bound = BranchAndBound(S, r, m, UNITS).run(rows_of(start), 100_000, fixed)
    chosen = np.unique(UNITS.codes[support])
    assert bound == captured
    assert captured == pytest.approx(best, rel=1e-8)
    assert np.array_equal(support, rows_of(chosen))
    assert chosen.size == r
    assert set(fixed) <= set(chosen)
    gram = FormedGram(S, 16)
    spectrum = gram.eigenpairs(m)
    by_groups = variance_bound(spectrum, gram.diag(), r, m, UNITS)
    by_rows = variance_bound(spectrum, gram.diag(), UNITS.most_rows(r), m)
    assert best_of_all(S, r, m) <= by_groups * (1 + 1e-9)
    assert by_groups <= by_rows * (1 + 1e-9)


def test_a_search_that_is_cut_short_claims_no_more_than_it_knows():
    S = random_scatter(3)
    _, captured, bound = BranchAndBound(S, 3, 2, UNITS).run(rows_of([0, 1, 2]), 1)
    assert captured < best_of_all(S, 3, 2) * (1 + 1e-9) <= bound * (1 + 1e-9)
    assert captured < bound


def test_many_rows_are_exchanged_as_well_without_whole_decompositions():
    """Beyond 64 rows eigenpairs are followed from one exchange to the next."""
    rng = np.random.default_rng(0)
    data = rng.standard_normal((200, 5)) @ rng.standard_normal((5, 90)) + rng.standard_normal((200, 90))
    S = data.T @ data

    def carried(rows):
        return leading_sum(S[np.ix_(rows, rows)], 3)

    start = np.arange(70)
    support, captured = improve_by_exchanges(FormedGram(S, 200), start, 3)
    assert captured == pytest.approx(carried(support), rel=1e-12)
    assert captured > carried(start)
    outside = np.setdiff1d(np.arange(90), support)[::4]
    swaps = (np.append(np.delete(support, leaving), row) for leaving in range(70) for row in outside)
    assert max(map(carried, swaps)) <= captured * (1 + 1e-4)
