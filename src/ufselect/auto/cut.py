"""Cutting a graph into clusters: diffusion coordinates, K-means, and the consensus of its runs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ufselect.auto.sampling import kmeans_seeds
from ufselect.common.eigen import eigenpairs_between
from ufselect.graphs.score_graph import smooth_vectors
from ufselect.metrics.kmeans import inertias, kmeans_runs

# Vectors beyond one per cluster keep clusters apart that the first c mix; raising the eigenvalues to this
# power lets the random walk mix inside clusters and fades the vectors that carry noise. Both were chosen on
# fifteen labelled sets among 1, 1.5, 2, 3, 4 and 1, 2, 4, 8, 16; docs/tuning.md has the table.
VECTORS_PER_CLUSTER = 1.5
DIFFUSION_TIME = 4
# Where the eigenvalues end with the clusters, further vectors only tell parts of a cluster from each other,
# and K-means would rather halve a large cluster than keep a small one. What the next eigenvalue lacks of 1
# has to be twice what the last cluster's lacks; less than this, on a graph that hardly mixes, says nothing.
CLEAR_END = 2.0
ALWAYS_LACKING = 0.005


def walk_pairs(graph: sparse.csr_array, n_clusters: int) -> tuple[NDArray, NDArray]:
    """Return the leading eigenpairs of the random walk on a graph, as many as a cut needs."""
    return smooth_vectors(graph, min(graph.shape[0] - 1, max(2, round(VECTORS_PER_CLUSTER * n_clusters))))


def clarity(values: NDArray, n_clusters: int) -> float:
    r"""Return how cleanly a graph can be cut into so many parts, from the eigenvalues of its random walk.

    The mean of :math:`\lambda_2, \dots, \lambda_c`: a walk inside c clean clusters leaves them rarely,
    and c minus the sum of the leading c eigenvalues is a lower bound of the normalised cut [1]_.

    References
    ----------
    .. [1] U. von Luxburg (2007), "A tutorial on spectral clustering", Statistics and Computing 17.
    """
    leading = values[1:n_clusters]
    return float(leading.mean()) if leading.size else 0.0


def diffusion_coordinates(values: NDArray, vectors: NDArray, n_clusters: int) -> NDArray:
    r"""Return the diffusion coordinates of the samples by which they are cut into so many clusters.

    Coordinate k of a sample is :math:`\lambda_k^t v_k` with :math:`\lambda_k, v_k` the eigenpairs of the
    random walk on the graph, after t steps of it [1]_: all pairs, or one per cluster where the eigenvalues
    clearly end with the clusters.

    References
    ----------
    .. [1] R. R. Coifman and S. Lafon (2006), "Diffusion maps", Applied and Computational Harmonic
       Analysis 21.
    """
    if values.size > n_clusters and _ends_with(values, n_clusters):
        values, vectors = values[:n_clusters], vectors[:, :n_clusters]
    return vectors * np.maximum(values, 0) ** DIFFUSION_TIME


def _ends_with(values: NDArray, n_clusters: int) -> bool:
    """Tell whether the eigenvalue after that of the last cluster lacks much more of 1."""
    last, following = 1 - values[n_clusters - 1 : n_clusters + 1] + ALWAYS_LACKING
    return bool(following >= CLEAR_END * last)


def cut_runs(coordinates: NDArray, n_clusters: int, seeds: Sequence[int]) -> NDArray:
    """Cluster the rows, scaled to unit length, by one run of K-means per seed [1]_; one partition per row.

    References
    ----------
    .. [1] A. Y. Ng, M. I. Jordan and Y. Weiss (2001), "On spectral clustering: analysis and an algorithm",
       Advances in Neural Information Processing Systems 14.
    """
    return kmeans_runs(_unit_rows(coordinates), n_clusters, seeds, "greedy-k-means++", is_exact=False)


def consensus(runs: NDArray, n_clusters: int, seed: int) -> NDArray:
    """Return the partition that several runs agree on, labelled 0, 1, … without gaps.

    Samples are placed by the clusters that they share over the runs, in as few dimensions as that many
    clusters span, and clustered there [1]_. Many runs end in different minima of nearly the same height;
    what they have in common depends far less on the seed than the lowest of them.

    References
    ----------
    .. [1] A. Strehl and J. Ghosh (2002), "Cluster ensembles: a knowledge reuse framework for combining
       multiple partitions", Journal of Machine Learning Research 3.
    """
    shared = np.hstack([np.eye(int(runs.max()) + 1)[labels] for labels in runs])
    shared -= shared.mean(axis=0)
    points = _leading_coordinates(shared, max(1, min(n_clusters, *shared.shape) - 1))
    seeds = kmeans_seeds(seed, len(runs))
    again = kmeans_runs(points, n_clusters, seeds, "greedy-k-means++")
    best = again[int(np.argmin(inertias(points, again)))]
    return np.unique(best, return_inverse=True)[1]


def _leading_coordinates(table: NDArray, width: int) -> NDArray:
    """Return the leading principal-component scores of a centred table, from the smaller of its products."""
    n_rows, n_columns = table.shape
    if n_rows < n_columns:
        values, vectors = eigenpairs_between(table @ table.T, n_rows - width, n_rows - 1)
        return np.ascontiguousarray(vectors * np.sqrt(np.maximum(values, 0)))
    axes = eigenpairs_between(table.T @ table, n_columns - width, n_columns - 1)[1]
    return np.ascontiguousarray(table @ axes)


def _unit_rows(vectors: NDArray) -> NDArray:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.ascontiguousarray(vectors / np.maximum(lengths, np.finfo(float).tiny))
