r"""Matrices with at most s non-zero entries, :math:`\{Y : \|Y\|_0 \le s\}`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ufselect.sets.largest import mask_of_largest


def support(matrix: NDArray, n_entries: int) -> NDArray:
    """Mark the ``n_entries`` entries of largest magnitude; ties go to the lower column, then row."""
    return mask_of_largest(np.abs(matrix).ravel(order="F"), n_entries).reshape(matrix.shape, order="F")


def project(matrix: NDArray, n_entries: int) -> NDArray:
    """Return a nearest matrix with at most ``n_entries`` non-zero entries."""
    return matrix * support(matrix, n_entries)


def contains(matrix: NDArray, n_entries: int) -> bool:
    """Tell whether at most ``n_entries`` entries are non-zero."""
    return int(np.count_nonzero(matrix)) <= n_entries


def distance(matrix: NDArray, n_entries: int) -> float:
    """Return the Frobenius distance to the set."""
    return float(np.linalg.norm(matrix[~support(matrix, n_entries)]))
