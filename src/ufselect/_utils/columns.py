"""The columns of X by name, and what users say about columns: lists, groups, and a value for each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ufselect._utils.validation import is_missing


@dataclass(frozen=True)
class ColumnTable:
    """The columns of X: their number and, if X has them, their names."""

    n_columns: int
    names: NDArray | None

    @cached_property
    def _places(self) -> dict[str, int]:
        return {} if self.names is None else {name: place for place, name in enumerate(self.names)}

    def indices(self, parameter: str, given: Any) -> NDArray:
        """Return the indices of columns given by name or index, or by a mask; none for None."""
        if given is None:
            return np.empty(0, dtype=np.intp)
        if isinstance(given, str) or not isinstance(given, Iterable):
            raise TypeError(f"{parameter} must be a list of column names or indices; write [{given!r}].")
        items = list(given.values()) if isinstance(given, Mapping) else list(given)
        is_mask = bool(items) and all(isinstance(item, (bool, np.bool_)) for item in items)
        if isinstance(given, Mapping) and items and not is_mask:
            raise TypeError(f"{parameter} must be a list of columns, or have True or False for each column.")
        if is_mask:
            return np.flatnonzero(self.values(parameter, given))
        indices = np.array([self._index(parameter, item) for item in items], dtype=np.intp)
        columns, counts = np.unique(indices, return_counts=True)
        if np.any(counts > 1):
            raise ValueError(f"{parameter} has {self.listed(columns[counts > 1])} twice; name it once.")
        return indices

    def values(self, parameter: str, given: Any) -> Any:
        """Return one value per column, in the order of X.

        The keys of a dict and the index of a pandas Series or frame name the columns; anything else has the
        order of X already.
        """
        if isinstance(given, Mapping):
            given, names = list(given.values()), list(given)
        elif hasattr(given, "iloc"):
            given, names = given.to_numpy(), given.index.tolist()
        elif isinstance(given, str) or not hasattr(given, "__len__") or getattr(given, "shape", None) == ():
            raise TypeError(f"{parameter} must have one value per column of X, not be {given!r}.")
        elif len(given) != self.n_columns:
            raise ValueError(
                f"{parameter} has {len(given)} entries and X has {self.n_columns} columns; give one each."
            )
        else:
            return given
        columns = self.indices(parameter, names)
        if columns.size < self.n_columns:
            missing = self.listed(np.setdiff1d(np.arange(self.n_columns), columns))
            raise ValueError(f"{parameter} has no entry for {missing}; give one for each column of X.")
        return [given[position] for position in np.argsort(columns)]

    def numbers(self, parameter: str, given: Any) -> NDArray:
        """Return one number, or row of numbers, per column, in the order of X."""
        values = self.values(parameter, given)
        try:
            return np.asarray(values, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{parameter} must hold a number for each column of X.") from error

    def labels(self, parameter: str, given: Any) -> tuple[list[Any], NDArray]:
        """Return the labels by first column, and the number of each column's label; −1 for None or NaN."""
        numbers: dict[Any, int] = {}
        codes = [
            -1 if is_missing(label) else numbers.setdefault(label, len(numbers))
            for label in self.values(parameter, given)
        ]
        return list(numbers), np.array(codes, dtype=np.intp)

    def _index(self, parameter: str, item: Any) -> int:
        if isinstance(item, str):
            if self.names is None:
                raise ValueError(f"{parameter} has {item!r}, but X has no column names; give indices.")
            if item not in self._places:
                near = get_close_matches(item, self._places, n=1)
                hint = f"; did you mean {near[0]!r}?" if near else "."
                raise ValueError(f"{parameter} has {item!r}, which is not a column of X{hint}")
            return self._places[item]
        if isinstance(item, bool) or not isinstance(item, Integral):
            raise TypeError(f"{parameter} must have column names or indices, not {item!r}.")
        if not 0 <= int(item) < self.n_columns:
            raise ValueError(f"{parameter} has index {item}; the columns of X are 0 to {self.n_columns - 1}.")
        return int(item)

    def group_codes(self, feature_groups: Any) -> NDArray:
        """Return the group number of each column, from labels or a mapping; a single column has its own."""
        if feature_groups is None:
            return np.arange(self.n_columns)
        has_members = isinstance(feature_groups, Mapping) and any(
            isinstance(columns, Iterable) and not isinstance(columns, str)
            for columns in feature_groups.values()
        )
        if has_members:
            codes = np.full(self.n_columns, -1, dtype=np.intp)
            for code, (label, columns) in enumerate(feature_groups.items()):
                members = self.indices(f"feature_groups[{label!r}]", columns)
                if members.size == 0:
                    raise ValueError(
                        f"feature_groups[{label!r}] has no columns; name some or drop the group."
                    )
                taken = members[codes[members] >= 0]
                if taken.size:
                    raise ValueError(
                        f"feature_groups has {self.listed(taken)} in two groups; put each column in one."
                    )
                codes[members] = code
        else:
            codes = self.labels("feature_groups", feature_groups)[1]
        alone = codes < 0
        codes[alone] = codes.max(initial=-1) + 1 + np.arange(np.count_nonzero(alone))
        return numbered_by_first(codes)

    def listed(self, columns: NDArray) -> str:
        """Return the names, or indices, of the first three of some columns, for a message."""
        shown = [str(column) if self.names is None else repr(str(self.names[column])) for column in columns]
        return ", ".join(shown[:3]) + (f" and {len(shown) - 3} more" if len(shown) > 3 else "")


# Parameters of selectors that name columns, or have a value for each.
NAMES_COLUMNS = frozenset(
    ["keep", "exclude", "feature_groups", "costs", "regions", "positions", "prefer", "noise_variance", "init"]
)


def value_by_position(table: ColumnTable, parameter: str, value: Any) -> Any:
    """Return what a parameter that names columns says in the order of X, for the same data without names."""
    name = parameter.rpartition("__")[2]
    if name in ("keep", "exclude"):
        return table.indices(parameter, value)
    if name == "feature_groups":
        return table.group_codes(value)
    has_names = isinstance(value, Mapping) or hasattr(value, "iloc")
    return table.values(parameter, value) if has_names else value


def numbered_by_first(codes: NDArray) -> NDArray:
    """Number groups 0, 1, … by their first columns."""
    _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    return places_in(np.argsort(first))[inverse]


def places_in(order: NDArray) -> NDArray:
    """Return the place of each element in an order."""
    places = np.empty(order.size, dtype=np.intp)
    places[order] = np.arange(order.size)
    return places
