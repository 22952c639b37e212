"""Rows to judge by, and seeds."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray


def seed_from(random_state: Any) -> int:
    """Return one integer seed for an int, a RandomState, a Generator or None."""
    if isinstance(random_state, Integral) and not isinstance(random_state, bool):
        return int(random_state)
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(np.iinfo(np.int32).max))
    return int(np.random.default_rng(random_state).integers(np.iinfo(np.int32).max))


def kmeans_seeds(seed: int, n_runs: int) -> list[int]:
    """Return one seed per K-means run."""
    return np.random.RandomState(seed % 2**32).randint(np.iinfo(np.int32).max, size=n_runs).tolist()


def sampled_indices(n_rows: int, max_samples: int, seed: int) -> NDArray:
    """Return the indices of all rows, or of ``max_samples`` drawn without replacement, in order."""
    if n_rows <= max_samples:
        return np.arange(n_rows)
    return np.sort(np.random.default_rng(seed).choice(n_rows, max_samples, replace=False))


def sampled_rows(X: Any, max_samples: int, seed: int) -> Any:
    """Return all rows, or ``max_samples`` of them drawn without replacement and kept in order."""
    if X.shape[0] <= max_samples:
        return X
    return X[sampled_indices(X.shape[0], max_samples, seed)]
