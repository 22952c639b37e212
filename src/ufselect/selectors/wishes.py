"""What is asked of a selection beyond a number: columns to keep or leave out, groups, redundancy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ufselect.selectors.columns import ColumnTable
from ufselect.sets.units import RowRules, Units
from ufselect.solvers.agenda import Agenda


@dataclass(frozen=True)
class Wanted:
    """What a method is asked for, in terms of the columns that it gets.

    A method gets the columns that are not excluded. A *unit* is a group of columns, or a column that is in
    no group.

    Attributes
    ----------
    n_selected : int
        Number of units to select, the kept ones included.
    columns : ndarray of int
        The columns of X that the method gets.
    n_features : int
        Number of columns of X, the excluded ones included.
    units : Units
        The unit of each of the method's columns, numbered by first column.
    kept : ndarray of int
        The units that are selected in any case.
    max_correlation : float or None
        Absolute correlation with a better column above which a column waits.
    """

    n_selected: int
    columns: NDArray
    n_features: int
    units: Units
    kept: NDArray
    max_correlation: float | None = None

    @property
    def excludes(self) -> bool:
        """Whether the method gets fewer columns than X has."""
        return self.columns.size < self.n_features

    @property
    def agenda(self) -> Agenda:
        """The same for a greedy solver."""
        return Agenda(self.n_selected, self.units, self.kept)

    @property
    def rules(self) -> RowRules | None:
        """The same for a row-sparse solver; None where there is nothing to heed."""
        if self.units.is_single and self.kept.size == 0:
            return None
        return RowRules(self.units, self.kept)

    def as_parameters(self) -> dict[str, Any]:
        """Return the wishes that there are as parameters of a selector of the method's columns."""
        wishes: dict[str, Any] = {"n_features_to_select": self.n_selected}
        if self.kept.size:
            wishes["keep"] = np.flatnonzero(np.isin(self.units.codes, self.kept))
        if not self.units.is_single:
            wishes["groups"] = self.units.codes
        if self.max_correlation is not None:
            wishes["max_correlation"] = self.max_correlation
        return wishes

    def restrict(self, X: Any) -> Any:
        """Return the columns that the method gets."""
        return X[:, self.columns] if self.excludes else X

    def restrict_rows(self, per_feature: NDArray) -> NDArray:
        """Return, of one row for each column of X, those of the columns that the method gets."""
        return per_feature[self.columns] if self.excludes else per_feature

    def spread(self, values: NDArray, axis: int = 0, filler: Any = 0) -> NDArray:
        """Return values, one per column that the method gets, with a filler for each excluded column of X."""
        if not self.excludes:
            return values
        shape = list(values.shape)
        shape[axis] = self.n_features
        whole = np.full(shape, filler, dtype=values.dtype)
        np.moveaxis(whole, axis, 0)[self.columns] = np.moveaxis(values, axis, 0)
        return whole

    def spread_ranks(self, ranking: NDArray) -> NDArray:
        """Return the ranks of all columns of X, those of excluded columns last."""
        whole = self.spread(ranking)
        excluded = whole == 0
        whole[excluded] = self.columns.size + 1 + np.arange(np.count_nonzero(excluded))
        return whole


def wanted_of(selector: Any, n_features: int) -> Wanted:
    """Resolve a selector's wishes against the columns of its data.

    Raises
    ------
    TypeError, ValueError
        If they name columns that are not there, or contradict each other or the number asked for.
    """
    return Wishes.of(selector, n_features).wanted(selector.n_features_to_select)


@dataclass(frozen=True)
class Wishes:
    """Wishes in terms of the columns of X, before the number of features is known."""

    keep: NDArray
    exclude: NDArray
    codes: NDArray
    max_correlation: float | None
    n_features: int

    @classmethod
    def of(cls, selector: Any, n_features: int) -> Wishes:
        """Resolve names and indices, and let whole groups be kept or excluded."""
        table = ColumnTable(n_features, getattr(selector, "feature_names_in_", None))
        codes = _group_codes(table, selector.groups)
        keep = _whole_groups(table.indices("keep", selector.keep), codes)
        exclude = _whole_groups(table.indices("exclude", selector.exclude), codes)
        both = np.intersect1d(keep, exclude)
        if both.size:
            raise ValueError(f"keep and exclude both cover {table.listed(both)}; drop it from one of them.")
        return cls(keep, exclude, codes, selector.max_correlation, n_features)

    def wanted(self, requested: int | float) -> Wanted:
        """Return what a method is asked for, given ``n_features_to_select``."""
        is_allowed = np.ones(self.n_features, dtype=bool)
        is_allowed[self.exclude] = False
        allowed = np.flatnonzero(is_allowed)
        if allowed.size == 0:
            raise ValueError("exclude leaves no column to choose from; exclude fewer.")
        units = Units(_renumbered(self.codes[allowed]))
        kept = np.unique(units.codes[np.searchsorted(allowed, self.keep)])
        n_selected = resolve_feature_count(requested, units.count, self._noun())
        _check_room(kept.size, n_selected, requested)
        return Wanted(n_selected, allowed, self.n_features, units, kept, self.max_correlation)

    def _noun(self) -> str:
        """What the number of features counts, for a message."""
        if int(self.codes.max()) + 1 < self.n_features:
            return "groups and single columns to choose from"
        return "features that exclude leaves" if self.exclude.size else "features of X"


