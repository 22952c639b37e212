"""The number of clusters: given, or found without labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from numbers import Integral

import numpy as np
from numpy.typing import NDArray

from ufselect.clusters.graph import (
    Rows,
    clarity,
    cut_runs,
    diffusion_coordinates,
    gaussian_scores,
    kmeans_seeds,
    leading_scores,
    rand_agreement,
    rows_of,
    sampled_indices,
    walk_pairs,
)
from ufselect.gram.spectrum import auto_n_components
from ufselect.graphs.score_graph import joined, score_neighbours, score_widths

# Every number that is easily told from the next; beyond, each about 1.15 times the one before.
GRID = (*range(2, 13), 14, 16, 18, 20, 23, 26, 30, 35, 41)

Pairs = Callable[[int], tuple[NDArray, NDArray]]


def cluster_count(n_clusters: int | str, rows: Rows, seed: int) -> int:
    """Return the number of clusters to look for: the first of `cluster_range`."""
    return cluster_range(n_clusters, rows, seed)[0]


def cluster_range(n_clusters: int | str, rows: Rows, seed: int) -> tuple[int, int, int]:
    """Return the number of clusters to look for, and the least and the largest that do about as well.

    ``"auto"`` compares graphs with those of Gaussian data. If none is cut more cleanly, there is one cluster.
    If clusters lie apart, their number is where the eigenvalues fall, or else the largest number of parts
    that no edges join if that is larger than what follows. If they touch, c clusters in general position span
    c − 1 directions, as many as the broken-stick rule keeps components; of the numbers near that one, it is
    the number for which cuts of the graph from several starts agree best, or the one in the middle of those
    that tie.

    Raises
    ------
    ValueError
        If it is neither ``"auto"`` nor an integer from 1 to the number of rows.
    """
    n_rows = rows.shape[0]
    if isinstance(n_clusters, str) and n_clusters == "auto":
        return _counted(rows, seed)
    if isinstance(n_clusters, bool) or not isinstance(n_clusters, Integral) or n_clusters < 1:
        raise ValueError(f'n_clusters must be an integer of at least 1 or "auto", not {n_clusters!r}.')
    if n_clusters > n_rows:
        raise ValueError(f"n_clusters={n_clusters} is more than the {n_rows} samples; choose fewer clusters.")
    return int(n_clusters), int(n_clusters), int(n_clusters)


def range_note(low: int, high: int) -> list[str]:
    """Return what to say about a number of clusters that is not sure."""
    if low == high:
        return []
    return [f"The number of clusters is not sure: between {low} and {high}. Give n_clusters if you know it."]


def count_to_judge_by(count: int, rows: Rows) -> int:
    """Return two in place of one cluster, where there are two rows: one tells nothing about features."""
    return max(count, min(2, rows.shape[0]))


def _counted(rows: Rows, seed: int, max_rows: int = 500) -> tuple[int, int, int]:
    """Find the number of clusters, looking no further than what decides.

    There are as many Gaussian samples as rows [1]_: the more there are, the larger the eigenvalues of a graph
    in which each has few neighbours, clusters or not.

    References
    ----------
    .. [1] R. Tibshirani, G. Walther and T. Hastie (2001), "Estimating the number of clusters in a data set
       via the gap statistic", Journal of the Royal Statistical Society B 63.
    """
    spanned = min(auto_n_components(rows.gram) + 1, rows.shape[0])
    if rows.shape[0] > max_rows:
        rows = rows_of(rows.matrix[sampled_indices(rows.shape[0], max_rows, seed)])
    counts = [count for count in GRID if 4 * count <= rows.shape[0]]
    if not counts:  # so few rows tell of no clusters
        return 1, 1, 1
    scores = leading_scores(rows, min(2 * counts[-1], rows.shape[0] - 1, rows.shape[1])).values
    pairs, null_pairs = (_walks(each, counts) for each in (scores, gaussian_scores(*scores.shape)))

    def share(count: int, first: int = 1) -> float:
        """Tell how cleanly a graph is cut: 0 as that of Gaussian data, 1 perfectly."""
        value, null = (float(each(count)[0][first:count].mean()) for each in (pairs, null_pairs))
        return (value - null) / max(1 - null, np.finfo(float).eps)

    near = [count for count in counts if 0.5 * spanned <= count <= 1.5 * spanned]
    # No share is larger than the mean eigenvalue itself, and most graphs are not clean to begin with.
    apart = [c for c in counts if clarity(pairs(c)[0], c) >= 0.99 and share(c) >= 0.99]
    if not apart and all(share(count) < 0.4 for count in (*near, *counts)):
        return 1, 1, 1  # Gaussian data with few features reach 0.3, seldom more
    if apart:
        last = np.array([share(count, count - 1) for count in counts])
        # The largest share of a later number: a fall after which shares rise again ends nothing.
        later = np.append(np.maximum.accumulate(last[::-1])[-2::-1], last[-1])
        # Eigenvalues nearer to 1 than a tenth tell nothing from each other.
        rises = (1.1 - later) / np.maximum(1.1 - last, 0.1)
        if rises.max() >= 2:
            count = counts[int(np.argmax(rises))]
            return count, count, count
    tied = steady_counts(pairs, near, seed) if near else [spanned]
    middle = tied[len(tied) // 2]
    if apart and apart[-1] > middle:
        return apart[-1], apart[-1], max(apart[-1], tied[-1])
    return middle, tied[0], tied[-1]


def _walks(scores: NDArray, counts: Sequence[int]) -> Pairs:
    """Return what gives the eigenpairs of the random walk for a number of clusters, in whitened scores."""
    widths = {count: tuple(score_widths(count, scores.shape[1])) for count in counts}
    largest = {some: count for count, some in widths.items()}  # several numbers may have one graph

    @cache
    def neighbours(width: int) -> NDArray:
        return score_neighbours(scores, [width])[width]

    @cache
    def walk(some: tuple[int, ...]) -> tuple[NDArray, NDArray]:
        return walk_pairs(joined({width: neighbours(width) for width in some}, some), largest[some])

    return lambda count: walk(widths[count])


def steady_counts(pairs: Pairs, counts: Sequence[int], seed: int, tie: float = 0.03) -> list[int]:
    """Return the numbers of clusters for which cuts from several starts agree best [1]_, ascending.

    With the right number K-means finds the clusters from wherever it starts; with fewer it may join these or
    those, with more split these or those. Numbers whose agreement differs by less than ``tie`` change places
    with another seed. A number that ties with one twice as large or larger does not count: clusters that lie
    in pairs are as steady joined, and features chosen for half the clusters serve worst.

    References
    ----------
    .. [1] U. von Luxburg (2010), "Clustering stability: an overview", Foundations and Trends in Machine
       Learning 2.
    """
    agreements = []
    for count in counts:
        width = max(2, round(1.5 * count))  # as many pairs as a cut needs
        values, vectors = pairs(count)
        coordinates = diffusion_coordinates(values[:width], vectors[:, :width], count)
        runs = cut_runs(coordinates, count, kmeans_seeds(seed, 20))
        agreements.append(
            np.mean([rand_agreement(np.delete(runs, k, 0), run).mean() for k, run in enumerate(runs)])
        )
    tied = [c for c, agreed in zip(counts, agreements, strict=True) if agreed >= max(agreements) - tie]
    return [count for count in tied if 2 * count > tied[-1]]
