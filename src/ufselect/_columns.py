"""Column constraints, what they request of a method, and the way from scores to ranking and support."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from hashlib import blake2b
from itertools import pairwise
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ufselect._utils.validation import ColumnTable, numbered_by_first, places_in
from ufselect.gram import GramOperator, RestrictedGram, RowInfo, correlations, gram_operator
from ufselect.gram.rows import row_blocks


def selection_request(selector: Any, n_features: int, requested: int | float) -> SelectionRequest:
    """Return what a selector's constraints and a number or share request of data with so many columns.

    A group is kept or excluded as a whole.
    """
    table = ColumnTable(n_features, getattr(selector, "feature_names_in_", None))
    all_codes = codes = table.group_codes(selector.feature_groups)
    keep, exclude = (
        np.flatnonzero(np.isin(codes, codes[table.indices(name, getattr(selector, name))]))
        for name in ("keep", "exclude")
    )
    both = np.intersect1d(keep, exclude)
    if both.size:
        raise ValueError(f"keep and exclude both cover {table.listed(both)}; drop it from one of them.")
    if isinstance(requested, bool) or not isinstance(requested, Real):
        raise TypeError(
            f"n_features_to_select must be an integer or a share in (0, 1], not {type(requested).__name__}."
        )
    allowed = np.arange(n_features)
    if exclude.size:
        allowed = np.setdiff1d(allowed, exclude)
        codes = numbered_by_first(codes[allowed])
    if allowed.size == 0:
        raise ValueError("exclude covers all columns; exclude fewer.")
    units = Units(codes)
    kept = np.unique(units.codes[np.searchsorted(allowed, keep)])
    if isinstance(requested, Integral):
        if not 1 <= requested <= units.count:
            noun = "features that are not excluded" if exclude.size else "features of X"
            if int(all_codes.max()) + 1 < n_features:
                noun = "groups and single columns to select from"
            raise ValueError(
                f"n_features_to_select={requested} must be between 1 and the {units.count} {noun}."
            )
        n_selected = int(requested)
    elif 0 < requested <= 1:
        n_selected = max(1, round(float(requested) * units.count))
    else:
        raise ValueError(f"n_features_to_select={requested} must be an integer count or a share in (0, 1].")
    if kept.size > n_selected:
        raise ValueError(
            f"keep has {kept.size} columns or groups, and n_features_to_select={requested} asks for only "
            f"{n_selected}; ask for at least {kept.size}."
        )
    return SelectionRequest(n_selected, units, kept, allowed, table, selector.max_correlation)


@dataclass(frozen=True)
class Units:
    """A partition of rows, one per column of X, into units 0, 1, …: groups of rows, or single rows.

    ``codes`` has the unit of each row; every unit has a row.
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
        """The units of more than one row, by size: their numbers, and their rows, one line per unit."""
        shared = [np.flatnonzero(self.sizes == size) for size in np.unique(self.sizes) if size > 1]
        return [(units, np.array([self.members(int(unit)) for unit in units])) for units in shared]

    @cached_property
    def _members(self) -> list[NDArray]:
        return np.split(np.argsort(self.codes, kind="stable"), np.cumsum(self.sizes)[:-1])

    def most_rows(self, count: int) -> int:
        """Return the largest number of rows that so many units can have together."""
        return int(np.sort(self.sizes)[::-1][:count].sum())

    def fewest_rows(self, count: int) -> int:
        """Return the smallest number of rows that so many units can have together."""
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
class UnitRequest:
    """How many units a solver selects, the kept ones included, which are always selected.

    Units are numbered by their first column.
    """

    n_selected: int
    units: Units
    kept: NDArray

    @classmethod
    def single(cls, n_selected: int, n_columns: int) -> UnitRequest:
        """Select single columns, without any to keep."""
        return cls(n_selected, Units.single(n_columns), np.empty(0, dtype=np.intp))

    def after(self, order: NDArray) -> Self:
        """Return what is left to select once some units, the kept ones first, are selected."""
        return replace(self, n_selected=self.n_selected - order.size, kept=self.kept[order.size :])

    def weights(self, squares: NDArray) -> NDArray:
        """Return the weight of each unit from squared norms of rows; nothing outweighs a kept unit."""
        total = np.array(self.units.sums(squares))
        total[self.kept] = np.inf
        return total


@dataclass(frozen=True)
class SelectionRequest(UnitRequest):
    """What is requested of a method, in terms of the columns that it gets: those that are not excluded.

    A *unit* is a group of columns, or a column that is in no group. ``progress(iteration, objective)`` is
    called once per iteration; ``progress.note(message)`` reports a step that has no objective.
    """

    columns: NDArray  # those of X that the method gets
    table: ColumnTable  # all columns of X, the excluded ones included
    max_correlation: float | None = None  # above which a column that resembles a better one is skipped
    progress: Any = None
    rows: RowInfo | None = None  # weights and batches of the rows, if given
    data: Any = None  # rows of these columns, if they are in memory
    reduced: GramOperator | None = None  # else the Gram matrix of all columns
    copies: bool = True  # whether wide data are copied for the Gram operator

    @property
    def n_features(self) -> int:
        """Number of columns of X, the excluded ones included."""
        return self.table.n_columns

    @property
    def excludes(self) -> bool:
        """Whether the method gets fewer columns than X has."""
        return self.columns.size < self.n_features

    @cached_property
    def gram(self) -> GramOperator:
        """The Gram operator of these columns."""
        if self.reduced is None:
            return gram_operator(self.data, copy=self.copies, rows=self.rows)
        return RestrictedGram(self.reduced, self.columns) if self.excludes else self.reduced

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


