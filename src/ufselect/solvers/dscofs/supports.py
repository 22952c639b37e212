"""The supports of the sparse blocks, followed from one iteration to the next."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ufselect.sets.largest import mask_of_largest

# Share of the last threshold above which this time's largest values are sought: from one iteration to the
# next the threshold hardly moves, and few values lie between the two.
SLACK = 0.97


@dataclass(frozen=True)
class Support:
    """Which values are kept, and the smallest of them."""

    mask: NDArray
    threshold: float


def largest(values: NDArray, count: int, last: Support | None = None) -> Support:
    """Mark exactly ``count`` of the largest values of a flat array; among equals the first come first.

    With the support of similar values as a hint only the values near its threshold are ordered.
    """
    if 0 < count < values.size and last is not None and last.threshold > 0:
        near = np.flatnonzero(values >= SLACK * last.threshold)
        if near.size >= count:
            return _among(values, near, count)
    mask = mask_of_largest(values, count)
    return Support(mask, float(values[mask].min()) if count > 0 else np.inf)


def _among(values: NDArray, near: NDArray, count: int) -> Support:
    """Choose among positions that are known to hold the ``count`` largest values."""
    candidates = values[near]
    threshold = np.partition(candidates, near.size - count)[near.size - count]
    kept = near[candidates > threshold]
    tied = near[candidates == threshold]
    mask = np.zeros(values.size, dtype=bool)
    mask[kept] = True
    mask[tied[: count - kept.size]] = True
    return Support(mask, float(threshold))
