"""The number of clusters: given, or found without labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from numbers import Integral

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

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
    share_of_possible,
    walk_pairs,
)
from ufselect.gram.spectrum import auto_n_components
from ufselect.graphs.score_graph import DENSE_ORDER, joined, score_neighbours, score_widths, smooth_vectors

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


# Eigenvalues that tell of most graphs that they cannot be cut cleanly: one more than five clean parts have.
FEW = 6


class CountGraphs:
    """Graphs of neighbours in leading scores, one for each number of clusters.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_scores)
        Orthonormal scores.
    """

    def __init__(self, scores: NDArray) -> None:
        self.scores = scores
        self._graphs: dict[int, sparse.csr_array] = {}
        self._pairs: dict[int, tuple[NDArray, NDArray]] = {}
        self._values: dict[int, NDArray] = {}

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return len(self.scores)

    def build(self, counts: Sequence[int]) -> None:
        """Build the graphs for several numbers at once, which share the search of a width."""
        widths = {
            count: score_widths(count, self.scores.shape[1]) for count in counts if count not in self._graphs
        }
        neighbours = score_neighbours(self.scores, {width for some in widths.values() for width in some})
        self._graphs |= {count: joined(neighbours, some) for count, some in widths.items()}

    def graph(self, count: int) -> sparse.csr_array:
        """Return the graph for a number of clusters."""
        if count not in self._graphs:
            self.build([count])
        return self._graphs[count]

    def pairs(self, count: int) -> tuple[NDArray, NDArray]:
        """Return the eigenpairs of the random walk that a cut into so many parts needs."""
        if count not in self._pairs:
            self._pairs[count] = walk_pairs(self.graph(count), count)
        return self._pairs[count]

    def values(self, count: int) -> NDArray:
        """Return as many leading eigenvalues of the random walk as there are clusters."""
        if count in self._pairs:
            return self._pairs[count][0][:count]
        if count not in self._values:
            self._values[count] = smooth_vectors(self.graph(count), count)[0]
        return self._values[count]

    def is_clean(self, count: int, least: float) -> bool:
        """Tell whether the graph can be cut so cleanly, from few eigenvalues if these tell."""
        is_known = count in self._pairs or count in self._values
        if not is_known and count > FEW and self.n_samples > DENSE_ORDER:
            first = smooth_vectors(self.graph(count), FEW)[0]
            # Eigenvalues fall: those left out are at most the last one.
            if (first[1:].sum() + (count - FEW) * first[-1]) / (count - 1) < least:
                return False
        return clarity(self.values(count), count) >= least


# Numbers of clusters that are compared, in units of the directions that clusters span plus one. The classes
# of fifteen of eighteen labelled sets are within; far fewer parts than clusters, two above all, can be as
# steady.
LEAST, MOST = 0.5, 1.5
# Numbers whose agreement differs by less tie: with another seed they change places.
TIED = 0.03
# Cuts after which numbers far behind get no more. After the last, the standard error of their mean agreement
# is about a third of a tie, and up to a whole one on some data.
LOOKS = (10, 20, 40)
# Standard errors of a difference by which a number must be behind a tie to get no more cuts.
HOPELESS = 2.0


def near_counts(counts: Sequence[int], spanned: int) -> list[int]:
    """Return the numbers of clusters that are not far from the directions that clusters span plus one."""
    return [count for count in counts if LEAST * spanned <= count <= MOST * spanned]


def steady_count(graphs: CountGraphs, counts: Sequence[int], seed: int) -> int:
    """Return the number of clusters for which cuts from several starts agree best [1]_.

    With the right number K-means finds the clusters from wherever it starts; with fewer it may join these or
    those, with more split these or those. Of numbers that tie it is the one in the middle, or the smaller of
    two: features chosen for a few clusters too few and too many serve about equally ill. A number that ties
    with one twice as large or larger does not count: clusters that lie in pairs are as steady joined, and
    features chosen for half the clusters serve worst.

    Parameters
    ----------
    graphs : CountGraphs
        One graph for each number of clusters.
    counts : sequence of int
        These numbers, ascending, at least one.
    seed : int
        Seed of the starts.

    References
    ----------
    .. [1] U. von Luxburg (2010), "Clustering stability: an overview", Foundations and Trends in Machine
       Learning 2.
    """
    seeds = kmeans_seeds(seed, LOOKS[-1])
    rivals = dict.fromkeys(counts, np.empty((0, graphs.n_samples), dtype=np.intp))
    for start, stop in pairwise((0, *LOOKS)):
        cuts = {
            count: np.vstack([known, _cuts(graphs, count, seeds[start:stop])])
            for count, known in rivals.items()
        }
        agreements = {count: agreement(runs) for count, runs in cuts.items()}
        rivals = {count: cuts[count] for count in in_reach(agreements)}
        if len(rivals) == 1:
            break
    best = max(agreements[count].mean() for count in rivals)
    tied = [count for count in rivals if agreements[count].mean() >= best - TIED]
    tied = [count for count in tied if 2 * count > tied[-1]]
    return tied[(len(tied) - 1) // 2]


def in_reach(agreements: dict[int, NDArray]) -> list[int]:
    """Return the numbers that more cuts could bring to a tie with the best, from how far each cut agrees."""
    mean = {count: each.mean() for count, each in agreements.items()}
    # The mean over pairs hangs on each cut twice, so its error is twice that of a mean over cuts.
    error = {count: 2 * each.std(ddof=1) / np.sqrt(each.size) for count, each in agreements.items()}
    best = max(mean, key=mean.__getitem__)
    return [
        count
        for count in mean
        if mean[best] - mean[count] <= TIED + HOPELESS * np.hypot(error[best], error[count])
    ]


def _cuts(graphs: CountGraphs, count: int, seeds: Sequence[int]) -> NDArray:
    return cut_runs(diffusion_coordinates(*graphs.pairs(count), count), count, seeds)


def agreement(runs: NDArray) -> NDArray:
    """Return how far each of several partitions agrees with the others on average."""
    pairs = np.zeros((len(runs), len(runs)))
    for place, run in enumerate(runs[:-1]):
        pairs[place, place + 1 :] = rand_agreement(runs[place + 1 :], run)
    return (pairs + pairs.T).sum(axis=1) / (len(runs) - 1)
