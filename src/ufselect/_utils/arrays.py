"""Rows in blocks, and matrices with orthonormal columns."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy.linalg import lapack


def row_blocks(n_rows: int, row_bytes: int, block_bytes: int = 2**21, min_rows: int = 128) -> Iterator[slice]:
    """Split ``range(n_rows)`` into slices of about ``block_bytes`` each.

    Two megabytes stay in the cache between the steps on a block; with fewer than 128 rows matrix products are
    slow.
    """
    step = max(min_rows, block_bytes // max(row_bytes, 1))
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))


def thin_gram(matrix: NDArray) -> NDArray:
    """Return XᵀX for few columns. The copy makes BLAS form a general product, which is far faster here."""
    return matrix.T @ matrix.copy(order="K")


def polar_factor(matrix: NDArray) -> NDArray:
    """Return the polar factor, the nearest matrix with orthonormal columns.

    For well-conditioned input the m × m Gram matrix gives it at the cost of two products; if that loses
    digits, one Newton–Schulz step squares the remaining error. Otherwise QR and the SVD of R are used.
    """
    if matrix.shape[1] == 0:
        return matrix  # no columns are orthonormal
    gram = thin_gram(matrix)
    # on small matrices this call takes two thirds of the time of NumPy's
    values, vectors, _ = (lapack.ssyevd if gram.dtype == np.float32 else lapack.dsyevd)(gram, lower=1)
    # Forming the Gram matrix squares the condition number; past 1/sqrt(eps) its digits are gone.
    eps = np.finfo(matrix.dtype).eps
    if not values[0] > values[-1] * np.sqrt(eps):
        q, r = linalg.qr(matrix, mode="economic", check_finite=False)
        u, _, vt = linalg.svd(r, check_finite=False)
        return q @ (u @ vt)
    root = (vectors / np.sqrt(values)) @ vectors.T
    polar = (root @ matrix.T).T  # column-major, the order in which Gram operators are applied fastest
    if values[0] < 1e-3 * values[-1]:  # above this ratio at most three digits are lost
        polar -= ((0.5 * orthonormality_defect(polar)) @ polar.T).T
    return polar


def rotate_towards(X: NDArray, target: NDArray) -> NDArray:
    """Return ``X polar(Xᵀ target)``, the orthonormal basis of X's span that is nearest to a target."""
    rotation = polar_factor(X.T @ target)
    return (rotation.T @ X.T).T  # column-major


def orthonormality_defect(matrix: NDArray) -> NDArray:
    r"""Return :math:`X^\top X - I`, zero for orthonormal columns."""
    gram = thin_gram(matrix)
    gram.flat[:: gram.shape[0] + 1] -= 1
    return gram


def is_orthonormal(matrix: NDArray, tol: float) -> bool:
    """Tell whether the columns are orthonormal to within ``tol``."""
    return bool(np.abs(orthonormality_defect(matrix)).max(initial=0.0) <= tol)


def random_orthonormal(n_rows: int, n_columns: int, rng: np.random.Generator) -> NDArray:
    """Draw a matrix with orthonormal columns, the Q factor of a Gaussian one."""
    q, _ = np.linalg.qr(rng.standard_normal((n_rows, n_columns)))
    return q
