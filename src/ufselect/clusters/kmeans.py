"""Many runs of K-means on one data set, advanced together.

On small data a run of a general K-means estimator is mostly overhead. Here the distances of all points to
the centres of all runs are one matrix product, and the new centres of all runs one sparse product.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import sparse

from ufselect.gram.rows import centre_and_scale

SEEDINGS = ("random", "k-means++", "greedy-k-means++")


def kmeans_runs(
    points: NDArray,
    n_clusters: int,
    seeds: Sequence[int],
    seeding: str,
    *,
    is_exact: bool = True,
    centre_entries: int = 2**23,
) -> NDArray:
    """Run Lloyd's algorithm once per seed and return the labels, n_runs × n_samples.

    The rules for stopping, ties and empty clusters are those of scikit-learn's ``KMeans``: stop when no
    label changes or the centres move by less than 1e-4 of the mean variance; an empty cluster moves to the
    point farthest from its centre.

    Unless ``is_exact``, single precision is used, which is faster for all but the smallest data; the runs are
    repeated in double precision if clusters are too small, compared with their distances, to be resolved.
    ``centre_entries`` limits the centres of the runs that advance together, to 64 MB by default.
    """
    coordinates = distance_preserving_coordinates(points, np.float64 if is_exact else np.float32)
    tol = 1e-4 * float(np.square(coordinates).sum()) / (points.shape[0] * points.shape[1])
    labels = np.empty((len(seeds), len(points)), dtype=np.intp)
    step = max(1, centre_entries // (n_clusters * max(coordinates.shape)))
    for start in range(0, len(seeds), step):
        batch = slice(start, start + step)
        samples = starting_samples(coordinates, n_clusters, seeds[batch], seeding)
        labels[batch] = lloyd(coordinates, coordinates[samples], tol)
    if not is_exact:
        # Single precision has seven digits; the mean squared distance to the centres must keep four.
        largest = float(np.einsum("ij,ij->i", coordinates, coordinates).max())
        least = 1e4 * float(np.finfo(np.float32).eps) * len(points) * largest
        if float(inertias(coordinates, labels[:1]).min()) < least:
            return kmeans_runs(points, n_clusters, seeds, seeding)
    return labels


def distance_preserving_coordinates(points: NDArray, dtype: DTypeLike = np.float64) -> NDArray:
    """Return at most n_samples coordinates that preserve all distances, up to a power of two.

    K-means depends on distances alone, so wide data are rotated into their row space. The power of two keeps
    squares within the floating-point range and changes no digit.
    """
    mean, scale = centre_and_scale(points)
    centred = ((points - mean) / scale).astype(dtype, copy=False)
    n_samples, n_features = centred.shape
    if n_features > n_samples:
        return np.ascontiguousarray(np.asarray(np.linalg.qr(centred.T, mode="r")).T)
    return centred


def starting_samples(points: NDArray, n_clusters: int, seeds: Sequence[int], seeding: str) -> NDArray:
    """Return the samples, n_runs × n_clusters, at which the runs start.

    Each run draws from its own generator, so a run does not depend on how many others there are. The two
    k-means++ rules (Arthur and Vassilvitskii 2007, SODA) use random numbers in the order of scikit-learn's
    ``kmeans_plusplus`` and choose the same samples as it does with the same seed and ``n_local_trials=1`` or
    its default.
    """
    if seeding == "random":
        return np.array([rng.choice(len(points), n_clusters, replace=False) for rng in _seeded(seeds)])
    n_trials = 1 if seeding == "k-means++" else 2 + int(np.log(n_clusters))
    uniform = _uniform(tuple(seeds), 1 + (n_clusters - 1) * n_trials)
    return _plus_plus(points, n_clusters, uniform[:, 0], uniform[:, 1:].reshape(len(seeds), -1, n_trials))


def _seeded(seeds: Sequence[int]) -> Iterator[np.random.RandomState]:
    """Yield one generator, seeded with each seed in turn; a new one would take as long as a short run."""
    rng = np.random.RandomState(0)
    for seed in seeds:
        rng.seed(seed)
        yield rng


@lru_cache(maxsize=16)  # a generator takes as long as a short run, and many runs have the same seeds
def _uniform(seeds: tuple[int, ...], count: int) -> NDArray:
    return np.array([rng.random_sample(count) for rng in _seeded(seeds)])


def _plus_plus(points: NDArray, n_clusters: int, first: NDArray, trials: NDArray) -> NDArray:
    """Choose each further sample with probability proportional to the squared distance from those chosen.

    Of several trials, the one that leaves the smallest sum of squared distances is used.
    """
    n_samples, n_runs = len(points), len(first)
    # Two factors whose product holds the squared distances between points.
    norms = np.einsum("ij,ij->i", points, points)
    ones = np.ones_like(norms)
    own, others = np.column_stack([-2 * points, norms, ones]), np.vstack([points.T, ones, norms])

    def squared_distances(samples: NDArray) -> NDArray:
        distances = own[samples] @ others
        np.maximum(distances, 0, out=distances)
        # A sample's distance to itself is rounding noise; left in, it could be drawn again.
        distances[np.arange(len(samples)), samples] = 0
        return distances

    runs = np.arange(n_runs)
    chosen = np.empty((n_runs, n_clusters), dtype=np.intp)
    chosen[:, 0] = np.minimum((first * n_samples).astype(np.intp), n_samples - 1)
    closest = squared_distances(chosen[:, 0])
    for step in range(1, n_clusters):
        thresholds = trials[:, step - 1] * closest.sum(axis=1)[:, None]
        cumulative = np.cumsum(closest, axis=1)
        candidates = np.array([np.searchsorted(*pair) for pair in zip(cumulative, thresholds, strict=True)])
        np.minimum(candidates, n_samples - 1, out=candidates)
        distances = squared_distances(candidates.ravel()).reshape(*candidates.shape, -1)
        np.minimum(distances, closest[:, None], out=distances)
        best = np.argmin(distances.sum(axis=2), axis=1) if candidates.shape[1] > 1 else 0
        chosen[:, step], closest = candidates[runs, best], distances[runs, best]
    return chosen


def lloyd(points: NDArray, centres: NDArray, tol: float, max_iter: int = 300) -> NDArray:
    """Advance all runs from ``centres`` (n_runs × n_clusters × n_features) and return their labels."""
    n_runs, n_clusters, _ = centres.shape
    final, previous = np.empty((n_runs, len(points)), dtype=np.intp), np.full((n_runs, len(points)), -1)
    active = np.arange(n_runs)
    members = Members(len(points), n_runs, n_clusters, points.dtype)
    for _ in range(max_iter):
        labels = nearest(points, centres)
        if len(labels) < members.n_runs:
            members = Members(len(points), len(labels), n_clusters, points.dtype)
        sums, counts = members.sums(points, labels)
        for run in np.flatnonzero(np.any(counts == 0, axis=1)):
            _move_empty(points, labels[run], centres[run], sums[run], counts[run])
        moved = sums / np.maximum(counts, 1).astype(sums.dtype)[:, :, None]
        settled = np.all(labels == previous, axis=1)
        final[active[settled]] = labels[settled]
        close = ~settled & (np.square(moved - centres).sum(axis=(1, 2)) <= tol)
        if np.any(close):
            final[active[close]] = nearest(points, moved[close])
        going = ~(settled | close)
        active, previous, centres = active[going], labels[going], moved[going]
        if active.size == 0:
            return final
    final[active] = nearest(points, centres)
    return final


def nearest(points: NDArray, centres: NDArray, block_entries: int = 2**18) -> NDArray:
    """Return the index of the nearest centre of each run for each point, n_runs × n_samples.

    ``block_entries`` is the number of distances in one block of points: 2 MB, which fit into the cache.
    """
    n_runs, n_clusters, n_features = centres.shape
    flat = centres.reshape(-1, n_features)
    half_norms = 0.5 * np.einsum("ij,ij->i", flat, flat)
    labels = np.empty((len(points), n_runs), dtype=np.intp)
    step = max(1, block_entries // len(flat))
    for start in range(0, len(points), step):
        rows = slice(start, start + step)
        similarity = points[rows] @ flat.T
        similarity -= half_norms
        np.argmax(similarity.reshape(-1, n_runs, n_clusters), axis=2, out=labels[rows])
    return labels.T


class Members:
    """The matrix of the points in each cluster of each run.

    Only the clusters change from one iteration to the next. For small data, building the matrix each time
    would take longer than its product with the points.
    """

    def __init__(self, n_samples: int, n_runs: int, n_clusters: int, dtype: DTypeLike) -> None:
        self.n_runs = n_runs
        self.n_clusters = n_clusters
        self.first = n_clusters * np.arange(n_runs)
        size = n_samples * n_runs
        # Row 0 throughout: the clusters are filled in later.
        self.matrix = sparse.csc_array(
            (np.ones(size, dtype), np.zeros(size, dtype=np.intp), np.arange(0, size + 1, n_runs)),
            shape=(n_runs * n_clusters, n_samples),
        )

    def sums(self, points: NDArray, labels: NDArray) -> tuple[NDArray, NDArray]:
        """Return the sum of the points of each cluster and their number, for each run."""
        clusters = (labels.T + self.first).ravel()
        counts = np.bincount(clusters, minlength=self.n_runs * self.n_clusters)
        self.matrix.indices[:] = clusters
        sums = self.matrix @ points
        return sums.reshape(self.n_runs, self.n_clusters, -1), counts.reshape(self.n_runs, self.n_clusters)


def inertias(points: NDArray, labels: NDArray) -> NDArray:
    """Return the sum of squared distances to the cluster means for each run."""
    sums, counts = Members(len(points), len(labels), int(labels.max()) + 1, points.dtype).sums(points, labels)
    between = np.square(sums).sum(axis=2) / np.maximum(counts, 1)
    return float(np.square(points).sum()) - between.sum(axis=1)


def _move_empty(points: NDArray, labels: NDArray, centres: NDArray, sums: NDArray, counts: NDArray) -> None:
    """Give each empty cluster of a run the point farthest from its centre, in place.

    If so many points are equal that none is left, the cluster moves to the centre of the largest one.
    """
    empty = np.flatnonzero(counts == 0)
    distances = np.square(points - centres[labels]).sum(axis=1)
    if distances.max() > 0:
        farthest = np.argsort(-distances, kind="stable")[: empty.size]
        np.subtract.at(sums, labels[farthest], points[farthest])
        np.subtract.at(counts, labels[farthest], 1)
        sums[empty] = points[farthest]
        counts[empty] = 1
    largest = int(np.argmax(counts))
    still_empty = counts == 0
    sums[still_empty] = sums[largest]
    counts[still_empty] = counts[largest]


def contingencies(classes: NDArray, n_classes: int, clusters: NDArray, n_clusters: int) -> NDArray:
    """Count the samples of each class in each cluster for several clusterings, the rows of ``clusters``."""
    n_runs = clusters.shape[0]
    cells = (np.arange(n_runs)[:, None] * n_classes + classes) * n_clusters + clusters
    counts = np.bincount(cells.ravel(), minlength=n_runs * n_classes * n_clusters)
    return counts.reshape(n_runs, n_classes, n_clusters)
