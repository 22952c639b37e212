"""Correlations between features, a few columns at a time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ufselect.gram.base import GramOperator


def absolute_correlations(gram: GramOperator, indices: NDArray) -> NDArray:
    """Return the absolute correlations of all features with some, n_features × k; 0 for constant features."""
    deviations = np.sqrt(np.asarray(gram.diag(), dtype=np.float64))
    varying = deviations > 0
    weights = np.divide(1.0, deviations, out=np.zeros_like(deviations), where=varying)
    products = np.abs(np.asarray(gram.columns(indices), dtype=np.float64))
    return np.minimum(products * weights[:, None] * weights[indices], 1.0)  # rounding may exceed 1
