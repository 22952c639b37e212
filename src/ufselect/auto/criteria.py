"""How well partitions follow a graph, and how well they agree with another partition."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ufselect.metrics.clustering import contingencies, mutual_infos


def neighbour_agreement(labels: NDArray, graph: sparse.csr_array) -> NDArray:
    r"""Return how far neighbours share a cluster, beyond chance, for each partition, one per row.

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


def partition_agreement(labels: NDArray, reference: NDArray) -> NDArray:
    """Return the normalised mutual information of each partition, one per row, with a reference."""
    tables = contingencies(reference, int(reference.max()) + 1, labels, int(labels.max()) + 1)
    return mutual_infos(tables)


def rand_agreement(labels: NDArray, reference: NDArray) -> NDArray:
    """Return the Rand index, adjusted for chance [1]_, of each partition, one per row, with a reference.

    Unlike mutual information it does not grow with the number of clusters. Partitions of one part each agree.

    References
    ----------
    .. [1] L. Hubert and P. Arabie (1985), "Comparing partitions", Journal of Classification 2.
    """
    tables = contingencies(reference, int(reference.max()) + 1, labels, int(labels.max()) + 1)
    together = _pairs(tables).sum(axis=(1, 2))
    ours, theirs = _pairs(tables.sum(axis=1)).sum(axis=1), _pairs(tables.sum(axis=2)).sum(axis=1)
    by_chance = ours * theirs / _pairs(np.array(reference.size))
    possible = (ours + theirs) / 2 - by_chance
    return np.where(possible > 0, (together - by_chance) / np.where(possible > 0, possible, 1), 1.0)


def _pairs(counts: NDArray) -> NDArray:
    return counts * (counts - 1) / 2
