"""Many runs of K-means on one data set, advanced together.

On small data a run of a general K-means estimator is mostly overhead. Here the distances of all points to
the centres of all runs are one matrix product, and the new centres of all runs one sparse product.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import sparse

from ufselect.common.deadline import check_time
from ufselect.gram.centring import centre_and_scale
from ufselect.metrics.seeding import starting_samples

# The defaults of scikit-learn's KMeans.
MAX_ITER = 300
RELATIVE_TOL = 1e-4
# Distances of one block of points: 2 MB, which stay in the cache.
DISTANCE_ENTRIES = 2**18
# The mean squared distance to the centres over the largest squared norm that single precision, seven digits,
# still leaves four digits of.
LEAST_SPREAD = 1e4 * float(np.finfo(np.float32).eps)
# Centres of the runs that advance together: 64 MB at most.
CENTRE_ENTRIES = 2**23


def kmeans_runs(
    points: NDArray,
    n_clusters: int,
    seeds: Sequence[int],
    seeding: str,
    max_iter: int = MAX_ITER,
    *,
    is_exact: bool = True,
) -> NDArray:
    """Run Lloyd's algorithm once per seed and return the labels, n_runs × n_samples.

    Rules of stopping, of ties and of empty clusters are those of scikit-learn's ``KMeans``: stop when no
    label changes or the centres move by less than 1e-4 of the mean variance; an empty cluster moves to the
    point farthest from its centre.

    Parameters
    ----------
    points : ndarray of shape (n_samples, n_features)
        float64 data.
    n_clusters : int
        Number of clusters, at most n_samples.
    seeds : sequence of int
        One seed per run.
    seeding : {"random", "k-means++", "greedy-k-means++"}
        How the starting centres are drawn.
    max_iter : int, default=300
        Most iterations.
    is_exact : bool, default=True
        False works in single precision, in less time for all but the smallest data, and again in double
        precision where the clusters turn out to be so small beside their distances that it blurs them.
    """
    coordinates = distance_preserving_coordinates(points, np.float64 if is_exact else np.float32)
    tol = RELATIVE_TOL * float(np.square(coordinates).sum()) / (points.shape[0] * points.shape[1])
    labels = np.empty((len(seeds), len(points)), dtype=np.intp)
    step = max(1, CENTRE_ENTRIES // (n_clusters * max(coordinates.shape)))
    for start in range(0, len(seeds), step):
        batch = slice(start, start + step)
        samples = starting_samples(coordinates, n_clusters, seeds[batch], seeding)
        labels[batch] = lloyd(coordinates, coordinates[samples], tol, max_iter)
    if not is_exact and _is_blurred(coordinates, labels[:1]):
        return kmeans_runs(points, n_clusters, seeds, seeding, max_iter)
    return labels


def distance_preserving_coordinates(points: NDArray, dtype: DTypeLike = np.float64) -> NDArray:
    """Return at most n_samples coordinates with the distances of the points, up to a power of two.

    K-means sees the data through distances alone, so wide data are rotated into their row space. The
    common factor keeps squares inside the floating-point range and changes no digit.
    """
    mean, scale = centre_and_scale(points)
    centred = ((points - mean) / scale).astype(dtype, copy=False)
    n_samples, n_features = centred.shape
    if n_features > n_samples:
        return np.ascontiguousarray(np.asarray(np.linalg.qr(centred.T, mode="r")).T)
    return centred


def _is_blurred(points: NDArray, labels: NDArray) -> bool:
    """Tell whether clusters are so small beside the distances of centred points that rounding hides them."""
    largest = float(np.einsum("ij,ij->i", points, points).max())
    return float(inertias(points, labels).min()) < LEAST_SPREAD * len(points) * largest


def lloyd(points: NDArray, centres: NDArray, tol: float, max_iter: int = MAX_ITER) -> NDArray:
    """Advance all runs from ``centres`` (n_runs × n_clusters × n_features) and return their labels."""
    n_runs = len(centres)
    final = np.empty((n_runs, len(points)), dtype=np.intp)
    active = np.arange(n_runs)
    previous = np.full((n_runs, len(points)), -1)
    members = Members(len(points), n_runs, centres.shape[1], points.dtype)
    for _ in range(max_iter):
        check_time()
        labels = nearest(points, centres)
        if len(labels) < members.n_runs:
            members = Members(len(points), len(labels), centres.shape[1], points.dtype)
        moved = updated_centres(points, labels, centres, members)
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


def nearest(points: NDArray, centres: NDArray) -> NDArray:
    """Return the index of the nearest centre of each run for each point, n_runs × n_samples."""
    n_runs, n_clusters, n_features = centres.shape
    flat = centres.reshape(-1, n_features)
    half_norms = 0.5 * np.einsum("ij,ij->i", flat, flat)
    labels = np.empty((len(points), n_runs), dtype=np.intp)
    step = max(1, DISTANCE_ENTRIES // len(flat))
    for start in range(0, len(points), step):
        rows = slice(start, start + step)
        similarity = points[rows] @ flat.T
        similarity -= half_norms
        np.argmax(similarity.reshape(-1, n_runs, n_clusters), axis=2, out=labels[rows])
    return labels.T


def updated_centres(points: NDArray, labels: NDArray, centres: NDArray, members: Members) -> NDArray:
    """Return the means of the clusters, n_runs × n_clusters × n_features."""
    sums, counts = members.sums(points, labels)
    for run in np.flatnonzero(np.any(counts == 0, axis=1)):
        _move_empty(points, labels[run], centres[run], sums[run], counts[run])
    return sums / np.maximum(counts, 1).astype(sums.dtype)[:, :, None]


class Members:
    """The matrix that says which points are in which cluster of each run.

    Only the clusters change from one iteration to the next. Made anew each time, the matrix of a small
    data set would take longer than its product with the points.
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

    Where points repeat so often that none is left to give, the cluster goes to the largest one's centre.
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
