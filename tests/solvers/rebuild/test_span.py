"""The regularised span against solving its least-squares problem anew for every set."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.solvers.rebuild.oracles import brute_force_error, table

from ufselect.gram import gram_operator
from ufselect.solvers.rebuild.placement import Placement
from ufselect.solvers.rebuild.search import ColumnSearch
from ufselect.solvers.rebuild.span import GrowingSpan, RegularisedSpan


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


@pytest.mark.parametrize("shape", [(20, 8), (5, 8)])
@pytest.mark.parametrize("weight", [0.0, 0.3])
def test_a_set_that_only_grows_has_the_same_gains(shape, weight):
    X = table(3, *shape)
    span, A, penalties = spanned(X, weight, 4)
    growing = GrowingSpan(span.gram, penalties, span.remainders.explained, 4)
    for column in (5, 0, 7):
        assert growing.add(column)
        error = brute_force_error(A, penalties, growing.members)
        others = np.array([j for j in range(8) if j not in growing.members])
        falls = [error - brute_force_error(A, penalties, [*growing.members, j]) for j in others]
        found = growing.remainders.gains(others)
        assert found == pytest.approx(falls, rel=1e-5, abs=1e-6 * span.total)


def test_what_lies_in_the_span_does_not_join_one_that_only_grows():
    X = table(4, 20, 6)
    X[:, 5] = X[:, 0] - 2 * X[:, 1]
    span, _, penalties = spanned(X, 0.0, 4)
    growing = GrowingSpan(span.gram, penalties, span.remainders.explained, 4)
    assert growing.add(0)
    assert growing.add(1)
    assert not growing.add(5)
    assert growing.members == [0, 1]


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
