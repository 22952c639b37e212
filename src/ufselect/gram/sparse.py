"""The Gram matrix of SciPy sparse data with implicit centring; the data are never made dense."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

from ufselect.common.row_blocks import row_blocks
from ufselect.common.sparse_structure import canonical_csr
from ufselect.gram.base import RememberingGram
from ufselect.gram.centring import is_extreme, power_of_two_near
from ufselect.gram.spectrum import Spectrum, symmetric_eigenpairs


class SparseGram(RememberingGram):
    """``S = (X − 1cᵀ)ᵀ(X − 1cᵀ)`` for sparse X with column means c.

    The product is computed as ``Xᵀ(W − mean(W))`` with ``W = XV − 1(cᵀV)``: removing the mean of W makes
    the correction for the second factor vanish, so rounding grows with mean/std and not with its square,
    as it would in ``XᵀX − n c cᵀ``.

    Parameters
    ----------
    X : sparse array of shape (n_samples, n_features)
        Never changed; a copy is made where it is not CSR with sorted indices and no duplicates. float32 and
        float64 are kept.
    """

    def __init__(self, X: sparse.sparray | sparse.spmatrix) -> None:
        self.data = canonical_csr(X)
        self.n_samples, self.n_features = self.data.shape
        self.scale = power_of_two_near(float(np.abs(self.data.data).max(initial=0.0)), self.data.dtype)
        self._inner_scale = self.scale
        if is_extreme(self.scale, self.data.dtype):
            self.data = self.data * self.data.dtype.type(1 / self.scale)
            self._inner_scale = 1.0
        self.mean = column_means(self.data).astype(self.data.dtype)
        self._diagonal: NDArray | None = None

    @property
    def shape(self) -> tuple[int, int]:
        return (self.n_features, self.n_features)

    @property
    def dtype(self) -> np.dtype:
        return self.data.dtype

    def matmat(self, vectors: NDArray) -> NDArray:
        scores = np.asarray(self.data @ vectors)
        scores -= self.mean @ vectors
        scores -= scores.mean(axis=0, dtype=np.float64).astype(scores.dtype)
        scores *= 1 / self._inner_scale
        product = np.asarray(self.data.T @ scores)
        product *= 1 / self._inner_scale
        return product

    def diag(self) -> NDArray:
        if self._diagonal is None:
            self._diagonal = self._sum_squares()
        return self._diagonal.copy()

    def _sum_squares(self) -> NDArray:
        """Sum the squares of the centred columns over stored entries, and add those of the zeros."""
        mean = self.mean.astype(np.float64) / self._inner_scale
        deviations = self.data.data / self._inner_scale - mean[self.data.indices]
        stored = np.bincount(self.data.indices, weights=deviations**2, minlength=self.n_features)
        n_stored = np.bincount(self.data.indices, minlength=self.n_features)
        return (stored + (self.n_samples - n_stored) * mean**2).astype(self.dtype)

    def trace(self) -> float:
        return float(self.diag().sum(dtype=np.float64))

    def columns(self, indices: NDArray) -> NDArray:
        units = np.zeros((self.n_features, len(indices)), dtype=self.dtype)
        units[indices, np.arange(len(indices))] = 1
        return self.matmat(units)

    def subgram(self, indices: NDArray) -> NDArray:
        """Return the block from dense, centred slices of the few columns named, row block by row block."""
        columns = self.data[:, indices].tocsr()
        mean = self.mean[indices]
        gram = np.zeros((mean.size, mean.size), dtype=self.dtype)
        for rows in row_blocks(self.n_samples, mean.size * self.dtype.itemsize):
            block = columns[rows].toarray()
            block -= mean
            block *= 1 / self._inner_scale
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
