"""The number of clusters: given, or found without labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from numbers import Integral

import numpy as np
from numpy.typing import NDArray

from ufselect.clusters.graph import (
    cut_runs,
    diffusion_coordinates,
    kmeans_seeds,
    rand_agreement,
    walk_pairs,
)
from ufselect.gram.spectrum import auto_n_components
from ufselect.graphs.scores import (
    Rows,
    gaussian_scores,
    joined,
    leading_scores,
    rows_of,
    sampled_indices,
    score_neighbours,
    score_widths,
)

# Every number up to 12, which are easily told apart; beyond, each about 1.15 times the one before.
GRID = (*range(2, 13), 14, 16, 18, 20, 23, 26, 30, 35, 41)

Pairs = Callable[[int], tuple[NDArray, NDArray]]


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
