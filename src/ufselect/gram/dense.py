"""The Gram matrix of a dense array: formed once for tall data, applied through the data for wide."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import get_blas_funcs

from ufselect.common.row_blocks import row_blocks
from ufselect.gram.base import RememberingGram
from ufselect.gram.centring import centre_and_scale, is_extreme
from ufselect.gram.lowrank import FactoredGram
from ufselect.gram.spectrum import Spectrum, symmetric_eigenpairs
from ufselect.gram.wide import MAX_MEAN, ImplicitGram

# Forming S beats applying it through the data up to about square data, where it takes no more memory than
# the centred copy that it makes unnecessary.
FORM_RATIO = 1.15
MIRROR_BLOCK = 256  # rows at once; a square of them stays in the cache while it is transposed


class FormedGram(RememberingGram):
    """An explicit n_features × n_features matrix S.

    Parameters
    ----------
    matrix : ndarray of shape (n_features, n_features)
        Symmetric positive semidefinite.
    n_samples : int
        Number of samples behind the matrix.
    scale : float
        Power of two by which the data were divided.
    mean : ndarray of shape (n_features,), optional
        Column means of the data.
    """

    def __init__(
        self, matrix: NDArray, n_samples: int, scale: float = 1.0, mean: NDArray | None = None
    ) -> None:
        self.matrix = matrix
        self.n_samples = n_samples
        self.scale = scale
        self.mean = mean

    @property
    def shape(self) -> tuple[int, int]:
        return (self.matrix.shape[0], self.matrix.shape[0])

    @property
    def dtype(self) -> np.dtype:
        return self.matrix.dtype

    def matmat(self, vectors: NDArray) -> NDArray:
        # S is symmetric; wide rows times S run faster in BLAS than S times thin columns.
        return (vectors.T @ self.matrix).T

    def diag(self) -> NDArray:
        return self.matrix.diagonal().copy()

    def trace(self) -> float:
        return float(self.matrix.trace())

    def columns(self, indices: NDArray) -> NDArray:
        return self.matrix[indices].T  # symmetric, and whole rows are contiguous

    def subgram(self, indices: NDArray) -> NDArray:
        return self.matrix[np.ix_(indices, indices)]

    def _leading_pairs(self, count: int) -> Spectrum:
        return symmetric_eigenpairs(self.matrix, count)

    def to_dense(self) -> NDArray:
        return self.matrix


def dense_gram(X: NDArray, *, copy: bool = True) -> FormedGram | FactoredGram | ImplicitGram:
    """Build the operator of a finite float array, n_samples × n_features.

    For n_features up to about n_samples, S is accumulated from centred blocks of rows, so that no centred
    copy of the data exists. Otherwise one centred copy is kept as the factor, unless ``copy`` is False and
    the means are of the order of the spread: then the data are used as they are and products are centred.
    """
    n_samples, n_features = X.shape
    mean, scale = centre_and_scale(X)
    if n_features <= FORM_RATIO * n_samples:
        return FormedGram(_accumulate(X, mean, scale), n_samples, scale, mean)
    if not copy and np.abs(mean).max() <= MAX_MEAN * scale and not is_extreme(scale, X.dtype):
        return ImplicitGram(X, mean, scale)
    return FactoredGram(_centred_copy(X, mean, scale), n_samples, scale, mean)


def _centred_copy(X: NDArray, mean: NDArray, scale: float) -> NDArray:
    """Centre and scale a few rows at a time, while they are in the cache."""
    centred = np.empty(X.shape, dtype=X.dtype)
    for rows in row_blocks(X.shape[0], X.shape[1] * X.itemsize, min_rows=1):
        np.subtract(X[rows], mean, out=centred[rows])
        centred[rows] *= 1 / scale
    return centred


def _accumulate(X: NDArray, mean: NDArray, scale: float) -> NDArray:
    """Sum the outer products of centred rows in place, one triangle, then mirror it."""
    n_samples, n_features = X.shape
    gram = np.zeros((n_features, n_features), dtype=X.dtype, order="F")
    (syrk,) = get_blas_funcs(("syrk",), (gram,))
    for rows in row_blocks(n_samples, n_features * X.itemsize):
        block = np.subtract(X[rows], mean, order="C")
        block *= 1 / scale
        gram = syrk(1.0, block.T, beta=1.0, c=gram, overwrite_c=True)
    mirror_upper(gram)
    return gram.T  # symmetric: the transpose only turns Fortran order into C order


def mirror_upper(matrix: NDArray) -> None:
    """Copy the upper triangle of a square array onto the lower one, which is zero, in place."""
    n = matrix.shape[0]
    for start in range(0, n, MIRROR_BLOCK):
        stop = min(start + MIRROR_BLOCK, n)
        corner = matrix[start:stop, start:stop]
        diagonal = corner.diagonal().copy()
        corner += corner.T.copy()
        np.fill_diagonal(corner, diagonal)
        matrix[stop:, start:stop] = matrix[start:stop, stop:].T
