"""The loop of every iterative method, what it reports, and accelerated proximal gradient steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from ufselect._utils.validation import warn_user


class Status(Enum):
    """How a run ended: what happened and what to change, each in half a sentence."""

    CONVERGED = ("the relative decrease of the objective fell to tol", "")
    MAX_ITER = (
        "max_iter was reached before the relative decrease of the objective fell to tol",
        "raise max_iter, or loosen tol if an approximate selection is enough",
    )
    PRECISION = (
        "tol is finer than the working precision of the data can resolve",
        "pass float64 data, or loosen tol",
    )


@dataclass(frozen=True)
class SolverResult:
    """The end of a run: the last state, and the objective at the start and after each iteration.

    ``residuals`` are the distances of the point to the constraints that are only penalised.
    """

    state: Any
    objective_history: NDArray
    n_iter: int
    residuals: Mapping[str, float]
    status: Status

    @property
    def converged(self) -> bool:
        """Whether the stopping rule was met, at a ``tol`` that the precision of the data can resolve."""
        return self.status is Status.CONVERGED


Callback = Callable[[int, float], None]


class Descent:
    r"""A method whose objective never rises; it settles once :math:`f_k - f_{k+1} \le tol\,(u + |f_k|)`.

    A subclass has ``init()``, which returns the starting state, and ``step(state)``, which returns the next
    one; states carry an ``objective``. ``unit`` is u: 1 in the paper's absolute scaling, the largest
    eigenvalue in the relative one, 0 if the objective is never near zero. ``resolution`` is the finest
    ``tol`` that rounding lets the method meet.
    """

    unit: float = 0.0
    resolution: float = 0.0

    def is_settled(self, last: Any, state: Any, tol: float) -> bool:
        """Return whether the run may end after a step from ``last`` to ``state``."""
        return last.objective - state.objective <= tol * (self.unit + abs(last.objective))

    def residuals(self, state: Any) -> dict[str, float]:
        """Return the distances to the constraints that are only penalised."""
        return {}


def iterate(
    method: Any, *, max_iter: int, tol: float | None, callback: Callback | None = None
) -> SolverResult:
    """Run a `Descent`, or an object with its methods, until it settles or for ``max_iter`` steps.

    ``tol=0`` runs until the objective no longer decreases. ``tol=None`` makes all steps, and the method
    decides whether the last one counts as settled. The callback gets the iteration's number and objective; an
    exception that it raises ends the run.
    """
    state = method.init()
    history = [state.objective]
    settled = False
    for iteration in range(1, max_iter + 1):
        new = method.step(state)
        settled = method.is_settled(state, new, tol)
        state = new
        history.append(state.objective)
        if callback is not None:
            callback(iteration, state.objective)
        if settled and tol is not None:
            break
    is_blurred = tol is not None and 0 < tol < method.resolution
    return SolverResult(
        state=state,
        objective_history=np.asarray(history),
        n_iter=len(history) - 1,
        residuals=method.residuals(state),
        status=(Status.PRECISION if is_blurred else Status.CONVERGED) if settled else Status.MAX_ITER,
    )


def run_attributes(
    name: str,
    result: SolverResult,
    scale: float = 1.0,
    *,
    is_judged: bool = True,
    reason: tuple[str, str] | None = None,
) -> dict[str, Any]:
    """Return the attributes that every iterative selector has, warning if the run did not converge.

    ``scale`` is what the data were divided by; the objective is returned in units of the data squared.
    ``reason`` says what happened and what to change, if the selector knows more than the run's status.
    """
    if is_judged and not result.converged:
        meaning, advice = reason or result.status.value
        warn_user(f"{name}: {meaning} ({result.n_iter} iterations); {advice}.", ConvergenceWarning)
    with np.errstate(over="ignore"):  # the objective may leave the range of floats; the selection does not
        history = result.objective_history * scale * scale
    return {"objective_history_": history, "n_iter_": result.n_iter, "converged_": result.converged}


def in_units_of(scale: float, name: str, value: float) -> float:
    """Return a regulariser for data divided by ``scale``; raise an error if it would overflow."""
    scaled = float(value) / scale / scale
    if not scaled < 1e100:  # its square is still a number
        raise ValueError(
            f"{name}={value} is too large for data as small as X and would overflow; lower it or rescale X."
        )
    return scaled


# Blocks of variables, arrays of NumPy or of PyTorch. Blocks beyond those of the gradient are linear images of
# the first ones and are carried along, so that they need not be recomputed when a step extrapolates.
Point = tuple[Any, ...]

# Rounding of the smooth part that its comparison with the quadratic model must tolerate.
ROUNDING = 64 * float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class AcceleratedState:
    """The point, the one before it, and what the accelerated method carries along."""

    point: Point
    previous: Point
    momentum: float
    curvature: float
    objective: float


def start_at(problem: Any, point: Point, curvature: float, momentum: float = 0.0) -> AcceleratedState:
    """Return the state at a starting point of a smooth function plus one whose proximal map is known.

    The problem has ``smooth(point)``; ``smooth_gradient(point)``, which also returns the gradient by the
    variables, without images of them; ``penalty(point)``, the other part, 0 on a convex set; and
    ``proximal(variables, curvature)``, its proximal map over ``curvature`` or the projection on the set,
    which returns the variables with their images. ``curvature`` is that of the first step. The sequence of
    Beck and Teboulle (2009, SIAM J. Imaging Sci. 2) begins with ``momentum`` 0; 1 skips its first term, so
    that the second step is already extrapolated.
    """
    objective = problem.smooth(point) + problem.penalty(point)
    return AcceleratedState(point, point, momentum, curvature / 0.9, objective)


def advance(problem: Any, state: AcceleratedState) -> AcceleratedState:
    """Take an extrapolated step, or a plain one if extrapolation would raise the objective.

    See O'Donoghue and Candès (2015), Foundations of Computational Mathematics 15.
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


