"""Weights in [0, 1] with a given sum: the convex hull of all choices of r features."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

BISECTIONS = 60


def project(point: NDArray, total: float) -> NDArray:
    """Return the nearest weights in [0, 1] that sum to ``total``, at most the number of weights.

    The projection is ``clip(point − shift, 0, 1)``; its sum falls with the shift, found by bisection.
    """
    low, high = float(point.min()) - 1.0, float(point.max())
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        if np.clip(point - middle, 0, 1).sum() > total:
            low = middle
        else:
            high = middle
    return np.clip(point - low, 0, 1)
