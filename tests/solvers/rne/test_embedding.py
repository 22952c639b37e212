"""The solver of robust neighbourhood embedding against a literal transcription."""

from __future__ import annotations

import numpy as np
import pytest

from ufselect.solvers import iterate
from ufselect.solvers.rne import embedding
from ufselect.solvers.rne.embedding import RobustEmbedding

EPS = np.finfo(float).eps


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


def problem(seed, n=40, d=30, m=6):
    rng = np.random.default_rng(seed)
    R = 0.1 * rng.standard_normal((n, d)) * rng.uniform(0.2, 2, d)
    return R, rng.random((d, m))


def run(R, H0, alpha, max_iter, tol=None, callback=None):
    return iterate(RobustEmbedding(R, alpha, H0), max_iter=max_iter, tol=tol, callback=callback)


@pytest.mark.parametrize("alpha", [1.0, 1e3])
@pytest.mark.parametrize("shape", [(40, 30), (15, 50)])
def test_dense_steps_are_the_published_ones(alpha, shape, monkeypatch):
    monkeypatch.setattr(embedding, "SPARSE_SHARE", -1.0)
    R, H0 = problem(0, *shape)
    expected, history = literal(R, H0, alpha, 5)
    result = run(R, H0, alpha, 5)
    np.testing.assert_allclose(result.objective_history[1:], history, rtol=1e-5)
    np.testing.assert_allclose(result.state.H, expected, atol=1e-4)


@pytest.mark.parametrize("seed", range(4))
def test_following_the_support_alone_is_no_worse_than_the_published_run(seed, monkeypatch):
    monkeypatch.setattr(embedding, "SPARSE_SHARE", 0.3)  # small problems stay denser than real ones
    R, H0 = problem(seed, 60, 80, 20)
    expected, history = literal(R, H0, 1e3, 50)
    state = run(R, H0, 1e3, 50).state
    assert state.active is not None
    assert state.objective <= history[-1] * (1 + 1e-3)
    first = np.argsort(-np.linalg.norm(expected, axis=1))[:20]
    found = np.argsort(-np.linalg.norm(state.H, axis=1))[:20]
    assert np.intersect1d(first, found).size >= 18


@pytest.mark.parametrize("alpha", [0.0, 1e-6, 1.0, 1e6])
def test_entries_stay_finite_and_non_negative(alpha):
    R, H0 = problem(3, 30, 40, 10)
    R[:, 5] = 0
    result = run(R, H0, alpha, 50)
    assert np.all(np.isfinite(result.state.H))
    assert np.all(result.state.H >= 0)
    assert np.all(np.isfinite(result.objective_history))


def test_zeros_of_the_start_stay_zero_and_the_start_is_left_alone():
    R, H0 = problem(4, 40, 60, 12)
    H0[::3, ::2] = 0
    before = H0.copy()
    result = run(R, H0, 1e3, 30)
    np.testing.assert_array_equal(result.state.H[::3, ::2], 0)
    np.testing.assert_array_equal(H0, before)


def test_columns_become_orthogonal():
    R, H0 = problem(5, 60, 80, 10)
    result = run(R, H0, 1e3, 50)
    assert result.residuals["orthogonality"] < 0.1
    H = result.state.H
    np.testing.assert_allclose(H.T @ H, np.eye(10), atol=0.05)


def test_a_tolerance_ends_the_run_early_and_the_callback_sees_every_step():
    R, H0 = problem(6)
    seen = []
    result = run(R, H0, 1e3, 50, tol=0.05, callback=lambda i, f: seen.append((i, f)))
    assert result.converged
    assert result.n_iter < 50
    assert [i for i, _ in seen] == list(range(1, result.n_iter + 1))
    np.testing.assert_array_equal([f for _, f in seen], result.objective_history[1:])
