"""SPCA-PSD against its convex optimum, the published iteration and the original program's ranking."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.published.oracle import EPS, low_rank, reference
from tests.strategies import structured_data

from ufselect import SPCAPSD


def centred(n, d):
    X = low_rank(n, d, 0.5, rank=4)
    return X - X.mean(axis=0)


def objective(A, omega, gamma, eta):
    rows = np.sqrt(np.sum(omega**2, axis=1) + EPS)
    return np.linalg.norm(A - A @ omega) ** 2 + gamma * rows.sum() + eta * np.trace(omega)


def positive_part(matrix):
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    return (vectors * np.maximum(values, 0)) @ vectors.T


def convex_optimum(A, gamma, eta, n_steps=2000):
    """Solve by the alternating direction method with one copy of Ω a term."""
    S, d = A.T @ A, A.shape[1]
    rho = 1 + gamma / 3 + eta / 3
    inverse = np.linalg.inv(2 * S + 2 * rho * np.eye(d))
    rows, cone, rows_dual, cone_dual = np.zeros((4, d, d))
    for _ in range(n_steps):
        omega = inverse @ (2 * S + rho * (rows - rows_dual + cone - cone_dual))
        rows = omega + rows_dual
        norms = np.linalg.norm(rows, axis=1, keepdims=True)
        rows = rows * np.maximum(0, 1 - gamma / rho / np.maximum(norms, 1e-300))
        cone = positive_part(omega + cone_dual - eta / rho * np.eye(d))
        rows_dual += omega - rows
        cone_dual += omega - cone
    return cone


def published(A, gamma, eta, diagonal, n_steps=200):
    """Transcribe the published iteration."""
    S, d = A.T @ A, A.shape[1]
    delta = 1e-3 if d < A.shape[0] else 1e-2
    omega = np.diag(diagonal)
    for _ in range(n_steps):
        weights = 0.5 / np.sqrt(np.sum(omega**2, axis=1) + EPS)
        omega = (S - eta / 2 * np.eye(d)) @ np.linalg.inv(S + np.diag(gamma * weights + delta))
        omega = positive_part(omega)
    return omega


@pytest.mark.parametrize("shape", [(40, 12), (8, 14)])
@pytest.mark.parametrize(("gamma", "eta"), [(0.1, 10.0), (1.0, 0.1), (100.0, 1.0)])
def test_reaches_the_convex_optimum(shape, gamma, eta):
    A = centred(*shape)
    fitted = SPCAPSD(1, gamma=gamma, eta=eta, tol=1e-9, max_iter=300).fit(A)
    optimum = convex_optimum(A, gamma, eta)
    best = objective(A, optimum, gamma, eta)
    assert fitted.objective_history_[-1] == pytest.approx(best, rel=1e-3)  # neither has quite settled
    norms = np.linalg.norm(optimum, axis=1)
    np.testing.assert_allclose(fitted.scores_, norms, atol=0.05 * norms.max())


@pytest.mark.parametrize("shape", [(40, 12), (8, 14)])
@pytest.mark.parametrize("gamma", [0.1, 10.0])
def test_is_no_worse_than_the_published_iteration_and_ranks_alike(shape, gamma):
    A = centred(*shape)
    start = np.random.default_rng(0).random(shape[1])
    theirs = published(A, gamma, 1.0, start)
    ours = SPCAPSD(5, gamma=gamma, tol=1e-9, max_iter=300).fit(A)
    assert ours.objective_history_[-1] <= objective(A, theirs, gamma, 1.0) * (1 + 1e-9)
    assert ours.support_[np.argsort(-np.linalg.norm(theirs, axis=1))[:5]].sum() >= 4


@pytest.mark.filterwarnings("ignore::UserWarning")
@given(structured_data(), st.floats(-3, 3), st.floats(-3, 0.2))
def test_the_objective_never_rises(X, log_gamma, log_eta):
    """With large penalties on data of low rank steps go along the faces of the cone."""
    top = np.linalg.norm(X - X.mean(axis=0), 2) ** 2
    fitted = SPCAPSD(1, gamma=10**log_gamma * top / 10, eta=10**log_eta * top, max_iter=30, tol=1e-9).fit(X)
    assert np.all(np.diff(fitted.objective_history_) <= 0)
    assert fitted.n_components_ <= min(X.shape)


def test_without_row_penalty_eigenvalues_are_shrunk():
    A = centred(30, 8)
    values, vectors = np.linalg.eigh(A.T @ A)
    expected = (vectors * np.maximum(0, 1 - 1.5 / values)) @ vectors.T
    scores = SPCAPSD(1, gamma=0.0, eta=3.0).fit(A).scores_
    np.testing.assert_allclose(scores, np.linalg.norm(expected, axis=1), atol=1e-10)


def test_ranks_as_the_original_program_at_a_lower_objective(real):
    X, _ = real("lung_discrete")
    program = reference("SPCA-PSD")
    start = np.random.default_rng(0).random(325)
    A = X - X.mean(axis=0)
    theirs = objective(A, published(A, 1.0, 1.0, start, 15), 1.0, 1.0)
    assert theirs == pytest.approx(program["objective"][-1], rel=1e-8)  # the transcription is right
    fitted = SPCAPSD(100, gamma=1.0, eta=1.0).fit(X)
    ranking = np.argsort(fitted.ranking_)
    assert len(set(ranking[:100]) & set(program["ranking"][:100])) >= 95
    assert fitted.objective_history_[-1] < 0.72 * program["objective"][-1]
    assert np.all(np.diff(fitted.objective_history_) <= 0)
