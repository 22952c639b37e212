"""The number of clusters: given, or found without labels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ufselect.auto.cut import clarity
from ufselect.auto.reference import gaussian_scores, leading_scores, share_of_possible
from ufselect.auto.rows import Rows, rows_of
from ufselect.auto.sampling import sampled_indices
from ufselect.auto.steady import steady_count
from ufselect.graphs.score_graph import score_graph, score_widths, smooth_vectors
from ufselect.selectors.dimension import auto_n_components

# Every number that is easily told from the next; beyond, each about 1.15 times the one before.
GRID = (*range(2, 13), 14, 16, 18, 20, 23, 26, 30, 35, 41)
SAMPLES_PER_CLUSTER = 4
MAX_ROWS = 800
# Where the largest share over all numbers is below this, there are no clusters: Gaussian data with few
# features reach 0.3, seldom more.
NO_CLUSTERS = 0.4
# Share from which on clusters lie apart: hardly an edge joins them.
APART = 0.99
# Factor by which what is missing to a perfect cut grows after the last cluster, and what is always missing:
# eigenvalues nearer to 1 than this tell nothing from each other.
CLEAR_RISE = 2.0
ALWAYS_MISSING = 0.1


def cluster_count(n_clusters: int | str, rows: Rows, seed: int, at_least: int = 1) -> int:
    """Turn ``n_clusters`` into the number of clusters to look for, ``at_least`` so many if it is to be found.

    ``"auto"`` compares graphs with those of Gaussian data. If none is cut more cleanly, there is one cluster.
    If clusters lie apart, their number is where the eigenvalues fall, or else the largest number of parts
    that no edges join if that is larger than what follows. If they touch, c clusters in general position span
    c − 1 directions, as many as the broken-stick rule keeps components; of the numbers near that one, it is
    the number for which cuts of the graph from several starts agree best.

    Raises
    ------
    ValueError
        If it is neither ``"auto"`` nor an integer from 1 to the number of rows.
    """
    n_rows = rows.shape[0]
    if isinstance(n_clusters, str) and n_clusters == "auto":
        spanned = min(auto_n_components(rows.gram) + 1, n_rows)
        shares = cut_shares(rows, seed)
        found = found_count(shares, lambda: steady_count(shares.graphs, shares.counts, spanned, seed))
        return max(found, min(at_least, n_rows))
    if isinstance(n_clusters, bool) or not isinstance(n_clusters, Integral) or n_clusters < 1:
        raise ValueError(f'n_clusters must be an integer of at least 1 or "auto", not {n_clusters!r}.')
    if n_clusters > n_rows:
        raise ValueError(f"n_clusters={n_clusters} is more than the {n_rows} samples; choose fewer clusters.")
    return int(n_clusters)


@dataclass(frozen=True)
class CutShares:
    """How cleanly the graph for a number of clusters is cut: 0 as that of Gaussian data, 1 perfectly.

    Attributes
    ----------
    counts : ndarray of int
        The numbers of clusters c, ascending.
    mean : ndarray
        Of the eigenvalues 2, …, c of the random walk together.
    last : ndarray
        Of the eigenvalue c alone.
    graphs : tuple of sparse arrays
        The graphs.
    """

    counts: NDArray
    mean: NDArray
    last: NDArray
    graphs: tuple[sparse.csr_array, ...] = ()


def found_count(shares: CutShares, touching: Callable[[], int]) -> int:
    """Return the number of clusters that the shares tell, or else the number for clusters that touch."""
    if shares.counts.size == 0:
        return min(2, touching())
    if shares.mean.max() < NO_CLUSTERS:
        return 1
    perfect = shares.counts[shares.mean >= APART]
    if perfect.size == 0:
        return touching()
    # The largest share of a later number: a fall after which shares rise again ends nothing.
    later = np.append(np.maximum.accumulate(shares.last[::-1])[-2::-1], shares.last[-1])
    rises = (1 - later + ALWAYS_MISSING) / np.maximum(1 - shares.last + ALWAYS_MISSING, ALWAYS_MISSING)
    if rises.max() >= CLEAR_RISE:
        return int(shares.counts[np.argmax(rises)])
    return max(int(perfect[-1]), touching())


def cut_shares(rows: Rows, seed: int) -> CutShares:
    """Compare the eigenvalues of graphs in whitened scores with those of Gaussian data [1]_.

    There are as many Gaussian samples as rows: the more there are, the larger the eigenvalues of a graph in
    which each has few neighbours, clusters or not.

    References
    ----------
    .. [1] R. Tibshirani, G. Walther and T. Hastie (2001), "Estimating the number of clusters in a data set
       via the gap statistic", Journal of the Royal Statistical Society B 63.
    """
    few = rows if rows.shape[0] <= MAX_ROWS else rows_of(_sample(rows, seed))
    n_samples = few.shape[0]
    counts = [count for count in GRID if count * SAMPLES_PER_CLUSTER <= n_samples]
    if not counts:
        return CutShares(*np.empty((3, 0)))
    scores = leading_scores(few, min(2 * max(counts), n_samples - 1, few.shape[1])).values
    gaussian = gaussian_scores(n_samples, scores.shape[1])
    mean, last, graphs = [], [], []
    for count in counts:
        widths = score_widths(count, scores.shape[1])
        graph, noise = (score_graph(points[:, : max(widths)], widths) for points in (scores, gaussian))
        values, null = smooth_vectors(graph, count)[0], smooth_vectors(noise, count)[0]
        graphs.append(graph)
        mean.append(share_of_possible(clarity(values, count), clarity(null, count)))
        last.append(share_of_possible(values[-1], null[-1]))
    return CutShares(np.array(counts), np.array(mean), np.array(last), tuple(graphs))


def _sample(rows: Rows, seed: int) -> object:
    return rows.matrix[sampled_indices(rows.shape[0], MAX_ROWS, seed)]
