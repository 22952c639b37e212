"""The one driver loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from ufselect.common.deadline import check_time
from ufselect.solvers.result import SolverResult, Status

Callback = Callable[[int, float], None]


class Method(Protocol):
    """What the loop needs of an iterative method; its states carry an ``objective``."""

    @property
    def resolution(self) -> float:
        """The finest ``tol`` that rounding lets the method meet."""

    def init(self) -> Any:
        """Return the starting state."""

    def step(self, state: Any) -> Any:
        """Return the next state."""

    def is_settled(self, last: Any, state: Any, tol: Any) -> bool:
        """Tell whether a step from ``last`` to ``state`` may be the last one; ``tol`` may be None."""

    def residuals(self, state: Any) -> dict[str, float]:
        """Return the distances to the constraints at a state."""


class Descent:
    r"""A method whose objective never rises; it settles once :math:`f_k - f_{k+1} \le tol\,(u + |f_k|)`.

    ``unit`` is u: 1 in the paper's absolute scaling, the largest eigenvalue in the relative one, 0 where the
    objective is never near zero.
    """

    unit: float = 0.0
    resolution: float = 0.0

    def is_settled(self, last: Any, state: Any, tol: float) -> bool:
        return last.objective - state.objective <= tol * (self.unit + abs(last.objective))

    def residuals(self, state: Any) -> dict[str, float]:
        return {}


def iterate(
    method: Method, *, max_iter: int, tol: float | None, callback: Callback | None = None
) -> SolverResult:
    """Run a method until it has settled, or for ``max_iter`` steps.

    ``tol=0`` runs until the objective stands still, ``tol=None`` makes all steps and leaves it to the method
    whether the last one settles. The callback gets the iteration's number and objective; what it raises ends
    the run.
    """
    state = method.init()
    history = [state.objective]
    settled = False
    for iteration in range(1, max_iter + 1):
        check_time()
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
