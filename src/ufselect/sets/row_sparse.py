r"""Matrices with at most r non-zero rows, :math:`\{Z : \|Z\|_{2,0} \le r\}`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ufselect.sets.largest import mask_of_largest


def support(matrix: NDArray, n_rows: int) -> NDArray:
    """Mark the ``n_rows`` rows of largest Euclidean norm; ties go to the lower index."""
    return mask_of_largest(np.einsum("ij,ij->i", matrix, matrix), n_rows)


def project(matrix: NDArray, n_rows: int) -> NDArray:
    """Return a nearest matrix with at most ``n_rows`` non-zero rows."""
    return matrix * support(matrix, n_rows)[:, None]


def contains(matrix: NDArray, n_rows: int) -> bool:
    """Tell whether at most ``n_rows`` rows are non-zero."""
    return int(np.count_nonzero(np.any(matrix != 0, axis=1))) <= n_rows


def distance(matrix: NDArray, n_rows: int) -> float:
    """Return the Frobenius distance to the set."""
    return float(np.linalg.norm(matrix[~support(matrix, n_rows)]))
