"""Starting points of K-means for many runs at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

SEEDINGS = ("random", "k-means++", "greedy-k-means++")


def starting_samples(points: NDArray, n_clusters: int, seeds: Sequence[int], seeding: str) -> NDArray:
    """Return the samples, n_runs × n_clusters, at which the runs start.

    Each run draws from its own generator, so that a run does not depend on how many others there are. The
    two k-means++ rules [1]_ consume random numbers in the order of scikit-learn's ``kmeans_plusplus`` and
    choose the same samples as it does with the same seed and ``n_local_trials=1`` or its default.

    References
    ----------
    .. [1] D. Arthur and S. Vassilvitskii (2007), "k-means++: the advantages of careful seeding", SODA.
    """
    if seeding == "random":
        return np.array([rng.choice(len(points), n_clusters, replace=False) for rng in _seeded(seeds)])
    n_trials = 1 if seeding == "k-means++" else 2 + int(np.log(n_clusters))
    uniform = np.array([rng.random_sample(1 + (n_clusters - 1) * n_trials) for rng in _seeded(seeds)])
    return _plus_plus(points, n_clusters, uniform[:, 0], uniform[:, 1:].reshape(len(seeds), -1, n_trials))


def _seeded(seeds: Sequence[int]) -> Iterator[np.random.RandomState]:
    """Return one generator in the state of each seed in turn; a new one would take as long as a short run."""
    rng = np.random.RandomState(0)
    for seed in seeds:
        rng.seed(seed)
        yield rng


def _plus_plus(points: NDArray, n_clusters: int, first: NDArray, trials: NDArray) -> NDArray:
    """Choose each further sample with probability proportional to the squared distance from those chosen.

    Of several trials the one that leaves the smallest sum of squared distances is kept.
    """
    n_samples, n_runs = len(points), len(first)
    factors = _distance_factors(points)
    chosen = np.empty((n_runs, n_clusters), dtype=np.intp)
    chosen[:, 0] = np.minimum((first * n_samples).astype(np.intp), n_samples - 1)
    closest = _squared_distances(factors, chosen[:, 0])
    for step in range(1, n_clusters):
        thresholds = trials[:, step - 1] * closest.sum(axis=1)[:, None]
        cumulative = np.cumsum(closest, axis=1)
        candidates = np.array([np.searchsorted(*pair) for pair in zip(cumulative, thresholds, strict=True)])
        np.minimum(candidates, n_samples - 1, out=candidates)
        distances = _squared_distances(factors, candidates.ravel()).reshape(*candidates.shape, -1)
        np.minimum(distances, closest[:, None], out=distances)
        chosen[:, step], closest = _best_trials(candidates, distances)
    return chosen


def _best_trials(candidates: NDArray, distances: NDArray) -> tuple[NDArray, NDArray]:
    """Return the candidate of each run that leaves the smallest sum, and the distances that it leaves."""
    if candidates.shape[1] == 1:
        return candidates[:, 0], distances[:, 0]
    runs, best = np.arange(len(candidates)), np.argmin(distances.sum(axis=2), axis=1)
    return candidates[runs, best], distances[runs, best]


def _distance_factors(points: NDArray) -> tuple[NDArray, NDArray]:
    """Return two factors whose product holds the squared distances between points."""
    norms = np.einsum("ij,ij->i", points, points)
    ones = np.ones_like(norms)
    return np.column_stack([-2 * points, norms, ones]), np.vstack([points.T, ones, norms])


def _squared_distances(factors: tuple[NDArray, NDArray], samples: NDArray) -> NDArray:
    """Return the squared distances of the named samples, one per row, to all points."""
    own, others = factors
    distances = own[samples] @ others
    np.maximum(distances, 0, out=distances)
    # A sample's distance to itself is rounding noise; left in, it could be drawn again.
    distances[np.arange(len(samples)), samples] = 0
    return distances
