"""Columns that stand for all columns where there are too many to keep an eye on each."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ufselect.gram import GramOperator, SparseGram

# Products of sparse data with a vector cost more than those with an array of this many columns of S, and it
# is enough for counts up to about a thousand; the targets of fewer than these are not sampled.
MOST_TARGETS = 2000


def sampled_targets(gram: GramOperator) -> NDArray | None:
    """Return weighted columns of S of many sparse features, or None where all features are targets.

    Columns are drawn systematically with a chance proportional to their variance and divided by the root of
    it, so that sums of squares over the targets estimate those over all columns. Nothing in it is random.
    """
    n_features = gram.shape[0]
    if not isinstance(gram, SparseGram) or n_features <= MOST_TARGETS:
        return None
    variance = np.asarray(gram.diag(), dtype=np.float64)
    expected = MOST_TARGETS * variance / variance.sum()
    drawn, times = np.unique(
        np.searchsorted(np.cumsum(expected), np.arange(MOST_TARGETS) + 0.5, side="right"), return_counts=True
    )
    drawn = np.minimum(drawn, n_features - 1)
    targets = gram.columns(drawn)
    targets *= np.sqrt(times / expected[drawn]).astype(targets.dtype)
    return targets
