"""Transformers to use before a selector: a common scale, and logarithms of counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.sparsefuncs import mean_variance_axis
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from ufselect._utils.validation import ColumnTable, tabular, validate_data
from ufselect.base import StrOptions


class _ColumnTransformer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Validation and tags that both transformers share."""

    n_features_in_: int

    def _validated(self, X: Any, reset: bool, **options: Any) -> Any:
        return validate_data(
            self, tabular(X), reset=reset, accept_sparse="csr", dtype=[np.float64, np.float32], **options
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class AutoScaler(_ColumnTransformer):
    """Give columns mean 0 and variance 1 if their units differ, and leave them as they are otherwise.

    Selectors that use variance follow the columns with the largest numbers. If columns have different units,
    that is an accident; if they share one, as pixels and logarithms of expression do, it is information. Do
    not use it for raw counts, which differ in size without differing in unit: use :class:`LogCounts`.

    Parameters
    ----------
    scale : {"auto", "standard", "none"}, default="auto"
        Decide by the data, always standardise, or never.
    exclude : sequence of str or int, default=None
        Columns to ignore in the decision, because the selector excludes them too.

    Attributes
    ----------
    is_scaled_ : bool
        Whether ``transform`` standardises.
    reason_ : str
        Why, in a sentence.
    mean_, scale_ : ndarray of shape (n_features,)
        Mean and standard deviation of each column, used or not; the deviation of a constant column is set
        to 1.
    largest_ : int
        The column with the largest variance among those that are not excluded.
    largest_share_ : float
        Its share of their total variance.
    looks_like_counts_ : bool
        Whether the table looks like raw counts: at least 50 columns of whole numbers, many of them zero.

    See Also
    --------
    LogCounts : Logarithms of counts.
    sklearn.preprocessing.StandardScaler : Always give columns mean 0 and variance 1.

    Notes
    -----
    Units are taken to differ if the standard deviations of columns that vary throughout lie a hundred times
    apart, or ten times with a clear step between them, or if one column of at least three has half of the
    total variance and ten times the median.

    Missing values (NaN) are ignored in means and deviations and stay where they are. Sparse data are
    divided but not shifted, so that they stay sparse.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.pipeline import make_pipeline
    >>> from ufselect import ReconstructionSelector
    >>> from ufselect.preprocessing import AutoScaler
    >>> wine = load_wine(as_frame=True).data
    >>> print(AutoScaler().fit(wine).reason_)
    Columns differ in scale (proline has 99.8 % of the variance), so each was given mean 0 and variance 1.
    >>> make_pipeline(AutoScaler(), ReconstructionSelector(4)).fit_transform(wine).shape
    (178, 4)
    """

    _parameter_constraints: ClassVar[dict[str, list]] = {
        "scale": [StrOptions({"auto", "standard", "none"})],
        "exclude": ["array-like", None],
    }

    is_scaled_: bool
    reason_: str
    mean_: NDArray
    scale_: NDArray
    largest_: int
    largest_share_: float
    looks_like_counts_: bool

    def __init__(self, scale: str = "auto", *, exclude: Sequence[str | int] | None = None) -> None:
        self.scale = scale
        self.exclude = exclude

    def fit(self, X: Any, y: Any = None, *, sample_weight: Any = None, batch: Any = None) -> Self:
        """Learn means and deviations, and decide whether to scale.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The data.
        y : ignored
            Present for scikit-learn's pipelines.
        sample_weight : array-like of shape (n_samples,), optional
            Sample weights.
        batch : array-like of shape (n_samples,), optional
            Batch of each row; deviations are then those from the mean of the batch.

        Returns
        -------
        self
        """
        self._validate_params()
        X = self._validated(X, reset=True, ensure_all_finite="allow-nan")
        if sample_weight is not None:
            sample_weight = _check_sample_weight(sample_weight, X, dtype=np.float64)
        mean, variance = _moments(X, sample_weight, batch)
        names = getattr(self, "feature_names_in_", None)
        excluded = ColumnTable(X.shape[1], names).indices("exclude", self.exclude)
        part = np.setdiff1d(np.arange(X.shape[1]), excluded)
        labels = [f"column {j}" for j in range(X.shape[1])] if names is None else names
        wild = np.flatnonzero(~np.isfinite(variance))
        if wild.size:
            raise ValueError(
                f"Values of {labels[wild[0]]} are too large to be squared; correct them, change their unit, "
                "or drop the column."
            )
        self.mean_, spread = mean, np.sqrt(variance)
        self.scale_ = np.where(spread > 0, spread, 1.0)
        total = float(variance[part].sum())
        self.largest_ = int(part[np.argmax(variance[part])]) if part.size else 0
        self.largest_share_ = float(variance[self.largest_] / total) if total > 0 and part.size else 0.0
        rows = X[:: -(-X.shape[0] // 2000)]  # enough to estimate how common a value is
        rows = (rows.toarray() if sparse.issparse(rows) else rows)[:, part]
        rows = np.where(np.isnan(rows), mean[part], rows)
        self.looks_like_counts_ = _look_like_counts(rows)
        self._difference_ = self._difference(rows, spread[part])
        differ = self._difference_ is not None
        self.is_scaled_ = self.scale == "standard" or (self.scale == "auto" and differ)
        self.reason_ = self.reason(labels)
        return self

    def reason(self, names: Sequence[str]) -> str:
        """Return ``reason_`` with some names of the columns, such as those of a sparse matrix."""
        if self.scale == "standard":
            return "Each column was given mean 0 and variance 1, as asked."
        if self.scale == "none":
            return "Columns were used as they are, as asked."
        if self._difference_ is None:
            return "Columns have comparable scales and were used as they are."
        why = self._difference_.format(names[self.largest_])
        return f"Columns differ in scale ({why}), so each was given mean 0 and variance 1."

    def _difference(self, rows: NDArray, spread: NDArray) -> str | None:
        """Return how units differ, with {} for the column of largest variance; None if they do not.

        Columns that are mostly one value, such as pixels at the edge of images, vary little whatever their
        unit, so they do not count as having a smaller one. Spreads of comparable columns rise gently, by less
        than a factor of 1.2 from one to the next in images, sounds and expression; a hundredth of the columns
        at either end is ignored.
        """
        if self.looks_like_counts_:
            return None
        # a column with half of the variance decides what is selected; of two, one always has half
        is_large = self.largest_share_ >= 0.5 and spread.max() ** 2 >= 10 * np.median(spread) ** 2
        if spread.size >= 3 and is_large:
            return f"{{}} has {100 * min(self.largest_share_, 0.999):.3g} % of the variance"
        is_mixed = np.mean(rows == np.quantile(rows, 0.5, axis=0, method="lower"), axis=0) < 0.5
        ordered = np.sort(spread[(spread > 0) & is_mixed])
        if ordered.size < 2:
            return None
        low, high = np.quantile(ordered, 0.01, method="lower"), np.quantile(ordered, 0.99, method="higher")
        steps = 1 + np.flatnonzero(ordered[1:] >= 5 * ordered[:-1])
        is_stepped = ordered[-1] >= 10 * ordered[0] and bool(np.any(steps >= 0.1 * ordered.size))
        if high >= 100 * low or is_stepped:
            return f"standard deviations differ {ordered[-1] / ordered[0]:,.0f}-fold"
        return None

    def transform(self, X: Any) -> Any:
        """Return the columns of X as an array or CSR matrix, standardised if units differ."""
        check_is_fitted(self)
        X = self._validated(X, reset=False, ensure_all_finite="allow-nan")
        if not self.is_scaled_:
            return X
        if sparse.issparse(X):
            return (X @ sparse.diags_array(1 / self.scale_.astype(X.dtype))).tocsr()
        return ((X - self.mean_) / self.scale_).astype(X.dtype, copy=False)

    def inverse_transform(self, X: Any) -> Any:
        """Return transformed columns in their original units."""
        check_is_fitted(self)
        if not self.is_scaled_:
            return X
        if sparse.issparse(X):
            return (X @ sparse.diags_array(self.scale_)).tocsr()
        return np.asarray(X) * self.scale_ + self.mean_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def _look_like_counts(rows: NDArray) -> bool:
    """Whether rows hold counts: many columns of whole numbers from 0 on, many of them 0, skewed."""
    if rows.shape[1] < 50 or rows.min() < 0 or not np.array_equal(rows, np.rint(rows)):
        return False
    return bool((rows == 0).mean() >= 0.2 and rows.max() > 10 * max(rows.mean(), 1.0))


def _moments(X: Any, weights: NDArray | None, batch: Any) -> tuple[NDArray, NDArray]:
    """Return mean and variance of each column without its NaN; the variance is that within batches."""
    with np.errstate(over="ignore", invalid="ignore"):  # fit refuses columns that overflow
        mean, variance, _ = _weighted_moments(X, weights)
        if batch is None:
            return mean, variance
        batch, squares, total = np.asarray(batch), np.zeros(X.shape[1]), np.zeros(X.shape[1])
        for each in np.unique(batch):
            rows = np.flatnonzero(batch == each)
            _, inner, counted = _weighted_moments(X[rows], None if weights is None else weights[rows])
            squares, total = squares + counted * inner, total + counted
        return mean, squares / np.maximum(total, np.finfo(float).tiny)


def _weighted_moments(X: Any, weights: NDArray | None) -> tuple[NDArray, NDArray, NDArray]:
    """Return mean, variance and total weight of the values of each column that are not missing."""
    if sparse.issparse(X):
        weights = np.ones(X.shape[0]) if weights is None else weights
        found = mean_variance_axis(X.astype(np.float64), 0, weights=weights, return_sum_weights=True)
        return tuple(np.nan_to_num(values, posinf=np.inf) for values in found)
    weights, present = np.ones(X.shape[0]) if weights is None else weights, ~np.isnan(X)
    # About the first known value of each column, so that a constant one has a variance of exactly 0.
    first = np.nan_to_num(X[np.argmax(present, axis=0), np.arange(X.shape[1])].astype(np.float64))
    deviations = np.where(present, X - first, 0.0)
    counted = weights @ present
    divisor = np.where(counted > 0, counted, 1.0)
    shift = weights @ deviations / divisor
    return first + shift, weights @ np.where(present, deviations - shift, 0.0) ** 2 / divisor, counted


class LogCounts(_ColumnTransformer):
    """Scale rows of counts to one total and take logarithms.

    In raw counts, frequent items have the largest variance, and rows differ by how much was counted. Here
    each row is multiplied so that its sum is ``total_``, and x becomes log(1 + x). Zeros stay zeros, so
    sparse data stay sparse. Do not use it for other data than counts.

    Attributes
    ----------
    total_ : float
        Median sum of the rows that are not all zero; every such row is scaled to it.

    See Also
    --------
    AutoScaler : Scale columns if their units differ.

    Examples
    --------
    >>> from ufselect.preprocessing import LogCounts
    >>> LogCounts().fit_transform([[1, 3, 0], [2, 6, 0]]).round(2)
    array([[0.92, 1.7 , 0.  ],
           [0.92, 1.7 , 0.  ]])
    """

    total_: float

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the total from counts, without missing or negative values; y is ignored."""
        sums = _row_sums(self._validated(X, reset=True, ensure_non_negative=True))
        self.total_ = float(np.median(sums[sums > 0])) if np.any(sums > 0) else 1.0
        return self

    def transform(self, X: Any) -> Any:
        """Return the logarithms of counts, scaled to one total per row, as an array or CSR matrix."""
        check_is_fitted(self)
        X = self._validated(X, reset=False, ensure_non_negative=True)
        sums = _row_sums(X)
        factors = (self.total_ / np.where(sums > 0, sums, 1.0)).astype(X.dtype)
        if sparse.issparse(X):
            return (sparse.diags_array(factors) @ X).log1p().tocsr()
        return np.log1p(X * factors[:, None])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags


def _row_sums(X: Any) -> NDArray:
    with np.errstate(over="ignore"):
        sums = np.asarray(X.sum(axis=1, dtype=np.float64)).ravel()
    if not np.isfinite(sums).all():
        raise ValueError("The counts are too large to be added up; divide X by a constant.")
    return sums
