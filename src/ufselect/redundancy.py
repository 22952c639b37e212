"""RedundancyFilter: drop columns that repeat others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, stats

from ufselect._columns import SelectionRequest, apart, identical_columns
from ufselect._utils.validation import has_missing
from ufselect.base import Columns, FitResult, GramSelector, Interval, StrOptions
from ufselect.gram import GramOperator, correlations
from ufselect.gram.operator import MissingSummary
from ufselect.gram.rows import power_of_two_near


class RedundancyFilter(GramSelector):
    r"""Drop columns that are correlated above a threshold with a selected one.

    Columns are visited in the order of ``prefer``. A column is selected unless its absolute correlation with
    a selected one exceeds ``max_correlation``. So

    - every dropped column is correlated above the threshold with a selected one, which ``represented_by_``
      names,
    - no two selected columns are, unless both are in ``keep``,
    - with ``prefer="variance"`` or scores the selection does not depend on the order of the columns; equal
      values go by name, without names by position.

    There is no number of columns to set: use it to drop redundant columns of a table. It compares pairs only:
    a column that several others determine together is not redundant by this rule. Constant columns correlate
    with nothing and are selected; scikit-learn's ``VarianceThreshold`` drops them.

    Parameters
    ----------
    max_correlation : float, default=0.95
        Largest absolute correlation that two selected columns may have, above 0. With 1, columns are
        dropped only if they equal a selected one in every row; the data must then be in memory.
    method : {"pearson", "spearman"}, default="pearson"
        Linear correlation, or correlation of ranks, which also finds columns that are monotone functions of
        each other. Ranks need the rows in memory.
    prefer : {"variance", "first"} or array-like of shape (n_features,), default="variance"
        Which of two redundant columns to select: the one of larger variance, the one that comes first, or
        the one with the larger of these scores, which in a dict or a pandas Series go by column name.
    keep : sequence of str or int, default=None
        Columns, by name or index, that are always selected.
    exclude : sequence of str or int, default=None
        Columns, by name or index, that are never selected and not compared.

    Attributes
    ----------
    support_ : ndarray of shape (n_features,)
        Mask of the selected columns.
    scores_ : ndarray of shape (n_features,)
        One minus the largest absolute correlation with another selected column: the larger, the less
        redundant.
    ranking_ : ndarray of shape (n_features,)
        1 for the column selected first; dropped columns come last.
    representatives_ : ndarray of shape (n_features,)
        Index of the selected column that represents each column: itself if it is selected, −1 if it is
        excluded. Columns with equal numbers form a cluster.
    correlations_ : ndarray of shape (n_features,)
        Correlation of each column with its representative, with its sign.
    represented_by_ : dict
        For each dropped column the selected one that represents it and their correlation; by name if X has
        column names, else by index.

    See Also
    --------
    ReconstructionSelector : Also drops columns that several others determine together.

    Notes
    -----
    The correlations of selected columns with all others are computed in blocks, at most n d k operations for
    k columns visited; no matrix of all correlations is formed. With missing values (NaN) in an array in
    memory, two columns are compared on the rows that have both; with fewer than three such rows they count
    as uncorrelated. Ranks are those among the observed values of a column. With weights or batches,
    missing values are filled in as by other selectors.

    Examples
    --------
    >>> import numpy as np
    >>> from ufselect import RedundancyFilter
    >>> rng = np.random.default_rng(0)
    >>> height = rng.normal(170, 10, 100)
    >>> X = np.column_stack([height, height / 2.54, rng.normal(70, 8, 100)])
    >>> RedundancyFilter().fit(X).represented_by_
    {1: (0, 1.0)}
    """

    label = "Redundancy filter"
    cost = "n d k"
    depends_on_scale = False  # correlations have no unit

    _parameter_constraints: ClassVar[dict[str, list]] = {
        "max_correlation": [Interval(Real, 0, 1, closed="right")],
        "method": [StrOptions({"pearson", "spearman"})],
        "prefer": [StrOptions({"variance", "first"}), "array-like", dict],
    }

    n_features_to_select = 1.0  # there is no number to reach
    max_correlation: float

    representatives_: NDArray
    correlations_: NDArray
    represented_by_: dict[Any, tuple[Any, float]]

    def __init__(
        self,
        max_correlation: float = 0.95,
        *,
        method: str = "pearson",
        prefer: Any = "variance",
        keep: Columns | None = None,
        exclude: Columns | None = None,
    ) -> None:
        self.max_correlation = max_correlation
        self.method = method
        self.prefer = prefer
        self.keep = keep
        self.exclude = exclude

    def _needs_rows(self) -> bool:
        return self.method == "spearman" or self.max_correlation == 1

    def _fit(self, X: Any, request: SelectionRequest) -> FitResult:
        if X is None and self._needs_rows():
            raise TypeError(
                "Ranks and exact repeats need the rows in memory: use Pearson's correlation with a limit "
                "below 1, or pass a sample of the rows."
            )
        if self.method == "spearman":
            X = column_ranks(X)
            request = replace(request, data=X)
        if self.max_correlation == 1:
            first = np.arange(X.shape[1])
            for same in identical_columns(X):
                first[same] = same[0]
            return self._filtered(
                request.gram.diag(), lambda columns: 1.0 * (first[:, None] == first[columns]), request
            )
        if X is None or sparse.issparse(X) or request.rows is not None or not has_missing(X):
            return super()._fit(X, request)
        there = ~np.isnan(X)
        X = X / power_of_two_near(float(np.max(np.abs(X), initial=0.0, where=there)), X.dtype)
        count = np.maximum(there.sum(axis=0), 1)
        X = X - X.sum(axis=0, where=there, dtype=np.float64) / count
        variances = np.sum(np.square(X), axis=0, where=there) / count
        scores, attributes = self._filtered(variances, partial(pairwise_correlations, X), request)
        return scores, {**attributes, "missing_": MissingSummary("pairwise", float(1 - there.mean()), 0.0)}

    def _fit_gram(self, gram: GramOperator, request: SelectionRequest) -> FitResult:
        return self._filtered(gram.diag(), partial(correlations, gram), request)

    def _filtered(
        self,
        variances: NDArray,
        correlations_with: Callable[[NDArray], NDArray],
        request: SelectionRequest,
    ) -> tuple[NDArray, dict[str, Any]]:
        preference = self._preference(np.asarray(variances, dtype=np.float64), request)
        names = getattr(self, "feature_names_in_", None)
        ties = np.arange(request.n_features) if names is None else np.argsort(np.argsort(names.astype(str)))
        order = np.lexsort((ties[request.columns], -preference))
        is_kept = np.isin(np.arange(order.size), request.kept)
        order = np.append(order[is_kept[order]], order[~is_kept[order]])
        selected, closest = np.zeros(order.size, dtype=bool), np.zeros(order.size, dtype=np.intp)
        limit = min(self.max_correlation, 1 - 1e-15)  # of exact repeats it is 1
        strongest = np.zeros(order.size)  # correlation with the closest of the other selected columns
        for column, correlated, _ in apart(order, is_kept, request.units, limit, correlations_with):
            selected[column] = True
            correlated[column] = 0.0
            closer = np.abs(correlated[:, 0]) > np.abs(strongest)
            strongest[closer], closest[closer] = correlated[closer, 0], column
        ranking = np.empty(order.size, dtype=np.intp)
        ranking[np.append(order[selected[order]], order[~selected[order]])] = np.arange(1, order.size + 1)
        own = np.arange(order.size)
        represented = np.where(selected, own, closest)
        representatives = np.full(request.n_features, -1)
        representatives[request.columns] = request.columns[represented]
        labels = request.columns if names is None else names[request.columns].astype(str)
        dropped = np.flatnonzero(~selected)
        return 1 - np.abs(strongest), {
            "ranking_": ranking,
            "support_": selected,
            "representatives_": representatives,
            "correlations_": request.spread(np.where(selected, 1.0, strongest), filler=np.nan),
            "represented_by_": {
                labels[j].item(): (labels[closest[j]].item(), round(float(strongest[j]), 12)) for j in dropped
            },
        }

    def _preference(self, variances: NDArray, request: SelectionRequest) -> NDArray:
        """Return a number for each column, larger for the one to select of two redundant ones."""
        if not isinstance(self.prefer, str):
            scores = request.table.numbers("prefer", self.prefer)
            if scores.ndim != 1 or np.isnan(scores).any():
                raise ValueError(f"prefer must have one score for each of the {request.n_features} columns.")
            return scores[request.columns]
        if self.prefer == "first":
            return -np.arange(request.columns.size, dtype=np.float64)
        # Single precision: the variances of copies may differ by rounding, and then the name decides.
        return (variances / (variances.max(initial=0.0) or 1.0)).astype(np.float32)


def pairwise_correlations(X: NDArray, columns: NDArray) -> NDArray:
    """Return the correlations of all centred columns with some, each from the rows that have both values."""
    there = ~np.isnan(X)
    values = np.where(there, X, 0.0)
    squares, there = np.square(values), there.astype(np.float64)
    own, own_there, own_squares = values[:, columns], there[:, columns], squares[:, columns]
    counts = np.maximum(there.T @ own_there, 1.0)
    sums, own_sums = values.T @ own_there, there.T @ own
    products = values.T @ own - sums * own_sums / counts
    spread = squares.T @ own_there - sums**2 / counts
    own_spread = there.T @ own_squares - own_sums**2 / counts
    sizes = np.sqrt(np.maximum(spread, 0.0) * np.maximum(own_spread, 0.0))
    whole = np.sqrt(squares.sum(axis=0))
    is_known = (counts >= 3) & (sizes > 1e-12 * whole[:, None] * whole[columns])  # else one is constant
    return np.round(np.clip(np.divide(products, sizes, out=np.zeros_like(sizes), where=is_known), -1, 1), 12)


def column_ranks(X: Any) -> Any:
    """Return the ranks of the values of each column, of sparse columns relative to the rank of zero.

    A shift changes no correlation, and with this one sparse data stay sparse.
    """
    if not sparse.issparse(X):
        return np.asarray(stats.rankdata(X, axis=0, nan_policy="omit"), dtype=np.float64)
    columns = sparse.csc_array(X, dtype=np.float64, copy=True)
    columns.eliminate_zeros()
    n_rows = columns.shape[0]
    for start, stop in zip(columns.indptr[:-1], columns.indptr[1:], strict=True):
        values = columns.data[start:stop]
        n_zeros = n_rows - values.size
        n_below = np.count_nonzero(values < 0)
        ranks = stats.rankdata(values) + np.where(values > 0, n_zeros, 0)
        columns.data[start:stop] = ranks - (n_below + (n_zeros + 1) / 2)
    return columns
