"""Accelerated proximal gradients that never raise the objective."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

# Blocks of variables, arrays of NumPy or of PyTorch. Blocks beyond those of the gradient are linear images of
# the first ones and are carried along, so that they need not be worked out anew where a step extrapolates.
Point = tuple[Any, ...]

# After each step the curvature may fall by a tenth, so that one bad place does not shorten all later steps.
CURVATURE_DECAY = 0.9
CURVATURE_GROWTH = 2.0  # halves a step that is too long
# Roundings of the smooth part that its comparison with the quadratic model must bear.
ROUNDING = 64 * float(np.finfo(np.float64).eps)


class Composite(Protocol):
    """A smooth function plus one whose proximal map is known, or a convex set with a known projection."""

    def smooth(self, point: Point) -> float:
        """Return the smooth part."""

    def smooth_gradient(self, point: Point) -> tuple[float, Sequence[Any]]:
        """Return the smooth part and its gradient by the variables, without images of them."""

    def proximal(self, point: Sequence[Any], curvature: float) -> Point:
        """Return the proximal map of the other part over ``curvature``, or the projection on the set.

        It is given the variables and returns them with their images.
        """

    def penalty(self, point: Point) -> float:
        """Return the other part, 0 on a set."""


@dataclass(frozen=True)
class AcceleratedState:
    """The point, the one before it, and what the accelerated method carries along."""

    point: Point
    previous: Point
    momentum: float
    curvature: float
    objective: float


def start_at(problem: Composite, point: Point, curvature: float, momentum: float = 0.0) -> AcceleratedState:
    """Return the state at a starting point.

    ``curvature`` is what the first step is about to assume. The sequence of [1]_ begins with ``momentum``
    0; 1 leaves out its first term, so that the second step is extrapolated already.

    References
    ----------
    .. [1] A. Beck and M. Teboulle (2009), "A fast iterative shrinkage-thresholding algorithm for linear
       inverse problems", SIAM Journal on Imaging Sciences 2(1).
    """
    objective = problem.smooth(point) + problem.penalty(point)
    return AcceleratedState(point, point, momentum, curvature / CURVATURE_DECAY, objective)


def advance(problem: Composite, state: AcceleratedState) -> AcceleratedState:
    r"""Take an extrapolated step, or a plain one where extrapolation would raise the objective [1]_.

    References
    ----------
    .. [1] B. O'Donoghue and E. Candès (2015), "Adaptive restart for accelerated gradient schemes",
       Foundations of Computational Mathematics 15.
    """
    momentum = (1 + np.sqrt(1 + 4 * state.momentum**2)) / 2
    pull = (state.momentum - 1) / momentum
    ahead = tuple(w + pull * (w - old) for w, old in zip(state.point, state.previous, strict=True))
    point, curvature, objective = _proximal_step(problem, ahead, state.curvature)
    if objective > state.objective:
        momentum = 1.0
        point, curvature, objective = _proximal_step(problem, state.point, curvature)
    if objective > state.objective:  # only by rounding, at a stationary point
        return state
    return AcceleratedState(point, state.point, momentum, curvature, objective)


def _proximal_step(problem: Composite, point: Point, curvature: float) -> tuple[Point, float, float]:
    """Step along the gradient, apply the proximal map, and halve the step until the quadratic model holds."""
    value, gradient = problem.smooth_gradient(point)
    variables = point[: len(gradient)]
    curvature *= CURVATURE_DECAY
    while True:
        stepped = [w - g / curvature for w, g in zip(variables, gradient, strict=True)]
        moved = problem.proximal(stepped, curvature)
        change = [new - w for new, w in zip(moved, variables, strict=False)]
        model = value + _inner(gradient, change) + 0.5 * curvature * _inner(change, change)
        smooth = problem.smooth(moved)
        if smooth <= model + ROUNDING * abs(value):
            return moved, curvature, smooth + problem.penalty(moved)
        curvature *= CURVATURE_GROWTH


def _inner(left: Sequence[Any], right: Sequence[Any]) -> float:
    return float(sum((a * b).sum() for a, b in zip(left, right, strict=True)))
