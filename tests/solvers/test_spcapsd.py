"""The semidefinite reconstruction against its convex optimum and the published iteration."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import structured_data

from ufselect.gram import gram_operator
from ufselect.solvers import iterate
from ufselect.solvers.spcapsd import PSDReconstruction, WholeSpace

EPS = np.finfo(float).eps


def centred(n, d, seed=0, rank=4):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, rank)) @ rng.standard_normal((rank, d)) + 0.5 * rng.standard_normal((n, d))
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


def solve(A, gamma, eta, tol=1e-9, start=None, max_iter=300):
    gram = gram_operator(A)
    unit = gram.scale**-2
    start = np.ones(A.shape[1]) if start is None else start
    spectrum = gram.eigenpairs(min(A.shape[0] - 1, A.shape[1]))
    method = PSDReconstruction(spectrum, gamma * unit, eta * unit, start, tol)
    result = iterate(method, max_iter=max_iter, tol=tol)
    lifted = result.state.space.lift(result.state.factor)
    return result, lifted @ lifted.T, gram.scale**2


@pytest.mark.parametrize("shape", [(40, 12), (8, 14)])
@pytest.mark.parametrize("gamma", [0.1, 1.0, 10.0, 100.0])
@pytest.mark.parametrize("eta", [0.1, 10.0])
def test_reaches_the_convex_optimum(shape, gamma, eta):
    A = centred(*shape)
    result, omega, unit = solve(A, gamma, eta)
    reached = objective(A, omega, gamma, eta)
    best = objective(A, convex_optimum(A, gamma, eta), gamma, eta)
    assert reached <= best * (1 + 1e-3)
    assert reached >= best * (1 - 1e-3)  # the oracle has not quite settled either
    assert result.objective_history[-1] * unit == pytest.approx(reached, rel=1e-9)


@pytest.mark.parametrize("shape", [(40, 12), (8, 14)])
@pytest.mark.parametrize("gamma", [0.1, 1.0, 10.0])
def test_is_no_worse_than_the_published_iteration_and_ranks_alike(shape, gamma):
    A = centred(*shape)
    start = np.random.default_rng(0).random(shape[1])
    theirs = published(A, gamma, 1.0, start)
    _, ours, _ = solve(A, gamma, 1.0, start=start)
    assert objective(A, ours, gamma, 1.0) <= objective(A, theirs, gamma, 1.0) * (1 + 1e-9)
    ranked = [np.argsort(-np.linalg.norm(omega, axis=1))[:5] for omega in (ours, theirs)]
    assert len(set(ranked[0]) & set(ranked[1])) >= 4


@given(structured_data(), st.floats(-3, 3), st.floats(-3, 0.2))
def test_objective_never_rises_and_omega_is_semidefinite(X, log_gamma, log_eta):
    A = X - X.mean(axis=0)
    top = np.linalg.norm(A, 2) ** 2
    result, omega, _ = solve(A, 10**log_gamma * top / 10, 10**log_eta * top, max_iter=30)
    assert np.all(np.diff(result.objective_history) <= 0)
    assert np.linalg.eigvalsh(omega)[0] >= -1e-12
    rows = np.sum(omega**2, axis=1)
    np.testing.assert_allclose(result.state.squared_norms, rows, atol=1e-12 * (1 + rows.max()))


def test_the_start_does_not_matter():
    A = centred(30, 10)
    rng = np.random.default_rng(1)
    results = [solve(A, 5.0, 1.0, start=rng.uniform(0.1, 10, 10))[1] for _ in range(3)]
    for omega in results[1:]:
        np.testing.assert_allclose(omega, results[0], atol=1e-3)


def test_without_row_penalty_eigenvalues_are_shrunk():
    A = centred(30, 8)
    _, omega, _ = solve(A, 0.0, 3.0)
    values, vectors = np.linalg.eigh(A.T @ A)
    expected = (vectors * np.maximum(0, 1 - 1.5 / values)) @ vectors.T
    np.testing.assert_allclose(omega, expected, atol=1e-10)


def test_wide_data_stay_in_few_dimensions():
    A = centred(6, 200)
    result, _, _ = solve(A, 1.0, 1.0)
    assert result.state.factor.shape[0] <= 4 * 5
    assert not isinstance(result.state.space, WholeSpace)


def test_a_worse_projection_falls_back_to_the_face():
    # With a large trace penalty on data of low rank the plain step overshoots.
    rng = np.random.default_rng(1)
    A = rng.standard_normal((15, 6)) @ rng.standard_normal((6, 30)) + 0.5 * rng.standard_normal((15, 30))
    A -= A.mean(axis=0)
    calls = []

    class Watched(PSDReconstruction):
        def _face_step(self, state):
            new = super()._face_step(state)
            calls.append(new.objective - state.objective)
            return new

    gram = gram_operator(A)
    unit = gram.scale**-2
    method = Watched(gram.eigenpairs(14), 10.0 * unit, 1000.0 * unit, np.ones(30), 1e-9)
    result = iterate(method, max_iter=100, tol=1e-9)
    assert calls
    assert max(calls) <= 1e-12 * result.objective_history[-1]
    assert method.residuals(result.state) == {}
