"""Algorithm 1: feasibility, descent, stopping, momentum, callbacks."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.strategies import structured_data

from ufselect._solver.iterate import Status, iterate
from ufselect._solver.sets import project_rows
from ufselect._utils.arrays import is_orthonormal
from ufselect.dscofs.pam import LATE_ONSET, ProximalAlternatingMinimisation
from ufselect.dscofs.problem import DoubleSparsePCA
from ufselect.dscofs.start import Start, best_random_start, pca_start
from ufselect.dscofs.x_steps import PenCF, power_step, rotated_power_step
from ufselect.gram import gram_operator

X_STEPS = {"power": lambda: power_step, "rotated": lambda: rotated_power_step, "pencf": PenCF}


def make_problem(data, n_rows, n_entries, n_components, mu_row=0.01, mu_entry=0.1):
    gram = gram_operator(data)
    spectrum = gram.eigenpairs(n_components)
    unit = float(spectrum.values[0])
    problem = DoubleSparsePCA(
        gram, n_rows, n_entries, mu_row * unit, mu_entry * unit, tau=1e-3 * unit, memory=1e-3, unit=unit
    )
    return problem, spectrum


def solve(problem, start, x_step, max_iter=100, tol=1e-3, callback=None):
    method = ProximalAlternatingMinimisation(
        problem, start, X_STEPS[x_step](), 0.0 if x_step == "pencf" else LATE_ONSET
    )
    return iterate(method, max_iter=max_iter, tol=tol, callback=callback)


@pytest.mark.parametrize("x_step", X_STEPS)
@settings(max_examples=25)
@given(
    data=structured_data(),
    mu_row=st.sampled_from([0.0, 1e-4, 0.1, 10.0, 1e4]),
    mu_entry=st.sampled_from([0.0, 1e-4, 0.1, 10.0, 1e4]),
    seed=st.integers(0, 100),
)
def test_every_iterate_is_feasible_and_the_objective_never_rises(x_step, data, mu_row, mu_entry, seed):
    rng = np.random.default_rng(seed)
    n_features = data.shape[1]
    n_rows = int(rng.integers(1, n_features + 1))
    problem, spectrum = make_problem(data, n_rows, n_features, 1, mu_row, mu_entry)
    for start in (pca_start(spectrum), best_random_start(problem.gram, 1, 3, rng)):
        result = solve(problem, start, x_step, max_iter=8, tol=1e-9)
        assert np.all(np.diff(result.objective_history) <= 0)
        assert is_orthonormal(result.state.X, tol=1e-8)
        assert np.count_nonzero(result.state.Z.any(axis=1)) <= n_rows
        assert np.count_nonzero(result.state.Y) <= n_features


@pytest.mark.parametrize("name", ["lung_discrete", "usps", "breast_cancer"])
@pytest.mark.parametrize("start", ["pca", "random"])
def test_objective_never_rises_on_real_data(real, name, start):
    data, labels = real(name)
    m = np.unique(labels).size
    problem, spectrum = make_problem(data, min(100, data.shape[1] // 2), int(0.1 * data.shape[1] * m), m)
    first = (
        pca_start(spectrum)
        if start == "pca"
        else best_random_start(problem.gram, m, 2, np.random.default_rng(0))
    )
    result = solve(problem, first, "power", max_iter=80, tol=0.0)
    assert np.all(np.diff(result.objective_history) <= 0)
    assert is_orthonormal(result.state.X, tol=1e-10)


def test_objective_is_the_formula():
    rng = np.random.default_rng(0)
    data = rng.standard_normal((40, 7))
    problem, spectrum = make_problem(data, 3, 8, 2)
    state = solve(problem, pca_start(spectrum), "power").state
    centred = (data - data.mean(axis=0)) / problem.gram.scale
    S = centred.T @ centred
    expected = (
        -np.trace(state.X.T @ S @ state.X)
        + problem.mu_entry * np.linalg.norm(state.X - state.Y) ** 2
        + problem.mu_row * np.linalg.norm(state.X - state.Z) ** 2
    )
    assert state.objective == pytest.approx(expected, rel=1e-12)


def test_one_step_is_the_papers():
    """A literal transcription with an SVD in place of the polar routine."""
    rng = np.random.default_rng(1)
    data = rng.standard_normal((40, 9))
    problem, spectrum = make_problem(data, 4, 10, 2, mu_row=0.3, mu_entry=0.2)
    method = ProximalAlternatingMinimisation(problem, pca_start(spectrum), power_step)
    before = method.init()
    after = method.step(before)
    S = problem.gram.to_dense()
    B = problem.mu_entry * before.Y + problem.mu_row * before.Z + problem.tau * before.X
    u, _, vt = np.linalg.svd(S @ before.X + B, full_matrices=False)
    X = u @ vt
    W = (X + problem.memory * before.Y) / (1 + problem.memory)
    V = (X + problem.memory * before.Z) / (1 + problem.memory)
    Y = np.where(np.abs(W) >= np.sort(np.abs(W), axis=None)[-10], W, 0)
    norms = np.linalg.norm(V, axis=1)
    Z = np.where((norms >= np.sort(norms)[-4])[:, None], V, 0)
    np.testing.assert_allclose(after.X, X, atol=1e-12)
    np.testing.assert_allclose(after.Y, Y, atol=1e-12)
    np.testing.assert_allclose(after.Z, Z, atol=1e-12)


def test_brute_force_over_supports_is_never_beaten():
    """With huge penalties the result is feasible for the constrained problem, so no better than its best."""
    rng = np.random.default_rng(2)
    data = rng.standard_normal((50, 6)) * np.array([3, 1, 2, 1, 1, 2.5])
    problem, spectrum = make_problem(data, 3, 12, 2, mu_row=50.0, mu_entry=0.0)
    result = solve(problem, pca_start(spectrum), "power", max_iter=20_000, tol=1e-14)
    S = problem.gram.to_dense()
    best = max(np.linalg.eigvalsh(S[np.ix_(c, c)])[-2:].sum() for c in combinations(range(6), 3))
    captured = np.trace(result.state.Z.T @ S @ result.state.Z)
    assert captured <= best + 1e-9
    assert captured >= 0.8 * best


def test_small_penalties_leave_the_pca_solution():
    rng = np.random.default_rng(3)
    data = rng.standard_normal((60, 8)) * np.geomspace(4, 1, 8)
    problem, spectrum = make_problem(data, 3, 10, 2, mu_row=1e-9, mu_entry=1e-9)
    result = solve(problem, pca_start(spectrum), "power", tol=1e-12)
    np.testing.assert_allclose(
        result.state.X @ result.state.X.T, spectrum.vectors @ spectrum.vectors.T, atol=1e-5
    )


def test_large_penalties_keep_the_start():
    rng = np.random.default_rng(3)
    data = rng.standard_normal((60, 12))
    problem, _ = make_problem(data, 4, 12, 2, mu_row=1e6, mu_entry=0.0)
    start = best_random_start(problem.gram, 2, 1, rng)
    result = solve(problem, start, "power", max_iter=20)
    kept = project_rows(start.point, 4)[1]
    np.testing.assert_array_equal(project_rows(result.state.X, 4)[1].mask, kept.mask)


def test_momentum_settles_in_fewer_steps_at_no_worse_objective():
    rng = np.random.default_rng(0)
    data = rng.standard_normal((200, 5)) @ rng.standard_normal((5, 60)) + rng.standard_normal((200, 60))
    problem, spectrum = make_problem(data, 15, 60, 5)
    method = ProximalAlternatingMinimisation(problem, pca_start(spectrum), power_step, onset=0.0)
    plain = iterate(method, max_iter=5000, tol=1e-9)
    fast = solve(problem, pca_start(spectrum), "power", max_iter=5000, tol=1e-9)
    assert fast.n_iter < 0.7 * plain.n_iter
    assert fast.objective_history[-1] <= plain.objective_history[-1] + 1e-3 * abs(plain.objective_history[-1])


def test_status_says_why_the_run_ended():
    rng = np.random.default_rng(0)
    data = rng.standard_normal((50, 10))
    problem, spectrum = make_problem(data, 3, 10, 2)
    start = pca_start(spectrum)
    assert solve(problem, start, "power").status is Status.CONVERGED
    cut_short = solve(problem, start, "power", max_iter=1, tol=1e-12)
    assert cut_short.status is Status.MAX_ITER
    assert not cut_short.converged
    assert "max_iter" in cut_short.status.value[1]
    problem32, spectrum32 = make_problem(data.astype(np.float32), 3, 10, 2)
    blurred = solve(problem32, pca_start(spectrum32), "power", max_iter=2000, tol=1e-9)
    assert blurred.status is Status.PRECISION
    assert not blurred.converged


def test_tolerance_zero_runs_to_a_standstill():
    rng = np.random.default_rng(0)
    problem, spectrum = make_problem(rng.standard_normal((50, 10)), 3, 10, 2)
    result = solve(problem, pca_start(spectrum), "power", max_iter=10_000, tol=0.0)
    assert result.converged
    again = solve(problem, Start(result.state.X, is_informed=True), "power", max_iter=5, tol=0.0)
    assert again.objective_history[-1] == pytest.approx(result.objective_history[-1], rel=1e-10)


def test_callback_sees_every_iteration_and_can_interrupt():
    rng = np.random.default_rng(0)
    problem, spectrum = make_problem(rng.standard_normal((50, 10)), 3, 10, 2)
    seen = []
    result = solve(problem, pca_start(spectrum), "power", callback=lambda i, f: seen.append((i, f)))
    assert [i for i, _ in seen] == list(range(1, result.n_iter + 1))
    np.testing.assert_array_equal([f for _, f in seen], result.objective_history[1:])

    def stop(iteration, objective):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        solve(problem, pca_start(spectrum), "power", callback=stop)


def test_other_proximal_maps_take_the_place_of_the_projections():
    """Row and entry shrinkage instead of row and entry counts: only the two maps are another."""
    rng = np.random.default_rng(0)
    problem, spectrum = make_problem(rng.standard_normal((50, 10)), 3, 10, 2)

    class Shrinkage(DoubleSparsePCA):
        def entry_step(self, X, Y, last):
            return np.sign(X) * np.maximum(np.abs(X) - 0.1, 0), None

        def row_step(self, X, Z, last):
            norms = np.linalg.norm(X, axis=1, keepdims=True)
            return X * np.maximum(1 - 0.1 / np.maximum(norms, 0.1), 0), None

    problem = Shrinkage(**vars(problem))
    method = ProximalAlternatingMinimisation(problem, pca_start(spectrum), power_step, 0.0)
    state = iterate(method, max_iter=20, tol=0.0).state
    np.testing.assert_array_equal(state.Y, problem.entry_step(state.X, None, None)[0])
    np.testing.assert_array_equal(state.Z, problem.row_step(state.X, None, None)[0])
