"""Eigenpairs of symmetric matrices: as many as asked for, and the same every time."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy.sparse.linalg import ArpackError, ArpackNoConvergence, eigsh

# Where a Krylov space is exhausted ARPACK goes on from a random vector, which SciPy draws from ``rng``, and
# from fresh entropy if that is not given; before 1.17 it came from ARPACK's own constant seed.
LANCZOS_SEED = 20240917
_FIXED_RESTARTS: dict[str, Any] = (
    {"rng": LANCZOS_SEED} if "rng" in inspect.signature(eigsh).parameters else {}
)


def eigenpairs_between(
    matrix: NDArray, first: int, last: int, *, metric: NDArray | None = None
) -> tuple[NDArray, NDArray]:
    """Return eigenvalues number ``first`` to ``last``, ascending and counted from 0, and their vectors.

    LAPACK's drivers for part of a spectrum lose pairs, or fail, where many eigenvalues are equal, as in
    whitened data; the driver for all of it does not and then takes their place.

    Parameters
    ----------
    matrix : ndarray of shape (n, n)
        Symmetric; only the lower triangle is read.
    first, last : int
        From 0 to n − 1.
    metric : ndarray of shape (n, n), optional
        Positive definite B of the problem ``A v = λ B v``.
    """
    count = last - first + 1
    try:
        values, vectors = linalg.eigh(matrix, metric, subset_by_index=[first, last], check_finite=False)
    except linalg.LinAlgError:
        values, vectors = np.empty(0), np.empty((0, 0))
    if values.size == count == vectors.shape[1] and np.isfinite(vectors).all():
        return values, vectors
    values, vectors = linalg.eigh(
        matrix, metric, driver="evd" if metric is None else "gvd", check_finite=False
    )
    return values[first : last + 1], vectors[:, first : last + 1]


def eigenvalues_between(matrix: NDArray, first: int, last: int) -> NDArray:
    """Return eigenvalues number ``first`` to ``last`` alone, with the same care."""
    try:
        values = linalg.eigvalsh(matrix, subset_by_index=[first, last], check_finite=False)
    except linalg.LinAlgError:
        values = np.empty(0)
    if values.size == last - first + 1:
        return values
    return linalg.eigvalsh(matrix, driver="evd", check_finite=False)[first : last + 1]


def lanczos_pairs(matrix: Any, count: int, **options: Any) -> tuple[NDArray, NDArray]:
    """Return ``count`` eigenpairs by Lanczos' method, as ``scipy.sparse.linalg.eigsh`` with the same options.

    Start and restarts are fixed, so that the same matrix gives the same pairs.
    """
    order = matrix.shape[0]
    start = np.random.default_rng(LANCZOS_SEED).standard_normal(order).astype(matrix.dtype)
    try:
        return eigsh(matrix, k=count, v0=start, **options, **_FIXED_RESTARTS)
    except ArpackNoConvergence:
        raise
    except ArpackError:
        if np.any(matrix @ start):
            raise
        # What takes a random vector to zero takes all of them there, and ARPACK has nothing to go on from.
        return np.zeros(count, start.dtype), np.eye(order, count, dtype=start.dtype)
