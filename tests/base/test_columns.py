"""From scores to a selection: near copies wait, and copies are found bit by bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from ufselect import GramSelector, MaxVariance

pytestmark = pytest.mark.filterwarnings("ignore::ufselect.exceptions.DominatedByUnitsWarning")


def literally(scores, correlations, limit, count, units, kept):
    """The rule as it is worded, one unit after the other."""
    means = [np.mean(scores[units == unit]) for unit in range(units.max() + 1)]
    order = sorted(range(len(means)), key=lambda unit: (unit not in kept, -means[unit], unit))
    taken, this_round = order[: len(kept)], order[: len(kept)]
    while len(taken) < count:
        left = [unit for unit in order if unit not in taken]
        for unit in left:
            columns = np.flatnonzero(units == unit)
            near = np.isin(units, this_round)
            waits = all(np.any(correlations[column, near] > limit) for column in columns)
            if not waits and len(taken) < count:
                taken.append(unit)
                this_round = [*this_round, unit]
        this_round = []
    return np.isin(units, taken)


class Scored(GramSelector):
    """Scores that are given, to see what becomes of them."""

    label, cost = "Scored", "d"

    def __init__(self, n=1, scores=None, feature_groups=None, max_correlation=None, keep=None):
        super().__init__(n, keep=keep, feature_groups=feature_groups, max_correlation=max_correlation)
        self.n, self.scores = n, scores

    def _fit_gram(self, gram, request):
        return np.asarray(self.scores)


@pytest.mark.filterwarnings("ignore::UserWarning")
@given(seed=st.integers(0, 10**6), data=st.data())
def test_near_copies_wait_as_the_rule_says(seed, data):
    rng = np.random.default_rng(seed)
    sources = rng.standard_normal((30, 4))
    X = sources[:, rng.integers(0, 4, 10)] + 0.3 * rng.standard_normal((30, 10))
    labels = rng.integers(0, data.draw(st.sampled_from([5, 50])), 10).tolist()
    units = np.array([list(dict.fromkeys(labels)).index(label) for label in labels])  # by first column
    count = data.draw(st.integers(1, units.max() + 1))
    kept = range(data.draw(st.integers(0, min(2, count))))
    limit = data.draw(st.sampled_from([0.5, 0.9]))
    first = [int(np.flatnonzero(units == unit)[0]) for unit in kept]
    fitted = Scored(count, rng.random(10), labels, limit, first).fit(X)
    expected = literally(fitted.scores_, np.abs(np.corrcoef(X, rowvar=False)), limit, count, units, set(kept))
    assert np.array_equal(fitted.support_, expected)
    assert sorted(fitted.ranking_) == list(range(1, 11))
    assert np.all(fitted.ranking_[fitted.support_] <= fitted.support_.sum())


def test_equal_scores_go_by_place():
    scores = [0.0, 3.0, 0.0, 0.0, 0.0]
    assert Scored(2, scores).fit(np.eye(5)).ranking_.tolist() == [2, 1, 3, 4, 5]


def test_those_that_wait_come_after_those_that_do_not():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 6)) * [6, 5, 4, 3, 2, 1]
    X[:, 1] = X[:, 0] * 0.9
    ranking = MaxVariance(2, max_correlation=0.99).fit(X).ranking_
    assert ranking.tolist() == [1, 6, 2, 3, 4, 5]


def test_a_limit_of_one_lets_nothing_wait():
    """A column waits if its correlation exceeds the limit; that of a copy is 1, and no more."""
    X = np.array([[1.0, 1, 2], [2, 2, 0], [4, 4, 1], [8, 8, 5]])
    assert MaxVariance(2, max_correlation=1.0).fit(X).support_.tolist() == [True, True, False]


def columns_of(X):
    fitted = MaxVariance(1, max_correlation=1.0).fit(X)
    return [same.tolist() for same in fitted.duplicates_]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("make", [np.asarray, np.asfortranarray, sparse.csr_array, sparse.csc_array])
def test_identical_columns_are_found(dtype, make):
    rng = np.random.default_rng(0)
    X = np.where(rng.random((40, 12)) < 0.5, 0, rng.integers(-2, 3, (40, 12))).astype(dtype)
    X[:, 9] = X[:, 4]
    X[:, 11] = X[:, 4]
    X[:, 2], X[:, 7] = 0.0, -0.0
    X[:, 5] = -X[:, 4]  # correlated, not identical
    assert columns_of(make(X)) == [[2, 7], [4, 9, 11]]


@given(st.integers(0, 10**6), st.integers(2, 6), st.integers(1, 30))
def test_identical_columns_are_those_of_numpy(seed, n_rows, n_columns):
    X = np.random.default_rng(seed).integers(0, 2, (n_rows, n_columns)).astype(float)
    found = columns_of(X)
    _, codes = np.unique(X, axis=1, return_inverse=True)
    expected = [np.flatnonzero(codes == code).tolist() for code in np.unique(codes)]
    assert found == sorted([same for same in expected if len(same) > 1], key=lambda same: same[0])


def test_missing_values_are_compared_bit_by_bit():
    X = np.array([[np.nan, np.nan, 1.0], [2, 2, 2]])
    assert columns_of(X) == [[0, 1]]