def check_max_correlation(value: Any) -> None:
    """Refuse anything but None or a number above 0 and at most 1."""
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if value is not None and not (is_number and 0 < float(value) <= 1):
        raise ValueError(f"max_correlation must be a number above 0 and at most 1, or None, not {value!r}.")


def resolve_feature_count(requested: int | float, n_units: int, noun: str = "features of X") -> int:
    """Turn ``n_features_to_select`` into a number of units.

    Raises
    ------
    TypeError, ValueError
        If it is neither a count from 1 to n_units nor a share in (0, 1].
    """
    if isinstance(requested, bool) or not isinstance(requested, Real):
        raise TypeError(
            f"n_features_to_select must be an integer or a share in (0, 1], not {type(requested).__name__}."
        )
    if isinstance(requested, Integral):
        if not 1 <= requested <= n_units:
            raise ValueError(f"n_features_to_select={requested} must be between 1 and the {n_units} {noun}.")
        return int(requested)
    if not 0 < requested <= 1:
        raise ValueError(f"n_features_to_select={requested} must be an integer count or a share in (0, 1].")
    return max(1, round(float(requested) * n_units))


def _check_room(n_kept: int, n_selected: int, requested: int | float) -> None:
    if n_kept > n_selected:
        raise ValueError(
            f"keep has {n_kept} columns or groups, and n_features_to_select={requested} asks for only "
            f"{n_selected}; ask for at least {n_kept}."
        )


def _group_codes(table: ColumnTable, groups: Any) -> NDArray:
    """Return one code per column from labels or a mapping."""
    if groups is None:
        return np.arange(table.n_columns)
    return _codes_from_mapping(table, groups) if isinstance(groups, Mapping) else _codes(table, groups)


def _codes_from_mapping(table: ColumnTable, groups: Mapping[Any, Any]) -> NDArray:
    codes = np.full(table.n_columns, -1, dtype=np.intp)
    for code, (label, columns) in enumerate(groups.items()):
        members = table.indices(f"groups[{label!r}]", columns)
        if members.size == 0:
            raise ValueError(f"groups[{label!r}] has no columns; name some or leave it out.")
        taken = members[codes[members] >= 0]
        if taken.size:
            raise ValueError(f"groups has {table.listed(taken)} in two groups; a column belongs to one.")
        codes[members] = code
    return _single_where_negative(codes)


def _codes(table: ColumnTable, labels: Any) -> NDArray:
    if isinstance(labels, str) or not hasattr(labels, "__len__"):
        raise TypeError(
            "groups must be one label per column or a mapping of group names to columns, not "
            f"{type(labels).__name__}."
        )
    if len(labels) != table.n_columns:
        raise ValueError(
            f"groups has {len(labels)} labels and X has {table.n_columns} columns; give one each."
        )
    known: dict[Any, int] = {}
    codes = [-1 if _is_missing(label) else known.setdefault(label, len(known)) for label in labels]
    return _single_where_negative(np.array(codes, dtype=np.intp))


def _is_missing(label: Any) -> bool:
    """Tell whether a label is None or NaN: the column is in no group."""
    return label is None or label != label


def _single_where_negative(codes: NDArray) -> NDArray:
    alone = codes < 0
    codes[alone] = codes.max(initial=-1) + 1 + np.arange(np.count_nonzero(alone))
    return _renumbered(codes)


def _renumbered(codes: NDArray) -> NDArray:
    """Number groups 0, 1, … by their first columns."""
    _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    places = np.empty(first.size, dtype=np.intp)
    places[np.argsort(first)] = np.arange(first.size)
    return places[inverse]


def _whole_groups(columns: NDArray, codes: NDArray) -> NDArray:
    """Return the columns and those that share a group with one of them: a group goes whole."""
    return np.flatnonzero(np.isin(codes, codes[columns]))
