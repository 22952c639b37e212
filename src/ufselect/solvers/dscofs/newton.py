"""The X-step by a Riemannian trust-region method."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ufselect.sets import stiefel
from ufselect.solvers.dscofs.model import StiefelModel, norm
from ufselect.solvers.dscofs.pam import PamState
from ufselect.solvers.dscofs.problem import DoubleSparsePCA
from ufselect.solvers.dscofs.truncated_cg import truncated_cg

RELATIVE_TOL = 1e-8  # fall of the Riemannian gradient at which the subproblem counts as solved
ROUNDING = 64.0  # gradients below this many units in the last place of SX + B are zero
FAST = 0.5  # share of the last gain below which another power step is worth its product
# Safeguards against a run without end; a method that converges superlinearly needs far fewer.
MAX_STEPS = 50
MAX_PRODUCTS = 1000
MAX_INNER = 200
FIRST_RADIUS = 0.5  # in units of sqrt(m), the norm of every orthonormal matrix
LARGEST_GROWTH = 4.0  # of the region: twice sqrt(m) is the diameter of the manifold
# The usual rule of trust-region methods (Nocedal and Wright, 2006, Algorithm 4.1).
ACCEPT = 0.1  # share of the predicted decrease that a step must reach
SHRINK = 0.25  # ratio below which the region shrinks to a quarter
GROW = 0.75  # ratio above which it doubles, if its edge was reached
INNER_SHARE = 0.8  # of the goal, so that the step meets it in spite of its own rounding
SLACK = 10.0  # units in the last place by which rounding may part two equal objectives
HALVED = 0.5  # share of the gradient; where objectives are all rounding, a step must fall below it


class StiefelNewton:
    r"""Minimise the X-step by a Riemannian trust-region method with truncated conjugate gradients.

    .. math::

        \min_{X^\top X = I} -\mathrm{Tr}(X^\top S X) - 2\,\mathrm{Tr}(X^\top B)

    Rotating X within its span leaves the first term alone, so the best rotation, the polar factor of
    :math:`X^\top B`, comes first and costs no product with S. Power steps with this rotation follow as long
    as each gains less than half of what the one before gained, that is, as long as they converge fast. Then
    each step minimises the quadratic model inside a region of trust [1]_; one product with S an inner
    iteration, none for the new point, whose product follows from the step's.

    Parameters
    ----------
    tol : float
        Fall of the gradient's norm at which to stop.

    References
    ----------
    .. [1] P.-A. Absil, C. G. Baker, K. A. Gallivan (2007), "Trust-region methods on Riemannian manifolds",
       Foundations of Computational Mathematics 7(3).
    """

    extrapolates = False

    def __init__(self, tol: float = RELATIVE_TOL) -> None:
        self.tol = tol

    def solve(self, problem: DoubleSparsePCA, state: PamState) -> NDArray:
        """Return a minimiser of the X-step, started at the state's X."""
        linear = problem.linear(state.X, state.Y, state.Z)
        return self.minimise(StiefelModel.at(problem.gram, linear, state.X, state.product))

    def minimise(self, first: StiefelModel) -> NDArray:
        """Return a minimiser of the model's function, started at the model's point."""
        *_, last = self.path(first)
        return stiefel.project(last.X)

    def path(self, first: StiefelModel) -> Iterator[StiefelModel]:
        """Yield the iterates after ``first``; each has an objective that is no larger up to rounding."""
        target = self.tol * norm(first.gradient)
        left = MAX_PRODUCTS
        for model in _power_steps(first.rotated(), target):
            yield model
            left -= 1
        yield from self._trust_region_steps(model, target, left)

    def _trust_region_steps(self, model: StiefelModel, target: float, left: int) -> Iterator[StiefelModel]:
        radius = _Radius(FIRST_RADIUS * np.sqrt(model.X.shape[1]))
        for _ in range(MAX_STEPS):
            size = norm(model.gradient)
            floor = ROUNDING * float(np.finfo(model.X.dtype).eps) * norm(model.ascent)
            goal = max(target, floor)
            if size <= goal or left <= 0:
                break
            step = truncated_cg(
                model, radius.value, goal=INNER_SHARE * goal, max_products=min(left, MAX_INNER)
            )
            left -= step.n_products
            trial = model.moved(step.direction, step.product).rotated()
            actual, predicted = model.objective - trial.objective, step.decrease
            # Both differences drown in rounding near the solution; the slack lets them agree there.
            slack = SLACK * float(np.finfo(model.X.dtype).eps) * abs(model.objective)
            if predicted <= slack and norm(trial.gradient) >= HALVED * size:
                break  # rounding hides any further progress
            ratio = (actual + slack) / (predicted + slack)
            radius.adapt(ratio, step.reached_edge)
            if ratio > ACCEPT and actual >= -slack:
                model = trial
                yield model


def _power_steps(model: StiefelModel, target: float) -> Iterator[StiefelModel]:
    """Yield the model and those after power steps, until their gains no longer fall fast."""
    yield model
    last_gain = np.inf
    while norm(model.gradient) > target:
        X = stiefel.project(model.ascent)
        moved = StiefelModel.at(model.gram, model.linear, X, model.gram.matmat(X)).rotated()
        gain = model.objective - moved.objective
        if gain <= 0:
            break
        model = moved
        yield model
        if gain > FAST * last_gain:
            break
        last_gain = gain


@dataclass
class _Radius:
    """Size of the region in which the quadratic model is trusted."""

    value: float

    def __post_init__(self) -> None:
        self.largest = LARGEST_GROWTH * self.value

    def adapt(self, ratio: float, reached_edge: bool) -> None:
        if ratio < SHRINK:
            self.value *= 0.25
        elif ratio > GROW and reached_edge:
            self.value = min(2 * self.value, self.largest)
