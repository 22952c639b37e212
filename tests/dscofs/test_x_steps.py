"""The X-steps: the choice among them, power steps, and PenCF."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.common import CountingGram
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import structured_data

from ufselect import DSCOFS
from ufselect._solver.iterate import iterate
from ufselect._solver.sets import project_entries, project_rows
from ufselect._utils.arrays import is_orthonormal, polar_factor, random_orthonormal
from ufselect.dscofs.pam import EARLY_ONSET, PamState, ProximalAlternatingMinimisation
from ufselect.dscofs.problem import DoubleSparsePCA
from ufselect.dscofs.start import Start, pca_start
from ufselect.dscofs.x_steps import (
    PenCF,
    make_x_step,
    penalty_direction,
    power_step,
    rotated_power_step,
)
from ufselect.gram import gram_operator


def test_auto_rotates_for_small_penalties_only():
    rng = np.random.default_rng(0)
    gram = gram_operator(rng.standard_normal((40, 10)))
    values = gram.eigenpairs(2).values

    def step(share):
        mu = share * float(values.mean())
        return make_x_step("auto", DoubleSparsePCA(gram, 3, 10, mu, mu, 0.0, 0.0, 1.0, values.mean()))

    assert [step(share) for share in (1e-6, 0.04)] == [rotated_power_step] * 2
    assert [step(share) for share in (0.06, 1.0)] == [power_step] * 2


@pytest.mark.parametrize("x_solver", ["rotated", "auto"])
def test_rotation_ends_no_higher_for_small_penalties(x_solver):
    rng = np.random.default_rng(1)
    data = rng.standard_normal((80, 4)) @ rng.standard_normal((4, 30)) + 0.3 * rng.standard_normal((80, 30))
    settings = {"n_components": 4, "mu_row": 1e-4, "mu_entry": 1e-4, "tol": 1e-9, "max_iter": 2000}
    found = DSCOFS(5, x_solver=x_solver, **settings).fit(data)
    power = DSCOFS(5, x_solver="power", **settings).fit(data)
    assert np.all(np.diff(found.objective_history_) <= 0)
    assert found.objective_history_[-1] <= power.objective_history_[-1] * (1 - 1e-9)


def state_of(problem, X, Y, Z):
    product = problem.gram.matmat(X)
    ascent = problem.ascent(X, product, Y, Z)
    return PamState(X, Y, Z, product, ascent, problem.objective(X, product, Y, Z))


def objective(problem, X, state):
    return problem.objective(X, problem.gram.matmat(X), state.Y, state.Z)


@given(structured_data(), st.sampled_from([1e-12, 1e-4, 1.0, 1e3]), st.integers(0, 1000))
def test_the_rotation_is_the_best_of_the_span_and_never_worse_than_the_power_step(data, mu, seed):
    rng = np.random.default_rng(seed)
    gram = gram_operator(data)
    m = min(2, data.shape[1])
    problem = DoubleSparsePCA(gram, 2, 3, mu, 2 * mu, 0.1 * mu, 0.0, 1.0)
    X = random_orthonormal(data.shape[1], m, rng)
    state = state_of(problem, X, project_entries(X, 3)[0], project_rows(X, 2)[0])
    plain = power_step(problem, state, state.ascent)
    turned = rotated_power_step(problem, state, state.ascent)
    slack = 1e-10 * (mu + float(gram.trace()))
    assert is_orthonormal(turned, 1e-10)
    np.testing.assert_allclose(turned @ turned.T, plain @ plain.T, atol=1e-8)
    best = objective(problem, turned, state)
    assert best <= objective(problem, plain, state) + slack
    assert best <= state.objective + slack
    for _ in range(5):
        other = turned @ random_orthonormal(m, m, rng)
        assert best <= objective(problem, other, state) + slack


@pytest.mark.parametrize("mu_row", [0.0, 1.0])
def test_without_an_entry_penalty_nothing_is_turned(mu_row):
    """Row norms do not change with a rotation, so there is nothing to gain."""
    rng = np.random.default_rng(0)
    gram = gram_operator(rng.standard_normal((30, 8)))
    problem = DoubleSparsePCA(gram, 3, 24, mu_row, 0.0, 0.1, 0.0, 1.0, leading_variance=1e9)
    assert make_x_step("auto", problem) is power_step
    X = random_orthonormal(8, 3, rng)
    state = state_of(problem, X, X, X)
    steps = [step(problem, state, state.ascent) for step in (power_step, rotated_power_step)]
    np.testing.assert_array_equal(*steps)


def test_small_penalties_settle_in_a_tenth_of_the_products_on_real_data(real):
    data, _ = real("usps")
    mu = 1e-4
    gram = CountingGram(gram_operator(data))
    spectrum = gram.eigenpairs(10)
    unit = float(spectrum.values[0])
    problem = DoubleSparsePCA(gram, 100, 256, mu * unit, mu * unit, 1e-3 * mu * unit, 1e-3 * mu, unit)
    gram.n_products = 0
    method = ProximalAlternatingMinimisation(problem, pca_start(spectrum), rotated_power_step, EARLY_ONSET)
    settled = iterate(method, max_iter=1000, tol=1e-14)
    spent, gram.n_products = gram.n_products, 0
    method = ProximalAlternatingMinimisation(problem, pca_start(spectrum), power_step, EARLY_ONSET)
    objectives = [method.init()]
    while gram.n_products < 10 * spent:
        objectives.append(method.step(objectives[-1]))
    gain = objectives[0].objective - settled.objective_history[-1]
    assert objectives[-1].objective > settled.objective_history[-1] + 1e-3 * gain


@pytest.fixture
def subproblem():
    rng = np.random.default_rng(0)
    gram = gram_operator(rng.standard_normal((60, 12)) * np.geomspace(3, 1, 12))
    unit = float(gram.eigenpairs(1).values[0])
    problem = DoubleSparsePCA(gram, 4, 12, 0.3 * unit, 0.2 * unit, 1e-3 * unit, 1e-3, unit)
    X = random_orthonormal(12, 3, rng)
    linear = unit * rng.standard_normal((12, 3))
    return problem, X, linear


def test_it_solves_the_x_step(subproblem):
    problem, X, linear = subproblem
    product = problem.gram.matmat(X)
    state = PamState(X, X, X, product, product + linear, np.inf)
    solution = PenCF()(problem, state, state.ascent)
    assert is_orthonormal(solution, tol=1e-12)
    ascent = problem.gram.matmat(solution) + linear
    tangent = ascent - solution @ (0.5 * (solution.T @ ascent + ascent.T @ solution))
    assert np.linalg.norm(tangent) <= 1e-5 * np.linalg.norm(ascent)

    converged = solution
    for _ in range(2000):
        converged = polar_factor(problem.gram.matmat(converged) + linear)

    def value(point):
        return np.trace(point.T @ problem.gram.matmat(point)) + 2 * np.trace(point.T @ linear)

    assert value(solution) == pytest.approx(value(converged), rel=1e-9)
    assert value(solution) >= value(X)


def test_the_gradient_is_that_of_the_x_step(subproblem):
    problem, X, linear = subproblem
    weight = problem.mu_entry + problem.mu_row + problem.tau

    def l_function(point):
        quadratic = -np.trace(point.T @ problem.gram.matmat(point))
        return quadratic + weight * np.sum(point**2) - 2 * np.trace(point.T @ linear)

    gradient = 2 * (weight * X - problem.gram.matmat(X) - linear)
    rng = np.random.default_rng(1)
    for _ in range(5):
        direction = rng.standard_normal(X.shape)
        step = 1e-6
        slope = (l_function(X + step * direction) - l_function(X - step * direction)) / (2 * step)
        assert slope == pytest.approx(np.vdot(gradient, direction), rel=1e-6)


def test_the_direction_vanishes_only_along_the_normal_space(subproblem):
    _, X, _ = subproblem
    symmetric = np.diag([1.0, 2.0, 3.0])
    direction, stationarity = penalty_direction(X, X @ symmetric, beta=5.0)
    np.testing.assert_allclose(direction, 0, atol=1e-12)
    assert stationarity == pytest.approx(0, abs=1e-12)
    away, _ = penalty_direction(2 * X, np.zeros_like(X), beta=5.0)
    np.testing.assert_allclose(away, 5.0 * 2 * X @ (3 * np.eye(3)), atol=1e-12)


def test_the_first_step_is_that_of_the_authors_program(subproblem):
    """Half the norm of the first gradient over m as beta, in the ball of radius 1.0001 sqrt(m)."""
    problem, X, linear = subproblem
    product = problem.gram.matmat(X)
    state = PamState(X, X, X, product, product + linear, np.inf)
    weight = problem.mu_entry + problem.mu_row + problem.tau
    gradient = 2 * (weight * X - product - linear)
    direction, _ = penalty_direction(X, gradient, 0.5 * np.linalg.norm(gradient) / 3)
    moved = X - 0.01 * np.linalg.norm(X) / np.linalg.norm(direction) * direction
    moved *= min(1, 1.0001 * np.sqrt(3) / np.linalg.norm(moved))
    found = PenCF(max_steps=1)(problem, state, state.ascent)
    np.testing.assert_allclose(found, polar_factor(moved), atol=1e-12)


@pytest.mark.parametrize("mu", [0.01, 1e4])
@pytest.mark.parametrize("tau", [1e-3, 1e4, 1e9])
def test_the_budget_of_gradient_steps_is_one_for_the_whole_run(tau, mu):
    gram = CountingGram(gram_operator(np.random.default_rng(0).standard_normal((2, 7))))
    unit = float(gram.eigenpairs(1).values[0])
    problem = DoubleSparsePCA(gram, 3, 3, mu * unit, 0.1 * unit, tau * unit, tau, unit)
    start = Start(random_orthonormal(7, 1, np.random.default_rng(1)))
    solver = PenCF(max_run_steps=500)
    result = iterate(ProximalAlternatingMinimisation(problem, start, solver, 0.0), max_iter=100, tol=0.0)
    assert solver.n_left >= 0
    # A step evaluates its X once, or twice where a power step takes the place of one that rises.
    assert gram.n_products <= 500 - solver.n_left + 2 * result.n_iter + 2
    assert np.all(np.diff(result.objective_history) <= 0)
