"""X-steps: updates of X on the Stiefel manifold for fixed sparse copies."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ufselect._solver.iterate import barzilai_borwein
from ufselect.dscofs.pam import PamState, XStep
from ufselect.dscofs.problem import SplitPCA
from ufselect.gram.spectrum import orthonormality_defect, polar_factor, rotate_towards


def make_x_step(name: str, problem: SplitPCA) -> XStep:
    """Return the X-step of that name; ``"auto"`` rotates the power step if penalties are small.

    Penalties that together stay below a tenth of the mean leading eigenvalue leave the rotation of X nearly
    free, and finding it at once saves up to nine products in ten. With larger penalties, the rotation that
    fits the last Y and Z best slows their change. On seven data sets the two are about equal between 0.1
    and 0.2.
    """
    if name == "auto":
        is_small = problem.mu_entry + problem.mu_row <= 0.1 * problem.leading_variance
        name = "rotated" if problem.mu_entry > 0 and is_small else "power"
    if name == "pencf":
        return PenCF()
    return rotated_power_step if name == "rotated" else power_step


def power_step(problem: SplitPCA, state: PamState, ascent: NDArray) -> NDArray:
    r"""Return :math:`\mathrm{polar}(SX + B)`, one step of the power method.

    On the manifold the X-step maximises :math:`\mathrm{Tr}(X^\top SX) + 2\mathrm{Tr}(X^\top B)`, which is
    convex because S is positive semidefinite. Its linearisation at X is maximised by the polar factor, so
    the step never increases the objective and needs no step size.
    """
    return polar_factor(ascent)


def rotated_power_step(problem: SplitPCA, state: PamState, ascent: NDArray) -> NDArray:
    r"""Return a power step after the best rotation within its span.

    .. math::

        Q = \mathrm{polar}(SX + B), \qquad X \leftarrow Q\,\mathrm{polar}(Q^\top(\mu_1 Y + \mu_2 Z))

    Rotating within a span does not change :math:`\mathrm{Tr}(X^\top SX)`, so the best rotation is known in
    closed form and needs no product with S. The power step alone rotates X by a share of about
    :math:`\mu/\lambda` per step, which takes hundreds of steps if the penalties are small compared with the
    eigenvalues.
    """
    X = polar_factor(ascent)
    if problem.mu_entry == 0:
        return X  # all rotations are equal, since Z rotates with X
    return rotate_towards(X, problem.pull(state.Y, state.Z))


class PenCF:
    r"""Solve the X-step to convergence by gradient steps on an exact penalty function.

    With l the objective of the X-step, :math:`\Lambda = \tfrac12(X^\top\nabla l + \nabla l^\top X)` and
    :math:`D = \nabla l - X\Lambda + \beta X(X^\top X - I)`, iterate :math:`X \leftarrow P_{ball}(X - \eta D)`
    with alternating Barzilai–Borwein steps :math:`\eta` (Xiao, Liu and Yuan 2022, Optim. Methods Softw. 37).
    The radius of the ball, :math:`\beta`, the largest step and the defaults of ``tol``, the relative decrease
    of the Riemannian gradient, and ``max_steps`` of one X-step are those of the authors' program.

    An object serves one run. After ``max_run_steps`` gradient steps, power steps follow, which also lower the
    objective: with penalties far above the size of the data no X-step may reach the tolerance.
    """

    def __init__(self, tol: float = 1e-8, max_steps: int = 1000, max_run_steps: int = 10_000) -> None:
        self.tol = tol
        self.max_steps = max_steps
        self.n_left = max_run_steps

    def __call__(self, problem: SplitPCA, state: PamState, ascent: NDArray) -> NDArray:
        """Return a minimiser of the X-step, started at the state's X."""
        if self.n_left == 0:
            return polar_factor(ascent)
        X, linear = state.X, ascent - state.product
        weight = problem.mu_entry + problem.mu_row + problem.tau
        radius = 1.0001 * np.sqrt(X.shape[1])  # every orthonormal matrix has the norm sqrt(m)
        finfo = np.finfo(X.dtype)

        gradient = 2 * (weight * X - ascent)
        beta = 0.5 * float(np.linalg.norm(gradient)) / X.shape[1]
        direction, stationarity = penalty_direction(X, gradient, beta)
        # A gradient of the size of the rounding of SX + B is zero.
        target = max(self.tol * stationarity, 64 * float(finfo.eps) * float(np.linalg.norm(ascent)))
        step = 0.01 * float(np.linalg.norm(X)) / max(float(np.linalg.norm(direction)), float(finfo.tiny))
        for iteration in range(min(self.max_steps, self.n_left)):
            if stationarity <= target:
                break
            self.n_left -= 1
            moved = X - step * direction
            norm = float(np.linalg.norm(moved))
            moved = moved * (radius / norm) if norm > radius else moved
            if np.linalg.norm(orthonormality_defect(moved)) > 0.1:
                moved = polar_factor(moved)  # too far from the manifold
            gradient = 2 * (weight * moved - problem.gram.matmat(moved) - linear)
            new_direction, stationarity = penalty_direction(moved, gradient, beta)
            step = barzilai_borwein(
                moved - X, new_direction - direction, 1000 / problem.unit, is_long=iteration % 2 == 0
            )
            X, direction = moved, new_direction
        return polar_factor(X)


def penalty_direction(X: NDArray, gradient: NDArray, beta: float) -> tuple[NDArray, float]:
    """Return D(X) and the norm of its part along the manifold, ``‖∇l − XΛ‖``."""
    mixed = X.T @ gradient
    along = gradient - X @ (0.5 * (mixed + mixed.T))
    return along + beta * (X @ orthonormality_defect(X)), float(np.linalg.norm(along))
