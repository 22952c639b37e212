"""A sample of the data, random subsets beside the selection, and correlations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Kept:
    """A share in [0, 1] for the selection, for random subsets, and for all features."""

    selection: float
    random: NDArray
    everything: float


@dataclass(frozen=True)
class Sample:
    """Some rows of the data, centred, and the columns that are to be rebuilt."""

    centred: NDArray
    targets: NDArray[np.intp]

    def columns(self, features: NDArray) -> NDArray:
        return self.centred[:, features]


def largest_correlations(centred: NDArray) -> NDArray:
    """Return, for each column, its largest absolute correlation with another one."""
    matrix = np.abs(correlations(centred, centred))
    np.fill_diagonal(matrix, 0.0)
    return matrix.max(axis=1)


def correlations(a: NDArray, b: NDArray) -> NDArray:
    """Return the correlations of the columns of two centred arrays; 0 for constant columns."""
    norm_a, norm_b = np.linalg.norm(a, axis=0), np.linalg.norm(b, axis=0)
    norm_a[norm_a == 0] = np.inf
    norm_b[norm_b == 0] = np.inf
    return np.clip((a / norm_a).T @ (b / norm_b), -1, 1)


def random_subsets(n_features: int, size: int, n_draws: int, rng: np.random.Generator) -> list[NDArray]:
    """Return subsets of features drawn at random."""
    return [rng.choice(n_features, size, replace=False) for _ in range(n_draws)]


def draw_sample(
    X: Any,
    n_rows: int,
    n_targets: int,
    rng: np.random.Generator,
    sample_weight: NDArray | None = None,
    batch: NDArray | None = None,
) -> Sample:
    """Take at most so many rows of dense or sparse data, centre them, and choose columns to rebuild.

    Rows of weight 0 are never taken, batches are centred by themselves, and gaps count as the mean.
    """
    counted = np.arange(X.shape[0]) if sample_weight is None else np.flatnonzero(sample_weight > 0)
    rows = counted[np.sort(rng.choice(counted.size, min(n_rows, counted.size), replace=False))]
    values = X[rows]
    dense = values.toarray() if hasattr(values, "toarray") else np.asarray(values)
    dense = dense.astype(np.float64)
    targets = np.sort(rng.choice(X.shape[1], min(n_targets, X.shape[1]), replace=False))
    parts = [slice(None)] if batch is None else [batch[rows] == each for each in np.unique(batch[rows])]
    for part in parts:
        dense[part] -= column_means(dense[part])
    return Sample(np.nan_to_num(dense, nan=0.0), targets)


def column_means(data: Any) -> NDArray:
    """Return the means of the columns; of those with gaps, the means of what is there, 0 of nothing."""
    means = np.asarray(data.mean(axis=0)).ravel()
    if not np.isnan(means).any() or not isinstance(data, np.ndarray):
        return means
    there = ~np.isnan(data)
    return np.asarray(np.where(there, data, 0.0).sum(axis=0) / np.maximum(there.sum(axis=0), 1))
