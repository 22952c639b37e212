"""Column means and a common scale, by blocks of rows and without losing digits to large means."""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ufselect._utils.arrays import row_blocks

NOT_FINITE = "{} contains NaN or infinity; fill in or drop those values first."


def power_of_two_near(magnitude: float, dtype: DTypeLike = np.float64) -> float:
    """Return the power of two in ``(magnitude / 2, magnitude]``, or 1 for zero.

    It is never below the least normal number of the type, so that its inverse is finite; data below that are
    still small after the division, but their squares are in range. A magnitude that is not finite raises a
    ValueError, because differences of the data overflow.
    """
    if not np.isfinite(magnitude):
        raise ValueError(
            "The range of the data is larger than its floating-point type can hold; divide X by a constant."
        )
    if magnitude == 0:
        return 1.0
    return max(float(np.ldexp(1.0, int(np.frexp(magnitude)[1]) - 1)), float(np.finfo(dtype).tiny))


def is_extreme(scale: float, dtype: np.dtype) -> bool:
    """Tell whether products of data of that scale with numbers near 1 may leave the range of the type."""
    limits = np.finfo(dtype)
    return not np.sqrt(float(limits.tiny)) < scale < np.sqrt(float(limits.max))


def working_dtype(dtype: np.dtype, name: str = "X") -> np.dtype:
    """Return the type to compute in, float32 or float64; data that are not numbers raise a TypeError."""
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
    Data, called ``name``, that hold NaN or infinity or whose range overflows raise a ValueError.
    """
    dtype = working_dtype(X.dtype, name)
    first = X[0].astype(dtype)
    mean_difference, largest = _mean_difference(X, first, 1.0)
    if not np.all(np.isfinite(mean_difference)):
        if not np.all(np.isfinite(X)):
            raise ValueError(NOT_FINITE.format(name))
        # The sum may leave the range of floats although each difference does not.
        mean_difference, largest = _mean_difference(X, first, 1 / X.shape[0])
    scale = power_of_two_near(largest, dtype)
    return first.astype(np.float64) + mean_difference, scale


def _mean_difference(X: NDArray, first: NDArray, share: float) -> tuple[NDArray, float]:
    """Return the mean of the differences to a row, each multiplied by a share first, and the largest one."""
    total = np.zeros(X.shape[1])
    largest = 0.0
    with np.errstate(over="ignore", invalid="ignore"):
        # Sums need no matrix product, so few rows are enough to be fast.
        for rows in row_blocks(X.shape[0], X.shape[1] * first.dtype.itemsize, min_rows=16):
            difference = X[rows] - first
            summand = difference if share == 1.0 else difference * share
            total += summand.sum(axis=0, dtype=np.float64)
            largest = max(largest, float(np.abs(difference, out=difference).max(initial=0.0)))
    return total / (X.shape[0] * share), largest


def centre_and_scale(X: NDArray) -> tuple[NDArray, float]:
    """Return the column means of ``X`` in its own type and a power of two near its largest centred entry."""
    mean, scale = mean_and_scale(X)
    return mean.astype(X.dtype), scale
