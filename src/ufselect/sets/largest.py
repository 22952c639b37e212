"""Exact counts of the largest values, ties to the lower index."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def mask_of_largest(values: NDArray, count: int) -> NDArray:
    """Mark exactly ``count`` of the largest values of a flat array; among equals the first come first."""
    size = values.size
    if count >= size:
        return np.ones(size, dtype=bool)
    if count <= 0:
        return np.zeros(size, dtype=bool)
    threshold = np.partition(values, size - count)[size - count]
    mask = values >= threshold
    surplus = int(np.count_nonzero(mask)) - count
    if surplus:
        tied = np.flatnonzero(values == threshold)
        mask[tied[tied.size - surplus :]] = False
    return mask
