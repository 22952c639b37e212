"""RedundancyFilter: drop columns that repeat others."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, stats
from sklearn.utils._param_validation import Interval, StrOptions

from ufselect._utils.validation import is_out_of_core
from ufselect.gram import GramOperator
from ufselect.methods._base import Columns, FitResult, GramSelector
from ufselect.methods._columns import SelectionRequest


class RedundancyFilter(GramSelector):
    r"""Drop columns that are correlated above a threshold with a selected one.

    Columns are visited in the order of ``prefer``. A column is selected unless its absolute correlation with
    a selected one exceeds ``max_correlation``. So

    - every dropped column exceeds the threshold with a selected one, which ``represented_by_`` names,
    - no two selected columns exceed it, unless both are in ``keep``,
    - with ``prefer="variance"`` or scores the selection does not depend on the order of the columns; equal
      values go by name, without names by position.

    There is no number of columns to give: use it to clean a table of near-copies. It compares pairs only; a
    column that several others determine together is not redundant by this rule, and
    :class:`~ufselect.RebuildSelector` is the selector for that. Constant columns correlate with nothing and
    are selected; scikit-learn's ``VarianceThreshold`` drops them.

    Parameters
    ----------
    max_correlation : float, default=0.95
        Largest absolute correlation that two selected columns may have, above 0 and below 1.
    method : {"pearson", "spearman"}, default="pearson"
        Linear correlation, or correlation of ranks, which also finds columns that are monotone functions of
        each other. Ranks need the rows in memory.
    prefer : {"variance", "first"} or array-like of shape (n_features,), default="variance"
        Which of two redundant columns to select: the one of larger variance, the one that comes first, or
        the one with the larger of these scores.
    keep : sequence of str or int, default=None
        Columns, by name or index, to select in any case.
    exclude : sequence of str or int, default=None
        Columns, by name or index, to leave out. They take no part.

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
        Index of the selected column that represents each column: itself where it is selected, −1 where it is
        excluded. Equal numbers are a cluster of columns.
    correlations_ : ndarray of shape (n_features,)
        Correlation of each column with its representative, with its sign.
    represented_by_ : dict
        For each dropped column the selected one that represents it and their correlation; names where X has
        them, else indices.

    See Also
    --------
    RebuildSelector : Columns from which the others can be reconstructed.

    Notes
    -----
    The correlations of selected columns with all others are computed in blocks, at most n d k operations for
    k columns visited; no matrix of all correlations is formed.

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
        **GramSelector._parameter_constraints,
        "max_correlation": [Interval(Real, 0, 1, closed="neither")],
        "method": [StrOptions({"pearson", "spearman"})],
        "prefer": [StrOptions({"variance", "first"}), "array-like"],
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
        return self.method == "spearman"

    def _fit(self, X: Any, request: SelectionRequest) -> FitResult:
        if self.method == "pearson":
            return super()._fit(X, request)
        if is_out_of_core(X):
            raise TypeError(
                'Ranks need the rows in memory; use method="pearson", or pass a sample of the rows.'
            )
        return super()._fit(_ranks(X), request)

    def _fit_gram(self, gram: GramOperator, request: SelectionRequest) -> FitResult:
        preference = self._preference(gram, request)
        names = getattr(self, "feature_names_in_", None)
        ties = np.arange(request.n_features) if names is None else np.argsort(np.argsort(names.astype(str)))
        order = np.lexsort((ties[request.columns], -preference))
        kept = np.isin(order, np.flatnonzero(np.isin(request.units.codes, request.kept)))
        order = np.append(order[kept], order[~kept])
        selected, closest, correlations = _independent(gram, order, int(kept.sum()), self.max_correlation)
        ranking = np.empty(order.size, dtype=np.intp)
        ranking[np.append(order[selected[order]], order[~selected[order]])] = np.arange(1, order.size + 1)
        own = np.arange(order.size)
        represented = np.where(selected, own, closest)
        representatives = np.full(request.n_features, -1)
        representatives[request.columns] = request.columns[represented]
        labels = request.columns if names is None else names[request.columns].astype(str)
        dropped = np.flatnonzero(~selected)
        return 1 - np.abs(correlations), {
            "ranking_": ranking,
            "support_": selected,
            "representatives_": representatives,
            "correlations_": request.spread(np.where(selected, 1.0, correlations), filler=np.nan),
            "represented_by_": {
                labels[j].item(): (labels[closest[j]].item(), round(float(correlations[j]), 12))
                for j in dropped
            },
        }

    def _preference(self, gram: GramOperator, request: SelectionRequest) -> NDArray:
        """Return a number for each column, larger for the one to select of two redundant ones."""
        if not isinstance(self.prefer, str):
            scores = np.asarray(self.prefer, dtype=np.float64)
            if scores.shape != (request.n_features,) or np.isnan(scores).any():
                raise ValueError(f"prefer must have one score for each of the {request.n_features} columns.")
            return scores[request.columns]
        if self.prefer == "first":
            return -np.arange(request.columns.size, dtype=np.float64)
        # Single precision: the variances of copies may differ by rounding, and then the name decides.
        variances = np.asarray(gram.diag(), dtype=np.float64)
        return (variances / (variances.max(initial=0.0) or 1.0)).astype(np.float32)


def _independent(
    gram: GramOperator, order: NDArray, n_kept: int, limit: float, block: int = 64
) -> tuple[NDArray, NDArray, NDArray]:
    """Select columns in an order, skipping those correlated above a limit with one selected before.

    Returns the mask of the selected columns and, for each column, the other selected one with which it is
    correlated most, and that correlation. The first ``n_kept`` of the order are selected in any case.
    """
    n_columns = order.size
    deviations = np.sqrt(np.asarray(gram.diag(), dtype=np.float64))
    weights = np.divide(1.0, deviations, out=np.zeros(n_columns), where=deviations > 0)
    selected, dropped = np.zeros(n_columns, dtype=bool), np.zeros(n_columns, dtype=bool)
    closest, strongest = np.zeros(n_columns, dtype=np.intp), np.zeros(n_columns)
    place = 0
    while place < n_columns:
        ahead = order[place:]
        candidates = ahead[~dropped[ahead] | (np.arange(place, n_columns) < n_kept)][:block]
        if candidates.size == 0:
            break
        # One product with S serves the whole block, some of it in vain. Rounded, so that copies are copies.
        products = np.asarray(gram.columns(candidates), dtype=np.float64)
        correlations = np.round(np.clip(products * weights[:, None] * weights[candidates], -1, 1), 12)
        for column, values in zip(candidates, correlations.T, strict=True):
            if dropped[column] and not np.isin(column, order[:n_kept]):
                continue
            selected[column] = True
            values = np.where(np.arange(n_columns) == column, 0.0, values)
            dropped |= np.abs(values) > limit
            closer = np.abs(values) > np.abs(strongest)
            strongest[closer], closest[closer] = values[closer], column
        place += int(np.flatnonzero(ahead == candidates[-1])[0]) + 1
    return selected, closest, strongest


def _ranks(X: Any) -> Any:
    """Return the ranks of the values of each column; of sparse columns those above or below the rank of zero.

    A shift changes no correlation, so that sparse data stay sparse.
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
    return sparse.csr_array(columns)
