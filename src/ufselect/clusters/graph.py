"""Clusters of rows: the cut of a graph of neighbours in whitened principal-component scores.

:func:`build_reference` goes from rows to scores, from scores to a graph, and from the graph to its clusters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ufselect.clusters.kmeans import contingencies, inertias, kmeans_runs
from ufselect.gram.spectrum import eigenpairs_between
from ufselect.graphs.scores import (
    Rows,
    clear_powers,
    end_clearly,
    mean_graph,
    score_ladder,
    smooth_vectors,
)


@lru_cache(maxsize=16)
def kmeans_seeds(seed: int, n_runs: int) -> tuple[int, ...]:
    """Return one seed per K-means run."""
    drawn = np.random.RandomState(seed % 2**32).randint(np.iinfo(np.int32).max, size=n_runs)
    return tuple(drawn.tolist())


@dataclass(frozen=True)
class Reference:
    """The clusters of some rows, and the scores whose graph they come from."""

    rows: Rows
    scores: NDArray  # leading whitened principal-component scores: orthonormal columns
    spread: NDArray  # singular values over the first
    axes: NDArray  # what centred rows are multiplied by to give their scores
    widths: list[int]  # numbers of leading scores in which neighbours are searched
    powers: Sequence[float]  # of the singular values, which weight the scores; the graph averages over them
    labels: NDArray  # the consensus of several cuts of the graph, as consecutive integers from 0


def build_reference(
    rows: Rows, n_clusters: int, seed: int, powers: Sequence[float] | None = None
) -> Reference:
    """Build the graph of some rows, with the powers that `clear_powers` decides on by default, and cut it."""
    if powers is None:
        powers = clear_powers(rows, n_clusters)[0]
    scores, spread, axes, widths = score_ladder(rows, n_clusters)
    values, vectors = walk_pairs(mean_graph(scores, spread, widths, powers), n_clusters)
    runs = cut_runs(diffusion_coordinates(values, vectors, n_clusters), n_clusters, kmeans_seeds(seed, 10))
    return Reference(rows, scores, spread, axes, widths, powers, consensus(runs, n_clusters, seed))


def walk_pairs(graph: sparse.csr_array, n_clusters: int) -> tuple[NDArray, NDArray]:
    """Return the leading eigenpairs of the random walk on a graph, as many as a cut needs.

    Vectors beyond one per cluster keep clusters apart that the first c mix. Their number and that of the
    steps of the walk, which fade vectors that carry noise, were chosen on fifteen labelled sets among 1, 1.5,
    2, 3, 4 per cluster and 1, 2, 4, 8, 16.
    """
    return smooth_vectors(graph, min(graph.shape[0] - 1, max(2, round(1.5 * n_clusters))))


def diffusion_coordinates(values: NDArray, vectors: NDArray, n_clusters: int) -> NDArray:
    r"""Return the diffusion coordinates of the samples by which they are cut into ``n_clusters`` clusters.

    Coordinate k of a sample is :math:`\lambda_k^t v_k` with :math:`\lambda_k, v_k` the eigenpairs of the
    random walk on the graph, after t = 4 steps of it: all pairs, or one per cluster if the eigenvalues
    clearly end with the clusters. Then further vectors only separate parts of a cluster, and K-means would
    rather halve a large cluster than keep a small one.
    """
    if end_clearly(values, n_clusters):
        values, vectors = values[:n_clusters], vectors[:, :n_clusters]
    return vectors * np.maximum(values, 0) ** 4


def cut_runs(coordinates: NDArray, n_clusters: int, seeds: Sequence[int]) -> NDArray:
    """Cluster the rows, scaled to unit length, by one run of K-means per seed; one partition per row."""
    lengths = np.linalg.norm(coordinates, axis=1, keepdims=True)
    points = np.ascontiguousarray(coordinates / np.maximum(lengths, np.finfo(float).tiny))
    return kmeans_runs(points, n_clusters, seeds, "greedy-k-means++", is_exact=False)


def consensus(runs: NDArray, n_clusters: int, seed: int) -> NDArray:
    """Return the partition that several runs agree on, labelled by consecutive integers from 0.

    Samples are placed by the clusters that they share over the runs, in as few dimensions as that many
    clusters span, and clustered there. Many runs end in different minima of nearly the same value; what they
    have in common depends far less on the seed than the lowest of them.
    """
    shared = np.hstack([np.eye(int(runs.max()) + 1)[labels] for labels in runs])
    shared -= shared.mean(axis=0)
    n_rows, n_columns = shared.shape
    width = max(1, min(n_clusters, n_rows, n_columns) - 1)
    if n_rows < n_columns:  # the smaller of the two products has the same coordinates
        values, vectors = eigenpairs_between(shared @ shared.T, n_rows - width, n_rows - 1)
        points = vectors * np.sqrt(np.maximum(values, 0))
    else:
        points = shared @ eigenpairs_between(shared.T @ shared, n_columns - width, n_columns - 1)[1]
    points = np.ascontiguousarray(points)
    again = kmeans_runs(points, n_clusters, kmeans_seeds(seed, len(runs)), "greedy-k-means++")
    best = again[int(np.argmin(inertias(points, again)))]
    return np.unique(best, return_inverse=True)[1]


def rand_agreement(labels: NDArray, reference: NDArray) -> NDArray:
    """Return the adjusted Rand index (Hubert and Arabie 1985) of each partition, a row each, with another.

    Unlike mutual information, it does not grow with the number of clusters. It is 1 for two partitions of one
    part each.
    """
    tables = contingencies(reference, int(reference.max()) + 1, labels, int(labels.max()) + 1)
    together = _pairs(tables).sum(axis=(1, 2))
    ours, theirs = _pairs(tables.sum(axis=1)).sum(axis=1), _pairs(tables.sum(axis=2)).sum(axis=1)
    by_chance = ours * theirs / _pairs(np.array(reference.size))
    possible = (ours + theirs) / 2 - by_chance
    return np.where(possible > 0, (together - by_chance) / np.where(possible > 0, possible, 1), 1.0)


def _pairs(counts: NDArray) -> NDArray:
    return counts * (counts - 1) / 2
