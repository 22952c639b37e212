"""The X-step by the exact penalty method PenCF, the paper's Algorithm 2."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ufselect.sets import stiefel
from ufselect.solvers.dscofs.pam import PamState
from ufselect.solvers.dscofs.problem import DoubleSparsePCA
from ufselect.solvers.step_length import barzilai_borwein

# The authors' program sets these, all but the last four.
BALL_RADIUS = 1.0001  # in units of sqrt(m), the norm of every orthonormal matrix
MAX_STEP = 1000.0  # largest Barzilai–Borwein step, in units of 1 / unit
PENALTY_SHARE = 0.5  # beta as a share of the first gradient's norm over m
RELATIVE_TOL = 1e-8  # fall of the Riemannian gradient at which the subproblem counts as solved
MAX_STEPS = 1000  # in one X-step
MAX_INFEASIBILITY = 0.1  # distance of XᵀX from I past which X is pulled back towards the manifold
FIRST_STEP = 1e-2  # first step, as a share of ‖X‖ / ‖D‖
# In all X-steps of a run. With penalties up to the size of the data a run takes a few thousand; with far
# larger ones no step may reach the tolerance, and each would use up its own thousand.
MAX_RUN_STEPS = 10_000
ROUNDING = 64.0  # gradients below this many units in the last place of SX + B are zero


class PenCF:
    r"""Solve the X-step to convergence by gradient steps on an exact penalty function.

    With l the objective of the X-step, :math:`\Lambda = \tfrac12(X^\top\nabla l + \nabla l^\top X)` and
    :math:`D = \nabla l - X\Lambda + \beta X(X^\top X - I)`, iterate
    :math:`X \leftarrow P_{ball}(X - \eta D)` with alternating Barzilai–Borwein steps :math:`\eta` [1]_.

    One object serves one run: it makes at most ``MAX_RUN_STEPS`` gradient steps in all, and power steps,
    which lower the objective too, once they are used up.

    References
    ----------
    .. [1] N. Xiao, X. Liu, Y. Yuan (2022), "A class of smooth exact penalty function methods for
       optimization problems with orthogonality constraints", Optimization Methods and Software 37(4).
    """

    extrapolates = False

    def __init__(self) -> None:
        self.n_left = MAX_RUN_STEPS

    def solve(self, problem: DoubleSparsePCA, state: PamState) -> NDArray:
        """Return a minimiser of the X-step, started at the state's X."""
        X, ascent = state.X, state.ascent
        if self.n_left == 0:
            return stiefel.project(ascent)
        linear = ascent - state.product
        weight = problem.mu_entry + problem.mu_row + problem.tau
        radius = BALL_RADIUS * np.sqrt(X.shape[1])

        gradient = 2 * (weight * X - ascent)
        beta = PENALTY_SHARE * float(np.linalg.norm(gradient)) / X.shape[1]
        direction, stationarity = _direction(X, gradient, beta)
        rounding = ROUNDING * float(np.finfo(X.dtype).eps) * float(np.linalg.norm(ascent))
        target = max(RELATIVE_TOL * stationarity, rounding)
        length = max(float(np.linalg.norm(direction)), float(np.finfo(X.dtype).tiny))
        step = FIRST_STEP * float(np.linalg.norm(X)) / length
        for iteration in range(min(MAX_STEPS, self.n_left)):
            if stationarity <= target:
                break
            self.n_left -= 1
            moved = _pull_back(_into_ball(X - step * direction, radius))
            gradient = 2 * (weight * moved - problem.gram.matmat(moved) - linear)
            new_direction, stationarity = _direction(moved, gradient, beta)
            step = barzilai_borwein(
                moved - X, new_direction - direction, MAX_STEP / problem.unit, is_long=iteration % 2 == 0
            )
            X, direction = moved, new_direction
        return stiefel.project(X)


def _direction(X: NDArray, gradient: NDArray, beta: float) -> tuple[NDArray, float]:
    """Return D(X) and the norm of its part along the manifold, ``‖∇l − XΛ‖``."""
    mixed = X.T @ gradient
    along = gradient - X @ (0.5 * (mixed + mixed.T))
    return along + beta * (X @ stiefel.defect(X)), float(np.linalg.norm(along))


def _into_ball(X: NDArray, radius: float) -> NDArray:
    norm = float(np.linalg.norm(X))
    return X * (radius / norm) if norm > radius else X


def _pull_back(X: NDArray) -> NDArray:
    """Return X, or its polar factor when it has strayed too far from the manifold."""
    return stiefel.project(X) if np.linalg.norm(stiefel.defect(X)) > MAX_INFEASIBILITY else X
