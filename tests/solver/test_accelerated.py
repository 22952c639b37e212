"""Accelerated proximal gradients against scikit-learn's lasso, and descent."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import Lasso

from ufselect._solver.iterate import advance, start_at


class LassoProblem:
    def __init__(self, A, b, weight):
        self.A, self.b, self.weight = A, b, weight

    def smooth(self, point):
        return 0.5 * float(np.sum((self.A @ point[0] - self.b) ** 2))

    def smooth_gradient(self, point):
        return self.smooth(point), (self.A.T @ (self.A @ point[0] - self.b),)

    def proximal(self, point, curvature):
        return (np.sign(point[0]) * np.maximum(np.abs(point[0]) - self.weight / curvature, 0),)

    def penalty(self, point):
        return self.weight * float(np.abs(point[0]).sum())


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    return LassoProblem(rng.standard_normal((30, 10)), rng.standard_normal(30), 2.0)


@pytest.mark.parametrize("momentum", [0.0, 1.0])
@pytest.mark.parametrize("curvature", [1e-3, 1e3])
def test_it_finds_the_lasso_and_the_objective_never_rises(problem, momentum, curvature):
    state = start_at(problem, (np.zeros(10),), curvature, momentum)
    objectives = [state.objective]
    for _ in range(300):
        state = advance(problem, state)
        objectives.append(state.objective)
    expected = Lasso(alpha=2.0 / 30, fit_intercept=False, tol=1e-12).fit(problem.A, problem.b).coef_
    assert np.all(np.diff(objectives) <= 0)
    np.testing.assert_allclose(state.point[0], expected, atol=1e-6)


def test_the_first_steps_are_those_of_fista(problem):
    """With the largest curvature no step is shortened, and the published recursion can be written out."""
    L = np.linalg.norm(problem.A, 2) ** 2 * 100
    x_last = x = np.zeros(10)
    t, y, state = 1.0, x, start_at(problem, (x,), L)
    for k in range(5):
        curvature = L * 0.9**k
        x_last, x = x, problem.proximal((y - problem.smooth_gradient((y,))[1][0] / curvature,), curvature)[0]
        t_next = (1 + np.sqrt(1 + 4 * t * t)) / 2
        y, t = x + (t - 1) / t_next * (x - x_last), t_next
        state = advance(problem, state)
        np.testing.assert_allclose(state.point[0], x, rtol=1e-12, atol=1e-15)
