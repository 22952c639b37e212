"""The driver loop: when it stops, and what it calls the end."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from ufselect._solver.iterate import Descent, Status, advance, iterate, start_at


@dataclass(frozen=True)
class Value:
    objective: float


class Halving(Descent):
    resolution = 1e-6

    def init(self):
        return Value(1.0)

    def step(self, state):
        return Value(state.objective / 2)


class Wavering(Halving):
    def is_settled(self, last, state, tol):
        return abs(last.objective - state.objective) <= (0.1 if tol is None else tol)


@pytest.mark.parametrize(
    ("tol", "max_iter", "n_iter", "status"),
    [
        (0.5, 10, 1, Status.CONVERGED),
        (0.4, 10, 10, Status.MAX_ITER),
        (0.0, 3, 3, Status.MAX_ITER),
    ],
)
def test_descent_settles_by_the_share_of_the_last_objective(tol, max_iter, n_iter, status):
    result = iterate(Halving(), max_iter=max_iter, tol=tol)
    assert (result.n_iter, result.status) == (n_iter, status)
    assert list(result.objective_history) == [0.5**k for k in range(n_iter + 1)]


def test_the_unit_counts_beside_the_objective():
    method = Halving()
    method.unit = 1.0
    assert iterate(method, max_iter=50, tol=0.1).n_iter == 3  # 1/8 is at most a tenth of 1 + 1/4


def test_a_tolerance_below_the_resolution_is_said_to_be_too_fine():
    method = Halving()
    method.unit = 1.0
    assert iterate(method, max_iter=50, tol=1e-7).status is Status.PRECISION


@pytest.mark.parametrize(("max_iter", "status"), [(3, Status.MAX_ITER), (8, Status.CONVERGED)])
def test_without_tolerance_all_steps_are_made_and_the_last_is_judged(max_iter, status):
    result = iterate(Wavering(), max_iter=max_iter, tol=None)
    assert result.n_iter == max_iter
    assert result.status is status


class Rounded:
    """A bowl whose value is always a little above what the quadratic model says."""

    def smooth(self, point):
        return float(point[0] @ point[0]) + 1e-3

    def smooth_gradient(self, point):
        return float(point[0] @ point[0]), (2 * point[0],)

    def penalty(self, point):
        return 0.0

    def proximal(self, variables, curvature):
        return tuple(variables)


def test_a_step_that_rounding_hides_ends():
    problem = Rounded()
    state = start_at(problem, (np.full(3, 1e-4),), np.float64(1.0))
    assert advance(problem, state).objective <= state.objective
