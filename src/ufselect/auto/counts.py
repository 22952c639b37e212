"""The number of clusters: given, or found without labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Integral

import numpy as np
from numpy.typing import NDArray

from ufselect.auto.count_graphs import CountGraphs
from ufselect.auto.cut import clarity
from ufselect.auto.reference import gaussian_scores, leading_scores, share_of_possible
from ufselect.auto.rows import Rows, rows_of
from ufselect.auto.sampling import sampled_indices
from ufselect.auto.steady import near_counts, steady_count
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


def cluster_count(n_clusters: int | str, rows: Rows, seed: int) -> int:
    """Turn ``n_clusters`` into the number of clusters to look for.

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
        return _counted(rows, seed)
    if isinstance(n_clusters, bool) or not isinstance(n_clusters, Integral) or n_clusters < 1:
        raise ValueError(f'n_clusters must be an integer of at least 1 or "auto", not {n_clusters!r}.')
    if n_clusters > n_rows:
        raise ValueError(f"n_clusters={n_clusters} is more than the {n_rows} samples; choose fewer clusters.")
    return int(n_clusters)


def count_to_judge_by(count: int, rows: Rows) -> int:
    """Return two in place of one cluster, where there are two rows: one tells nothing about features."""
    return max(count, min(2, rows.shape[0]))


def _counted(rows: Rows, seed: int) -> int:
    """Find the number of clusters, looking no further than what decides."""
    spanned = min(auto_n_components(rows.gram) + 1, rows.shape[0])
    graphs = ComparedGraphs(rows, seed)
    if not graphs.counts:  # so few rows tell of no clusters
        return 1
    near = near_counts(graphs.counts, spanned)

    def touching() -> int:
        return steady_count(graphs.data, near, seed) if near else spanned

    if graphs.lie_apart(near):
        return apart_count(graphs.shares(), touching)
    return touching() if graphs.has_clusters(near) else 1


class ComparedGraphs:
    """Graphs in whitened scores for several numbers of clusters, beside those of Gaussian data [1]_.

    There are as many Gaussian samples as rows: the more there are, the larger the eigenvalues of a graph in
    which each has few neighbours, clusters or not.

    Parameters
    ----------
    rows : Rows
        The data, sampled if there are many.
    seed : int
        Seed of the sample.

    References
    ----------
    .. [1] R. Tibshirani, G. Walther and T. Hastie (2001), "Estimating the number of clusters in a data set
       via the gap statistic", Journal of the Royal Statistical Society B 63.
    """

    def __init__(self, rows: Rows, seed: int) -> None:
        few = rows if rows.shape[0] <= MAX_ROWS else rows_of(_sample(rows, seed))
        n_samples = few.shape[0]
        self.counts = [count for count in GRID if count * SAMPLES_PER_CLUSTER <= n_samples]
        if self.counts:
            scores = leading_scores(few, min(2 * self.counts[-1], n_samples - 1, few.shape[1])).values
            self.data, self.noise = CountGraphs(scores), CountGraphs(gaussian_scores(*scores.shape))
            self.data.build(self.counts)

    def lie_apart(self, near: Sequence[int]) -> bool:
        """Tell whether the graph for some number is cut perfectly, as that of noise is not.

        Numbers in ``near`` are about to be compared if there are clusters, so that all of their eigenpairs
        are worked out at once. No share is larger than the mean eigenvalue itself, and most graphs are not
        clean to begin with.
        """
        for count in near:
            self.data.pairs(count)
        return any(
            self.data.is_clean(count, APART) and self._mean_share(count) >= APART for count in self.counts
        )

    def has_clusters(self, near: Sequence[int]) -> bool:
        """Tell whether the graph for some number, those in ``near`` first, is cut better than noise."""
        if any(self._mean_share(count) >= NO_CLUSTERS for count in near):
            return True
        self.noise.build(self.counts)
        return any(self._mean_share(count) >= NO_CLUSTERS for count in self.counts)

    def shares(self) -> CutShares:
        """Compare all graphs with those of Gaussian data."""
        self.noise.build(self.counts)
        mean = [self._mean_share(count) for count in self.counts]
        last = [
            share_of_possible(self.data.values(count)[-1], self.noise.values(count)[-1])
            for count in self.counts
        ]
        return CutShares(np.array(self.counts), np.array(mean), np.array(last))

    def _mean_share(self, count: int) -> float:
        values, null = self.data.values(count), self.noise.values(count)
        return share_of_possible(clarity(values, count), clarity(null, count))


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
    """

    counts: NDArray
    mean: NDArray
    last: NDArray


def apart_count(shares: CutShares, touching: Callable[[], int]) -> int:
    """Return the number of clusters of which some lie apart.

    It is where the eigenvalues fall, or else the largest number of parts that no edges join, if that is
    larger than the number for clusters that touch.
    """
    # The largest share of a later number: a fall after which shares rise again ends nothing.
    later = np.append(np.maximum.accumulate(shares.last[::-1])[-2::-1], shares.last[-1])
    rises = (1 - later + ALWAYS_MISSING) / np.maximum(1 - shares.last + ALWAYS_MISSING, ALWAYS_MISSING)
    if rises.max() >= CLEAR_RISE:
        return int(shares.counts[np.argmax(rises)])
    return max(int(shares.counts[shares.mean >= APART][-1]), touching())


def _sample(rows: Rows, seed: int) -> object:
    return rows.matrix[sampled_indices(rows.shape[0], MAX_ROWS, seed)]
