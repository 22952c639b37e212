"""Exact counts of the largest values, ties to the lower index."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

# Below this many values partitioning all of them is the faster way; a sixteenth of more is a sample large
# enough to bracket the threshold, and its sorting costs little.
SAMPLING_SIZE = 4096
SAMPLE_STEP = 16
# Share of the last threshold above which this time's largest values are sought: from one iteration to the
# next the threshold hardly moves, and few values lie between the two.
SLACK = 0.97


@dataclass(frozen=True)
class Support:
    """Which values of a flat array are kept, and the smallest of them."""

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


def mask_of_largest(values: NDArray, count: int) -> NDArray:
    """Mark exactly ``count`` of the largest values of a flat array; among equals the first come first."""
    size = values.size
    if count >= size:
        return np.ones(size, dtype=bool)
    if count <= 0:
        return np.zeros(size, dtype=bool)
    threshold = _kth_largest(values, count)
    mask = values >= threshold
    surplus = int(np.count_nonzero(mask)) - count
    if surplus:
        tied = np.flatnonzero(values == threshold)
        mask[tied[tied.size - surplus :]] = False
    return mask


def _kth_largest(values: NDArray, count: int) -> float:
    """Return the ``count``-th largest value.

    A regular sample brackets it almost surely (Floyd and Rivest, 1975); only the few values inside the
    bracket are then partitioned. Counting what lies above proves the bracket right or sends us back.
    """
    if values.size >= SAMPLING_SIZE:
        sample = np.sort(values[::SAMPLE_STEP])
        centre = sample.size - count * sample.size / values.size
        margin = 2 * np.sqrt(sample.size) + 2  # four standard deviations of a rank in the sample
        low = sample[max(int(centre - margin), 0)]
        high = sample[min(int(centre + margin), sample.size - 1)]
        above = int(np.count_nonzero(values > high))
        inside = values[(values >= low) & (values <= high)]
        if above < count <= above + inside.size:
            values, count = inside, count - above
    return np.partition(values, values.size - count)[values.size - count]
