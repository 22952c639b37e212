"""The one driver loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from ufselect.solvers.result import SolverResult, Status

Callback = Callable[[int, float], None]


class Method(Protocol):
    """What the loop needs of an iterative method; its states carry an ``objective``."""

    unit: float
    resolution: float

    def init(self) -> Any:
        """Return the starting state."""

    def step(self, state: Any) -> Any:
        """Return the next state; its objective is never larger."""

    def residuals(self, state: Any) -> dict[str, float]:
        """Return the distances to the constraints at a state."""


def iterate(method: Method, *, max_iter: int, tol: float, callback: Callback | None = None) -> SolverResult:
    r"""Run a method until :math:`|f_{k+1} - f_k| / (u + |f_k|) \le tol` or ``max_iter`` steps.

    ``u`` is the method's unit of the objective: 1 in the paper's absolute scaling, the largest eigenvalue
    in the relative one. ``tol=0`` runs until the objective stands still. The callback gets the iteration's
    number and objective; what it raises ends the run.
    """
    state = method.init()
    history = [state.objective]
    status = Status.MAX_ITER
    for iteration in range(1, max_iter + 1):
        state = method.step(state)
        previous = history[-1]
        history.append(state.objective)
        if callback is not None:
            callback(iteration, state.objective)
        if previous - state.objective <= tol * (method.unit + abs(previous)):
            status = Status.PRECISION if 0 < tol < method.resolution else Status.CONVERGED
            break
    return SolverResult(
        state=state,
        objective_history=np.asarray(history),
        n_iter=len(history) - 1,
        residuals=method.residuals(state),
        status=status,
    )
