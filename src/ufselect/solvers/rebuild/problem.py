"""What a choice of columns starts from, computed once: norms, S², rows to leave out, and the penalty."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from ufselect.gram import FactoredGram, FormedGram, GramOperator
from ufselect.gram.dense import FORM_RATIO
from ufselect.sets.units import Units
from ufselect.solvers.rebuild.leave_one_out import FewRows
from ufselect.solvers.rebuild.placement import Placement
from ufselect.solvers.rebuild.row_search import RowSearch
from ufselect.solvers.rebuild.row_span import RowSpan
from ufselect.solvers.rebuild.search import ColumnSearch
from ufselect.solvers.rebuild.shrinkage import shrinkage_weight
from ufselect.solvers.rebuild.span import GrowingSpan, RegularisedSpan
from ufselect.solvers.rebuild.steps import GreedySteps, greedy_steps, steps_of
from ufselect.solvers.rebuild.targets import sampled_targets

# With more rows the leave-one-out error chooses as the error itself does, and takes longer.
MOST_ROWS_LEFT_OUT = 200
# The best shrinkage of a covariance matrix is not the best for a set chosen from it: the choice prefers
# correlations that chance has made large. Four times the weight did best on the development sets, times the
# share left unexplained, which is taken to be a half to begin with.
CHOICE_BIAS = 4.0
FIRST_SHARE = 0.5
PENALTY_STEPS = 3
# S² is worth its d³ operations, which run in the cache, where more than one in so many columns joins; else
# each takes a product of S with a vector, which waits for memory. At most so many columns: 130 megabytes.
SQUARED_SHARE = 16
MOST_SQUARED = 4096

Search = ColumnSearch | RowSearch
AnySearch = TypeVar("AnySearch", ColumnSearch, RowSearch, Search)


@dataclass(frozen=True)
class Problem:
    """S, the rules, and what is known of S before any column has joined.

    ``rows`` are there to be left out, where they are few and each column is its own unit; there are none
    where ``is_heavy_tailed`` says that they would mislead.
    """

    gram: GramOperator
    placement: Placement
    units: Units
    targets: NDArray | None
    norms: NDArray
    squared: NDArray | None
    rows: FewRows | None
    is_heavy_tailed: bool

    @classmethod
    def of(
        cls, gram: GramOperator, placement: Placement, max_sweeps: int, units: Units | None = None
    ) -> Problem:
        """Look at S; ``max_sweeps`` says whether columns will be exchanged."""
        units = Units.single(gram.shape[0]) if units is None else units
        targets = sampled_targets(gram)
        rows = _few_rows(gram)
        norms = _squared_norms(gram, targets, rows)
        capacity = units.most_rows(placement.size)
        squared = _squared(gram, capacity if max_sweeps == 0 else 2 * capacity)
        rows = rows if units.is_single else None
        is_heavy_tailed = rows is not None and rows.is_heavy_tailed()
        rows = None if is_heavy_tailed else rows
        return cls(gram, placement, units, targets, norms, squared, rows, is_heavy_tailed)

    def empty(self, penalty: float, *, grows_only: bool = False) -> RegularisedSpan:
        """Return the span of nothing with penalties of some weight."""
        penalties = penalty * np.asarray(self.gram.diag(), dtype=np.float64)
        capacity = self.units.most_rows(self.placement.size)
        kind = GrowingSpan if grows_only else RegularisedSpan
        return kind(self.gram, penalties, self.norms, capacity, self.targets, self.squared, self.units)

    def path(self, penalty: float) -> Search:
        """Return what takes greedy steps alone, with penalties of some weight and no rows left out."""
        if self.rows is None:
            return ColumnSearch(self.empty(penalty, grows_only=self.units.is_single), self.placement)
        return RowSearch(self._row_span(penalty), self.placement, leaves_out=False)

    def search(self, penalty: float, *, per_price: bool = True) -> Search:
        """Return what chooses columns, from nothing, with penalties of some weight."""
        if self.rows is None:
            return ColumnSearch(self.empty(penalty), self.placement, per_price=per_price)
        return RowSearch(self._row_span(penalty), self.placement, per_price=per_price)

    def _row_span(self, penalty: float) -> RowSpan:
        variances = np.asarray(self.gram.diag(), dtype=np.float64)
        size, dtype = self.placement.size, self.gram.dtype
        return RowSpan(cast(FewRows, self.rows), penalty * variances, variances, self.norms, size, dtype)

    def greedy(self, start: Sequence[int]) -> GreedySteps:
        """Return what greedy steps without a penalty take."""
        if self.targets is None:
            return greedy_steps(self.gram, self.placement, self.units, start, self.norms)
        return steps_of(filled(ColumnSearch(self.empty(0.0), self.placement), start))

    def penalty(self, greedy: GreedySteps) -> float:
        """Return the weight of the penalties that suits the noise in columns.

        What is noise in a column cannot be more than what others leave of it. So the weight is that of the
        best shrinkage times the share of the variance that greedy steps leave, which in turn depends on the
        weight.
        """
        shrinkage = shrinkage_weight(self.gram, float(self.norms.sum()))
        weight = CHOICE_BIAS * shrinkage * FIRST_SHARE
        for _ in range(PENALTY_STEPS):
            left = self._share_left(greedy, weight)
            weight = CHOICE_BIAS * shrinkage * max(left, np.finfo(np.float64).eps)
        return weight

    def _share_left(self, greedy: GreedySteps, weight: float) -> float:
        """Return the share of the variance that greedy steps leave, on rows left out where these are few."""
        if self.rows is None:
            return greedy.share_left(weight)
        penalties = weight * np.asarray(self.gram.diag(), dtype=np.float64)
        return min(self.rows.error_of(greedy.columns, penalties) / self.rows.error_of_nothing(), 1.0)


def filled(search: AnySearch, start: Sequence[int]) -> AnySearch:
    """Let units join that stay, and then the best ones."""
    for unit in start:
        search.add(unit)
    search.grow()
    return search


def _squared_norms(gram: GramOperator, targets: NDArray | None, rows: FewRows | None) -> NDArray:
    if rows is not None and gram.dtype == np.float64:
        # to the last digit what the operator gives: where nothing is left but rounding, that decides what
        # GreedyProjection takes, and the same columns have to be found here
        return rows.squared_column_norms()
    if targets is None:
        return gram.squared_column_norms()
    return np.einsum("ij,ij->i", targets, targets, dtype=np.float64)


def _squared(gram: GramOperator, n_joining: int) -> NDArray | None:
    """Return S² where S is an array and so many columns will join that it pays."""
    n_features = gram.shape[0]
    if not isinstance(gram, FormedGram) or n_features > min(SQUARED_SHARE * n_joining, MOST_SQUARED):
        return None
    return gram.matrix @ gram.matrix


def _few_rows(gram: GramOperator) -> FewRows | None:
    """Return the rows where they are few, fewer than columns, and at hand."""
    # a truncated factor is a subclass, and its rows are not rows of the data
    if type(gram) is not FactoredGram or gram.n_samples > MOST_ROWS_LEFT_OUT:
        return None
    if gram.shape[0] <= FORM_RATIO * gram.n_samples:  # so that weighted rows fare as repeated ones do
        return None
    if gram.row_weights is None and len(gram.factor) != gram.n_samples:
        return None
    return FewRows.of(gram.factor, gram.row_weights)