def _proximal_step(problem: Any, point: Point, curvature: float) -> tuple[Point, float, float]:
    """Step along the gradient, apply the proximal map, and halve the step until the quadratic model holds."""
    value, gradient = problem.smooth_gradient(point)
    variables = point[: len(gradient)]
    curvature = 0.9 * float(curvature)  # so that one bad place does not shorten all later steps
    while True:
        stepped = [w - g / curvature for w, g in zip(variables, gradient, strict=True)]
        moved = problem.proximal(stepped, curvature)
        change = [new - w for new, w in zip(moved, variables, strict=False)]
        model = value + _inner(gradient, change) + 0.5 * curvature * _inner(change, change)
        smooth = problem.smooth(moved)
        # If rounding hides every descent, the step shrinks to nothing, and `advance` returns its own state.
        if smooth <= model + ROUNDING * abs(value) or not np.isfinite(curvature):
            return moved, curvature, smooth + problem.penalty(moved)
        curvature *= 2.0


def _inner(left: Sequence[Any], right: Sequence[Any]) -> float:
    return float(sum((a * b).sum() for a, b in zip(left, right, strict=True)))


def barzilai_borwein(
    change: NDArray, gradient_change: NDArray, largest: float, *, is_long: bool = True
) -> float:
    r"""Return Barzilai and Borwein's step, without its sign and at most ``largest``.

    With :math:`s` the last change of the point and :math:`y` that of the gradient, the long step is
    :math:`s^\top s / |s^\top y|` and the short one :math:`|s^\top y| / y^\top y`: both are one over the
    curvature along the last step (1988, IMA J. Numer. Anal. 8).
    """
    mixed = abs(float(np.vdot(change, gradient_change)))
    if is_long:
        above, below = float(np.vdot(change, change)), mixed
    else:
        above, below = mixed, float(np.vdot(gradient_change, gradient_change))
    return above / below if above < largest * below else largest
