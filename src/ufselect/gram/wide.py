"""The Gram matrix of wide dense data with implicit centring: no centred copy of the data."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from ufselect.common.row_blocks import row_blocks
from ufselect.gram.base import RememberingGram
from ufselect.gram.lowrank import SMALL_SHARE, SMALL_SIDE
from ufselect.gram.spectrum import Spectrum, symmetric_eigenpairs
from ufselect.sets import stiefel

# Largest mean, in units of the spread, up to which products may be centred afterwards: one digit is lost.
MAX_MEAN = 8.0


class ImplicitGram(RememberingGram):
    """``S = (X − 1cᵀ)ᵀ(X − 1cᵀ)`` applied through the data as they are.

    As in :class:`~ufselect.gram.SparseGram`, scores are centred between the two products, after which the
    correction for the second one vanishes. Rounding grows with the size of the means, so this is for data
    whose means are of the order of their spread.

    Parameters
    ----------
    data : ndarray of shape (n_samples, n_features)
        The data, not centred; kept by reference.
    mean : ndarray of shape (n_features,)
        Column means.
    scale : float
        Power of two near the largest centred entry.
    """

    def __init__(self, data: NDArray, mean: NDArray, scale: float) -> None:
        self.data = data
        self.mean = mean
        self.scale = scale
        self.n_samples = data.shape[0]
        self._diagonal: NDArray | None = None

    @property
    def shape(self) -> tuple[int, int]:
        return (self.data.shape[1], self.data.shape[1])

    @property
    def dtype(self) -> np.dtype:
        return self.data.dtype

    def matmat(self, vectors: NDArray) -> NDArray:
        scores = vectors.T @ self.data.T
        scores -= (self.mean @ vectors)[:, None]
        return self._back(scores)

    def diag(self) -> NDArray:
        if self._diagonal is None:
            self._diagonal = self._sum_squares()
        return self._diagonal.copy()

    def trace(self) -> float:
        return float(self.diag().sum(dtype=np.float64))

    def columns(self, indices: NDArray) -> NDArray:
        return self._back(np.ascontiguousarray(self._centred(indices).T) * self.scale)

    def subgram(self, indices: NDArray) -> NDArray:
        columns = self._centred(indices)
        return columns.T @ columns

    def _leading_pairs(self, count: int) -> Spectrum:
        """Return leading eigenpairs from the sample Gram matrix, formed where memory allows."""
        n = self.n_samples
        if n <= max(SMALL_SIDE, SMALL_SHARE * self.data.shape[1]):
            small = symmetric_eigenpairs(self._sample_gram(), count)
        else:
            operator = LinearOperator((n, n), matvec=self._apply_samples, dtype=self.dtype)
            small = symmetric_eigenpairs(operator, count)
        scores = (small.vectors * (self.scale / np.sqrt(small.values))).T
        return Spectrum(small.values, stiefel.project(self._back(np.ascontiguousarray(scores))))

    def to_dense(self) -> NDArray:
        return self.subgram(np.arange(self.data.shape[1]))

    def _sum_squares(self) -> NDArray:
        """Sum the squares of the centred columns, a few rows at a time."""
        total = np.zeros(self.data.shape[1])
        for rows in row_blocks(self.n_samples, self.data.shape[1] * self.data.itemsize, min_rows=1):
            block = self.data[rows] - self.mean
            block *= 1 / self.scale
            total += np.einsum("ij,ij->j", block, block)
        return total.astype(self.dtype)

    def _centred(self, columns: NDArray | slice) -> NDArray:
        block = self.data[:, columns] - self.mean[columns]
        block *= 1 / self.scale
        return block

    def _back(self, scores: NDArray) -> NDArray:
        """Centre scores, one row a vector, and multiply by the data."""
        scores -= scores.mean(axis=1, keepdims=True)
        scores *= 1 / self.scale
        product = scores @ self.data
        product *= 1 / self.scale
        return product.T

    def _sample_gram(self) -> NDArray:
        """Sum the sample Gram matrix over centred blocks of columns."""
        gram = np.zeros((self.n_samples, self.n_samples), dtype=self.dtype)
        for columns in row_blocks(self.data.shape[1], self.n_samples * self.data.itemsize):
            block = self._centred(columns)
            gram += block @ block.T
        return gram

    def _apply_samples(self, vector: NDArray) -> NDArray:
        weights = self._back(vector.reshape(1, -1).copy())
        scores = (self.data @ weights)[:, 0] - self.mean @ weights[:, 0]
        return scores - scores.mean()
