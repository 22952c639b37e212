"""The lowest eigenvectors of a matrix plus a diagonal of any range, by a block method."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from ufselect.common.eigen import eigenpairs_between
from ufselect.solvers.leading import leading_pairs

Product = Callable[[NDArray], NDArray]

ERROR_TOL = 1e-8  # of a vector: the square root of the precision, so that its objective is exact
MAX_STEPS = 500  # a safeguard against a run without end
MAX_BLOCKS = 8  # the small eigenproblem of more would cost as much as the products it saves
BLOCKS_KEPT = 2  # the best vectors and those next to them, which the method is about to need
DEPENDENT = 1e-8  # share of a unit direction that is left when it lies in the span up to rounding
GUARD_SHARE = 0.5  # vectors more than wanted: the wanted ones converge at the rate of the gap behind these
MIN_GUARDS = 4  # for one or two vectors, where a share would leave none
GUARD_SEED = 20240917  # fixed, so that the result is one


def lowest_eigenvectors(
    scaled_matmat: Product, scaled_solve: Product, diagonal: NDArray, start: NDArray, count: int
) -> NDArray:
    r"""Return the lowest eigenvectors of :math:`K = M + E`, positive definite, with a positive diagonal E.

    With :math:`w = E^{-1/2} u` the eigenproblem is :math:`E^{-1} u = \mu N u`, :math:`\mu = 1/\theta`, for
    :math:`N = I + E^{-1/2} M E^{-1/2}`. Both matrices are bounded however large the diagonal, N is well
    conditioned, and the largest μ are wanted: nothing is lost to the rounding of large entries.

    Block Davidson: the best vectors of a growing orthonormal basis are corrected by their residuals times an
    approximate inverse of N; a full basis is cut back to its two best blocks. Corrections to w below 1e-8 end
    the run. Some vectors more than wanted are carried along as guards, filled up at random from a fixed seed.

    Parameters
    ----------
    scaled_matmat : callable
        Product of :math:`E^{-1/2} M E^{-1/2}` with a block of vectors.
    scaled_solve : callable
        Approximate product of :math:`N^{-1}` with a block of vectors.
    diagonal : ndarray of shape (order,)
        The diagonal of E.
    start : ndarray of shape (order, any)
        Independent columns that may be close to the result.
    count : int
        Number of eigenvectors wanted.

    Returns
    -------
    ndarray of shape (order, count + guards)
        The eigenvectors, lowest first and orthonormal, and the guards.
    """
    root = np.sqrt(diagonal)[:, None]
    basis = _starting_basis(start * root, count)
    block = basis.shape[1]
    images = basis + scaled_matmat(basis)
    for _ in range(MAX_STEPS):
        values, mixing = _largest_quotients(basis, images, diagonal, BLOCKS_KEPT * block)
        best = basis @ mixing[:, :block]
        residual = best / diagonal[:, None] - (images @ mixing[:, :block]) * values[:block]
        correction = scaled_solve(residual)
        errors = np.linalg.norm(correction[:, :count] / root, axis=0)
        if np.all(errors <= ERROR_TOL * np.maximum(values[:count], 0) ** 1.5):
            break
        if basis.shape[1] + block > min(MAX_BLOCKS * block, basis.shape[0]):
            basis, triangle = linalg.qr(basis @ mixing, mode="economic", check_finite=False)
            images = linalg.solve_triangular(triangle, (images @ mixing).T, trans="T", check_finite=False).T
        fresh = orthonormal_beyond(correction, basis)
        if fresh.shape[1] == 0:
            break
        basis = np.hstack([basis, fresh])
        images = np.hstack([images, fresh + scaled_matmat(fresh)])
    vectors = best / root
    # The norms are the roots of μ; read off the vectors they are never negative by rounding.
    return vectors / np.linalg.norm(vectors, axis=0)


def _starting_basis(start: NDArray, count: int) -> NDArray:
    """Return an orthonormal block whose span holds the start, with guards."""
    order = start.shape[0]
    block = min(order, count + max(MIN_GUARDS, int(GUARD_SHARE * count)))
    basis = linalg.qr(start[:, :block], mode="economic", check_finite=False)[0]
    missing = block - basis.shape[1]
    if missing == 0:
        return basis
    guards = np.random.default_rng(GUARD_SEED).standard_normal((order, missing))
    return np.hstack([basis, orthonormal_beyond(guards, basis)])


def _largest_quotients(
    basis: NDArray, images: NDArray, diagonal: NDArray, count: int
) -> tuple[NDArray, NDArray]:
    """Return the largest μ and their coordinates y in a basis of u, with yᵀNy = I."""
    weighed = basis / np.sqrt(diagonal)[:, None]
    inner = basis.T @ images
    order = inner.shape[0]
    values, mixing = eigenpairs_between(
        weighed.T @ weighed, max(0, order - count), order - 1, metric=(inner + inner.T) / 2
    )
    return values[::-1], mixing[:, ::-1]


def orthonormal_beyond(directions: NDArray, basis: NDArray) -> NDArray:
    """Return an orthonormal basis of what some directions add to the span of an orthonormal basis."""
    lengths = np.linalg.norm(directions, axis=0)
    fresh = directions[:, lengths > 0] / lengths[lengths > 0]
    for _ in range(2):  # a second pass removes what rounding leaves of the first
        fresh = fresh - basis @ (basis.T @ fresh)
        fresh, triangle, _ = linalg.qr(fresh, mode="economic", pivoting=True, check_finite=False)
        fresh = fresh[:, np.abs(triangle.diagonal()) > DEPENDENT]
    return fresh


def lowest_through_inverse(matrix: NDArray, count: int) -> NDArray:
    """Return the lowest eigenvectors of a positive definite matrix, which is overwritten.

    The inverse comes from a Cholesky factor, which keeps the grading of a matrix with a large diagonal,
    and has no large entries itself: its leading vectors are accurate on the scale of the lowest eigenvalues.
    """
    factor = linalg.cholesky(matrix, lower=True, overwrite_a=True, check_finite=False)
    inverse, _ = linalg.lapack.dpotri(factor, lower=1, overwrite_c=1)
    return leading_pairs(inverse, count).vectors
