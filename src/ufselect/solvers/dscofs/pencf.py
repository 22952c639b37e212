"""The X-step by the exact penalty method PenCF, the paper's Algorithm 2."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ufselect.sets import stiefel
from ufselect.solvers.dscofs.pam import PamState
from ufselect.solvers.dscofs.problem import DoubleSparsePCA

BALL_RADIUS = 1.0001  # in units of sqrt(m), the norm of every orthonormal matrix
MAX_STEP = 1000.0  # largest Barzilai–Borwein step, in units of 1 / unit
PENALTY_SHARE = 0.5  # beta as a share of the first gradient's norm over m
RELATIVE_TOL = 1e-8  # fall of the Riemannian gradient at which the subproblem counts as solved
MAX_STEPS = 1000
MAX_INFEASIBILITY = 0.1  # distance of XᵀX from I past which X is pulled back towards the manifold
FIRST_STEP = 1e-2  # first step, as a share of ‖X‖ / ‖D‖


class PenCF:
    r"""Solve the X-step to convergence by gradient steps on an exact penalty function.

    With l the objective of the X-step, :math:`\Lambda = \tfrac12(X^\top\nabla l + \nabla l^\top X)` and
    :math:`D = \nabla l - X\Lambda + \beta X(X^\top X - I)`, iterate
    :math:`X \leftarrow P_{ball}(X - \eta D)` with alternating Barzilai–Borwein steps :math:`\eta` [1]_.

    References
    ----------
    .. [1] N. Xiao, X. Liu, Y. Yuan (2022), "A class of smooth exact penalty function methods for
       optimization problems with orthogonality constraints", Optimization Methods and Software 37(4).
    """

    extrapolates = False

    def solve(self, problem: DoubleSparsePCA, state: PamState, trial: NDArray) -> NDArray:
        """Return a minimiser of the X-step, started at the state's X."""
        X, ascent = state.X, state.ascent
        linear = ascent - state.product
        weight = problem.mu_entry + problem.mu_row + problem.tau
        radius = BALL_RADIUS * np.sqrt(X.shape[1])

        gradient = 2 * (weight * X - ascent)
        beta = PENALTY_SHARE * float(np.linalg.norm(gradient)) / X.shape[1]
        direction, stationarity = _direction(X, gradient, beta)
        target = RELATIVE_TOL * stationarity
        step = FIRST_STEP * float(np.linalg.norm(X)) / max(float(np.linalg.norm(direction)), _tiny(X))
        for iteration in range(MAX_STEPS):
            if stationarity <= target:
                break
            moved = _pull_back(_into_ball(X - step * direction, radius))
            gradient = 2 * (weight * moved - problem.gram.matmat(moved) - linear)
            new_direction, stationarity = _direction(moved, gradient, beta)
            step = _barzilai_borwein(moved - X, new_direction - direction, iteration)
            step = min(step, MAX_STEP / problem.unit)
            X, direction = moved, new_direction
        return stiefel.project(X)


def _direction(X: NDArray, gradient: NDArray, beta: float) -> tuple[NDArray, float]:
    """Return D(X) and the norm of its part along the manifold, ``‖∇l − XΛ‖``."""
    mixed = X.T @ gradient
    along = gradient - X @ (0.5 * (mixed + mixed.T))
    defect = X.T @ X
    defect.flat[:: defect.shape[0] + 1] -= 1
    return along + beta * (X @ defect), float(np.linalg.norm(along))


def _into_ball(X: NDArray, radius: float) -> NDArray:
    norm = float(np.linalg.norm(X))
    return X * (radius / norm) if norm > radius else X


def _pull_back(X: NDArray) -> NDArray:
    """Return X, or its polar factor when it has strayed too far from the manifold."""
    defect = X.T @ X
    defect.flat[:: defect.shape[0] + 1] -= 1
    return stiefel.project(X) if np.linalg.norm(defect) > MAX_INFEASIBILITY else X


def _barzilai_borwein(change: NDArray, gradient_change: NDArray, iteration: int) -> float:
    """Return the long step on even, the short step on odd iterations, without sign."""
    mixed = abs(float(np.vdot(change, gradient_change)))
    if iteration % 2 == 0:
        return float(np.vdot(change, change)) / max(mixed, _tiny(change))
    return mixed / max(float(np.vdot(gradient_change, gradient_change)), _tiny(change))


def _tiny(array: NDArray) -> float:
    return float(np.finfo(array.dtype).tiny)
