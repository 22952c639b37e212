"""Rows to judge by, and the number of clusters to look for."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ufselect.gram import GramOperator
from ufselect.selectors.dimension import auto_n_components


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


def sampled_rows(X: NDArray, max_samples: int, seed: int) -> NDArray:
    """Return all rows, or ``max_samples`` of them drawn without replacement and kept in order."""
    if len(X) <= max_samples:
        return X
    rows = np.random.default_rng(seed).choice(len(X), max_samples, replace=False)
    return X[np.sort(rows)]


def resolve_n_clusters(n_clusters: int | str, gram: GramOperator, n_rows: int) -> int:
    """Turn ``n_clusters`` into a number.

    c clusters in general position span c − 1 directions, so ``"auto"`` takes one more than the number of
    components that the broken-stick rule keeps.

    Raises
    ------
    ValueError
        If it is neither ``"auto"`` nor an integer from 1 to the number of rows.
    """
    if isinstance(n_clusters, str) and n_clusters == "auto":
        return min(auto_n_components(gram) + 1, n_rows)
    if isinstance(n_clusters, bool) or not isinstance(n_clusters, Integral) or n_clusters < 1:
        raise ValueError(f'n_clusters must be an integer of at least 1 or "auto", not {n_clusters!r}.')
    if n_clusters > n_rows:
        raise ValueError(f"n_clusters={n_clusters} is more than the {n_rows} samples; choose fewer clusters.")
    return int(n_clusters)
