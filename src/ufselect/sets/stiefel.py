r"""Matrices with orthonormal columns, :math:`\{X \in R^{d \times m} : X^\top X = I\}`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

LOSSLESS = 1e-3  # ratio of the extreme eigenvalues of MᵀM down to which at most three digits are lost


def project(matrix: NDArray) -> NDArray:
    """Return the polar factor, the nearest matrix with orthonormal columns.

    For well-conditioned input the m × m Gram matrix gives it at the cost of two products; where that
    loses digits, one Newton–Schulz step squares the remaining error. Otherwise QR and the SVD of R are used.
    """
    if matrix.shape[1] == 0:
        return matrix  # no columns are orthonormal
    gram = matrix.T @ matrix
    values, vectors = np.linalg.eigh(gram)  # on small matrices half the overhead of SciPy
    # Forming the Gram matrix squares the condition number; past 1/sqrt(eps) its digits are gone.
    eps = np.finfo(matrix.dtype).eps
    if not values[0] > values[-1] * np.sqrt(eps):
        return _project_by_qr(matrix)
    root = (vectors / np.sqrt(values)) @ vectors.T
    polar = (root @ matrix.T).T  # column-major, the order in which Gram operators are applied fastest
    if values[0] < LOSSLESS * values[-1]:
        polar -= ((0.5 * defect(polar)) @ polar.T).T
    return polar


def turned_towards(X: NDArray, target: NDArray) -> NDArray:
    """Return ``X polar(Xᵀ target)``, of all orthonormal bases of X's span the one nearest to a target."""
    rotation = project(X.T @ target)
    return (rotation.T @ X.T).T  # column-major


def _project_by_qr(matrix: NDArray) -> NDArray:
    q, r = linalg.qr(matrix, mode="economic", check_finite=False)
    u, _, vt = linalg.svd(r, check_finite=False)
    return q @ (u @ vt)


def defect(matrix: NDArray) -> NDArray:
    r"""Return :math:`X^\top X - I`, zero for orthonormal columns."""
    gram = matrix.T @ matrix
    gram.flat[:: gram.shape[0] + 1] -= 1
    return gram


def contains(matrix: NDArray, tol: float) -> bool:
    """Tell whether the columns are orthonormal to within ``tol``."""
    return bool(np.abs(defect(matrix)).max(initial=0.0) <= tol)


def random_point(n_rows: int, n_columns: int, rng: np.random.Generator) -> NDArray:
    """Draw a matrix with orthonormal columns, the Q factor of a Gaussian one."""
    q, _ = np.linalg.qr(rng.standard_normal((n_rows, n_columns)))
    return q