def choose(
    scores: NDArray,
    request: SelectionRequest,
    gram: Callable[[], GramOperator],
    ties: NDArray | None = None,
    least: float | None = None,
) -> tuple[NDArray, NDArray]:
    """Rank a method's columns by their scores and select as many units as requested.

    Kept units come first. The score of a unit is the mean over its columns, which are ranked one after the
    other. With ``max_correlation``, units that repeat better ones come later, see `least_redundant`; only
    then is ``gram`` called, for the Gram operator of these columns. A unit whose score is below ``least``
    times that of the last one selected by scores alone takes no other's place. Columns of equal score are
    ordered by ``ties``, higher first, else by index. Returns distinct ranks, 1 for the best, and the mask of
    the selected columns.
    """
    if ties is not None:
        order = np.lexsort((np.arange(scores.size)[::-1], ties, scores))
        scores = places_in(order).astype(np.float64)
    if request.kept.size == 0 and request.units.is_single and request.max_correlation is None:
        ranking = ranks_from_scores(scores)
        return ranking, ranking <= request.n_selected
    means = request.units.means(scores)
    order = kept_first(np.argsort(-means, kind="stable"), request.kept)
    if request.max_correlation is not None:
        n_tried = order.size
        if least is not None:
            n_tried = request.n_selected
            n_tried += int(np.sum(means[order[n_tried:]] >= least * means[order[n_tried - 1]]))
        order = np.append(least_redundant(order[:n_tried], request, gram()), order[n_tried:])
    places = request.units.of_rows(places_in(order))
    ranking = places_in(np.lexsort((-scores, places))) + 1
    return ranking, places < request.n_selected


def ranks_from_scores(scores: NDArray) -> NDArray:
    """Return distinct ranks, 1 for the highest score; among equal scores the lower index comes first."""
    return places_in(np.argsort(-scores, kind="stable")) + 1


def kept_first(order: NDArray, kept: NDArray) -> NDArray:
    """Move kept units to the front, without any other change of order."""
    is_kept = np.isin(order, kept)
    return np.append(order[is_kept], order[~is_kept])


def apart(
    order: NDArray,
    is_kept: NDArray,
    units: Units,
    limit: float,
    correlations_with: Callable[[NDArray], NDArray],
) -> Iterator[tuple[int, NDArray, NDArray]]:
    """Yield units in order, skipping those that repeat others, and their columns' correlations with all.

    The third value is the mask of the columns that are correlated with one of the unit above the limit. A
    unit is skipped if each of its columns is so correlated with a column of a unit yielded before it; kept
    units are never skipped. Correlations are computed for 64 units at once, so that some are not used.
    """
    is_near = np.zeros(units.codes.size, dtype=bool)  # to a column yielded before
    while order.size:
        places = np.flatnonzero(is_kept[order] | (units.sums(~is_near)[order] > 0))[:64]
        if places.size == 0:
            return
        block, order = order[places], order[places[-1] + 1 :]
        columns = np.flatnonzero(np.isin(units.codes, block))
        near = correlations_with(columns).T
        exceeds = np.abs(near) > limit
        for unit in block.tolist():
            members = units.members(unit)
            if is_kept[unit] or not is_near[members].all():
                own = np.searchsorted(columns, members)
                repeats = exceeds[own].any(axis=0)
                is_near |= repeats
                yield unit, near[own].T, repeats


def least_redundant(order: NDArray, request: SelectionRequest, gram: GramOperator) -> NDArray:
    """Reorder units so that those that repeat better ones come after the selected ones.

    Units are selected in their order by :func:`apart`. If too few remain, a further round begins among those
    skipped. The others keep their order, those that would be skipped last.
    """
    units, limit = request.units, request.max_correlation
    assert limit is not None
    is_kept = np.isin(np.arange(units.count), request.kept)
    selected: list[int] = []
    while True:
        is_near = np.zeros(units.codes.size, dtype=bool)
        for unit, _, repeats in apart(order, is_kept, units, limit, partial(correlations, gram)):
            is_near |= repeats
            selected.append(unit)
            if len(selected) == request.n_selected:
                break
        order = order[~np.isin(order, selected)]
        if len(selected) == request.n_selected:
            is_redundant = units.sums(~is_near)[order] == 0
            return np.concatenate([selected, order[~is_redundant], order[is_redundant]]).astype(np.intp)


def identical_columns(X: Any) -> list[NDArray]:
    """Return the sets of identical columns, each as indices in order, by first column.

    Floating-point data, dense or sparse, are compared bit by bit; −0 equals 0.
    """
    if sparse.issparse(X):
        X = sparse.csc_array(X, copy=True)
        X.eliminate_zeros()
        contents = (X.indices[a:b].tobytes() + X.data[a:b].tobytes() for a, b in pairwise(X.indptr))
    else:
        parts = row_blocks(X.shape[1], X.shape[0] * X.itemsize, 2**26, min_rows=1)
        contents = (column for part in parts for column in np.ascontiguousarray(X[:, part].T) + 0.0)
    by_content: dict[bytes, list[int]] = {}
    for column, content in enumerate(contents):
        by_content.setdefault(blake2b(content, digest_size=16).digest(), []).append(column)
    return [np.array(same) for same in by_content.values() if len(same) > 1]
