"""The lowest eigenpairs of a symmetric operator by a preconditioned block method."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

Product = Callable[[NDArray], NDArray]

ERROR_TOL = 1e-8
MAX_STEPS = 500
BLOCKS_KEPT = 2
MAX_BLOCKS = 8
DEPENDENT = 1e-8


def lowest_eigenvectors(
    matmat: Product, precondition: Product, shift: float, start: NDArray, count: int
) -> NDArray:
    """Return a block of vectors whose first ``count`` are the lowest eigenvectors, lowest first.

    Block Davidson: the best vectors of a growing basis are corrected by their preconditioned
    residuals; a full basis is cut back to its two lowest blocks. A correction smaller than 1e-8 ends the
    run. Corrections, and not residuals, are measured, and the small eigenproblem is solved through its
    inverse, so that the rounding of a large diagonal reaches neither.

    Parameters
    ----------
    matmat : callable
        Product of the operator with a block of vectors.
    precondition : callable
        Approximate inverse of the operator less the shift.
    shift : float
        A number below the spectrum.
    start : ndarray of shape (order, block)
        Independent columns, at least ``count``; the columns beyond guard the wanted ones.
    count : int
        Number of eigenvectors wanted.

    Returns
    -------
    ndarray of shape (order, block)
        Orthonormal columns, of which those beyond ``count`` are approximate.
    """
    block = start.shape[1]
    basis = linalg.qr(start, mode="economic", check_finite=False)[0]
    images = matmat(basis)
    for _ in range(MAX_STEPS):
        values, mixing = _lowest_pairs(basis.T @ images, shift, BLOCKS_KEPT * block)
        best = basis @ mixing[:, :block]
        correction = precondition(images @ mixing[:, :block] - best * values[:block])
        if np.all(np.linalg.norm(correction[:, :count], axis=0) <= ERROR_TOL):
            return best
        if basis.shape[1] + block > min(MAX_BLOCKS * block, basis.shape[0]):
            basis, images = basis @ mixing, images @ mixing
        fresh = _fresh_directions(correction, basis)
        if fresh.shape[1] == 0:
            return best
        basis = np.hstack([basis, fresh])
        images = np.hstack([images, matmat(fresh)])
    return best


def _lowest_pairs(matrix: NDArray, shift: float, count: int) -> tuple[NDArray, NDArray]:
    """Return the lowest eigenpairs of a small matrix, exact to the size of the lowest ones."""
    order = matrix.shape[0]
    shifted = (matrix + matrix.T) / 2
    shifted[np.diag_indices_from(shifted)] -= shift
    values, vectors = lowest_through_inverse(shifted, min(count, order))
    return values + shift, vectors


def lowest_through_inverse(matrix: NDArray, count: int) -> tuple[NDArray, NDArray]:
    """Return the lowest eigenpairs of a positive definite matrix, which is overwritten.

    The inverse comes from a Cholesky factor, which keeps the grading of a matrix with a large diagonal,
    and has no large entries itself: its leading vectors are accurate on the scale of the lowest eigenvalues.
    """
    order = matrix.shape[0]
    factor = linalg.cholesky(matrix, lower=True, overwrite_a=True, check_finite=False)
    inverse, _ = linalg.lapack.dpotri(factor, lower=1, overwrite_c=1)
    values, vectors = linalg.eigh(
        inverse, subset_by_index=[order - count, order - 1], lower=True, overwrite_a=True, check_finite=False
    )
    return 1 / values[::-1], vectors[:, ::-1]


def _fresh_directions(directions: NDArray, basis: NDArray) -> NDArray:
    """Return an orthonormal basis of what the directions add to an orthonormal basis."""
    lengths = np.linalg.norm(directions, axis=0)
    fresh = directions[:, lengths > 0] / lengths[lengths > 0]
    for _ in range(2):  # a second pass removes what rounding leaves of the first
        fresh = fresh - basis @ (basis.T @ fresh)
        fresh, triangle, _ = linalg.qr(fresh, mode="economic", pivoting=True, check_finite=False)
        fresh = fresh[:, np.abs(triangle.diagonal()) > DEPENDENT]
    return fresh
