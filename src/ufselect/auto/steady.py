"""The number of clusters that a graph is cut into again and again, wherever K-means starts."""

from __future__ import annotations

from collections.abc import Sequence

from numpy.typing import NDArray
from scipy import sparse

from ufselect.auto.criteria import rand_agreement
from ufselect.auto.cut import cut_runs, diffusion_coordinates, walk_pairs

# Numbers of clusters that are compared, in units of the directions that clusters span plus one. The classes
# of fifteen of eighteen labelled sets are within; far fewer parts than clusters, two above all, can be as
# steady.
LEAST, MOST = 0.5, 1.5
# Numbers whose agreement differs by less tie: with another seed they change places.
TIED = 0.03
# Cuts that are compared: so many that the standard error of their mean agreement is a third of a tie.
N_CUTS = 40


def steady_count(graphs: Sequence[sparse.csr_array], counts: NDArray, spanned: int, seed: int) -> int:
    """Return the number of clusters near ``spanned`` for which cuts from several starts agree best [1]_.

    With the right number K-means finds the clusters from wherever it starts; with fewer it may join these or
    those, with more split these or those. Of numbers that tie it is the one in the middle, or the smaller of
    two: features chosen for too few clusters and for too many serve about equally ill.

    Parameters
    ----------
    graphs : sequence of sparse arrays
        One graph for each number of clusters.
    counts : ndarray of int
        These numbers, ascending.
    spanned : int
        The directions that clusters span plus one; the answer where no number is near.
    seed : int
        Seed of the starts.

    References
    ----------
    .. [1] U. von Luxburg (2010), "Clustering stability: an overview", Foundations and Trends in Machine
       Learning 2.
    """
    near = {
        int(count): steadiness(graph, int(count), seed)
        for graph, count in zip(graphs, counts, strict=True)
        if LEAST * spanned <= count <= MOST * spanned
    }
    if not near:
        return spanned
    best = max(near.values())
    tied = [count for count, agreement in near.items() if agreement >= best - TIED]
    return tied[(len(tied) - 1) // 2]


def steadiness(graph: sparse.csr_array, n_clusters: int, seed: int) -> float:
    """Return the mean agreement of several cuts of a graph with each other."""
    runs = cut_runs(diffusion_coordinates(*walk_pairs(graph, n_clusters)), n_clusters, seed, N_CUTS)
    total = sum(rand_agreement(runs, run).sum() - 1 for run in runs)
    return float(total / (N_CUTS * (N_CUTS - 1)))
