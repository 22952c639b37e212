"""The loop of every iterative method, and what it reports."""

from __future__ import annotations

from collections.abc import Callable
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
    """The end of a run: the last state, and the objective at the start and after each iteration."""

    state: Any
    objective_history: NDArray
    n_iter: int
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

    ``scale`` is what the data were divided by; ``reason``, what happened and what to change, replaces that of
    the run's status.
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
