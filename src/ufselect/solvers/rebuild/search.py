"""Greedy choice of columns, and exchanges after it, under whatever rules the choice is subject to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ufselect.solvers.rebuild.leave_one_out import LeaveOneOut
from ufselect.solvers.rebuild.span import RegularisedSpan, Remainders

# Columns of largest gain among which the leave-one-out error decides; more changed nothing on the development
# sets, and ten lost a little.
SHORTLIST = 30
# A swap has to lower the error by this share: what is less is not worth a product with S.
LEAST_GAIN = 1e-4


class Rule(Protocol):
    """Which columns may join a set."""

    def open_to(self, members: Sequence[int]) -> NDArray:
        """Return the mask of the columns that may join these members."""


@dataclass(frozen=True)
class Anything:
    """No rule but a mask of allowed columns."""

    allowed: NDArray

    def open_to(self, members: Sequence[int]) -> NDArray:
        return self.allowed


class ColumnSearch:
    """Chooses columns for a span one at a time, and exchanges them.

    Parameters
    ----------
    span : RegularisedSpan
        The set to fill.
    rule : Rule
        Which columns may join.
    judge : LeaveOneOut, optional
        The state of the same set; decides among the columns of largest gain.
    prices : ndarray of shape (n_features,), optional
        What each column costs: gains count per price.
    """

    def __init__(
        self,
        span: RegularisedSpan,
        rule: Rule,
        judge: LeaveOneOut | None = None,
        prices: NDArray | None = None,
    ) -> None:
        self.span = span
        self.rule = rule
        self.judge = judge
        self.prices = prices

    def add(self, column: int) -> None:
        """Let a column join."""
        if self.judge is not None:
            self.judge = self.judge.added(column, float(self.span.remainders.variance[column]))
        self.span.add(column)

    def grow(self, size: int) -> None:
        """Add the best column until there are as many as asked for, or none may join."""
        while len(self.span.members) < size:
            columns = self._candidates(self.span.remainders, self.span.members)
            if columns.size == 0:
                return
            self.add(self._best(columns))

    def sweep(self, fixed: Sequence[int] = ()) -> int:
        """Let each member that is not fixed make way for a better column; return how many did."""
        return sum(self._exchange(column) for column in list(self.span.members) if column not in fixed)

    def _candidates(self, remainders: Remainders, members: Sequence[int]) -> NDArray:
        mask = self.rule.open_to(members) & ~self.span.spent(remainders)
        mask[list(members)] = False
        return np.flatnonzero(mask)

    def _best(self, columns: NDArray) -> int:
        remainders, prices = self.span.remainders, self._prices(columns)
        gains = remainders.gains(columns) / prices
        if self.judge is None:
            return int(columns[np.argmax(gains)])
        short = largest(gains, SHORTLIST)
        errors = self.judge.errors_with(columns[short], remainders.variance[columns[short]])
        return int(columns[short][np.argmax((self.judge.error() - errors) / prices[short])])

    def _prices(self, columns: NDArray) -> NDArray:
        return np.ones(columns.size) if self.prices is None else self.prices[columns]

    def _exchange(self, column: int) -> bool:
        """Replace a member by the column that lowers the error most without it, where one does."""
        span = self.span
        departure = span.departure(column)
        others = [member for member in span.members if member != column]
        judge = self.judge
        if judge is not None:
            judge = judge.released(np.array(span.members), departure.weights, departure.pivot)
        successor = self._successor(column, departure.remainders, others, judge)
        if successor is None:
            return False
        span.remove(column, departure)
        self.judge = judge
        self.add(successor)
        return True

    def _successor(
        self, column: int, remainders: Remainders, others: Sequence[int], judge: LeaveOneOut | None
    ) -> int | None:
        columns = self._candidates(remainders, others)
        gains = remainders.gains(columns)
        own = float(remainders.gains(np.array([column]))[0])
        worth = LEAST_GAIN * max(self.span.total - self.span.explained(), 0.0)
        better = np.flatnonzero(gains > own + worth)
        if better.size == 0:
            return None
        if judge is None:
            return int(columns[better[np.argmax(gains[better])]])
        short = columns[better[largest(gains[better], SHORTLIST)]]
        tried = np.append(short, column)
        errors = judge.errors_with(tried, remainders.variance[tried])
        best = int(np.argmin(errors))
        return int(tried[best]) if errors[best] < (1 - LEAST_GAIN) * errors[-1] else None


def largest(values: NDArray, count: int) -> NDArray:
    """Return the positions of the largest values, in no particular order."""
    if values.size <= count:
        return np.arange(values.size)
    return np.argpartition(values, values.size - count)[values.size - count :]
