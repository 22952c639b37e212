"""Feature-sparse PCA against all subsets and a literal transcription."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from ufselect.gram import gram_operator
from ufselect.solvers import iterate
from ufselect.solvers.fspca import FeatureSparsePCA


def captured(S, features, m):
    """Return the variance that the m leading components of some features capture."""
    return np.linalg.eigvalsh(S[np.ix_(features, features)])[-min(m, len(features)) :].sum()


def best_of_all(S, r, m):
    return max(captured(S, list(features), m) for features in combinations(range(len(S)), r))


def literal(S, r, m, n_steps):
    """Transcribe both algorithms with dense matrices."""
    values, vectors = np.linalg.eigh(S)
    proxy = (vectors[:, -m:] * values[-m:]) @ vectors[:, -m:].T
    objectives = []
    for _ in range(n_steps + 1):
        features = np.argsort(-np.diag(proxy), kind="stable")[:r]
        W = np.zeros((len(S), m))
        W[features] = np.linalg.eigh(S[np.ix_(features, features)])[1][:, -m:]
        objectives.append(np.trace(W.T @ S @ W))
        proxy = S @ W @ np.linalg.pinv(W.T @ S @ W) @ W.T @ S
    return set(features), np.array(objectives)


def solve(X, r, m):
    gram = gram_operator(X)
    method = FeatureSparsePCA.from_spectrum(gram, gram.eigenpairs(m), r)
    return method, iterate(method, max_iter=50, tol=0.0), gram.to_dense()


@given(st.integers(0, 10**6), st.integers(5, 10), st.integers(1, 3), st.integers(1, 6))
def test_low_rank_is_solved_exactly(seed, d, m, r):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((8, m)) @ rng.standard_normal((m, d))
    r = min(r, d)
    _, result, S = solve(X, r, m)
    assert -result.state.objective == pytest.approx(best_of_all(S, r, m), rel=1e-9)


@given(st.integers(0, 10**6), st.integers(5, 10), st.integers(1, 3), st.integers(1, 6))
def test_refinement_stays_between_the_start_and_the_best_subset(seed, d, m, r):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((14, d)) * rng.random(d)
    r = min(r, d)
    _, result, S = solve(X, r, m)
    best = best_of_all(S, r, m)
    assert np.all(np.diff(result.objective_history) <= 0)
    assert -result.state.objective <= best * (1 + 1e-12)
    assert -result.state.objective >= 0.9 * best
    assert result.converged
    if r <= m:
        assert -result.state.objective == pytest.approx(best)


@pytest.mark.parametrize("shape", [(60, 30), (20, 80)])
def test_follows_the_definition_step_by_step(shape):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((shape[0], 5)) @ rng.standard_normal((5, shape[1])) + rng.standard_normal(shape)
    for data in (X, sparse.csr_array(X)):
        method, result, S = solve(data, 10, 4)
        features, objectives = literal(S, 10, 4, result.n_iter)
        assert set(result.state.features) == features
        np.testing.assert_allclose(-result.objective_history, objectives, rtol=1e-10)
        W = method.components(result.state)
        np.testing.assert_allclose(W.T @ W, np.eye(4), atol=1e-12)
        assert np.trace(W.T @ S @ W) == pytest.approx(-result.state.objective)
        assert set(np.flatnonzero(np.any(W != 0, axis=1))) == features
        assert method.residuals(result.state) == {}


def test_selected_features_have_the_largest_diagonal():
    X = np.random.default_rng(4).standard_normal((40, 25))
    _, result, _ = solve(X, 7, 3)
    top = np.argsort(-result.state.diagonal, kind="stable")[:7]
    assert set(top) == set(result.state.features)
