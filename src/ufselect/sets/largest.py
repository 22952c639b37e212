"""Exact counts of the largest values, ties to the lower index."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

SAMPLE_STEP = 16
SAMPLING_SIZE = 4096


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
        margin = 2 * np.sqrt(sample.size) + 2
        low = sample[max(int(centre - margin), 0)]
        high = sample[min(int(centre + margin), sample.size - 1)]
        above = int(np.count_nonzero(values > high))
        inside = values[(values >= low) & (values <= high)]
        if above < count <= above + inside.size:
            values, count = inside, count - above
    return np.partition(values, values.size - count)[values.size - count]
