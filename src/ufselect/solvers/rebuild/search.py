"""Greedy choice of columns, and exchanges after it, under whatever rules the choice is subject to."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ufselect.solvers.rebuild.leave_one_out import LeaveOneOut
from ufselect.solvers.rebuild.placement import Placement
from ufselect.solvers.rebuild.span import Departure, RegularisedSpan, Remainders

# Columns of largest gain among which the leave-one-out error decides: at least so many, and more where rows
# are few, which makes them both cheap and misleading.
SHORTLIST = 30
SHORTLIST_ENTRIES = 6_000
# A swap has to lower the error by this share: what is less is not worth a product with S.
LEAST_GAIN = 1e-4


class ColumnSearch:
    """Chooses columns for a span one at a time, and exchanges them.

    Parameters
    ----------
    span : RegularisedSpan
        The set to fill.
    placement : Placement
        How many columns, and which may be chosen together.
    judge : LeaveOneOut, optional
        The state of the same set; decides among the columns of largest gain.
    per_price : bool, default=True
        Whether greedy steps weigh gains by what columns cost.
    """

    def __init__(
        self,
        span: RegularisedSpan,
        placement: Placement,
        judge: LeaveOneOut | None = None,
        *,
        per_price: bool = True,
    ) -> None:
        self.span = span
        self.placement = placement
        self.judge = judge
        self.per_price = per_price

    def add(self, column: int) -> None:
        """Let a column join."""
        if self.judge is not None:
            self.judge = self.judge.added(column, float(self.span.remainders.variance[column]))
        self.span.add(column)

    def grow(self) -> None:
        """Add the best column until there are as many as asked for, or none may join."""
        while len(self.span.members) < self.placement.size:
            columns = self._candidates(self.span.remainders, self.span.members)
            if columns.size == 0:
                return
            self.add(self._best(columns))

    def sweep(self, fixed: Sequence[int] = ()) -> int:
        """Let each member that is not fixed make way for a better column; return how many did."""
        worth = LEAST_GAIN * max(self.span.error(), 0.0)
        return sum(self._exchange(column, worth) for column in list(self.span.members) if column not in fixed)

    def _candidates(self, remainders: Remainders, members: Sequence[int]) -> NDArray:
        mask = self.placement.open_to(members) & ~self.span.spent(remainders)
        mask[list(members)] = False
        return np.flatnonzero(mask)

    def _best(self, columns: NDArray) -> int:
        remainders, prices = self.span.remainders, self._prices(columns)
        gains = remainders.gains(columns) / prices
        if self.judge is None:
            return int(columns[np.argmax(gains)])
        short = largest(gains, _shortlist(self.judge))
        errors = self.judge.errors_with(columns[short], remainders.variance[columns[short]])
        return int(columns[short][np.argmax((self.judge.error() - errors) / prices[short])])

    def _prices(self, columns: NDArray) -> NDArray:
        costs = self.placement.costs
        return np.ones(columns.size) if costs is None or not self.per_price else costs.prices[columns]

    def _exchange(self, column: int, worth: float) -> bool:
        """Replace a member by the column that lowers the error most without it, where one does."""
        span = self.span
        departure = span.departure(column)
        if span.spent(departure.remainders)[column]:  # only rounding tells it from the others' span
            return False
        others = [member for member in span.members if member != column]
        better = self._better(column, departure.remainders, others, worth)
        if better.size == 0:
            return False
        successor, judge = self._successor(column, departure, better)
        if successor == column:
            return False
        span.remove(column, departure)
        self.judge = judge
        self.add(successor)
        return True

    def _better(self, column: int, remainders: Remainders, others: Sequence[int], worth: float) -> NDArray:
        """Return the columns that would lower the error more than a member that has gone, the best last."""
        columns = self._candidates(remainders, others)
        gains = remainders.gains(columns)
        own = float(remainders.gains(np.array([column]))[0])
        better = np.flatnonzero(gains > own + worth)
        return columns[better[np.argsort(gains[better])]]

    def _successor(
        self, column: int, departure: Departure, better: NDArray
    ) -> tuple[int, LeaveOneOut | None]:
        """Return which of the better columns succeeds a member, or the member, and the state without it."""
        if self.judge is None:
            return int(better[-1]), None
        judge = self.judge.released(np.array(self.span.members), departure.weights, departure.pivot)
        tried = np.append(better[-_shortlist(judge) :], column)
        errors = judge.errors_with(tried, departure.remainders.variance[tried])
        best = int(np.argmin(errors))
        return int(tried[best]) if errors[best] < (1 - LEAST_GAIN) * errors[-1] else column, judge


def _shortlist(judge: LeaveOneOut) -> int:
    return max(SHORTLIST, SHORTLIST_ENTRIES // judge.rows.shape[0])


def largest(values: NDArray, count: int) -> NDArray:
    """Return the positions of the largest values, in no particular order."""
    if values.size <= count:
        return np.arange(values.size)
    return np.argpartition(values, values.size - count)[values.size - count :]
