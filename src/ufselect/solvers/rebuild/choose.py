"""The whole choice: shrinkage from the data, greedy steps, exchanges, order."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from ufselect.gram import FactoredGram, FormedGram, GramOperator
from ufselect.gram.dense import FORM_RATIO
from ufselect.sets.units import Units
from ufselect.solvers.rebuild.evidence import Rows
from ufselect.solvers.rebuild.leave_one_out import LeaveOneOut
from ufselect.solvers.rebuild.placement import Placement
from ufselect.solvers.rebuild.search import ColumnSearch
from ufselect.solvers.rebuild.shrinkage import shrinkage_weight
from ufselect.solvers.rebuild.span import RegularisedSpan
from ufselect.solvers.rebuild.steps import Choice, GreedySteps, greedy_steps, steps_of
from ufselect.solvers.rebuild.targets import sampled_targets

# With more rows the leave-one-out error chooses as the error itself does, and takes longer.
MOST_ROWS_LEFT_OUT = 200
# The best shrinkage of a covariance matrix is not the best for a set chosen from it: the choice prefers
# correlations that chance has made large. Four times the weight did best on the development sets, times the
# share left unexplained, which is taken to be a half to begin with.
CHOICE_BIAS = 4.0
FIRST_SHARE = 0.5
PENALTY_STEPS = 3
# S² is worth its d³ operations, which run in the cache, where more than one in so many columns joins; else
# each takes a product of S with a vector, which waits for memory. At most so many columns: 130 megabytes.
SQUARED_SHARE = 16
MOST_SQUARED = 4096
# A sweep that has lowered the error by less than this share is the last one.
SETTLED = 2e-3


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
    targets = sampled_targets(gram)
    judge = _judge(gram)
    norms = _squared_norms(gram, targets, judge)
    diagonal = np.asarray(gram.diag(), dtype=np.float64)
    units = Units.single(diagonal.size) if units is None else units
    capacity = units.most_rows(placement.size)
    squared = _squared(gram, capacity if max_sweeps == 0 else 2 * capacity)

    def empty(weight: float) -> RegularisedSpan:
        return RegularisedSpan(gram, weight * diagonal, norms, capacity, targets, squared, units)

    judge = judge if units.is_single else None
    is_heavy_tailed = judge is not None and judge.is_heavy_tailed()
    judge = None if is_heavy_tailed else judge
    greedy = None
    if penalty is None:
        if targets is None:
            greedy = greedy_steps(gram, placement, units, start, norms)
        else:
            greedy = steps_of(_filled(ColumnSearch(empty(0.0), placement), start))
        if is_heavy_tailed or greedy.order.size == 0:
            # Neither the shrinkage, which is that of normal data, nor rows left out tell what new rows will
            # be like. What greedy steps take stays.
            return greedy.choice()
        penalty = _penalty(greedy, diagonal, shrinkage_weight(gram, float(norms.sum())), judge)
    search = ColumnSearch(empty(penalty), placement, judge)
    errors = _exchange(search, start, max_sweeps, on_sweep)
    if placement.costs is not None:
        # Gain per price alone can miss one dear column that is worth all cheap ones.
        other = ColumnSearch(empty(penalty), placement, judge, per_price=False)
        other_errors = _exchange(other, start, max_sweeps, _silent)
        if other_errors[-1] < errors[-1]:
            search, errors = other, other_errors
    if greedy is not None and rows is not None and rows.are_few():
        chosen = np.flatnonzero(np.isin(units.codes, search.chosen))
        if not rows.favour(chosen, greedy.columns):
            return greedy.choice()
    gains = search.gains_outside() / search.span.total
    return Choice(search.span.order(search.chosen), gains, errors, penalty)


def first_columns(
    placement: Callable[[GramOperator, int], Placement],
    start: Sequence[int],
    penalty: float | None = None,
    units: Units | None = None,
) -> Callable[[GramOperator, int], NDArray]:
    """Return a function of a Gram operator and a count that gives so many units by greedy steps.

    A penalty from the data is that of the first operator: in the folds of a cross-validation most rows of one
    are those of the next.
    """

    def path(gram: GramOperator, count: int) -> NDArray:
        nonlocal penalty
        rules = placement(gram, max(count, len(start)))
        choice = choose_columns(gram, rules, max_sweeps=0, penalty=penalty, start=start, units=units)
        penalty = choice.penalty
        return choice.order[:count]

    return path


def _squared_norms(gram: GramOperator, targets: NDArray | None, judge: LeaveOneOut | None) -> NDArray:
    if judge is not None:
        return judge.squared_column_norms()
    if targets is None:
        return gram.squared_column_norms()
    return np.einsum("ij,ij->i", targets, targets, dtype=np.float64)


def _squared(gram: GramOperator, n_joining: int) -> NDArray | None:
    """Return S² where S is an array and so many columns will join that it pays."""
    n_features = gram.shape[0]
    if not isinstance(gram, FormedGram) or n_features > min(SQUARED_SHARE * n_joining, MOST_SQUARED):
        return None
    return gram.matrix @ gram.matrix


def _penalty(greedy: GreedySteps, diagonal: NDArray, shrinkage: float, judge: LeaveOneOut | None) -> float:
    """Return the weight of the penalties that suits the noise in columns.

    What is noise in a column cannot be more than what others leave of it. So the weight is that of the best
    shrinkage times the share of the variance that greedy steps leave, which in turn depends on the weight.
    """
    weight = CHOICE_BIAS * shrinkage * FIRST_SHARE
    for _ in range(PENALTY_STEPS):
        left = _share_left(greedy, weight * diagonal, judge)
        weight = CHOICE_BIAS * shrinkage * max(left, np.finfo(np.float64).eps)
    return weight


def _share_left(greedy: GreedySteps, penalties: NDArray, judge: LeaveOneOut | None) -> float:
    """Return the share of the variance that greedy steps leave, on rows left out where they are at hand."""
    if judge is None:
        return greedy.share_left(penalties)
    return min(judge.error_of(greedy.columns, penalties) / judge.error(), 1.0)


def _exchange(search: ColumnSearch, start: Sequence[int], max_sweeps: int, report: Report) -> list[float]:
    """Fill the search's span and sweep over it until it settles; return the errors as shares."""
    span = _filled(search, start).span
    errors = [_share(span)]
    for sweep in range(1, max_sweeps + 1):
        n_swaps = search.sweep(start)
        search.grow()
        errors.append(_share(span))
        report(sweep, errors[-1])
        if n_swaps == 0 or errors[-1] > (1 - SETTLED) * errors[-2]:
            break
    return errors


def _share(span: RegularisedSpan) -> float:
    """Return the error as a share of the variance; below 0 it is by rounding alone."""
    return max(span.error() / span.total, 0.0)


def _filled(search: ColumnSearch, start: Sequence[int]) -> ColumnSearch:
    for unit in start:
        search.add(unit)
    search.grow()
    return search


def _judge(gram: GramOperator) -> LeaveOneOut | None:
    """Return the leave-one-out error where rows are few, fewer than columns, and at hand."""
    # a truncated factor is a subclass, and its rows are not rows of the data
    if type(gram) is not FactoredGram or gram.n_samples > MOST_ROWS_LEFT_OUT:
        return None
    if gram.shape[0] <= FORM_RATIO * gram.n_samples:  # so that weighted rows fare as repeated ones do
        return None
    if gram.row_weights is None and len(gram.factor) != gram.n_samples:
        return None
    return LeaveOneOut.of_nothing(gram.factor, gram.row_weights)
