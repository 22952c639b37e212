"""Inf-FS against the matrix inverse of its definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from ufselect import InfFS


def by_definition(X, alpha, damping):
    deviations = X.std(axis=0) / X.std(axis=0).max()
    d = X.shape[1]
    A = np.empty((d, d))
    for i in range(d):
        for j in range(d):
            rank_correlation = spearmanr(X[:, i], X[:, j]).statistic
            A[i, j] = alpha * max(deviations[i], deviations[j]) + (1 - alpha) * (1 - abs(rank_correlation))
    r = damping / np.abs(np.linalg.eigvals(A)).max()
    return (np.linalg.inv(np.eye(d) - r * A) - np.eye(d)).sum(axis=1)


@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.3, 1.0]), st.sampled_from([0.5, 0.9, 0.99]))
@pytest.mark.filterwarnings("ignore::ufselect.exceptions.DominatedByUnitsWarning")
def test_scores_are_those_of_the_definition(seed, alpha, damping):
    rng = np.random.default_rng(seed)
    X = np.round(rng.standard_normal((20, 7)) * rng.uniform(0.5, 3, 7), 1)  # with ties
    scores = InfFS(alpha=alpha, damping=damping).fit(X).scores_
    np.testing.assert_allclose(scores, by_definition(X, alpha, damping), rtol=1e-8)


def test_a_duplicate_has_the_score_of_its_original_and_one_column_has_one():
    X = np.random.default_rng(2).standard_normal((30, 5))
    fitted = InfFS().fit(np.hstack([X, X[:, :1]]))
    assert fitted.scores_[5] == pytest.approx(fitted.scores_[0], rel=1e-9)
    assert InfFS(1).fit(X[:, :1]).support_.all()
    np.testing.assert_allclose(InfFS(1, alpha=0.0).fit(np.hstack([X[:, :1]] * 3)).scores_, 0, atol=1e-6)
