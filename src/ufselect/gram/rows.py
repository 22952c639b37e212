"""Rows: in blocks, their means and common scale, their weights and batches, and an order by their values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import sparse

from ufselect._utils.validation import canonical_csr, is_missing, with_gaps


def row_blocks(n_rows: int, row_bytes: int, block_bytes: int = 2**21, min_rows: int = 128) -> Iterator[slice]:
    """Split ``range(n_rows)`` into slices of about ``block_bytes`` each.

    Two megabytes stay in the cache between the steps on a block; with fewer than 128 rows matrix products are
    slow.
    """
    step = max(min_rows, block_bytes // max(row_bytes, 1))
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))


NOT_FINITE = "{} contains NaN or infinity; fill in or drop those values first."


def power_of_two_near(magnitude: float, dtype: DTypeLike = np.float64) -> float:
    """Return the power of two in ``(magnitude / 2, magnitude]``, or 1 for zero.

    It is never below the least normal number of the type, so that its inverse is finite; data below that are
    still small after the division, but their squares are in range. A magnitude that is not finite raises a
    ValueError, because differences of the data overflow.
    """
    if not np.isfinite(magnitude):
        raise ValueError(
            "The range of the data is larger than its floating-point type can hold; divide X by a constant."
        )
    if magnitude == 0:
        return 1.0
    return max(float(np.ldexp(1.0, int(np.frexp(magnitude)[1]) - 1)), float(np.finfo(dtype).tiny))


def is_extreme(scale: float, dtype: np.dtype) -> bool:
    """Tell whether products of data of that scale with numbers near 1 may leave the range of the type."""
    limits = np.finfo(dtype)
    return not np.sqrt(float(limits.tiny)) < scale < np.sqrt(float(limits.max))


def working_dtype(dtype: np.dtype, name: str = "X") -> np.dtype:
    """Return the type to compute in, float32 or float64; data that are not numbers raise a TypeError."""
    if np.dtype(dtype).kind not in "biuf":
        raise TypeError(f"{name} holds {dtype} values; convert its columns to numbers first.")
    return np.dtype(np.float32) if dtype == np.float32 else np.dtype(np.float64)


def refuse_infinity(values: NDArray, name: str) -> None:
    """Raise a ValueError if data, called ``name``, hold infinity; NaN marks a missing value."""
    if np.any(np.isinf(values)):
        raise ValueError(f"{name} contains infinity; replace those values first.")


def mean_and_scale(X: NDArray, name: str = "X") -> tuple[NDArray, float]:
    """Return the column means of ``X`` in float64 and a power of two near its largest centred entry.

    Sums run over differences to the first row, so that a constant column has exactly its value as mean
    and a column with a large mean keeps its digits. Integers and booleans are converted block by block.
    Data, called ``name``, that hold NaN or infinity or whose range overflows raise a ValueError.
    """
    dtype = working_dtype(X.dtype, name)
    first = X[0].astype(dtype)
    mean_difference, largest = _mean_difference(X, first, 1.0)
    if not np.all(np.isfinite(mean_difference)):
        if not np.all(np.isfinite(X)):
            raise ValueError(NOT_FINITE.format(name))
        # The sum may leave the range of floats although each difference does not.
        mean_difference, largest = _mean_difference(X, first, 1 / X.shape[0])
    scale = power_of_two_near(largest, dtype)
    return first.astype(np.float64) + mean_difference, scale


def _mean_difference(X: NDArray, first: NDArray, share: float) -> tuple[NDArray, float]:
    """Return the mean of the differences to a row, each multiplied by a share first, and the largest one."""
    total = np.zeros(X.shape[1])
    largest = 0.0
    with np.errstate(over="ignore", invalid="ignore"):
        # Sums need no matrix product, so few rows are enough to be fast.
        for rows in row_blocks(X.shape[0], X.shape[1] * first.dtype.itemsize, min_rows=16):
            difference = X[rows] - first
            summand = difference if share == 1.0 else difference * share
            total += summand.sum(axis=0, dtype=np.float64)
            largest = max(largest, float(np.abs(difference, out=difference).max(initial=0.0)))
    return total / (X.shape[0] * share), largest


def centre_and_scale(X: NDArray) -> tuple[NDArray, float]:
    """Return the column means of ``X`` in its own type and a power of two near its largest centred entry."""
    mean, scale = mean_and_scale(X)
    return mean.astype(X.dtype), scale


NO_WEIGHTS = "sample_weight must hold finite numbers of at least zero, not all of them zero."


@dataclass(frozen=True)
class RowInfo:
    r"""Weights and batches of rows: with them the Gram matrix is

    .. math:: S = \sum_b \sum_{i \in b} w_i\, (x_i - c_b)(x_i - c_b)^\top,

    with :math:`c_b` the weighted mean of batch b. If a function accepts a record or None, None means that all
    rows count once and come from one batch.
    """

    weights: NDArray  # in float64; rows of weight 0 do not count
    labels: NDArray | None = None  # the batch of each row; None if there is only one

    @cached_property
    def batches(self) -> NDArray:
        """The batch of each row, from 0 to n_batches − 1."""
        if self.labels is None:
            return np.zeros(self.weights.size, dtype=np.intp)
        return np.unique(self.labels, return_inverse=True)[1]

    @cached_property
    def n_batches(self) -> int:
        return int(self.batches.max()) + 1

    @cached_property
    def n_samples(self) -> int:
        """Number of samples that the rows count as: the sum of their weights, but at least one per row."""
        return max(self.weights.size, round(float(self.weights.sum())))

    @cached_property
    def is_weighted(self) -> bool:
        return not np.all(self.weights == 1)

    @property
    def is_plain(self) -> bool:
        """Whether all rows count once and come from one batch."""
        return self.n_batches == 1 and not self.is_weighted

    def of(self, rows: Any) -> RowInfo:
        """Return the record of some of the rows: a slice, a mask or indices."""
        return RowInfo(self.weights[rows], None if self.labels is None else self.labels[rows])

    def counted(self, X: Any) -> tuple[Any, RowInfo]:
        """Return the rows of X that count, and their record."""
        counts = self.weights > 0
        return (X, self) if np.all(counts) else (X[counts], self.of(counts))

    def scaled(self) -> RowInfo | None:
        """Return the record with weights that sum to n_samples; None if it is plain.

        Weights that sum to less than the number of rows are scaled to a mean of 1.
        """
        scaled = RowInfo(self.weights * (self.n_samples / self.weights.sum()), self.labels)
        return None if scaled.is_plain else scaled

    @cached_property
    def _indicator(self) -> sparse.csr_array:
        """The n_batches × n_rows matrix with the weight of each data row in the row of its batch."""
        n_rows = self.weights.size
        entries = (self.weights, self.batches, np.arange(n_rows + 1))
        return sparse.csc_array(entries, shape=(self.n_batches, n_rows)).tocsr()

    @cached_property
    def batch_weights(self) -> NDArray:
        """The total weight of each batch, as a column."""
        return np.bincount(self.batches, weights=self.weights)[:, None]

    def means(self, values: NDArray | sparse.csr_array) -> NDArray:
        """Return the weighted column means of each batch, n_batches × n_columns, in float64."""
        if self.is_plain and isinstance(values, np.ndarray):
            return values.mean(axis=0, dtype=np.float64, keepdims=True)
        totals = self._indicator @ values
        return (totals.toarray() if sparse.issparse(totals) else totals) / self.batch_weights

    def expand(self, per_batch: NDArray, rows: slice = slice(None)) -> NDArray:
        """Return one row per sample from one row per batch; with a single batch, its one row."""
        return per_batch[self.batches[rows]] if self.n_batches > 1 else per_batch

    def weighted(self, values: NDArray) -> NDArray:
        """Return rows multiplied by their weights."""
        return values * self.weights[:, None].astype(values.dtype) if self.is_weighted else values

    def rooted(self, values: NDArray, rows: slice = slice(None)) -> NDArray:
        """Return rows multiplied by the square roots of their weights."""
        if not self.is_weighted:
            return values
        return values * np.sqrt(self.weights[rows, None]).astype(values.dtype)


def row_info(sample_weight: Any, batch: Any, n_rows: int, *, is_part: bool = False) -> RowInfo | None:
    """Check the weights and batch labels of ``n_rows`` rows; None if neither is given.

    With ``is_part`` the rows are a part of the data, so that they need not vary by themselves.
    """
    if sample_weight is None and batch is None:
        return None
    weights = np.ones(n_rows) if sample_weight is None else _checked_weights(sample_weight, n_rows)
    labels = None if batch is None else _checked_labels(batch, n_rows)
    if is_part:
        return RowInfo(weights, labels)
    counts = weights > 0
    if np.count_nonzero(counts) < 2:
        raise ValueError("Only one row has a sample_weight above 0; a minimum of 2 is required.")
    if labels is not None:
        n_batches = np.unique(labels[counts]).size
        if n_batches == np.count_nonzero(counts):
            raise ValueError(
                "Every batch has one row, so nothing varies within batches; give larger batches."
            )
        labels = labels if n_batches > 1 else None
    return RowInfo(weights, labels)


def _checked_weights(sample_weight: Any, n_rows: int) -> NDArray:
    given = with_gaps(sample_weight)  # masked ones are NaN
    if given.dtype.kind not in "biufO":
        raise ValueError(NO_WEIGHTS)
    try:
        weights = given.astype(np.float64)
    except (ValueError, TypeError) as error:
        raise ValueError(NO_WEIGHTS) from error
    if weights.shape != (n_rows,):
        raise ValueError(
            f"sample_weight has shape {weights.shape}, but X has {n_rows} rows; give one weight per row."
        )
    if not np.all(np.isfinite(weights)) or np.any(weights < 0) or not np.any(weights):
        raise ValueError(NO_WEIGHTS)
    positive = weights[weights > 0]
    # Sums and products of weights stay far from the ends of double precision.
    if positive.min() < 1e-100 or positive.max() > 1e100:
        raise ValueError(
            f"sample_weight has values from {positive.min():.3g} to {positive.max():.3g}; those above zero "
            "must be between 1e-100 and 1e+100."
        )
    return weights


def _checked_labels(batch: Any, n_rows: int) -> NDArray:
    labels = np.asarray(batch)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim != 1:
        raise ValueError(f"batch has the shape {labels.shape}; give one label per row.")
    if labels.size != n_rows:
        raise ValueError(f"batch has {labels.size} labels, but X has {n_rows} rows; give one label per row.")
    if np.ma.is_masked(batch) or any(is_missing(label) for label in labels.tolist()):
        raise ValueError("batch has missing labels; give every row a label.")
    return labels.astype(str) if labels.dtype == object else labels


def order_of_rows(X: Any) -> NDArray:
    """Return the rows in an order that follows from their values, whatever order they come in.

    Folds, halves and samples that are drawn from rows in this order do not depend on the order of the rows,
    nor on the order, signs, shifts and common unit of the columns, nor on the container. Rows go by their
    distance from the mean, those as far by higher powers of their deviations, and equal rows by position.
    Missing values count as the mean of their column. X is an array or a sparse matrix of numbers.
    """
    n_rows, n_features = X.shape
    powers = np.array([2, 3, 4])
    keys = np.empty((powers.size, n_rows))
    if sparse.issparse(X):
        csr = canonical_csr(X)
        unit = power_of_two_near(float(np.nanmax(np.abs(csr.data), initial=0.0)))
        values, columns = csr.data / unit, csr.indices
        known = ~np.isnan(values)
        counts = n_rows - np.bincount(columns[~known], minlength=n_features)
        mean = np.bincount(columns[known], values[known], n_features) / np.maximum(counts, 1)
        deviations = np.where(known, values - mean[columns], 0.0)
        rows = np.repeat(np.arange(n_rows), np.diff(csr.indptr))
        for key, power in zip(keys, powers, strict=True):
            of_zeros = np.abs(mean) ** power
            changes = np.abs(deviations) ** power - of_zeros[columns]
            key[:] = np.bincount(rows, changes, n_rows) + of_zeros.sum()
    else:
        unit = power_of_two_near(
            float(np.fmax(*(np.fmax.reduce(sign * X, axis=None, initial=0.0) for sign in (1, -1))))
        )
        blocks = list(row_blocks(n_rows, 8 * n_features, min_rows=1))
        total, counts = np.zeros(n_features), np.zeros(n_features)
        for block in blocks:
            known = ~np.isnan(X[block])
            total += np.sum(X[block] / unit, axis=0, where=known)
            counts += known.sum(axis=0)
        mean = total / np.maximum(counts, 1)
        for block in blocks:
            deviations = np.nan_to_num(X[block] / unit - mean)
            squares = np.square(deviations)  # far faster than powers
            others = np.ones_like(squares), np.abs(deviations), squares
            keys[:, block] = [np.einsum("ij,ij->i", squares, other) for other in others]
    # Rounded, since the order of summation changes the last digits.
    keys = np.round(keys / np.maximum(keys.max(axis=1, keepdims=True), np.finfo(float).tiny), 9)
    return np.lexsort(keys[::-1])
