"""Column means and a common scale, by blocks of rows and without losing digits to large means."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

BLOCK_BYTES = 2**21
MIN_BLOCK_ROWS = 128


def row_blocks(n_rows: int, row_bytes: int) -> Iterator[slice]:
    """Cut ``range(n_rows)`` into slices of about two megabytes each."""
    step = max(MIN_BLOCK_ROWS, BLOCK_BYTES // max(row_bytes, 1))
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))


def power_of_two_near(magnitude: float) -> float:
    """Return the power of two in ``(magnitude / 2, magnitude]``, or 1 for zero.

    Raises
    ------
    ValueError
        If the magnitude is not finite, that is, if differences of the data overflow.
    """
    if not np.isfinite(magnitude):
        raise ValueError(
            "The range of the data is larger than its floating-point type can hold; divide X by a constant."
        )
    if magnitude == 0:
        return 1.0
    return float(np.ldexp(1.0, int(np.frexp(magnitude)[1]) - 1))


def centre_and_scale(X: NDArray) -> tuple[NDArray, float]:
    """Return the column means of ``X`` and a power of two near its largest centred entry.

    Sums run over differences to the first row, so that a constant column has exactly its value as mean
    and a column with a large mean keeps its digits.
    """
    first = X[0].copy()
    total = np.zeros(X.shape[1])
    largest = 0.0
    with np.errstate(over="ignore"):
        for rows in row_blocks(X.shape[0], X.shape[1] * X.itemsize):
            difference = X[rows] - first
            total += difference.sum(axis=0, dtype=np.float64)
            largest = max(largest, float(np.abs(difference, out=difference).max(initial=0.0)))
    scale = power_of_two_near(largest)
    mean = (first.astype(np.float64) + total / X.shape[0]).astype(X.dtype)
    return mean, scale
