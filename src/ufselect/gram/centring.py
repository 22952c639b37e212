"""Column means and a common scale, by blocks of rows and without losing digits to large means."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ufselect.common.row_blocks import row_blocks

# Sums need no matrix product, so that few rows are enough to be fast.
MIN_SUM_ROWS = 16

NOT_FINITE = "{} contains NaN or infinity; fill in or drop those values first."


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


def working_dtype(dtype: np.dtype, name: str = "X") -> np.dtype:
    """Return the floating-point type in which data of a type are worked on: float32 stays, others float64.

    Raises
    ------
    TypeError
        If the type is not boolean, integer or real floating-point.
    """
    if np.dtype(dtype).kind not in "biuf":
        raise TypeError(f"{name} holds {dtype} values; convert its columns to numbers first.")
    return np.dtype(np.float32) if dtype == np.float32 else np.dtype(np.float64)


def refuse_infinity(values: NDArray, name: str) -> None:
    """Raise a ValueError if data, called ``name``, hold infinity; NaN marks a missing value."""
    if np.any(np.isinf(values)):
        raise ValueError(f"{name} contains infinity; replace those values first.")


def mean_and_scale(X: NDArray, name: str = "X") -> tuple[NDArray, float]:
    """Return the column means of ``X`` in float64 and a power of two near its largest centred entry.

    Sums run over differences to the first row, so that a constant column has exactly its value as mean
    and a column with a large mean keeps its digits. Integers and booleans are converted block by block.

    Raises
    ------
    ValueError
        If the data, called ``name``, hold NaN or infinity, or if their range overflows.
    """
    dtype = working_dtype(X.dtype, name)
    first = X[0].astype(dtype)
    total = np.zeros(X.shape[1])
    largest = 0.0
    with np.errstate(over="ignore", invalid="ignore"):
        for rows in row_blocks(X.shape[0], X.shape[1] * dtype.itemsize, min_rows=MIN_SUM_ROWS):
            difference = X[rows] - first
            total += difference.sum(axis=0, dtype=np.float64)
            largest = max(largest, float(np.abs(difference, out=difference).max(initial=0.0)))
    if not np.all(np.isfinite(total)) and not np.all(np.isfinite(X)):
        raise ValueError(NOT_FINITE.format(name))
    return first.astype(np.float64) + total / X.shape[0], power_of_two_near(largest)


def centre_and_scale(X: NDArray) -> tuple[NDArray, float]:
    """Return the column means of ``X`` in its own type and a power of two near its largest centred entry."""
    mean, scale = mean_and_scale(X)
    return mean.astype(X.dtype), scale
