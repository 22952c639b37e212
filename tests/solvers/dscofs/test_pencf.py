"""PenCF against the power iteration run to convergence, and finite differences."""

from __future__ import annotations

import numpy as np
import pytest

from ufselect.gram import gram_operator
from ufselect.sets import stiefel
from ufselect.solvers import DoubleSparsePCA, PenCF
from ufselect.solvers.dscofs import pencf
from ufselect.solvers.dscofs.pam import PamState
from ufselect.solvers.dscofs.pencf import _direction


@pytest.fixture
def subproblem():
    rng = np.random.default_rng(0)
    gram = gram_operator(rng.standard_normal((60, 12)) * np.geomspace(3, 1, 12))
    unit = float(gram.eigenpairs(1).values[0])
    problem = DoubleSparsePCA(gram, 4, 12, 0.3 * unit, 0.2 * unit, 1e-3 * unit, 1e-3, unit)
    X = stiefel.random_point(12, 3, rng)
    linear = unit * rng.standard_normal((12, 3))
    return problem, X, linear


def test_it_solves_the_x_step(subproblem):
    problem, X, linear = subproblem
    product = problem.gram.matmat(X)
    state = PamState(X, X, X, product, product + linear, np.inf, None, None)
    solution = PenCF().solve(problem, state)
    assert stiefel.contains(solution, tol=1e-12)
    ascent = problem.gram.matmat(solution) + linear
    tangent = ascent - solution @ (0.5 * (solution.T @ ascent + ascent.T @ solution))
    assert np.linalg.norm(tangent) <= 1e-5 * np.linalg.norm(ascent)

    converged = solution
    for _ in range(2000):
        converged = stiefel.project(problem.gram.matmat(converged) + linear)

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
    direction, stationarity = _direction(X, X @ symmetric, beta=5.0)
    np.testing.assert_allclose(direction, 0, atol=1e-12)
    assert stationarity == pytest.approx(0, abs=1e-12)
    away, _ = _direction(2 * X, np.zeros_like(X), beta=5.0)
    np.testing.assert_allclose(away, 5.0 * 2 * X @ (3 * np.eye(3)), atol=1e-12)


def test_beta_is_that_of_the_authors_program(subproblem, monkeypatch):
    problem, X, linear = subproblem
    product = problem.gram.matmat(X)
    seen = set()

    def recorded(X, gradient, beta):
        seen.add(beta)
        return _direction(X, gradient, beta)

    monkeypatch.setattr(pencf, "_direction", recorded)
    PenCF().solve(problem, PamState(X, X, X, product, product + linear, np.inf, None, None))
    weight = problem.mu_entry + problem.mu_row + problem.tau
    first_gradient = 2 * (weight * X - product - linear)
    (beta,) = seen
    assert beta == pytest.approx(0.5 * np.linalg.norm(first_gradient) / X.shape[1], rel=1e-14)


def test_each_gradient_step_is_counted_once(subproblem, monkeypatch):
    problem, X, linear = subproblem
    product = problem.gram.matmat(X)
    evaluations = []

    def recorded(*arguments):
        evaluations.append(1)
        return _direction(*arguments)

    monkeypatch.setattr(pencf, "_direction", recorded)
    solver = PenCF()
    solver.solve(problem, PamState(X, X, X, product, product + linear, np.inf, None, None))
    n_steps = len(evaluations) - 1  # the first is that of the start
    assert n_steps > 1
    assert solver.n_left == pencf.MAX_RUN_STEPS - n_steps
