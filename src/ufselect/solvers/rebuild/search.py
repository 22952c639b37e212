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
    """Chooses the units of columns of a span one at a time, and exchanges them.

    Parameters
    ----------
    span : RegularisedSpan
        The set to fill.
    placement : Placement
        How many units, and which columns may be chosen together where each is its own unit.
    judge : LeaveOneOut, optional
        The state of the same set; decides among the columns of largest gain, where each is its own unit.
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
        self.chosen: list[int] = []

    def add(self, unit: int) -> None:
        """Let the columns of a unit join, those that lie in the span without effect."""
        for column in self.span.units.members(unit).tolist():
            if self.span.spent(self.span.remainders, column):
                continue
            variance = float(self.span.remainders.variance[column])
            if self.span.add(column) and self.judge is not None:
                self.judge = self.judge.added(column, variance)
        self.chosen.append(unit)

    def grow(self) -> None:
        """Add the best unit until there are as many as asked for, or none may join."""
        while len(self.chosen) < self.placement.size:
            units = self._candidates(self.span.remainders, self.chosen)
            if units.size == 0:
                return
            self.add(self._best(units))

    def sweep(self, fixed: Sequence[int] = ()) -> int:
        """Let each chosen unit that is not fixed make way for a better one; return how many did.

        Single columns for which there was none better when the sweep began are passed over.
        """
        worth = LEAST_GAIN * max(self.span.error(), 0.0)
        units = [unit for unit in self.chosen if unit not in fixed]
        if self.span.units.is_single:
            gains = dict(
                zip(self.span.members, self.span.best_exchanges(self.placement.allowed), strict=True)
            )
            units = [unit for unit in units if gains.get(unit, 0.0) > worth]
        return sum(self._exchange(unit, worth) for unit in units)

    def gains_outside(self) -> NDArray:
        """Return by how much each unit would lower the error, whatever the rules; 0 for those chosen."""
        span = self.span
        outside = span.units.sums(self.placement.allowed & ~span.spent(span.remainders)) > 0
        outside[self.chosen] = False
        gains = np.zeros(outside.size)
        gains[outside] = span.unit_gains(span.remainders, np.flatnonzero(outside))
        return gains

    def _candidates(self, remainders: Remainders, chosen: Sequence[int]) -> NDArray:
        columns = self.placement.open_to(chosen) & ~self.span.spent(remainders)
        mask = self.span.units.sums(columns) > 0
        mask[list(chosen)] = False
        return np.flatnonzero(mask)

    def _best(self, units: NDArray) -> int:
        remainders, prices = self.span.remainders, self._prices(units)
        gains = self.span.unit_gains(remainders, units) / prices
        if self.judge is None:
            return int(units[np.argmax(gains)])
        short = largest(gains, _shortlist(self.judge))
        errors = self.judge.errors_with(units[short], remainders.variance[units[short]])
        return int(units[short][np.argmax((self.judge.error() - errors) / prices[short])])

    def _prices(self, columns: NDArray) -> NDArray:
        costs = self.placement.costs
        return np.ones(columns.size) if costs is None or not self.per_price else costs.prices[columns]

    def _exchange(self, unit: int, worth: float) -> bool:
        """Replace a chosen unit by the one that lowers the error most without it, where one does."""
        span = self.span
        columns = [column for column in span.units.members(unit).tolist() if column in span.members]
        if not columns:  # it lies in the span of the others
            return False
        departure = span.departure(columns)
        if span.spent(departure.remainders, columns).any():  # only rounding tells it from them
            return False
        others = [chosen for chosen in self.chosen if chosen != unit]
        better = self._better(unit, departure.remainders, others, worth)
        if better.size == 0:
            return False
        successor, judge = self._successor(unit, departure, better)
        if successor == unit:
            return False
        span.remove(departure)
        self.judge = judge
        self.chosen = others
        self.add(successor)
        self._complete()
        return True

    def _complete(self) -> None:
        """Let in what joined without effect and no longer lies in the span."""
        units = self.span.units
        if units.is_single:
            return
        for unit in self.chosen:
            for column in units.members(unit).tolist():
                if column not in self.span.members and not self.span.spent(self.span.remainders, column):
                    self.span.add(column)

    def _better(self, unit: int, remainders: Remainders, others: Sequence[int], worth: float) -> NDArray:
        """Return the units that would lower the error more than one that has gone, the best last."""
        units = self._candidates(remainders, others)
        gains = self.span.unit_gains(remainders, units)
        own = float(self.span.unit_gains(remainders, np.array([unit]))[0])
        better = np.flatnonzero(gains > own + worth)
        return units[better[np.argsort(gains[better])]]

    def _successor(self, unit: int, departure: Departure, better: NDArray) -> tuple[int, LeaveOneOut | None]:
        """Return which of the better units succeeds one, or the unit itself, and the state without it."""
        if self.judge is None:
            return int(better[-1]), None
        judge = self.judge.released(np.array(self.span.members), departure.weights)
        tried = np.append(better[-_shortlist(judge) :], unit)
        errors = judge.errors_with(tried, departure.remainders.variance[tried])
        best = int(np.argmin(errors))
        return int(tried[best]) if errors[best] < (1 - LEAST_GAIN) * errors[-1] else unit, judge


def _shortlist(judge: LeaveOneOut) -> int:
    return max(SHORTLIST, SHORTLIST_ENTRIES // judge.weights.size)


def largest(values: NDArray, count: int) -> NDArray:
    """Return the positions of the largest values, in no particular order."""
    if values.size <= count:
        return np.arange(values.size)
    return np.argpartition(values, values.size - count)[values.size - count :]
