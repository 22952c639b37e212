"""RNE: weights, solver and its parts against transcriptions; the original program, degenerate data."""

from __future__ import annotations

import numpy as np
import pytest
from tests.published.oracle import EPS, low_rank, nearest, reference

from ufselect import RNE


def literal(R, H, alpha, n_outer, n_inner=30):
    """Transcribe the published updates with dense matrices, split and multiplier written out."""
    G = R.T @ R
    G_plus, G_minus = (np.abs(G) + G) / 2, (np.abs(G) - G) / 2
    M, Y, gamma, history = R @ H, np.zeros((R.shape[0], H.shape[1])), 10.0, []
    for _ in range(n_outer):
        RM, RY = R.T @ M, R.T @ Y
        for _ in range(n_inner):
            H = H / np.sqrt((H**2).sum(axis=0) + EPS)
            above = alpha * H + gamma * (np.abs(RM) + RM) / 2 + gamma * G_minus @ H + (np.abs(RY) + RY) / 2
            below = alpha * H @ (H.T @ H) + gamma * (np.abs(RM) - RM) / 2 + gamma * G_plus @ H
            H = H * np.sqrt(above / (below + (np.abs(RY) - RY) / 2 + EPS))
        T = R @ H - Y / gamma
        M = np.sign(T) * np.maximum(np.abs(T) - 1 / gamma, 0)
        Y = Y + gamma * (M - R @ H)
        gamma = min(1.1 * gamma, 1e10)
        overlap = H.T @ H - np.eye(H.shape[1])
        history.append(np.abs(R @ H).sum() + alpha / 4 * (overlap**2).sum())
    return H, np.array(history)


@pytest.fixture(scope="module")
def data():
    return low_rank(60, 24)


def reconstruction_residuals(X, k):
    """Transcribe locally linear reconstruction of unit rows, with scikit-learn's ridge if k > d."""
    X = X / np.linalg.norm(X, axis=1, keepdims=True)
    W = np.zeros((len(X), len(X)))
    for i, near in enumerate(nearest(X, k)[0]):
        local = (X[near] - X[i]) @ (X[near] - X[i]).T
        if k > X.shape[1]:
            local += 1e-3 * np.trace(local) * np.eye(k)
        weights = np.linalg.solve(local, np.ones(k))
        W[i, near] = weights / weights.sum()
    return X - W @ X


def test_agrees_with_the_original_program(real):
    # The program applies the transpose of the weights; from the same start the option follows it closely.
    X, _ = real("lung_discrete")
    program = reference("RNE")
    start = np.random.default_rng(0).random((325, 100))
    fitted = RNE(100, init=start, transpose_weights=True).fit(X)
    assert np.intersect1d(np.flatnonzero(fitted.support_), program["ranking"][:100]).size >= 95
    np.testing.assert_allclose(fitted.objective_history_[1:4], program["objective"][:3], rtol=1e-2)
    assert fitted.objective_history_[-1] <= program["objective"][-1] * (1 + 1e-6)


@pytest.mark.parametrize("n_features", [24, 3])
def test_the_objective_is_that_of_the_definition(data, n_features):
    X = data[:, :n_features]
    fitted = RNE(3, n_neighbors=5, random_state=0).fit(X)
    H = fitted.embedding_
    expected = np.abs(reconstruction_residuals(X, 5) @ H).sum()
    expected += 1e3 / 4 * np.sum((H.T @ H - np.eye(3)) ** 2)
    assert fitted.objective_history_[-1] == pytest.approx(expected, rel=1e-8)
    np.testing.assert_allclose(fitted.scores_, np.linalg.norm(H, axis=1))


@pytest.mark.parametrize("alpha", [1.0, 1e3])
@pytest.mark.parametrize("shape", [(60, 24), (15, 50)])
def test_the_first_steps_are_the_published_ones(alpha, shape):
    rng = np.random.default_rng(0)
    X, start = rng.standard_normal(shape), rng.random((shape[1], 6))
    expected, history = literal(reconstruction_residuals(X, 5), start, alpha, 5)
    fitted = RNE(6, alpha=alpha, init=start, max_iter=5).fit(X)
    np.testing.assert_allclose(fitted.objective_history_[1:], history, rtol=1e-5)
    np.testing.assert_allclose(fitted.embedding_, expected, atol=1e-4)


@pytest.mark.parametrize("seed", range(2))
def test_a_whole_run_is_no_worse_than_the_published_one(seed):
    """Late iterations follow the entries that are not zero alone."""
    rng = np.random.default_rng(seed)
    X, start = rng.standard_normal((60, 80)) * rng.uniform(0.2, 2, 80), rng.random((80, 20))
    start[::3, ::2] = 0
    expected, history = literal(reconstruction_residuals(X, 5), start, 1e3, 50)
    fitted = RNE(20, init=start).fit(X)
    H = fitted.embedding_
    assert fitted.objective_history_[-1] <= history[-1] * (1 + 1e-3)
    first = np.argsort(-np.linalg.norm(expected, axis=1))[:20]
    assert np.intersect1d(first, np.flatnonzero(fitted.support_)).size >= 18
    np.testing.assert_array_equal(H[::3, ::2], 0)  # multiplicative steps keep zeros
    np.testing.assert_allclose(H.T @ H, np.eye(20), atol=0.05)
    assert np.all(H >= 0)


def test_the_seed_is_the_start_that_one_would_draw(data):
    start = np.random.default_rng(7).random((24, 6))
    drawn, given = RNE(6, random_state=7).fit(data), RNE(6, init=start).fit(data)
    np.testing.assert_array_equal(drawn.scores_, given.scores_)
    assert not np.array_equal(drawn.scores_, RNE(6, random_state=8).fit(data).scores_)


def test_the_width_of_the_start_sets_the_components(data):
    assert RNE(6, init=np.ones((24, 3)) + np.eye(24, 3)).fit(data).embedding_.shape == (24, 3)
    assert RNE(6, n_components=4, random_state=0).fit(data).embedding_.shape == (24, 4)


def test_a_tolerance_that_is_met_ends_the_run(data):
    fitted = RNE(6, random_state=0, tol=0.5).fit(data)
    assert fitted.converged_
    assert fitted.n_iter_ < RNE(6, random_state=0, max_iter=7).fit(data).n_iter_ == 7
