"""The span over few rows against solving its least-squares problems anew for every set."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.solvers.rebuild.oracles import brute_force_error, brute_force_left_out, table

from ufselect.solvers.rebuild.leave_one_out import FewRows
from ufselect.solvers.rebuild.row_span import RowSpan

N_ROWS, N_FEATURES = 9, 12


def spanned(seed: int, weight: float, capacity: int = 4) -> tuple[RowSpan, np.ndarray, np.ndarray]:
    A = table(seed, N_ROWS, N_FEATURES)
    A = (A - A.mean(axis=0)) / np.abs(A).max()
    rows, variances = FewRows.of(A), np.square(A).sum(axis=0)
    span = RowSpan(
        rows, weight * variances, variances, rows.squared_column_norms(), capacity, np.dtype(np.float64)
    )
    return span, A, weight * variances


def check(span: RowSpan, A: np.ndarray, penalties: np.ndarray) -> None:
    """Compare errors and gains with what brute force finds."""
    error = brute_force_error(A, penalties, span.members)
    others = np.array([column for column in range(N_FEATURES) if column not in span.members])
    falls = [error - brute_force_error(A, penalties, [*span.members, column]) for column in others]
    left_out = [brute_force_left_out(A, penalties, [*span.members, column]) for column in others]
    np.testing.assert_allclose(span.open_gains()[others], falls, rtol=1e-5, atol=1e-7 * span.total)
    np.testing.assert_allclose(span.errors_with(others), left_out, rtol=1e-5)
    assert not span.is_open()[span.members].any()
    assert span.error_left_out() == pytest.approx(brute_force_left_out(A, penalties, span.members), rel=1e-5)


@given(
    seed=st.integers(0, 50),
    weight=st.sampled_from([0.02, 0.3, 2.0]),
    columns=st.lists(st.integers(0, N_FEATURES - 1), min_size=1, max_size=4, unique=True),
    swaps=st.lists(st.integers(0, 100), max_size=6),
    is_fresh=st.booleans(),
)
def test_errors_and_gains_follow_every_move(seed, weight, columns, swaps, is_fresh):
    span, A, penalties = spanned(seed, weight)
    for column in columns:
        span.add(column)
    check(span, A, penalties)
    for swap in swaps:
        outside = [column for column in range(N_FEATURES) if column not in span.members]
        departures = span.departures(span.members)
        span.exchange(departures, swap % len(columns), outside[swap % len(outside)])
        if is_fresh:
            span.refresh()
        check(span, A, penalties)
    assert span.error() == pytest.approx(brute_force_error(A, penalties, span.members), rel=1e-6)


@pytest.mark.parametrize("count", [1, 3, 4])
def test_departures_and_exchanges_are_those_of_brute_force(count):
    span, A, penalties = spanned(3, 0.2)
    for column in (2, 7, 5, 0):
        span.add(column)
    error = brute_force_error(A, penalties, span.members)
    leaving = span.members[:count]
    departures = span.departures(leaving)
    outside = np.array([1, 3, 4, 6, 8, 9, 10, 11])
    for place, member in enumerate(leaving):
        others = [column for column in span.members if column != member]
        without = brute_force_error(A, penalties, others)
        assert departures.lengths[place] == pytest.approx(without - error)
        falls = [without - brute_force_error(A, penalties, [*others, column]) for column in outside]
        np.testing.assert_allclose(departures.gains[place, outside], falls, rtol=1e-6, atol=1e-9)
        found = span.errors_after(departures, np.full(outside.size, place), outside)
        expected = [brute_force_left_out(A, penalties, [*others, column]) for column in outside]
        np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_more_members_than_rows_are_followed_too():
    span, A, penalties = spanned(4, 0.2, capacity=N_FEATURES)
    for column in range(N_FEATURES - 1):
        assert span.add(column)
        assert span.error_left_out() == pytest.approx(brute_force_left_out(A, penalties, span.members))
    check(span, A, penalties)


def test_without_penalties_a_column_in_the_span_does_not_join():
    span, _, _ = spanned(5, 0.0, capacity=N_FEATURES)
    joined = [span.add(column) for column in range(N_FEATURES)]
    assert sum(joined) == N_ROWS - 1  # the rows are centred
    assert span.error() == pytest.approx(0.0, abs=1e-12 * span.total)
    assert not span.is_open()[: N_ROWS - 1].any()


def test_weights_are_repeated_rows():
    rng = np.random.default_rng(6)
    rows, times = rng.standard_normal((6, 10)), np.array([1.0, 3, 1, 2, 1, 1])
    repeated = np.repeat(rows, times.astype(int), axis=0)
    mean = repeated.mean(axis=0)
    found = []
    for part in (
        FewRows.of(np.sqrt(times)[:, None] * (rows - mean), times),
        FewRows.of(repeated - mean),
    ):
        variances = np.square(part.values).sum(axis=0)
        norms = part.squared_column_norms()
        span = RowSpan(part, 0.3 * variances, variances, norms, 3, np.dtype(np.float64))
        span.add(2)
        span.add(5)
        departures = span.departures([5])
        tried = np.array([0, 1, 9])
        found.append([span.errors_with(tried), span.errors_after(departures, np.zeros(3, int), tried)])
    np.testing.assert_allclose(found[0], found[1])


def test_the_order_is_that_of_greedy_steps_among_the_members():
    span, A, penalties = spanned(7, 0.1)
    for column in (8, 3, 11):
        span.add(column)
    order = span.order([3, 8, 11])
    for place in range(3):
        errors = {
            column: brute_force_error(A, penalties, [*order[:place].tolist(), column])
            for column in {3, 8, 11} - set(order[:place].tolist())
        }
        assert min(errors, key=errors.get) == order[place]
