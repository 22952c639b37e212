"""The whole choice: shrinkage from the data, greedy steps, exchanges, order."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from ufselect.gram import GramOperator
from ufselect.sets.units import Units
from ufselect.solvers.rebuild.evidence import Rows
from ufselect.solvers.rebuild.placement import Placement
from ufselect.solvers.rebuild.problem import Problem, Search, filled
from ufselect.solvers.rebuild.row_span import RowSpan
from ufselect.solvers.rebuild.span import RegularisedSpan
from ufselect.solvers.rebuild.steps import Choice

# A sweep that has lowered the error by less than this share is the last one.
SETTLED = 1e-2


Report = Callable[[int, float], None]


def _silent(sweep: int, error: float) -> None:
    """Report nothing."""


def choose_columns(
    gram: GramOperator,
    placement: Placement,
    *,
    max_sweeps: int,
    penalty: float | None = None,
    start: Sequence[int] = (),
    units: Units | None = None,
    rows: Rows | None = None,
    on_sweep: Report = _silent,
) -> Choice:
    r"""Choose columns C of small regularised error

    .. math:: \min_W \|A - A_C W\|_F^2 + \rho \sum_{i \in C} S_{ii} \|w_i\|^2.

    Parameters
    ----------
    gram : GramOperator
        S of the centred data A.
    placement : Placement
        How many units, and which columns may be chosen together where each is its own unit.
    max_sweeps : int
        Most sweeps of exchanges over the members; 0 for greedy steps alone.
    penalty : float, optional
        The weight ρ; by default from the data, and 0 without exchanges where rows are few and some of them
        hold much more of the variance than in normal data.
    start : sequence of int, optional
        Units that are members from the beginning and stay.
    units : Units, optional
        Which columns join together; by default each is its own unit.
    rows : Rows, optional
        The rows behind S. Where they are few and the penalty comes from the data, the columns of greedy steps
        without a penalty stay unless others rebuild rows left out better, by more than the standard error.
    on_sweep : callable, optional
        Called with the number of the sweep and the error after it.
    """
    problem = Problem.of(gram, placement, max_sweeps, units)
    greedy = None
    if penalty is None:
        greedy = problem.greedy(start)
        if problem.is_heavy_tailed or greedy.order.size == 0:
            # Neither the shrinkage, which is that of normal data, nor rows left out tell what new rows will
            # be like. What greedy steps take stays.
            return greedy.choice()
        penalty = problem.penalty(greedy)
    search = problem.search(penalty)
    errors = _exchange(search, start, max_sweeps, on_sweep)
    if placement.costs is not None:
        # Gain per price alone can miss one dear column that is worth all cheap ones.
        other = problem.search(penalty, per_price=False)
        other_errors = _exchange(other, start, max_sweeps, _silent)
        if other_errors[-1] < errors[-1]:
            search, errors = other, other_errors
    if greedy is not None and rows is not None and rows.are_few():
        chosen = np.flatnonzero(np.isin(problem.units.codes, search.chosen))
        if not rows.favour(chosen, greedy.columns):
            return greedy.choice(len(errors) - 1)
    gains = search.gains_outside() / search.span.total
    return Choice(search.span.order(search.chosen), gains, errors, penalty, len(errors) - 1)


def first_columns(
    placement: Callable[[GramOperator, int], Placement],
    start: Sequence[int],
    penalty: float | None = None,
    units: Units | None = None,
) -> Callable[[GramOperator, int], NDArray]:
    """Return a function of a Gram operator and a count that gives so many units by greedy steps.

    A penalty from the data is that of the first operator: in the folds of a cross-validation most rows of one
    are those of the next. Rows left out have a part in the penalty, not in the steps: a curve shows where the
    error stops falling, for which they are not worth their time.
    """

    def path(gram: GramOperator, count: int) -> NDArray:
        nonlocal penalty
        rules = placement(gram, max(count, len(start)))
        problem = Problem.of(gram, rules, 0, units)
        if penalty is None:
            penalty = 0.0 if problem.is_heavy_tailed else problem.penalty(problem.greedy(start))
        search = filled(problem.path(penalty), start)
        return np.array(search.chosen[:count], dtype=np.intp)

    return path


def _exchange(search: Search, start: Sequence[int], max_sweeps: int, report: Report) -> list[float]:
    """Fill the search's span and sweep over it until it settles; return the errors as shares."""
    span = filled(search, start).span
    errors = [_share(span)]
    for sweep in range(1, max_sweeps + 1):
        n_swaps = search.sweep(start)
        search.grow()
        errors.append(_share(span))
        report(sweep, errors[-1])
        if n_swaps == 0 or errors[-1] > (1 - SETTLED) * errors[-2]:
            break
    return errors


def _share(span: RegularisedSpan | RowSpan) -> float:
    """Return the error as a share of the variance; below 0 it is by rounding alone."""
    return max(span.error() / span.total, 0.0)
