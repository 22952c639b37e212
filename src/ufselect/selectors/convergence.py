"""What iterative selectors report of their run."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ufselect.common.warn import warn_user
from ufselect.solvers import SolverResult

LARGEST_WEIGHT = 1e100  # of a regulariser in units of the data: its square is still a number
LEAST_WEIGHT = 1e-12  # beside a criterion, of which rounding leaves little more


def run_attributes(
    name: str,
    result: SolverResult,
    scale: float = 1.0,
    *,
    is_judged: bool = True,
    reason: tuple[str, str] | None = None,
) -> dict[str, Any]:
    """Return the attributes that every iterative selector has, warning if the run did not converge.

    Parameters
    ----------
    name : str
        The selector's name, for the warning.
    result : SolverResult
        The run.
    scale : float
        What the data were divided by; the objective is brought back to units of the data squared.
    is_judged : bool
        Whether a run that did not converge is worth a warning.
    reason : tuple of str, optional
        What happened and what to change, where the selector knows it better than the run's status.
    """
    if is_judged and not result.converged:
        meaning, advice = reason or (result.status.meaning, result.status.advice)
        warn_user(f"{name}: {meaning} ({result.n_iter} iterations); {advice}.", ConvergenceWarning)
    with np.errstate(over="ignore"):  # the objective may leave the range of floats; the selection does not
        history = result.objective_history * scale * scale
    return {
        "objective_history_": history,
        "n_iter_": result.n_iter,
        "converged_": result.converged,
    }


def in_units_of(scale: float, name: str, value: float) -> float:
    """Return a regulariser for data that are divided by ``scale``.

    Raises
    ------
    ValueError
        If it leaves the range of floating-point numbers.
    """
    scaled = value / scale / scale
    if not scaled < LARGEST_WEIGHT:
        raise ValueError(
            f"{name}={value} is beyond comparison with data as small as X; lower it or multiply X by a "
            "constant."
        )
    return scaled


def check_comparable(name: str, value: float, size: float) -> None:
    """Refuse the weight of a penalty that is out of proportion to a criterion of some size.

    Raises
    ------
    ValueError
        With the range to choose from.
    """
    unit = size or 1.0
    if not LEAST_WEIGHT * unit <= value <= LARGEST_WEIGHT * unit:
        raise ValueError(
            f"{name}={value} is beyond comparison with the criterion, which is {unit:.0e} on these data; "
            f"choose it between {LEAST_WEIGHT * unit:.0e} and {LARGEST_WEIGHT * unit:.0e}."
        )
