"""What is known of the rows beside their values: how much each counts, and which batch it comes from."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ufselect.common.containers import with_gaps

# Sums and products of weights stay far from the ends of double precision.
LEAST_WEIGHT, LARGEST_WEIGHT = 1e-100, 1e100
NO_WEIGHTS = "sample_weight must hold finite numbers of at least zero, not all of them zero."


@dataclass(frozen=True)
class RowLayout:
    r"""Weights and batches of the rows: with them the Gram matrix is

    .. math:: S = \sum_b \sum_{i \in b} w_i\, (x_i - c_b)(x_i - c_b)^\top,

    with :math:`c_b` the weighted mean of batch b.

    Attributes
    ----------
    weights : ndarray of shape (n_rows,)
        How often each row counts; positive, float64.
    batches : ndarray of shape (n_rows,)
        The batch of each row, from 0 to n_batches − 1.
    n_samples : int
        Number of rows that the weights stand for, which is their sum.
    """

    weights: NDArray
    batches: NDArray
    n_samples: int

    @cached_property
    def n_batches(self) -> int:
        return int(self.batches.max()) + 1

    @cached_property
    def is_weighted(self) -> bool:
        return not np.all(self.weights == 1)

    @property
    def is_plain(self) -> bool:
        """Whether all rows count once and come from one batch."""
        return self.n_batches == 1 and not self.is_weighted

    @cached_property
    def indicator(self) -> sparse.csr_array:
        """The n_batches × n_rows matrix that has the weight of each row in the row of its batch."""
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
        return _dense(self.indicator @ values) / self.batch_weights

    def spread(self, per_batch: NDArray, rows: slice = slice(None)) -> NDArray:
        """Return a row for each sample from a row for each batch; one row does for all of one batch."""
        return per_batch[self.batches[rows]] if self.n_batches > 1 else per_batch

    def weighted(self, values: NDArray) -> NDArray:
        """Return rows multiplied by their weights."""
        return values * self.weights[:, None].astype(values.dtype) if self.is_weighted else values

    def rooted(self, values: NDArray, rows: slice = slice(None)) -> NDArray:
        """Return rows multiplied by the square roots of their weights."""
        if not self.is_weighted:
            return values
        return values * np.sqrt(self.weights[rows, None]).astype(values.dtype)

    def total(self, values: NDArray, rows: slice = slice(None)) -> NDArray:
        """Return the weighted column sums in float64."""
        return self.weights[rows] @ values


def checked_weights(sample_weight: Any, n_rows: int) -> NDArray:
    """Return weights, one for each of so many rows, as numbers.

    Raises
    ------
    ValueError
        If they are no numbers, negative, not finite, all zero, too small or too large, or not one a row.
    """
    weights = _as_numbers(sample_weight)
    if weights.shape != (n_rows,):
        raise ValueError(f"sample_weight has shape {weights.shape}, but X has {n_rows} rows; give one a row.")
    if not np.all(np.isfinite(weights)) or np.any(weights < 0) or not np.any(weights):
        raise ValueError(NO_WEIGHTS)
    positive = weights[weights > 0]
    if positive.min() < LEAST_WEIGHT or positive.max() > LARGEST_WEIGHT:
        raise ValueError(
            f"sample_weight has values from {positive.min():.3g} to {positive.max():.3g}; those above zero "
            f"must be between {LEAST_WEIGHT:g} and {LARGEST_WEIGHT:g}."
        )
    return weights


def _as_numbers(sample_weight: Any) -> NDArray:
    """Return weights in double precision; masked ones are NaN."""
    weights = with_gaps(sample_weight)
    if weights.dtype.kind not in "biufO":
        raise ValueError(NO_WEIGHTS)
    try:
        return weights.astype(np.float64)
    except (ValueError, TypeError) as error:
        raise ValueError(NO_WEIGHTS) from error


def row_layout(weights: NDArray, labels: NDArray) -> RowLayout:
    """Return the layout of rows with positive weights and the labels of their batches.

    Weights that sum to less than the number of rows are taken in proportion, with a mean of 1.
    """
    n_samples = max(weights.size, round(float(weights.sum())))
    batches = np.unique(labels, return_inverse=True)[1]
    return RowLayout(weights * (n_samples / weights.sum()), batches, n_samples)


def plain_layout(n_rows: int) -> RowLayout:
    """Return the layout of rows that all count once and come from one batch."""
    return RowLayout(np.ones(n_rows), np.zeros(n_rows, dtype=np.intp), n_rows)


def _dense(values: Any) -> NDArray:
    return values.toarray() if sparse.issparse(values) else values
