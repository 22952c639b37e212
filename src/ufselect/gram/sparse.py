"""The Gram matrix of SciPy sparse data with implicit centring; the data are never made dense."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ufselect._utils.arrays import row_blocks
from ufselect._utils.validation import canonical_csr
from ufselect.gram.centring import is_extreme, power_of_two_near
from ufselect.gram.operator import GramOperator
from ufselect.gram.rows import RowInfo


class SparseGram(GramOperator):
    """``S = (X − 1cᵀ)ᵀ(X − 1cᵀ)`` for sparse X with column means c, or with weights and batches.

    The product is computed as ``Xᵀ(W − mean(W))`` with ``W = XV − 1(cᵀV)``: removing the mean of W makes
    the correction for the second factor vanish, so rounding grows with mean/std and not with its square,
    as it would in ``XᵀX − n c cᵀ``. X is never changed; a copy is made if it is not CSR with sorted indices
    and no duplicates.
    """

    def __init__(self, X: sparse.sparray | sparse.spmatrix, rows: RowInfo | None = None) -> None:
        self.data = canonical_csr(X)
        n_rows, self.n_features = self.data.shape
        self.shape, self.dtype = (self.n_features, self.n_features), self.data.dtype
        self.rows = RowInfo(np.ones(n_rows)) if rows is None else rows
        self.n_samples = self.rows.n_samples
        self.scale = power_of_two_near(float(np.abs(self.data.data).max(initial=0.0)), self.dtype)
        self.inner_scale = self.scale
        if is_extreme(self.scale, self.dtype):
            self.data = self.data * self.dtype.type(1 / self.scale)
            self.inner_scale = 1.0
        means = column_means(self.data)[None] if self.rows.is_plain else self.rows.means(self.data)
        self.means = means.astype(self.dtype)
        self.mean = self.means[0] * (self.scale / self.inner_scale) if self.rows.is_plain else None
        self._diagonal: NDArray | None = None
        self._fullest = int(np.bincount(self.data.indices, minlength=1).max(initial=0))
        self._by_column: sparse.csc_array | None = None

    def matmat(self, vectors: NDArray) -> NDArray:
        scores = np.asarray(self.data @ vectors)
        scores -= self.rows.expand(self.means @ vectors)
        scores -= self.rows.expand(self.rows.means(scores).astype(scores.dtype))
        scores *= 1 / self.inner_scale
        product = np.asarray(self.data.T @ self.rows.weighted(scores))
        product *= 1 / self.inner_scale
        return product

    def diag(self) -> NDArray:
        """Sum the squares of the centred columns over stored entries, and add those of the zeros."""
        if self._diagonal is None:
            mean = self.means.astype(np.float64) / self.inner_scale
            n_stored, columns = np.diff(self.data.indptr), self.data.indices
            batches, weights = np.repeat(self.rows.batches, n_stored), np.repeat(self.rows.weights, n_stored)
            squares = weights * (self.data.data / self.inner_scale - mean[batches, columns]) ** 2
            stored = np.bincount(columns, weights=squares, minlength=self.n_features)
            places = batches * self.n_features + columns
            stored_weight = np.bincount(places, weights=weights, minlength=mean.size).reshape(mean.shape)
            zeros = ((self.rows.batch_weights - stored_weight) * mean**2).sum(axis=0)
            self._diagonal = (stored + zeros).astype(self.dtype)
        return self._diagonal.copy()

    def columns(self, indices: NDArray) -> NDArray:
        """Return columns of S, from the stored entries alone if no column of X is more than half full.

        Then ``XᵀX − n c cᵀ`` subtracts at most half of a sum of squares, and loses no more than a digit.
        """
        if self.rows.is_plain and self._fullest <= self.n_samples // 2:
            if self._by_column is None:
                self._by_column = self.data.tocsc()
            chosen = self._by_column[:, indices]
            product = (chosen.T.tocsr() @ self.data).toarray().T
            product -= np.outer(self.means[0] * self.n_samples, self.means[0, indices])
            product *= 1 / self.inner_scale**2
            return product
        units = np.zeros((self.n_features, len(indices)), dtype=self.dtype)
        units[indices, np.arange(len(indices))] = 1
        return self.matmat(units)

    def subgram(self, indices: NDArray) -> NDArray:
        """Return the block from dense, centred slices of the few columns named, row block by row block."""
        columns = self.data[:, indices].tocsr()
        mean = self.means[:, indices]
        gram = np.zeros((len(indices), len(indices)), dtype=self.dtype)
        for rows in row_blocks(self.data.shape[0], len(indices) * self.dtype.itemsize):
            block = columns[rows].toarray()
            block -= self.rows.expand(mean, rows)
            block *= 1 / self.inner_scale
            block = self.rows.rooted(block, rows)
            gram += block.T @ block
        return gram


def column_means(X: sparse.csr_array) -> NDArray:
    """Return column means of CSR without duplicates in float64, as exact as possible.

    A constant column gets exactly its value.
    """
    n_samples, n_features = X.shape
    n_stored = np.bincount(X.indices, minlength=n_features)
    if n_stored.max(initial=0) < n_samples:
        return np.bincount(X.indices, weights=X.data, minlength=n_features) / n_samples
    first = np.zeros(n_features)
    first[X.indices[::-1]] = X.data[::-1]
    # Columns stored in full are summed as differences to their first value: no digits lost to a large mean.
    first[n_stored < n_samples] = 0.0
    total = np.bincount(X.indices, weights=X.data - first[X.indices], minlength=n_features)
    return first + total / n_samples
