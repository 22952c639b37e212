r"""A low-rank factor of S from at most three passes over data with very many features.

Each pass multiplies S by a block of orthonormal columns; the next block is the part of the product that is
new. With B all blocks and C = SB, known exactly, S is replaced by its Nyström approximation [1]_ over
this block Krylov space [2]_,

.. math:: \hat S = C\,(B^\top C)^{+}\,C^\top = F^\top F, \qquad 0 \preceq \hat S \preceq S .

The residuals of the Ritz pairs in B need no further pass, and bound the error of the leading subspace.

References
----------
.. [1] J. A. Tropp, A. Yurtsever, M. Udell, V. Cevher (2017), "Fixed-rank approximation of a positive-
   semidefinite matrix from streaming data", NeurIPS.
.. [2] C. Musco, C. Musco (2015), "Randomized block Krylov methods for stronger and faster approximate
   singular value decomposition", NeurIPS.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from ufselect.blocks.accumulate import BatchMoments, Moments, common_mean
from ufselect.gram.lowrank import KnownDiagonalGram

SKETCH_SEED = 20240917  # fixed, so that the same data give the same factor
# Columns of a block: so many at least, and so many more than the components asked for.
SKETCH_WIDTH = 24
SPARE_WIDTH = 12
MAX_PASSES = 3  # each reads all data; the estimated error tells where three were too few


class GramTimes:
    """S times fixed columns, and in a last column the diagonal of S.

    Parameters
    ----------
    vectors : ndarray of shape (n_features, k)
        What S is multiplied by.
    with_diagonal : bool, default=True
        Whether to work out the diagonal; its column stays zero otherwise.
    """

    def __init__(self, vectors: NDArray, with_diagonal: bool = True) -> None:
        self.vectors = vectors
        self.with_diagonal = with_diagonal

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + self.vectors.nbytes

    def zeros(self, n_features: int) -> NDArray:
        return np.zeros((n_features, self.vectors.shape[1] + 1))

    def add_rows(self, second: NDArray, centred: NDArray) -> None:
        vectors = self.vectors.astype(centred.dtype, copy=False)
        second[:, :-1] += ((centred @ vectors).T @ centred).T
        if self.with_diagonal:
            second[:, -1] += np.einsum("ij,ij->j", centred, centred)

    def add_sparse(self, second: NDArray, block: sparse.csr_array, mean: NDArray) -> None:
        """Add Xᵀ(W − mean(W)) with W = XV, in which the correction for the left factor vanishes."""
        vectors = self.vectors.astype(block.dtype, copy=False)
        scores = block @ vectors
        scores -= (mean @ self.vectors).astype(block.dtype)
        scores -= scores.mean(axis=0, dtype=np.float64).astype(block.dtype)
        second[:, :-1] += block.T @ scores
        if self.with_diagonal:
            second[:, -1] += _squares_about(block, mean)

    def add_rank_one(self, second: NDArray, direction: NDArray, weight: float) -> None:
        second[:, :-1] += np.outer(weight * direction, direction @ self.vectors)
        if self.with_diagonal:
            second[:, -1] += weight * direction**2


def _squares_about(block: sparse.csr_array, mean: NDArray) -> NDArray:
    """Return the column sums of squared deviations from the mean, from stored entries alone."""
    n_samples, n_features = block.shape
    stored = np.bincount(block.indices, weights=(block.data - mean[block.indices]) ** 2, minlength=n_features)
    return stored + (n_samples - np.bincount(block.indices, minlength=n_features)) * mean**2


class TruncatedGram(KnownDiagonalGram):
    """A low-rank approximation of S whose diagonal, trace and error are known.

    Parameters
    ----------
    factor : ndarray of shape (k, n_features)
        Rows whose outer products sum to at most S.
    n_samples : int
        Number of samples behind the factor.
    scale : float
        Power of two by which the data were divided.
    diagonal : ndarray of shape (n_features,)
        The diagonal of S itself.
    ritz_values, residuals : ndarray of shape (k,)
        Eigenvalue estimates, largest first, and the norms ``‖S v − λ v‖`` of their pairs.
    mean : ndarray of shape (n_features,), optional
        Column means of the data.
    """

    def __init__(
        self,
        factor: NDArray,
        n_samples: int,
        scale: float,
        diagonal: NDArray,
        ritz_values: NDArray,
        residuals: NDArray,
        mean: NDArray | None = None,
    ) -> None:
        super().__init__(factor, n_samples, scale, diagonal)
        self.mean = mean
        self.ritz_values = ritz_values
        self.residuals = residuals

    def missing_share(self) -> float:
        """Return the share of the trace of S that the factor leaves out."""
        captured = float(np.vdot(self.factor, self.factor))
        return max(0.0, 1 - captured / self._trace) if self._trace else 0.0

    def subspace_error(self, n_components: int) -> float:
        r"""Return an upper estimate of the sine of the angle to the true leading subspace.

        It is :math:`\|R\|_F / (\theta_m - \theta_{m+1})` for the Ritz values θ and the residuals R of the
        leading pairs, after Davis and Kahan; 1 where the gap is not resolved.
        """
        if n_components >= self.ritz_values.size:
            return 1.0 if self.missing_share() > np.sqrt(np.finfo(self.dtype).eps) else 0.0
        gap = self.ritz_values[n_components - 1] - self.ritz_values[n_components]
        size = float(np.linalg.norm(self.residuals[:n_components]))
        return 0.0 if size == 0 else min(1.0, size / gap) if gap > 0 else 1.0


def krylov_gram(
    multiply: Callable[[GramTimes], Moments | BatchMoments], n_features: int, n_components: int | None = None
) -> tuple[TruncatedGram, int]:
    """Build the low-rank operator, and return it with the number of passes made.

    Parameters
    ----------
    multiply : callable
        Makes one pass over the data with the given probe.
    n_features : int
        Order of S.
    n_components : int, optional
        Leading pairs that will be asked for; the blocks are made wider than that.
    """
    width = min(n_features, max(SKETCH_WIDTH, (n_components or 0) + SPARE_WIDTH))
    rng = np.random.default_rng(SKETCH_SEED)
    basis = np.linalg.qr(rng.standard_normal((n_features, width)))[0]
    product = np.empty((n_features, 0))
    diagonal = np.empty(0)
    fresh = basis
    for n_passes in range(1, MAX_PASSES + 1):
        moments = multiply(GramTimes(fresh, with_diagonal=n_passes == 1))
        diagonal = moments.second[:, -1] if n_passes == 1 else diagonal
        product = np.hstack([product, moments.second[:, :-1]])
        resolution = n_features * float(np.finfo(moments.dtype).eps)
        if n_passes == MAX_PASSES:
            break
        fresh = _new_directions(moments.second[:, :-1], basis, resolution)
        if fresh.shape[1] == 0:
            break
        basis = np.hstack([basis, fresh])
    return _nystrom(basis, product, diagonal, moments, resolution), n_passes


def _new_directions(product: NDArray, basis: NDArray, resolution: float) -> NDArray:
    """Return orthonormal columns for what the product adds to the basis."""
    new = product - basis @ (basis.T @ product)
    new -= basis @ (basis.T @ new)
    directions, sizes, _ = linalg.svd(new, full_matrices=False, check_finite=False)
    kept = directions[:, sizes > resolution * max(float(np.linalg.norm(product, 2)), np.finfo(float).tiny)]
    kept = kept - basis @ (basis.T @ kept)
    return np.linalg.qr(kept)[0]


def _nystrom(
    basis: NDArray,
    product: NDArray,
    diagonal: NDArray,
    moments: Moments | BatchMoments,
    resolution: float,
) -> TruncatedGram:
    inner = basis.T @ product
    values, rotation = linalg.eigh((inner + inner.T) / 2, check_finite=False)
    values, rotation = values[::-1], rotation[:, ::-1]
    rank = int(np.count_nonzero(values > resolution * max(values[0], 0.0)))
    values, rotation = values[:rank], rotation[:, :rank]
    rotated = product @ rotation
    residuals = np.linalg.norm(rotated - (basis @ rotation) * values, axis=0)
    return TruncatedGram(
        np.ascontiguousarray((rotated / np.sqrt(values)).T, dtype=moments.dtype),
        moments.n_samples,
        moments.scale,
        np.clip(diagonal, 0, None),
        values,
        residuals,
        common_mean(moments),
    )
