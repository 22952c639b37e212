"""Greedy choice of columns, and exchanges after it, under whatever rules the choice is subject to."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ufselect.common.deadline import check_time
from ufselect.solvers.rebuild.placement import Placement
from ufselect.solvers.rebuild.span import RegularisedSpan, Remainders

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
    per_price : bool, default=True
        Whether greedy steps weigh gains by what columns cost.
    """

    def __init__(
        self,
        span: RegularisedSpan,
        placement: Placement,
        *,
        per_price: bool = True,
    ) -> None:
        self.span = span
        self.placement = placement
        self.per_price = per_price
        self.chosen: list[int] = []

    def add(self, unit: int) -> None:
        """Let the columns of a unit join, those that lie in the span without effect."""
        for column in self.span.units.members(unit).tolist():
            if not self.span.spent(self.span.remainders, column):
                self.span.add(column)
        self.chosen.append(unit)

    def grow(self) -> None:
        """Add the best unit until there are as many as asked for, or none may join."""
        while len(self.chosen) < self.placement.size:
            check_time()
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
        return int(units[np.argmax(self.span.unit_gains(self.span.remainders, units) / self._prices(units))])

    def _prices(self, columns: NDArray) -> NDArray:
        costs = self.placement.costs
        return np.ones(columns.size) if costs is None or not self.per_price else costs.prices[columns]

    def _exchange(self, unit: int, worth: float) -> bool:
        """Replace a chosen unit by the one that lowers the error most without it, where one does."""
        check_time()
        span = self.span
        columns = [column for column in span.units.members(unit).tolist() if column in span.members]
        if not columns:  # it lies in the span of the others
            return False
        departure = span.departure(columns)
        if span.spent(departure.remainders, columns).any():  # only rounding tells it from them
            return False
        others = [chosen for chosen in self.chosen if chosen != unit]
        candidates = self._candidates(departure.remainders, others)
        gains = span.unit_gains(departure.remainders, candidates)
        own = float(span.unit_gains(departure.remainders, np.array([unit]))[0])
        if candidates.size == 0 or gains.max() <= own + worth:
            return False
        successor = int(candidates[np.argmax(gains)])
        span.remove(departure)
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
