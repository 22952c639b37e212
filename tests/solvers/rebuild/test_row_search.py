"""Steps and exchanges over few rows against trying every one of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.solvers.rebuild.oracles import brute_force_error, brute_force_left_out, table

from ufselect.solvers.rebuild.leave_one_out import FewRows
from ufselect.solvers.rebuild.placement import Costs, Placement, Regions, Spacing
from ufselect.solvers.rebuild.row_search import RowSearch, largest
from ufselect.solvers.rebuild.row_span import RowSpan
from ufselect.solvers.rebuild.search import LEAST_GAIN

N_FEATURES = 14


def searched(seed: int, placement: Placement, **options) -> tuple[RowSearch, np.ndarray, np.ndarray]:
    A = table(seed, 9, N_FEATURES)
    A = (A - A.mean(axis=0)) / np.abs(A).max()
    rows, variances = FewRows.of(A), np.square(A).sum(axis=0)
    penalties, norms = 0.1 * variances, rows.squared_column_norms()
    span = RowSpan(rows, penalties, variances, norms, placement.size, np.dtype(np.float64))
    return RowSearch(span, placement, **options), A, penalties


def plain(size: int) -> Placement:
    return Placement(np.ones(N_FEATURES, dtype=bool), size)


@pytest.mark.parametrize("seed", range(6))
def test_every_step_takes_the_column_of_least_error_on_rows_left_out(seed):
    search, A, penalties = searched(seed, plain(4))
    search.grow()
    for place in range(4):
        errors = [
            brute_force_left_out(A, penalties, [*search.chosen[:place], other])
            for other in range(N_FEATURES)
            if other not in search.chosen[:place]
        ]
        assert brute_force_left_out(A, penalties, search.chosen[: place + 1]) == pytest.approx(min(errors))


def better(A, penalties, members):
    """Return the exchanges that lower both errors enough, by brute force."""
    error, left_out = brute_force_error(A, penalties, members), brute_force_left_out(A, penalties, members)
    found = []
    for place in range(len(members)):
        for column in set(range(N_FEATURES)) - set(members):
            swapped = [*members[:place], column, *members[place + 1 :]]
            is_lower = brute_force_error(A, penalties, swapped) < (1 - 1.01 * LEAST_GAIN) * error
            if is_lower and brute_force_left_out(A, penalties, swapped) < (1 - 1.01 * LEAST_GAIN) * left_out:
                found.append((members[place], column))
    return found


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("entries", [1, 60_000])
def test_every_swap_lowers_both_errors_until_none_would(seed, entries, monkeypatch):
    monkeypatch.setattr("ufselect.solvers.rebuild.row_search.MOST_ENTRIES", entries)
    search, A, penalties = searched(seed, plain(5))
    for column in range(5):
        search.add(column)
    before = brute_force_error(A, penalties, search.chosen), brute_force_left_out(A, penalties, search.chosen)
    while search.sweep():
        after = (
            brute_force_error(A, penalties, search.chosen),
            brute_force_left_out(A, penalties, search.chosen),
        )
        assert after[0] < before[0]
        assert after[1] < before[1]
        before = after
        assert sorted(search.chosen) == sorted(search.span.members)
    assert better(A, penalties, search.chosen) == []


def test_what_is_fixed_stays():
    search, A, penalties = searched(1, plain(3))
    for column in (0, 1, 2):
        search.add(column)
    assert any(gone == 0 for gone, _ in better(A, penalties, [0, 1, 2]))
    search.sweep([0])
    assert 0 in search.chosen


def test_nothing_is_exchanged_where_nothing_was_chosen():
    search, _, _ = searched(1, plain(0))
    assert search.sweep() == 0


@given(seed=st.integers(0, 30), rule=st.sampled_from(["costs", "regions", "spacing"]))
def test_no_rule_is_broken(seed, rule):
    rng = np.random.default_rng(seed)
    rules = {
        "costs": {"costs": Costs(rng.uniform(1, 3, N_FEATURES), 7.0)},
        "regions": {"regions": Regions(np.arange(N_FEATURES) % 3, np.array([1, 0, 0]), np.array([2, 1, 1]))},
        "spacing": {"spacing": Spacing(np.arange(N_FEATURES)[:, None] * 1.0, 3.0)},
    }
    placement = Placement(np.arange(N_FEATURES) != 4, 4, **rules[rule])
    search, _, _ = searched(seed, placement)
    search.grow()
    for _ in range(2):
        search.sweep()
        search.grow()
        members = np.array(search.chosen)
        assert placement.broken_by(members) == ""
        assert placement.unmet(members).size == 0
        assert 4 not in members
        assert len(set(search.chosen)) == len(search.chosen)


def test_prices_decide_where_they_are_to():
    prices = np.where(np.arange(N_FEATURES) == 3, 1.0, 50.0)
    placement = Placement(np.ones(N_FEATURES, dtype=bool), 1, Costs(prices, 60.0))
    cheap, _, _ = searched(2, placement)
    cheap.grow()
    assert cheap.chosen == [3]
    best, A, penalties = searched(2, placement, per_price=False)
    best.grow()
    errors = [brute_force_left_out(A, penalties, [column]) for column in range(N_FEATURES)]
    assert best.chosen == [int(np.argmin(errors))]


def test_gains_outside_are_those_of_brute_force():
    search, A, penalties = searched(3, plain(3))
    search.grow()
    error = brute_force_error(A, penalties, search.chosen)
    for column, gain in enumerate(search.gains_outside()):
        if column in search.chosen:
            assert gain == 0
        else:
            fall = error - brute_force_error(A, penalties, [*search.chosen, column])
            assert gain == pytest.approx(fall, rel=1e-6)


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=20), st.integers(1, 8))
def test_largest_finds_the_largest(values, count):
    array = np.array(values, dtype=float)
    assert sorted(array[largest(array, count)]) == sorted(values)[-count:]


@pytest.mark.parametrize("seed", range(4))
def test_without_rows_left_out_the_steps_are_those_of_the_plain_search(seed):
    search, A, penalties = searched(seed, plain(5), leaves_out=False)
    search.grow()
    for place in range(5):
        errors = [
            brute_force_error(A, penalties, [*search.chosen[:place], other])
            for other in range(N_FEATURES)
            if other not in search.chosen[:place]
        ]
        assert brute_force_error(A, penalties, search.chosen[: place + 1]) == pytest.approx(min(errors))
