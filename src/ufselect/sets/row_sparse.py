r"""Matrices with at most r non-zero rows, :math:`\{Z : \|Z\|_{2,0} \le r\}`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ufselect.sets.largest import Support, largest


def project(
    matrix: NDArray, n_rows: int, last: Support | None = None, out: NDArray | None = None
) -> tuple[NDArray, Support]:
    """Return a nearest matrix with at most ``n_rows`` non-zero rows, and which rows it keeps.

    Ties go to the lower index. ``last`` is the support of a similar matrix, if there is one;
    ``out`` is where the result goes, which may be ``matrix`` itself.
    """
    support = largest(np.einsum("ij,ij->i", matrix, matrix), n_rows, last)
    return np.multiply(matrix, support.mask[:, None], out=out), support


def distance(matrix: NDArray, n_rows: int) -> float:
    """Return the Frobenius distance to the set."""
    return float(np.linalg.norm(matrix - project(matrix, n_rows)[0]))
