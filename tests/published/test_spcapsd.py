"""SPCA-PSD against its convex optimum, the published iteration and the original program's ranking."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import structured_data

from ufselect import SPCAPSD
from ufselect._solver.iterate import iterate
from ufselect.gram import gram_operator
from ufselect.published.spcapsd import PSDReconstruction

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
    lifted = result.state.basis @ result.state.factor
    return result, lifted @ lifted.T, gram.scale**2


@pytest.mark.parametrize("shape", [(40, 12), (8, 14)])
@pytest.mark.parametrize(("gamma", "eta"), [(0.1, 10.0), (1.0, 0.1), (100.0, 1.0)])
def test_reaches_the_convex_optimum(shape, gamma, eta):
    A = centred(*shape)
    result, omega, unit = solve(A, gamma, eta)
    reached = objective(A, omega, gamma, eta)
    best = objective(A, convex_optimum(A, gamma, eta), gamma, eta)
    assert reached <= best * (1 + 1e-3)
    assert reached >= best * (1 - 1e-3)  # the oracle has not quite settled either
    assert result.objective_history[-1] * unit == pytest.approx(reached, rel=1e-9)


@pytest.mark.parametrize("shape", [(40, 12), (8, 14)])
@pytest.mark.parametrize("gamma", [0.1, 10.0])
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


@pytest.mark.parametrize(("gamma", "eta"), [(0.01, 1.9), (0.1, 0.01), (1.0, 1.0)])
def test_a_step_on_the_face_never_raises_the_objective(gamma, eta):
    # It is what remains where the projection onto the cone would: with large penalties on data of low rank.
    A = centred(15, 30, seed=1, rank=6)
    gram = gram_operator(A)
    spectrum = gram.eigenpairs(14)
    top = float(spectrum.values[0])
    method = PSDReconstruction(spectrum, gamma * top, eta * top, np.ones(30), 1e-9)
    state = method.init()
    for _ in range(5):
        new = method.face_step(state)
        assert new.objective <= state.objective * (1 + 1e-12)
        state = method.step(new)


def data(n, d, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, 5)) @ rng.standard_normal((5, d)) + 0.3 * rng.standard_normal((n, d))


def test_ranks_as_the_original_program_at_a_lower_objective(real, reference_path):
    X, _ = real("lung_discrete")
    reference = json.loads((reference_path / "lung_discrete_rankings.json").read_text())["SPCA-PSD"]
    start = np.random.default_rng(0).random(325)
    A = X - X.mean(axis=0)
    theirs = objective(A, published(A, 1.0, 1.0, start, 15), 1.0, 1.0)
    assert theirs == pytest.approx(reference["objective"][-1], rel=1e-8)  # the transcription is right
    fitted = SPCAPSD(100, gamma=1.0, eta=1.0, init=start).fit(X)
    ranking = np.argsort(fitted.ranking_)
    assert len(set(ranking[:100]) & set(reference["ranking"][:100])) >= 95
    assert fitted.objective_history_[-1] < 0.72 * reference["objective"][-1]
    assert np.all(np.diff(fitted.objective_history_) <= 0)


def test_another_real_set_is_ranked_as_by_the_published_iteration(real):
    X, gamma = real("usps")[0], 100.0
    A = X - X.mean(axis=0)
    omega = published(A, gamma, 1.0, np.ones(X.shape[1]), 6)
    fitted = SPCAPSD(100, gamma=gamma, eta=1.0).fit(X)
    ranking = np.argsort(fitted.ranking_)
    assert len(set(ranking[:100]) & set(np.argsort(-np.linalg.norm(omega, axis=1))[:100])) >= 90
    assert fitted.objective_history_[-1] <= objective(A, omega, gamma, 1.0)


def test_the_start_changes_nothing():
    X = data(40, 15)
    expected = SPCAPSD(gamma=5.0, tol=1e-10).fit(X).scores_
    start = np.random.default_rng(0).uniform(0.1, 5, 15)
    np.testing.assert_allclose(SPCAPSD(gamma=5.0, tol=1e-10, init=start).fit(X).scores_, expected, atol=1e-4)


def test_units_do_not_matter_if_the_penalties_follow_them():
    X = data(40, 15)
    base = SPCAPSD(gamma=2.0, eta=3.0).fit(X)
    for unit in (1e-3, 1024.0, 1e100):
        scaled = SPCAPSD(gamma=2.0 * unit**2, eta=3.0 * unit**2).fit(X * unit)
        np.testing.assert_allclose(scaled.scores_, base.scores_, atol=1e-7)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"gamma": -1.0}, "'gamma' parameter"),
        ({"eta": np.inf}, "'eta' parameter"),
        ({"eta": 1e6}, r"eta=1000000.0 is too large .* well below"),
        ({"init": np.zeros(10)}, "init must be None or 10 positive numbers"),
        ({"init": np.ones(9)}, "init has 9 entries and X has 10 columns"),
    ],
)
def test_meaningless_parameters_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        SPCAPSD(**parameters).fit(data(20, 10))
