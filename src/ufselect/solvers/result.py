"""What a solver hands back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from numpy.typing import NDArray


class Status(Enum):
    """How a run ended, with what to do about it."""

    CONVERGED = ("the relative decrease of the objective fell to tol", "")
    MAX_ITER = (
        "max_iter was reached before the relative decrease of the objective fell to tol",
        "raise max_iter, or loosen tol if an approximate selection is enough",
    )
    PRECISION = (
        "tol is finer than the working precision of the data can resolve",
        "pass float64 data, or loosen tol",
    )

    @property
    def meaning(self) -> str:
        """What happened, in half a sentence."""
        return self.value[0]

    @property
    def advice(self) -> str:
        """What to change, empty when nothing needs changing."""
        return self.value[1]


@dataclass(frozen=True)
class SolverResult:
    """The end of a run.

    Attributes
    ----------
    state : object
        The solver's last state; its fields are the solver's own.
    objective_history : ndarray
        Objective at the start and after each iteration, in the units of the problem.
    n_iter : int
        Number of iterations made.
    residuals : mapping of str to float
        Distances of the point to the constraints that are only penalised.
    status : Status
        Why the run ended.
    """

    state: Any
    objective_history: NDArray
    n_iter: int
    residuals: Mapping[str, float]
    status: Status

    @property
    def converged(self) -> bool:
        """Whether the stopping rule was met and could be judged."""
        return self.status is Status.CONVERGED
