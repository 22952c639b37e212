"""The number of clusters: given, or found without labels."""

from __future__ import annotations

from numbers import Integral

import numpy as np

from ufselect.auto.cut import clarity
from ufselect.auto.reference import Scores, gaussian_clarity, leading_scores
from ufselect.auto.rows import Rows, rows_of
from ufselect.auto.sampling import sampled_indices
from ufselect.graphs.score_graph import score_graph, score_widths, smooth_vectors
from ufselect.selectors.dimension import auto_n_components

# Each about 1.4 times the one before: a finer grid follows noise.
GRID = (2, 3, 4, 6, 8, 11, 15, 21, 29, 41)
SAMPLES_PER_CLUSTER = 4
MAX_ROWS = 1200
N_DRAWS = 1
# Share of the largest possible gap from which on the count is beyond doubt.
PERFECT = 0.99


def cluster_count(n_clusters: int | str, rows: Rows, seed: int) -> int:
    """Turn ``n_clusters`` into the number of clusters to look for.

    ``"auto"`` takes the number whose graph can be cut most cleanly beside that of Gaussian data, if the cut
    is all but perfect; else the geometric mean of it and of one more than the components that the
    broken-stick rule keeps, since c clusters in general position span c − 1 directions. Each errs, mostly to
    different sides.

    Raises
    ------
    ValueError
        If it is neither ``"auto"`` nor an integer from 1 to the number of rows.
    """
    n_rows = rows.shape[0]
    if isinstance(n_clusters, str) and n_clusters == "auto":
        clearest, share = widest_gap_count(rows, seed)
        if share >= PERFECT:
            return clearest
        spanned = min(auto_n_components(rows.gram) + 1, n_rows)
        return round((clearest * spanned) ** 0.5)
    if isinstance(n_clusters, bool) or not isinstance(n_clusters, Integral) or n_clusters < 1:
        raise ValueError(f'n_clusters must be an integer of at least 1 or "auto", not {n_clusters!r}.')
    if n_clusters > n_rows:
        raise ValueError(f"n_clusters={n_clusters} is more than the {n_rows} samples; choose fewer clusters.")
    return int(n_clusters)


def widest_gap_count(rows: Rows, seed: int) -> tuple[int, float]:
    """Return the number of clusters whose cut is cleaner than that of Gaussian data by the widest gap [1]_.

    The gap alone grows with the number of clusters while Gaussian data are cut less and less cleanly; its
    share of the largest possible gap falls as soon as true clusters are split. Their product decides, and
    that share is returned beside the number.

    References
    ----------
    .. [1] R. Tibshirani, G. Walther and T. Hastie (2001), "Estimating the number of clusters in a data set
       via the gap statistic", Journal of the Royal Statistical Society B 63.
    """
    few = rows if rows.shape[0] <= MAX_ROWS else rows_of(_sample(rows, seed))
    grid = [count for count in GRID if count * SAMPLES_PER_CLUSTER <= few.shape[0]]
    if not grid:
        return min(2, rows.shape[0]), 0.0
    scores = leading_scores(few, min(2 * max(grid), few.shape[0] - 1, few.shape[1]))
    gaps = {count: _gap(scores, count) for count in grid}
    best = max(grid, key=lambda count: gaps[count][0] * max(gaps[count][1], 0))
    return best, gaps[best][1]


def _sample(rows: Rows, seed: int) -> object:
    return rows.matrix[sampled_indices(rows.shape[0], MAX_ROWS, seed)]


def _gap(scores: Scores, n_clusters: int) -> tuple[float, float]:
    """Return how much more cleanly whitened scores are cut than Gaussian ones, and its share of the most."""
    n_samples, rank = scores.values.shape
    widths = score_widths(n_clusters, rank)
    graph = score_graph(scores.values[:, : max(widths)], widths)
    null = gaussian_clarity(n_samples, np.ones(max(widths)), widths, n_clusters, N_DRAWS)
    gap = clarity(smooth_vectors(graph, n_clusters)[0], n_clusters) - null
    return gap, gap / max(1 - null, np.finfo(float).eps)
