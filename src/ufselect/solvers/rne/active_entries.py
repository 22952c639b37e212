"""The multiplicative updates of robust neighbourhood embedding on the few entries that matter."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

EPSILON = float(np.finfo(np.float64).eps)  # what the authors' program adds to denominators


class ActiveEntries:
    """The entries of H that are not negligible, column after column, and what couples them.

    Parameters
    ----------
    mask : ndarray of bool of shape (n_features, n_components)
        The entries.
    block : callable
        Gives the rows and columns of ``RᵀR`` at given indices.
    """

    def __init__(self, mask: NDArray, block: Callable[[NDArray], NDArray]) -> None:
        self.mask = mask
        self.columns, self.rows = np.nonzero(mask.T)
        self._n_columns = mask.shape[1]
        sizes = np.bincount(self.columns, minlength=self._n_columns)
        starts = np.cumsum(sizes) - sizes
        self._positive, self._negative = self._couple_columns(block, sizes, starts)
        self._couple_rows()

    def _couple_columns(
        self, block: Callable[[NDArray], NDArray], sizes: NDArray, starts: NDArray
    ) -> tuple[sparse.csr_array, sparse.csr_array]:
        """Return the parts of ``RᵀR`` as matrices over the entries; entries of one column are coupled."""
        n_entries = self.rows.size
        blocks = [
            block(self.rows[start : start + size]).ravel()
            for start, size in zip(starts, sizes, strict=True)
            if size
        ]
        values = np.concatenate(blocks, dtype=np.float64) if blocks else np.empty(0)
        lengths = sizes[self.columns]
        indices = _ranges(starts[self.columns], lengths).astype(np.int32)
        row_starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
        parts = []
        for part in (np.maximum(values, 0), np.maximum(-values, 0)):
            coupled = sparse.csr_array(
                (part, indices.copy(), row_starts.copy()), shape=(n_entries, n_entries)
            )
            coupled.eliminate_zeros()
            parts.append(coupled)
        return parts[0], parts[1]

    def _couple_rows(self) -> None:
        """List the pairs of entries in one row, and which two columns each pair belongs to."""
        order = np.argsort(self.rows, kind="stable")
        per_row = np.bincount(self.rows, minlength=self.mask.shape[0])
        ends = np.repeat(np.cumsum(per_row), per_row)
        after = ends - np.arange(order.size) - 1
        self._first = np.repeat(order, after)
        self._second = order[_ranges(np.arange(order.size) + 1, after)]
        codes = self.columns[self._first] * self._n_columns + self.columns[self._second]
        columns, self._pair = np.unique(codes, return_inverse=True)
        self._n_pairs = columns.size

    def multiply(
        self, values: NDArray, gain: NDArray, loss: NDArray, alpha: float, penalty: float
    ) -> NDArray:
        """Return the entries after scaling their columns to unit length and one multiplication."""
        squares = np.bincount(self.columns, weights=values * values, minlength=self._n_columns)
        values = values / np.sqrt(squares + EPSILON)[self.columns]
        return values * ratio(
            alpha * values + gain + penalty * (self._negative @ values),
            alpha * self._overlaps(values) + loss + penalty * (self._positive @ values),
        )

    def _overlaps(self, values: NDArray) -> NDArray:
        """Return ``H HᵀH`` at the entries for columns of unit length."""
        first, second = values[self._first], values[self._second]
        overlap = np.bincount(self._pair, weights=first * second, minlength=self._n_pairs)[self._pair]
        size = values.size
        return (
            values
            + np.bincount(self._first, weights=second * overlap, minlength=size)
            + np.bincount(self._second, weights=first * overlap, minlength=size)
        )


def ratio(numerator: NDArray, denominator: NDArray) -> NDArray:
    """Return the factor of a multiplicative update; both arguments are non-negative and overwritten."""
    denominator += EPSILON
    numerator /= denominator
    return np.sqrt(numerator, out=numerator)


def _ranges(starts: NDArray, lengths: NDArray) -> NDArray:
    """Return the ranges ``start, …, start + length − 1`` one after another."""
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if ends.size else 0
    return np.arange(total) + np.repeat(starts - (ends - lengths), lengths)
