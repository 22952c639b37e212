"""Rows, or columns, that come or go together."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Units:
    """A partition of rows into units 0, 1, …: groups of rows, or rows of their own.

    Attributes
    ----------
    codes : ndarray of int
        The unit of each row; every unit has a row.
    """

    codes: NDArray

    @classmethod
    def single(cls, n_rows: int) -> Units:
        """Return the partition in which each row is its own unit."""
        return cls(np.arange(n_rows))

    @cached_property
    def count(self) -> int:
        """Number of units."""
        return int(self.codes.max()) + 1

    @cached_property
    def is_single(self) -> bool:
        """Whether each row is its own unit, in the order of the rows."""
        return np.array_equal(self.codes, np.arange(self.codes.size))

    @cached_property
    def sizes(self) -> NDArray:
        """Number of rows of each unit."""
        return np.bincount(self.codes)

    @cached_property
    def batches(self) -> list[tuple[NDArray, NDArray]]:
        """The units of more than one row, by size: their numbers, and their rows, one unit a line."""
        found = [np.flatnonzero(self.sizes == size) for size in np.unique(self.sizes) if size > 1]
        return [(units, np.array([self.members(int(unit)) for unit in units])) for units in found]

    @cached_property
    def _members(self) -> list[NDArray]:
        return np.split(np.argsort(self.codes, kind="stable"), np.cumsum(self.sizes)[:-1])

    def most_rows(self, count: int) -> int:
        """Return the most rows that so many units have together."""
        return int(np.sort(self.sizes)[::-1][:count].sum())

    def fewest_rows(self, count: int) -> int:
        """Return the fewest rows that so many units have together."""
        return int(np.sort(self.sizes)[:count].sum())

    def members(self, unit: int) -> NDArray:
        """Return the rows of a unit, in order."""
        return np.array([unit]) if self.is_single else self._members[unit]

    def sums(self, values: NDArray) -> NDArray:
        """Return the sum of one value per row over each unit."""
        return values if self.is_single else np.bincount(self.codes, weights=values)

    def means(self, values: NDArray) -> NDArray:
        """Return the mean of one value per row over each unit."""
        return values if self.is_single else self.sums(values) / self.sizes

    def of_rows(self, per_unit: NDArray) -> NDArray:
        """Return, for each row, the value of its unit."""
        return per_unit if self.is_single else per_unit[self.codes]


@dataclass(frozen=True)
class RowRules:
    """Which rows come or go together, and which are always there.

    Attributes
    ----------
    units : Units
        The rows that come or go together.
    fixed : ndarray of int
        The units that are always there.
    """

    units: Units
    fixed: NDArray

    def weights(self, squares: NDArray) -> NDArray:
        """Return the weight of each unit from squared norms of rows; nothing outweighs a fixed unit."""
        total = np.array(self.units.sums(squares))
        total[self.fixed] = np.inf
        return total
