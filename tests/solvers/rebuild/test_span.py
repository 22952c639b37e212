"""The regularised span against solving its least-squares problem anew for every set."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ufselect.gram import gram_operator
from ufselect.solvers.rebuild.leave_one_out import LeaveOneOut
from ufselect.solvers.rebuild.placement import Placement
from ufselect.solvers.rebuild.search import ColumnSearch, largest
from ufselect.solvers.rebuild.span import RegularisedSpan


def table(seed: int, n_samples: int, n_features: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n_samples, n_features)) @ rng.standard_normal((n_features, n_features))


def brute_force_error(A: np.ndarray, penalties: np.ndarray, columns: list[int]) -> float:
    """Minimise ‖A − A_C W‖² + Σ π ‖w‖² by least squares on rows augmented with the roots of the penalties."""
    predictors = np.vstack([A[:, columns], np.diag(np.sqrt(penalties[columns]))])
    targets = np.vstack([A, np.zeros((len(columns), A.shape[1]))])
    weights = np.linalg.lstsq(predictors, targets, rcond=None)[0]
    return float(np.sum((targets - predictors @ weights) ** 2))


def spanned(X: np.ndarray, weight: float, capacity: int) -> tuple[RegularisedSpan, np.ndarray, np.ndarray]:
    gram = gram_operator(X)
    penalties = weight * gram.diag()
    span = RegularisedSpan(gram, penalties, gram.squared_column_norms(), capacity)
    return span, (X - X.mean(axis=0)) / gram.scale, penalties


def visit(span: RegularisedSpan, moves: list[int], capacity: int) -> None:
    """Let columns join, and leave when they are named again."""
    for column in moves:
        if column in span.members:
            span.remove(span.departure([column]))
        elif len(span.members) < capacity:
            span.add(column)


@given(
    seed=st.integers(0, 50),
    shape=st.sampled_from([(20, 6), (5, 8)]),
    weight=st.sampled_from([0.0, 0.1, 2.0]),
    moves=st.lists(st.integers(0, 5), min_size=1, max_size=10),
)
def test_error_and_gains_follow_every_move(seed, shape, weight, moves):
    span, A, penalties = spanned(table(seed, *shape), weight, 3)
    visit(span, moves, 3)
    error = brute_force_error(A, penalties, span.members)
    assert span.error() == pytest.approx(error, rel=1e-6, abs=1e-8 * span.total)
    others = [j for j in range(shape[1]) if j not in span.members]
    falls = [error - brute_force_error(A, penalties, [*span.members, j]) for j in others]
    assert span.remainders.gains(np.array(others)) == pytest.approx(falls, rel=1e-5, abs=1e-6 * span.total)


def test_targets_that_stand_for_all_give_the_gains_of_all():
    X = table(0, 30, 7)
    gram = gram_operator(X)
    penalties = 0.1 * gram.diag()
    targets = gram.to_dense()[:, [1, 4]]
    span = RegularisedSpan(gram, penalties, np.square(targets).sum(axis=1), 2, targets)
    span.add(3)
    A = (X - X.mean(axis=0)) / gram.scale

    def error(columns):
        predictors = np.vstack([A[:, columns], np.diag(np.sqrt(penalties[columns]))])
        wanted = np.vstack([A[:, [1, 4]], np.zeros((len(columns), 2))])
        weights = np.linalg.lstsq(predictors, wanted, rcond=None)[0]
        return np.sum((wanted - predictors @ weights) ** 2)

    falls = [error([3]) - error([3, j]) for j in (0, 1, 5)]
    assert span.remainders.gains(np.array([0, 1, 5])) == pytest.approx(falls)


def test_squares_at_hand_change_nothing():
    X = table(2, 30, 7)
    span, _, penalties = spanned(X, 0.1, 3)
    S = span.gram.to_dense()
    other = RegularisedSpan(span.gram, penalties, np.square(S).sum(axis=0), 3, squared=S @ S)
    for column in (4, 0, 6):
        span.add(column)
        other.add(column)
    tolerance = 1e-8 * (S @ S).max()
    np.testing.assert_allclose(other.remainders.explained, span.remainders.explained, atol=tolerance)
    assert other.error() == pytest.approx(span.error())


def brute_force_left_out(A: np.ndarray, penalties: np.ndarray, columns: list[int]) -> float:
    """Refit map and mean without each row in turn."""
    total = 0.0
    for row in range(len(A)):
        rest = np.delete(A, row, axis=0)
        mean = rest.mean(axis=0)
        inner = (rest - mean)[:, columns].T @ (rest - mean)
        weights = np.linalg.solve(inner[:, columns] + np.diag(penalties[columns]), inner)
        total += np.sum((A[row] - mean - (A[row] - mean)[columns] @ weights) ** 2)
    return total


def test_leave_one_out_error_is_that_of_refitting_without_each_row():
    X = table(1, 9, 12)
    span, A, penalties = spanned(X, 0.3, 4)
    judge = LeaveOneOut.of_nothing(A)
    for column in (2, 7, 5):
        assert judge.errors_with(np.array([column]), span.remainders.variance[[column]])[0] == pytest.approx(
            brute_force_left_out(A, penalties, [*span.members, column])
        )
        judge = judge.added(column, float(span.remainders.variance[column]))
        span.add(column)
    afresh = LeaveOneOut.of_nothing(A).error_of(np.array([2, 7, 5]), penalties)
    assert afresh == pytest.approx(judge.error())
    departure = span.departure([7])
    judge = judge.released(np.array(span.members), departure.weights)
    assert judge.error() == pytest.approx(brute_force_left_out(A, penalties, [2, 5]))


def test_a_row_that_nearly_fits_itself_is_left_out_as_by_refitting():
    X = table(1, 12, 12)
    X[0, 3] = 1e3  # no other row has anything like it
    _, A, penalties = spanned(X, 1e-9, 4)
    hat = A[:, [3, 8]] @ np.linalg.solve(A[:, [3, 8]].T @ A[:, [3, 8]], A[:, [3, 8]].T)
    assert hat.diagonal().max() + 1 / 12 > 0.9999
    error = LeaveOneOut.of_nothing(A).error_of(np.array([3, 8]), penalties)
    assert error == pytest.approx(brute_force_left_out(A, penalties, [3, 8]), rel=1e-4)


@pytest.mark.parametrize("seed", range(8))
def test_every_swap_lowers_the_error_and_none_is_left_that_would(seed):
    X = table(seed, 25, 9)
    span, A, penalties = spanned(X, 0.05, 3)
    search = ColumnSearch(span, Placement(np.ones(9, dtype=bool), 3))
    for column in (0, 1, 2):
        search.add(column)
    before = brute_force_error(A, penalties, span.members)
    while search.sweep():
        after = brute_force_error(A, penalties, span.members)
        assert after < before
        before = after
    for slot in range(3):
        for column in set(range(9)) - set(span.members):
            swapped = [*span.members[:slot], column, *span.members[slot + 1 :]]
            assert brute_force_error(A, penalties, swapped) > (1 - 2e-4) * before


def test_a_fixed_member_stays():
    X = table(3, 25, 9)
    X[:, 0] = 1e-3 * np.random.default_rng(0).standard_normal(25)  # worth nothing
    span, _, _ = spanned(X, 0.05, 3)
    search = ColumnSearch(span, Placement(np.ones(9, dtype=bool), 3))
    search.add(0)
    search.grow()
    search.sweep([0])
    assert 0 in span.members
    search.sweep()
    assert 0 not in span.members


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=20), st.integers(1, 8))
def test_largest_finds_the_largest(values, count):
    array = np.array(values, dtype=float)
    assert sorted(array[largest(array, count)]) == sorted(values)[-count:]


def test_a_row_of_weight_three_is_left_out_as_one_of_three_rows():
    rng = np.random.default_rng(4)
    rows, weights = rng.standard_normal((6, 9)), np.array([1.0, 3, 1, 2, 1, 1])
    repeated = np.repeat(rows, weights.astype(int), axis=0)
    mean = repeated.mean(axis=0)
    penalties = np.full(9, 0.4)
    few = LeaveOneOut.of_nothing(np.sqrt(weights)[:, None] * (rows - mean), weights)
    many = LeaveOneOut.of_nothing(repeated - mean)
    members = np.array([1, 4])
    assert few.error_of(members, penalties) == pytest.approx(many.error_of(members, penalties))
    variance = np.array([2.0, 3.0])
    np.testing.assert_allclose(few.errors_with(members, variance), many.errors_with(members, variance))


def test_rows_are_heavy_tailed_where_few_hold_most_of_the_variance():
    rng = np.random.default_rng(0)
    found = [
        LeaveOneOut.of_nothing(np.outer(rng.standard_normal(60), rng.random(90))).is_heavy_tailed()
        for _ in range(200)
    ]
    assert np.mean(found) < 0.05  # one component has the heaviest tails of all normal data
    rows = rng.standard_normal((60, 90))
    rows[:3] *= 8
    assert LeaveOneOut.of_nothing(rows).is_heavy_tailed()


@pytest.mark.parametrize("height", [1.0, 2.6, 3.4, 8.0])
def test_weighted_rows_have_the_tails_of_repeated_ones(height):
    rng = np.random.default_rng(1)
    rows, times = rng.standard_normal((60, 90)), rng.integers(1, 4, 60)
    rows[:4] *= height
    repeated = LeaveOneOut.of_nothing(np.repeat(rows, times, axis=0))
    weighted = LeaveOneOut.of_nothing(np.sqrt(times)[:, None] * rows, times.astype(float))
    assert weighted.is_heavy_tailed() == repeated.is_heavy_tailed()


def test_the_norms_of_columns_come_from_the_products_of_rows():
    A = table(5, 8, 11)
    np.testing.assert_allclose(
        LeaveOneOut.of_nothing(A).squared_column_norms(), np.square(A.T @ A).sum(axis=0)
    )


@pytest.mark.parametrize("block", [1, 64])
def test_best_exchanges_are_what_brute_force_finds(block, monkeypatch):
    monkeypatch.setattr("ufselect.solvers.rebuild.span.DEPARTURE_BLOCK", block)
    X = table(7, 25, 9)
    span, A, penalties = spanned(X, 0.05, 3)
    for column in (0, 4, 6):
        span.add(column)
    allowed = np.arange(9) != 8
    error = brute_force_error(A, penalties, span.members)
    for slot, found in enumerate(span.best_exchanges(allowed)):
        rest = [member for member in span.members if member != span.members[slot]]
        errors = [brute_force_error(A, penalties, [*rest, column]) for column in (1, 2, 3, 5, 7)]
        assert found == pytest.approx(error - min(errors), abs=1e-9 * error)
    assert np.all(span.best_exchanges(np.isin(np.arange(9), [0, 4, 6])) == -np.inf)
