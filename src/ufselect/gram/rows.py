"""What is known of the rows beside their values: how much each counts, and which batch it comes from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse


@dataclass(frozen=True)
class RowLayout:
    """Weights and batches of the rows, as the Gram matrix needs them.

    Attributes
    ----------
    weights : ndarray of shape (n_rows,)
        How often each row counts; positive.
    batches : ndarray of shape (n_rows,)
        The batch of each row, from 0 to n_batches − 1.
    n_samples : int
        Number of rows that the weights stand for, which is their sum.
    """

    weights: NDArray
    batches: NDArray
    n_samples: int

    @property
    def n_batches(self) -> int:
        return int(self.batches.max()) + 1

    @property
    def is_plain(self) -> bool:
        """Whether all rows count once and come from one batch."""
        return self.n_batches == 1 and bool(np.all(self.weights == 1))

    def indicator(self) -> sparse.csr_array:
        """Return the n_batches × n_rows matrix with the weight of each row in the row of its batch."""
        n_rows = self.weights.size
        entries = (self.weights, self.batches, np.arange(n_rows + 1))
        return sparse.csc_array(entries, shape=(self.n_batches, n_rows)).tocsr()

    def batch_weights(self) -> NDArray:
        """Return the total weight of each batch."""
        return np.bincount(self.batches, weights=self.weights)

    def batch_sums(self, values: NDArray) -> NDArray:
        """Return the sums of rows within batches, without weights."""
        return (self.indicator() > 0).astype(values.dtype) @ values

    def means(self, values: NDArray) -> NDArray:
        """Return the weighted column means of each batch, n_batches × n_columns."""
        return (self.indicator() @ values / self.batch_weights()[:, None]).astype(values.dtype)

    def spread_out(self, per_batch: NDArray, rows: slice = slice(None)) -> NDArray:
        """Return a row for each sample from a row for each batch."""
        return per_batch[self.batches[rows]] if self.n_batches > 1 else per_batch

    def weighted(self, values: NDArray) -> NDArray:
        """Return rows multiplied by their weights."""
        return values * self.weights[:, None].astype(values.dtype)

    def total(self, values: NDArray, rows: slice = slice(None)) -> NDArray:
        """Return the weighted column sums in float64."""
        return self.weights[rows] @ values


def plain_layout(n_rows: int) -> RowLayout:
    """Return the layout of rows that all count once and come from one batch."""
    return RowLayout(np.ones(n_rows), np.zeros(n_rows, dtype=np.intp), n_rows)
