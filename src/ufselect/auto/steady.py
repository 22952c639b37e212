"""The number of clusters that a graph is cut into again and again, wherever K-means starts."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ufselect.auto.count_graphs import CountGraphs
from ufselect.auto.criteria import rand_agreement
from ufselect.auto.cut import cut_runs, diffusion_coordinates
from ufselect.auto.sampling import kmeans_seeds

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
