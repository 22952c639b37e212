"""Columns by name or index."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST_LISTED = 3  # names in a message; more would bury the sentence


@dataclass(frozen=True)
class ColumnTable:
    """The columns of X: their number and, where X has them, their names."""

    n_columns: int
    names: NDArray | None

    @cached_property
    def _places(self) -> dict[str, int]:
        return {} if self.names is None else {name: place for place, name in enumerate(self.names)}

    def indices(self, parameter: str, wished: Any) -> NDArray:
        """Return the indices of columns given by name or index, or by a mask; none for None.

        Raises
        ------
        TypeError, ValueError
            If one is not there or comes twice.
        """
        if wished is None:
            return np.empty(0, dtype=np.intp)
        if isinstance(wished, str) or not isinstance(wished, Iterable):
            raise TypeError(f"{parameter} must be a list of column names or indices; write [{wished!r}].")
        items = list(wished)
        if items and all(isinstance(item, (bool, np.bool_)) for item in items):
            items = self._from_mask(parameter, items)
        found = np.array([self._index(parameter, item) for item in items], dtype=np.intp)
        self._refuse_doubled(parameter, found)
        return found

    def listed(self, columns: NDArray) -> str:
        """Return the columns' names, or indices, for a message."""
        shown = [str(column) if self.names is None else repr(str(self.names[column])) for column in columns]
        rest = len(shown) - MOST_LISTED
        return ", ".join(shown[:MOST_LISTED]) + (f" and {rest} more" if rest > 0 else "")

    def _from_mask(self, parameter: str, mask: list[bool]) -> list[int]:
        if len(mask) != self.n_columns:
            raise ValueError(
                f"The mask {parameter} has {len(mask)} entries and X has {self.n_columns} columns."
            )
        return np.flatnonzero(mask).tolist()

    def _index(self, parameter: str, item: Any) -> int:
        if isinstance(item, str):
            return self._named(parameter, item)
        if isinstance(item, bool) or not isinstance(item, Integral):
            raise TypeError(f"{parameter} must have column names or indices, not {item!r}.")
        index = int(item)
        if not 0 <= index < self.n_columns:
            last = self.n_columns - 1
            raise ValueError(f"{parameter} has index {index}; the columns of X are 0 to {last}.")
        return index

    def _named(self, parameter: str, name: str) -> int:
        if self.names is None:
            raise ValueError(f"{parameter} has {name!r}, but X has no column names; give indices.")
        if name not in self._places:
            near = get_close_matches(name, self._places, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else "."
            raise ValueError(f"{parameter} has {name!r}, which is no column of X{hint}")
        return self._places[name]

    def _refuse_doubled(self, parameter: str, found: NDArray) -> None:
        values, counts = np.unique(found, return_counts=True)
        if np.any(counts > 1):
            raise ValueError(f"{parameter} has {self.listed(values[counts > 1])} twice; name it once.")
