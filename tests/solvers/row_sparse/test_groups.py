"""Groups of rows: exchanges against all exchanges, proofs and bounds against brute force."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.solvers.row_sparse.examples import random_scatter

from ufselect.gram import FormedGram
from ufselect.sets.units import Units
from ufselect.solvers.leading import leading_sum
from ufselect.solvers.row_sparse.branch_and_bound import best_subset
from ufselect.solvers.row_sparse.certificates import bound_from_spectrum, of_units
from ufselect.solvers.row_sparse.group_exchange import improve_by_group_swaps

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
    support, captured = improve_by_group_swaps(
        FormedGram(S, 16), rows_of(start), UNITS, 2, fixed=fixed, report=history.append
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
    support, captured = improve_by_group_swaps(FormedGram(S, 16), rows_of([1]), UNITS, 1)
    assert captured == pytest.approx(best_of_all(S, 1, 1))
    everything, _ = improve_by_group_swaps(FormedGram(S, 16), np.arange(12), UNITS, 3)
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
    found = best_subset(S, r, m, incumbent=rows_of(start), max_nodes=100_000, fixed=fixed, units=UNITS)
    chosen = np.unique(UNITS.codes[found.support])
    assert found.is_proven
    assert found.captured == pytest.approx(best, rel=1e-8)
    assert np.array_equal(found.support, rows_of(chosen))
    assert chosen.size == r
    assert set(fixed) <= set(chosen)
    gram = FormedGram(S, 16)
    spectrum = gram.eigenpairs(m)
    by_groups = bound_from_spectrum(of_units(spectrum, UNITS), UNITS.sums(gram.diag()), r, m)
    by_rows = bound_from_spectrum(spectrum, gram.diag(), UNITS.most_rows(r), m)
    assert best_of_all(S, r, m) <= by_groups * (1 + 1e-9)
    assert by_groups <= by_rows * (1 + 1e-9)


def test_a_search_that_is_cut_short_claims_no_more_than_it_knows():
    S = random_scatter(3)
    cut = best_subset(S, 3, 2, incumbent=rows_of([0, 1, 2]), max_nodes=1, units=UNITS)
    assert not cut.is_proven
    assert cut.captured < best_of_all(S, 3, 2) * (1 + 1e-9) <= cut.bound * (1 + 1e-9)
