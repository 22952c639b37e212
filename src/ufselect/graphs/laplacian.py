"""Graph Laplacians and the smoothness of features on a graph."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ufselect.common.row_blocks import row_blocks

BLOCK_BYTES = 2**24  # of dense products held at once


def graph_laplacian(affinity: sparse.csr_array) -> sparse.csr_array:
    """Return the unnormalised Laplacian ``D − W`` of a symmetric affinity matrix without diagonal."""
    degrees = affinity.sum(axis=1)
    return (sparse.diags_array(degrees) - affinity).tocsr()


def incidence(affinity: sparse.csr_array) -> sparse.csr_array:
    r"""Return the incidence matrix B with :math:`B^\top B = L`.

    Each edge has a row :math:`\sqrt{w_{ij}} (e_i - e_j)`.
    """
    edges = sparse.triu(affinity, k=1).tocoo()
    roots = np.sqrt(edges.data)
    n_edges = roots.size
    columns = np.stack([edges.row, edges.col], axis=1).ravel()
    values = np.stack([roots, -roots], axis=1).ravel()
    starts = np.arange(0, 2 * n_edges + 1, 2)
    return sparse.csr_array((values, columns, starts), shape=(n_edges, affinity.shape[0]))


def laplacian_quotients(X: Any, affinity: sparse.csr_array) -> NDArray:
    r"""Return the Laplacian quotient of each feature, NaN where the feature does not vary on the graph.

    .. math::

        s_j = \frac{\tilde f_j^\top L \tilde f_j}{\tilde f_j^\top D \tilde f_j}
            = \frac{\sum_{i<l} w_{il} (f_{ij} - f_{lj})^2}{\sum_i d_i (f_{ij} - \bar f_j)^2},
        \qquad \bar f_j = \frac{\sum_i d_i f_{ij}}{\sum_i d_i},

    where D holds the degrees :math:`d_i` and :math:`L = D - W`. The values lie in [0, 2]. Both sums are
    over squares, so that no digits cancel, and run over blocks of edges and samples.

    Parameters
    ----------
    X : array or CSR matrix of shape (n_samples, n_features)
        The data.
    affinity : csr_array of shape (n_samples, n_samples)
        Symmetric non-negative weights W without diagonal.
    """
    spread, first = _spread(X)
    # A constant feature has no quotient; its size as the unit keeps the sums of sparse data finite.
    unit = np.where(spread > 0, spread, np.where(first != 0, np.abs(first), 1.0))
    variation = _edge_variation(X, incidence(affinity), unit)
    variance = _degree_variance(X, affinity.sum(axis=1), unit, first)
    varies = (spread > 0) & (variance > 0)
    return np.divide(variation, variance, out=np.full(X.shape[1], np.nan), where=varies)


def _spread(X: Any) -> tuple[NDArray, NDArray]:
    """Return the range of each feature and its value in the first sample."""
    if sparse.issparse(X):
        lowest, highest = X.min(axis=0).toarray().ravel(), X.max(axis=0).toarray().ravel()
        first = X[[0]].toarray().ravel()
    else:
        lowest, highest, first = X.min(axis=0), X.max(axis=0), X[0]
    return highest.astype(np.float64) - lowest, first.astype(np.float64)


def _edge_variation(X: Any, edges: sparse.csr_array, unit: NDArray) -> NDArray:
    """Return the sum of squared differences along the edges, for features divided by their unit."""
    total = np.zeros(X.shape[1])
    for block in row_blocks(edges.shape[0], 8 * X.shape[1], BLOCK_BYTES, min_rows=1):
        differences = edges[block] @ X
        if sparse.issparse(differences):
            scaled = differences.data / unit[differences.indices]
            total += np.bincount(differences.indices, weights=scaled**2, minlength=total.size)
        else:
            differences /= unit
            total += np.einsum("ij,ij->j", differences, differences)
    return total


def _degree_variance(X: Any, degrees: NDArray, unit: NDArray, first: NDArray) -> NDArray:
    """Return the sum of squared deviations from the mean, both weighted by the degrees, in the same units."""
    if sparse.issparse(X):
        return _sparse_degree_variance(X, degrees, unit)
    total = np.zeros(X.shape[1])
    for block in row_blocks(X.shape[0], 8 * X.shape[1], BLOCK_BYTES, min_rows=1):
        total += degrees[block] @ ((X[block] - first) / unit)
    mean = total / degrees.sum()
    variance = np.zeros(X.shape[1])
    for block in row_blocks(X.shape[0], 8 * X.shape[1], BLOCK_BYTES, min_rows=1):
        deviations = (X[block] - first) / unit - mean
        variance += np.einsum("i,ij,ij->j", degrees[block], deviations, deviations)
    return variance


def _sparse_degree_variance(X: Any, degrees: NDArray, unit: NDArray) -> NDArray:
    """Sum over the stored entries, then add what the zeros contribute."""
    n_features = X.shape[1]
    weights = np.repeat(degrees, np.diff(X.indptr))
    values = X.data / unit[X.indices]
    mean = np.bincount(X.indices, weights=weights * values, minlength=n_features) / degrees.sum()
    squares = weights * (values - mean[X.indices]) ** 2
    stored = np.bincount(X.indices, weights=squares, minlength=n_features)
    stored_degree = np.bincount(X.indices, weights=weights, minlength=n_features)
    return stored + np.clip(degrees.sum() - stored_degree, 0, None) * mean**2
