"""The Gram matrix through a factor: wide centred data, or a truncated factor of any data."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from ufselect.gram.base import RememberingGram
from ufselect.gram.spectrum import Spectrum, symmetric_eigenpairs
from ufselect.sets import stiefel

# Rows of a factor up to which F Fᵀ is formed: 8 MB, or a small share of the factor itself.
SMALL_SIDE = 1000
SMALL_SHARE = 0.15


class FactoredGram(RememberingGram):
    """``S = FᵀF`` for a k × n_features factor F, applied as ``Fᵀ(F V)``.

    With the centred data as factor this is the exact operator for wide data; with k smaller than the rank
    it is a low-rank approximation.

    Parameters
    ----------
    factor : ndarray of shape (k, n_features)
        Rows whose outer products sum to S.
    n_samples : int
        Number of samples behind the factor.
    scale : float
        Power of two by which the data were divided.
    mean : ndarray of shape (n_features,), optional
        Column means of the data.
    """

    def __init__(
        self, factor: NDArray, n_samples: int, scale: float = 1.0, mean: NDArray | None = None
    ) -> None:
        self.factor = factor
        self.n_samples = n_samples
        self.scale = scale
        self.mean = mean
        # How many samples each row of the factor stands for, where they have weights.
        self.row_weights: NDArray | None = None

    @property
    def shape(self) -> tuple[int, int]:
        return (self.factor.shape[1], self.factor.shape[1])

    @property
    def dtype(self) -> np.dtype:
        return self.factor.dtype

    def matmat(self, vectors: NDArray) -> NDArray:
        # Wide rows times the factor run faster in BLAS than the factor times thin columns.
        return ((vectors.T @ self.factor.T) @ self.factor).T

    def diag(self) -> NDArray:
        return np.einsum("ij,ij->j", self.factor, self.factor)

    def trace(self) -> float:
        return float(np.vdot(self.factor, self.factor))

    def columns(self, indices: NDArray) -> NDArray:
        return self.factor.T @ self.factor[:, indices]

    def squared_column_norms(self) -> NDArray:
        image = (self.factor @ self.factor.T) @ self.factor
        return np.einsum("ij,ij->j", self.factor, image, dtype=np.float64)

    def subgram(self, indices: NDArray) -> NDArray:
        columns = self.factor[:, indices]
        return columns.T @ columns

    def _leading_pairs(self, count: int) -> Spectrum:
        """Return leading eigenpairs from the small k × k matrix ``F Fᵀ``, formed where memory allows."""
        n_rows, n_features = self.factor.shape
        if n_rows <= max(SMALL_SIDE, SMALL_SHARE * n_features):
            small = symmetric_eigenpairs(self.factor @ self.factor.T, count)
        else:
            operator = LinearOperator(
                (n_rows, n_rows), matvec=lambda u: self.factor @ (self.factor.T @ u), dtype=self.dtype
            )
            small = symmetric_eigenpairs(operator, count)
        # Small eigenvalues lose digits on the way; the nearest orthonormal columns restore them.
        vectors = stiefel.project(((small.vectors / np.sqrt(small.values)).T @ self.factor).T)
        return Spectrum(small.values, vectors)

    def to_dense(self) -> NDArray:
        return self.factor.T @ self.factor


class KnownDiagonalGram(FactoredGram):
    """S whose diagonal holds more than that of ``FᵀF``: what a factor leaves out of a feature's variance.

    Products and eigenpairs are those of the factor.

    Parameters
    ----------
    factor : ndarray of shape (k, n_features)
        Rows whose outer products sum to S but for part of its diagonal.
    n_samples : int
        Number of samples behind the factor.
    scale : float
        Power of two by which the data were divided.
    diagonal : ndarray of shape (n_features,)
        The diagonal of S itself.
    """

    def __init__(self, factor: NDArray, n_samples: int, scale: float, diagonal: NDArray) -> None:
        super().__init__(factor, n_samples, scale)
        self._diagonal = diagonal.astype(factor.dtype)
        self._trace = float(diagonal.sum(dtype=np.float64))

    def diag(self) -> NDArray:
        return self._diagonal.copy()

    def trace(self) -> float:
        return self._trace

    def columns(self, indices: NDArray) -> NDArray:
        """Return the columns of the factor's product, with the known diagonal."""
        block = super().columns(indices)
        place = np.arange(len(indices))
        block[indices, place] = np.maximum(block[indices, place], self._diagonal[indices])
        return block

    def squared_column_norms(self) -> NDArray:
        own = np.einsum("ij,ij->j", self.factor, self.factor, dtype=np.float64)
        return super().squared_column_norms() + np.maximum(np.square(self._diagonal) - np.square(own), 0)

    def subgram(self, indices: NDArray) -> NDArray:
        """Return the block of the factor's product, with the known diagonal."""
        block = super().subgram(indices)
        np.fill_diagonal(block, np.maximum(block.diagonal(), self._diagonal[indices]))
        return block
