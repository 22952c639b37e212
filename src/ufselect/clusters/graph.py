"""Clusters of rows by cutting a graph of neighbours in whitened principal-component scores, and their number.

:func:`build_reference` goes from rows to scores, from scores to a graph, and from the graph to its clusters;
:func:`cluster_range` finds how many there are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from numbers import Integral

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ufselect.clusters.kmeans import contingencies, inertias, kmeans_runs
from ufselect.gram.spectrum import auto_n_components, eigenpairs_between
from ufselect.graphs.scores import (
    Rows,
    clear_powers,
    end_clearly,
    gaussian_scores,
    joined,
    leading_scores,
    mean_graph,
    rows_of,
    sampled_indices,
    score_ladder,
    score_neighbours,
    score_widths,
    smooth_vectors,
)

# Every number up to 12, which are easily told apart; beyond, each about 1.15 times the one before.
GRID = (*range(2, 13), 14, 16, 18, 20, 23, 26, 30, 35, 41)

Pairs = Callable[[int], tuple[NDArray, NDArray]]


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


def cluster_range(n_clusters: int | str, rows: Rows, seed: int) -> tuple[int, int, int]:
    """Return the number of clusters to look for, and the least and the largest that do about as well.

    ``"auto"`` compares the eigenvalues of the graph for c clusters with those of Gaussian data. If none is
    much larger, there is one cluster. Otherwise, the candidates are the numbers after which the eigenvalues
    fall or, if they fall slowly, those near one more than the components that the broken-stick rule keeps: c
    clusters in general position span c − 1 directions. The candidate for which cuts of the graph from several
    starts agree best is returned.
    """
    n_rows = rows.shape[0]
    if isinstance(n_clusters, str) and n_clusters == "auto":
        return _counted(rows, seed)
    if isinstance(n_clusters, bool) or not isinstance(n_clusters, Integral) or n_clusters < 1:
        raise ValueError(f'n_clusters must be an integer of at least 1 or "auto", not {n_clusters!r}.')
    if n_clusters > n_rows:
        raise ValueError(f"n_clusters={n_clusters} is more than the {n_rows} samples; give a smaller number.")
    return int(n_clusters), int(n_clusters), int(n_clusters)


def range_note(low: int, high: int) -> list[str]:
    """Return what to say about an uncertain number of clusters."""
    if low == high:
        return []
    return [f"The number of clusters is uncertain, between {low} and {high}; give n_clusters if you know it."]


def _counted(rows: Rows, seed: int, max_rows: int = 500) -> tuple[int, int, int]:
    """Find the number of clusters, computing no more graphs than needed.

    There are as many Gaussian samples as rows (Tibshirani and others 2001, J. R. Stat. Soc. B 63): the more
    samples, the larger the eigenvalues of a graph in which each has few neighbours, clusters or not.
    """
    spanned = min(auto_n_components(rows.gram) + 1, rows.shape[0])
    if rows.shape[0] > max_rows:
        rows = rows_of(rows.matrix[sampled_indices(rows.shape[0], max_rows, seed)])
    counts = [count for count in GRID if 4 * count <= rows.shape[0]]
    if not counts:  # too few rows to show clusters
        return 1, 1, 1
    scores = leading_scores(rows, min(2 * counts[-1], rows.shape[0] - 1, rows.shape[1]))[0]
    null = gaussian_scores(np.random.default_rng(20240917), *scores.shape)  # the same whatever the seed
    pairs, null_pairs = (_walks(each, counts) for each in (scores, null))

    last: list[float] = []  # how much the eigenvalue of the last cluster exceeds that of Gaussian data
    for count in counts:
        value, by_chance = (float(each(count)[0][count - 1]) for each in (pairs, null_pairs))
        last.append((value - by_chance) / max(1 - by_chance, np.finfo(float).eps))
        if len(last) > 3 and max(last[-3:]) < 0.2:  # it does not rise again
            break
    if max(last) < 0.4:
        return 1, 1, 1  # Gaussian data with few features reach 0.3, seldom more
    falls = [
        count
        for place, count in enumerate(counts[: len(last)], 1)
        if last[place - 1] >= 0.3 and last[place - 1] - max(last[place:], default=1.0) >= 0.2
    ]
    near = falls or [count for count in counts if 0.5 * spanned <= count <= 1.5 * spanned]
    return steadiest(pairs, near, 0) if near else (spanned, spanned, spanned)


def _walks(scores: NDArray, counts: Sequence[int]) -> Pairs:
    """Return a function from a number of clusters to eigenpairs of the random walk, in whitened scores."""
    widths = {count: tuple(score_widths(count, scores.shape[1])) for count in counts}
    largest = {some: count for count, some in widths.items()}  # several numbers may have one graph

    @cache
    def neighbours(width: int) -> NDArray:
        return score_neighbours(scores, width)

    @cache
    def walk(some: tuple[int, ...]) -> tuple[NDArray, NDArray]:
        return walk_pairs(joined([neighbours(width) for width in some]), largest[some])

    return lambda count: walk(widths[count])


def steadiest(pairs: Pairs, counts: Sequence[int], seed: int, tie: float = 0.03) -> tuple[int, int, int]:
    """Return the number of clusters for which cuts from several starts agree best, and those that tie.

    With the right number, K-means finds the clusters from any start; with fewer it may join different ones,
    with more split different ones. Of equal numbers the largest is returned: clusters that lie in pairs are
    as stable when joined. See von Luxburg (2010), Foundations and Trends in Machine Learning 2.
    """
    agreed = {}
    for count in counts:
        width = max(2, round(1.5 * count))  # as many pairs as a cut needs
        values, vectors = pairs(count)
        coordinates = diffusion_coordinates(values[:width], vectors[:, :width], count)
        runs = cut_runs(coordinates, count, kmeans_seeds(seed, 20))
        pairwise = [rand_agreement(runs[k:], runs[k - 1]) for k in range(1, len(runs))]
        agreed[count] = float(np.concatenate(pairwise).mean())
    best = max(agreed.values())
    tied = [count for count in counts if agreed[count] >= best - tie]
    return max(count for count in tied if agreed[count] >= best - tie / 3), tied[0], tied[-1]
