"""Neighbour weights that are learned: rows on the simplex, with a regulariser that sets how many are used."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse


def adaptive_weights(squared: NDArray) -> tuple[NDArray, NDArray]:
    r"""Return the weights of the k nearest neighbours, and the regularisers that leave just these.

    For each sample the weights minimise :math:`\sum_j d_j s_j + r s_j^2` on the simplex. With r such that
    exactly the k nearest have a positive weight, they are

    .. math::

        s_j = \frac{d_{k+1} - d_j}{\sum_{l \le k} (d_{k+1} - d_l)}, \qquad
        r = \tfrac12 \sum_{l \le k} (d_{k+1} - d_l).

    Where all k + 1 distances are equal the weights are equal, too.

    Parameters
    ----------
    squared : ndarray of shape (n_samples, k + 1)
        Squared distances to the nearest neighbours, nearest first.

    Returns
    -------
    weights : ndarray of shape (n_samples, k)
        Rows sum to 1.
    regularisers : ndarray of shape (n_samples,)
        The r of each sample.

    Examples
    --------
    >>> import numpy as np
    >>> from ufselect.graphs import adaptive_weights
    >>> adaptive_weights(np.array([[1.0, 2.0, 4.0]]))[0].tolist()
    [[0.6, 0.4]]
    """
    gaps = squared[:, -1:] - squared[:, :-1]
    totals = gaps.sum(axis=1)
    safe = np.where(totals > 0, totals, 1.0)[:, None]
    weights = np.where(totals[:, None] > 0, gaps / safe, 1 / gaps.shape[1])
    return weights, totals / 2


def mean_graph(indices: NDArray[np.intp], weights: NDArray, smallest: float = 0.0) -> sparse.csr_array:
    """Return the mean of a directed graph and its reverse, without weights of at most ``smallest``.

    Parameters
    ----------
    indices, weights : ndarray of shape (n_samples, n_neighbors)
        Neighbours of each sample and their non-negative weights.
    smallest : float
        Weights of at most this are no edges.
    """
    n_samples, n_neighbors = indices.shape
    row_starts = np.arange(0, n_samples * n_neighbors + 1, n_neighbors)
    directed = sparse.csr_array((weights.ravel(), indices.ravel(), row_starts), shape=(n_samples, n_samples))
    graph = ((directed + directed.T) / 2).tocsr()
    graph.data[graph.data <= smallest] = 0
    graph.eliminate_zeros()
    return graph
