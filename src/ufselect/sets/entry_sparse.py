r"""Matrices with at most s non-zero entries, :math:`\{Y : \|Y\|_0 \le s\}`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ufselect.sets.largest import Support, largest


def project(
    matrix: NDArray, n_entries: int, last: Support | None = None, out: NDArray | None = None
) -> tuple[NDArray, Support]:
    """Return a nearest matrix with at most ``n_entries`` non-zero entries, and which entries it keeps.

    Ties go to the lower column, then row. ``last`` is the support of a similar matrix, if there is one;
    ``out`` is where the result goes, which may be ``matrix`` itself.
    """
    support = largest(np.abs(matrix).ravel(order="F"), n_entries, last)
    return np.multiply(matrix, support.mask.reshape(matrix.shape, order="F"), out=out), support


def distance(matrix: NDArray, n_entries: int) -> float:
    """Return the Frobenius distance to the set."""
    return float(np.linalg.norm(matrix - project(matrix, n_entries)[0]))
