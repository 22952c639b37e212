r"""Non-negative weights with a given sum, each sample's alone or capped at 1."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

BISECTIONS = 60  # halve the interval beyond the 53 binary digits of a float
ROUNDING = 1e-12  # of the sum of many weights, in units of the sum


def project(points: NDArray) -> NDArray:
    r"""Return the nearest point of the simplex :math:`\{s \ge 0, \sum_j s_j = 1\}` to each row.

    Examples
    --------
    >>> import numpy as np
    >>> from ufselect.sets import simplex
    >>> simplex.project(np.array([[1.0, 0.5, -2.0]])).tolist()
    [[0.75, 0.25, 0.0]]
    """
    # A common shift changes nothing, and keeps the digits of what is left.
    points = points - points.max(axis=1, keepdims=True)
    ordered = -np.sort(-points, axis=1)
    counts = np.arange(1, points.shape[1] + 1)
    thresholds = (np.cumsum(ordered, axis=1) - 1) / counts
    n_positive = np.count_nonzero(ordered > thresholds, axis=1)
    threshold = np.take_along_axis(thresholds, n_positive[:, None] - 1, axis=1)
    return np.maximum(points - threshold, 0)


def project_capped(point: NDArray, total: float) -> NDArray:
    """Return the nearest weights in [0, 1] that sum to ``total``, at most the number of weights.

    With ``total`` features to choose these are the convex hull of all choices. The projection is
    ``clip(point − shift, 0, 1)``. Its sum falls with the shift, in straight pieces: Newton's method, kept in
    the interval that holds the shift, is exact once it has found the right piece.
    """
    low, high = float(point.min()) - 1.0, float(point.max())
    shift = (low + high) / 2
    for _ in range(BISECTIONS):
        weights = np.clip(point - shift, 0, 1)
        excess = float(weights.sum()) - total
        if abs(excess) <= ROUNDING * total:
            break
        low, high = (shift, high) if excess > 0 else (low, shift)
        n_between = int(np.count_nonzero((weights > 0) & (weights < 1)))
        # Where the sum is flat there is no slope to go by, and the interval is halved.
        shift = shift + excess / n_between if n_between else low
        if not low < shift < high:
            shift = (low + high) / 2
    return np.clip(point - shift, 0, 1)
