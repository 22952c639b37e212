"""The Gram matrix of SciPy sparse data with implicit centring; the data are never made dense."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

from ufselect.common.row_blocks import row_blocks
from ufselect.gram.base import RememberingGram
from ufselect.gram.centring import power_of_two_near
from ufselect.gram.rows import RowLayout, plain_layout
from ufselect.gram.spectrum import Spectrum, symmetric_eigenpairs


class SparseGram(RememberingGram):
    """``S = (X − 1cᵀ)ᵀ(X − 1cᵀ)`` for sparse X with column means c, or as `RowLayout` has it.

    The product is computed as ``Xᵀ(W − mean(W))`` with ``W = XV − 1(cᵀV)``: removing the mean of W makes
    the correction for the second factor vanish, so rounding grows with mean/std and not with its square,
    as it would in ``XᵀX − n c cᵀ``.

    Parameters
    ----------
    X : sparse array of shape (n_samples, n_features)
        Converted to CSR; float32 and float64 are kept.
    layout : RowLayout, optional
        Weights and batches of the rows.
    """

    def __init__(self, X: sparse.sparray | sparse.spmatrix, layout: RowLayout | None = None) -> None:
        self.data = X.tocsr()
        n_rows, self.n_features = self.data.shape
        self.layout = plain_layout(n_rows) if layout is None else layout
        self.n_samples = self.layout.n_samples
        means = column_means(self.data)[None] if self.layout.is_plain else self.layout.means(self.data)
        self.mean = means.astype(self.data.dtype)
        largest = max(
            float(np.abs(self.data.data).max(initial=0.0)), float(np.abs(self.mean).max(initial=0.0))
        )
        self.scale = power_of_two_near(largest)
        self._diagonal: NDArray | None = None

    @property
    def shape(self) -> tuple[int, int]:
        return (self.n_features, self.n_features)

    @property
    def dtype(self) -> np.dtype:
        return self.data.dtype

    def matmat(self, vectors: NDArray) -> NDArray:
        scores = np.asarray(self.data @ vectors)
        scores -= self.layout.spread(self.mean @ vectors)
        scores -= self.layout.spread(self.layout.means(scores).astype(scores.dtype))
        scores *= 1 / self.scale
        product = np.asarray(self.data.T @ self.layout.weighted(scores))
        product *= 1 / self.scale
        return product

    def diag(self) -> NDArray:
        if self._diagonal is None:
            self._diagonal = self._sum_squares()
        return self._diagonal.copy()

    def _sum_squares(self) -> NDArray:
        """Sum the squares of the centred columns over stored entries, and add those of the zeros."""
        mean = self.mean.astype(np.float64) / self.scale
        batches, columns = np.repeat(self.layout.batches, np.diff(self.data.indptr)), self.data.indices
        weights = np.repeat(self.layout.weights, np.diff(self.data.indptr))
        squares = weights * (self.data.data / self.scale - mean[batches, columns]) ** 2
        stored = np.bincount(columns, weights=squares, minlength=self.n_features)
        places = batches * self.n_features + columns
        stored_weight = np.bincount(places, weights=weights, minlength=mean.size).reshape(mean.shape)
        return (stored + ((self.layout.batch_weights - stored_weight) * mean**2).sum(axis=0)).astype(
            self.dtype
        )

    def trace(self) -> float:
        return float(self.diag().sum(dtype=np.float64))

    def columns(self, indices: NDArray) -> NDArray:
        units = np.zeros((self.n_features, len(indices)), dtype=self.dtype)
        units[indices, np.arange(len(indices))] = 1
        return self.matmat(units)

    def subgram(self, indices: NDArray) -> NDArray:
        """Return the block from dense, centred slices of the few columns named, row block by row block."""
        columns = self.data[:, indices].tocsr()
        mean = self.mean[:, indices]
        gram = np.zeros((len(indices), len(indices)), dtype=self.dtype)
        for rows in row_blocks(self.data.shape[0], len(indices) * self.dtype.itemsize):
            block = columns[rows].toarray()
            block -= self.layout.spread(mean, rows)
            block *= 1 / self.scale
            block = self.layout.rooted(block, rows)
            gram += block.T @ block
        return gram

    def _leading_pairs(self, count: int) -> Spectrum:
        operator = LinearOperator(
            self.shape,
            matvec=lambda v: self.matmat(v.reshape(-1, 1))[:, 0],
            matmat=self.matmat,
            dtype=self.dtype,
        )
        return symmetric_eigenpairs(operator, count)

    def to_dense(self) -> NDArray:
        return self.subgram(np.arange(self.n_features))


def column_means(X: sparse.csr_array) -> NDArray:
    """Return column means in float64, as exact as possible; a constant column gets exactly its value."""
    X.sum_duplicates()
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
