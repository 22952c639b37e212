"""Greedy choice and exchanges of columns over few rows, where the error on rows left out decides."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ufselect.common.deadline import check_time
from ufselect.solvers.rebuild.placement import Placement
from ufselect.solvers.rebuild.row_span import Departures, RowSpan
from ufselect.solvers.rebuild.search import LEAST_GAIN

# Columns of largest gain among which the leave-one-out error decides: at least so many, and in greedy steps
# more where rows are few, which makes them both cheap and misleading.
SHORTLIST = 30
SHORTLIST_ENTRIES = 6_000
# Members whose departures are looked at together after an exchange, and how many times as many each time none
# of them makes way: what is known of the others is void after the next exchange.
FIRST_BLOCK = 1
GROWTH = 8
# Exchanges whose errors are computed together have so many entries: they stay in the cache.
MOST_ENTRIES = 60_000


class RowSearch:
    """Chooses columns over few rows one at a time, and exchanges them. Names as in ``ColumnSearch``.

    Parameters
    ----------
    span : RowSpan
        The set to fill.
    placement : Placement
        How many columns, and which may be chosen together.
    per_price : bool, default=True
        Whether greedy steps weigh gains by what columns cost.
    leaves_out : bool, default=True
        Whether the error on rows left out decides among the columns of largest gain in greedy steps.
    """

    def __init__(
        self, span: RowSpan, placement: Placement, *, per_price: bool = True, leaves_out: bool = True
    ) -> None:
        self.span = span
        self.placement = placement
        self.per_price = per_price
        self.chosen: list[int] = []
        self._n_short = max(SHORTLIST, SHORTLIST_ENTRIES // len(span.rows.weights)) if leaves_out else 1

    def add(self, column: int) -> None:
        """Let a column join, without effect if it lies in the span."""
        if self.span.is_open()[column]:
            self.span.add(column)
        self.chosen.append(column)

    def grow(self) -> None:
        """Add the best column until there are as many as asked for, or none may join."""
        while len(self.chosen) < self.placement.size:
            check_time()
            mask = self.span.is_open()
            mask &= self.placement.allowed if self.placement.is_plain else self._may_join(self.chosen)
            if not mask.any():
                return
            self.add(self._best(mask))

    def sweep(self, fixed: Sequence[int] = ()) -> int:
        """Let each member that is not fixed make way for a better column; return how many did.

        Those for which there was none of larger gain when the sweep began are passed over.
        """
        span = self.span
        if not span.members:
            return 0
        span.refresh()
        worth = LEAST_GAIN * max(span.error(), 0.0)
        waiting = [column for column in self.chosen if column in span.members and column not in fixed]
        size, n_swaps = len(waiting), 0
        is_first = True
        while waiting:
            check_time()
            departures = span.departures(waiting[:size])
            gains, promising = self._promising(departures, worth)
            if is_first:  # all are looked at
                waiting = [column for column, is_one in zip(waiting, promising, strict=True) if is_one]
            found = self._successor(departures, gains, np.flatnonzero(promising))
            if found is None:
                waiting = [] if is_first else waiting[size:]
                size *= GROWTH
            else:
                which, successor = found
                gone = span.members[departures.places[which]]
                waiting = waiting[waiting.index(gone) + 1 :]
                self.chosen.remove(gone)
                span.exchange(departures, which, successor)
                self.chosen.append(successor)
                n_swaps += 1
                size = FIRST_BLOCK
            is_first = False
        return n_swaps

    def gains_outside(self) -> NDArray:
        """Return by how much each column would lower the error, whatever the rules; 0 for those chosen."""
        gains = np.where(self.placement.allowed, self.span.open_gains(), 0.0)
        gains[self.chosen] = 0.0
        return gains

    def _may_join(self, members: Sequence[int]) -> NDArray:
        mask = self.placement.open_to(members)
        mask[list(members)] = False
        return mask

    def _best(self, mask: NDArray) -> int:
        """Return the best of the columns that may join, of which there is one."""
        span, prices = self.span, self._prices()
        columns = np.flatnonzero(mask)
        gains = span.remainders.gains(columns)
        if prices is not None:
            gains /= prices[columns]
        if self._n_short == 1:
            return int(columns[np.argmax(gains)])
        short = columns[largest(gains, self._n_short)]
        errors = span.errors_with(short)
        if prices is None:
            return int(short[np.argmin(errors)])
        return int(short[np.argmax((span.error_left_out() - errors) / prices[short])])

    def _prices(self) -> NDArray | None:
        costs = self.placement.costs
        return None if costs is None or not self.per_price else costs.prices

    def _promising(self, departures: Departures, worth: float) -> tuple[NDArray, NDArray]:
        """Return what columns that may take each member's place would gain beyond it and what is worth while,
        0 where nothing, and mark the members for which there is one."""
        span = self.span
        gains = departures.gains - (departures.lengths + worth)[:, None]
        if self.placement.is_plain:
            gains[:, ~self._may_join(self.chosen)] = 0.0
        else:
            for row, place in zip(gains, departures.places, strict=True):
                others = [column for column in self.chosen if column != span.members[place]]
                mask = self._may_join(others)
                mask[span.members[place]] = False
                row[~mask] = 0.0
        np.maximum(gains, 0.0, out=gains)
        return gains, gains.max(axis=1) > 0

    def _successor(self, departures: Departures, gains: NDArray, members: NDArray) -> tuple[int, int] | None:
        """Return the first of some members that has to make way, and for which column."""
        limit = (1 - LEAST_GAIN) * self.span.error_left_out()
        at_once = max(1, MOST_ENTRIES // (SHORTLIST * len(self.span.rows.weights)))
        for part in np.split(members, range(at_once, members.size, at_once)) if members.size else ():
            shorts = [self._shortlist(gains[member]) for member in part]
            columns = np.concatenate(shorts)
            sizes = [short.size for short in shorts]
            errors = self.span.errors_after(departures, np.repeat(part, sizes), columns)
            ends = np.cumsum(sizes)
            for member, end, size in zip(part, ends, sizes, strict=True):
                best = int(np.argmin(errors[end - size : end])) + end - size
                if errors[best] < limit:
                    return int(member), int(columns[best])
        return None

    def _shortlist(self, gains: NDArray) -> NDArray:
        """Return the columns of largest gain, no more than the error on rows left out is computed for."""
        better = np.flatnonzero(gains)
        return better[largest(gains[better], SHORTLIST)]


def largest(values: NDArray, count: int) -> NDArray:
    """Return the positions of the largest values, in no particular order."""
    if values.size <= count:
        return np.arange(values.size)
    return np.argpartition(values, values.size - count)[values.size - count :]
