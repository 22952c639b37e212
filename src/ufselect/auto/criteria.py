"""The judge: a graph of neighbours in the whitened scores, and how well a partition follows it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ufselect.gram import GramOperator
from ufselect.graphs import nearest_neighbors

N_NEIGHBORS = 5
WIDTHS = (1.0, 1.5, 2.0)


def principal_scores(A: NDArray, gram: GramOperator, count: int) -> tuple[NDArray, NDArray]:
    """Return up to ``count`` left singular vectors of centred data and their singular values over the first.

    The vectors are the principal-component scores whitened: every direction weighs the same.
    """
    spectrum = gram.eigenpairs(count)
    scores = A @ np.asarray(spectrum.vectors, dtype=np.float64)
    norms = np.linalg.norm(scores, axis=0)
    return scores / norms, norms / norms[0]


def score_widths(n_clusters: int, rank: int, widths: Sequence[float] = WIDTHS) -> list[int]:
    """Return the numbers of scores over which the judge averages, from widths in units of n_clusters."""
    return [min(rank, max(1, round(width * n_clusters))) for width in widths]


def neighbour_graph(
    scores: NDArray, widths: Sequence[int], n_neighbors: int = N_NEIGHBORS
) -> sparse.csr_array:
    """Return the share, in [0, 1], of graphs in which two samples are neighbours.

    There is one graph a width: samples are joined if one is among the nearest neighbours of the other in
    that many leading scores.
    """
    n_samples = len(scores)
    k = min(n_neighbors, n_samples - 1)
    total = sparse.csr_array((n_samples, n_samples))
    for width, times in Counter(widths).items():
        indices, _ = nearest_neighbors(scores[:, :width], k)
        entries = (np.ones(indices.size), (np.repeat(np.arange(n_samples), k), indices.ravel()))
        directed = sparse.csr_array(entries, shape=(n_samples, n_samples))
        total = total + times * directed.maximum(directed.T)
    return total / len(widths)


def neighbour_agreement(labels: NDArray, graph: sparse.csr_array) -> NDArray:
    r"""Return how far neighbours share a cluster, beyond chance, for each partition, one a row.

    .. math:: \frac{o - e}{1 - e}, \qquad e = \sum_c p_c^2,

    with o the weighted share of edges inside a cluster and :math:`p_c` the share of samples in cluster c. It
    is 1 if no edge is cut and has mean 0 for labels that ignore the graph; a single cluster gets 0.
    """
    edges = sparse.coo_array(graph)
    weights = edges.data / edges.data.sum()
    rows, columns = edges.coords
    agreement = np.zeros(len(labels))
    for run, partition in enumerate(labels):
        observed = float(weights @ (partition[rows] == partition[columns]))
        shares = np.bincount(partition) / partition.size
        expected = float(shares @ shares)
        if expected < 1:
            agreement[run] = (observed - expected) / (1 - expected)
    return agreement
