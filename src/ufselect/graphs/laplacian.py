"""Heat-kernel graphs of neighbours, their Laplacians, and the vectors that are smoothest on them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from ufselect._utils.arrays import row_blocks
from ufselect.gram.spectrum import symmetric_pairs
from ufselect.graphs.neighbors import neighbor_matrix


def heat_affinity(
    indices: NDArray[np.intp], distances: NDArray, bandwidth: float | str = "auto", smallest: float = 0.0
) -> sparse.csr_array:
    r"""Return the heat-kernel graph of a list of neighbours, relative to its largest weight.

    Neighbours i and j are joined by

    .. math::

        w_{ij} = \exp\Bigl(-\frac{\|x_i - x_j\|^2 - \delta^2}{2 t^2}\Bigr),

    with :math:`\delta` the smallest of all distances, if either is a neighbour of the other. Through
    :math:`\delta` the largest weight is 1; otherwise all weights would vanish for t much smaller than the
    distances. Quotients of quadratic forms of the graph do not depend on it.

    ``indices`` and ``distances`` are those of `nearest_neighbors`; ``bandwidth`` is t, "auto" for the mean of
    the distances. Weights below ``smallest`` are raised to it, so that a row far from all others keeps its
    neighbours. The graph is symmetric and has no self-loops.
    """
    nearest, farthest = float(distances.min()), float(distances.max())
    if bandwidth == "auto":
        bandwidth = farthest * float(np.mean(distances / (farthest or 1.0)))  # without overflow
    # Below this bandwidth only the nearest pairs have weight, and squared quotients would overflow.
    t = max(float(bandwidth), farthest / 1e150)
    if t > 0:
        weights = np.exp(-((distances - nearest) / t) * (distances / t + nearest / t) / 2)
    else:
        weights = np.ones_like(distances)  # all samples coincide with their neighbours
    directed = neighbor_matrix(indices, np.maximum(weights, smallest))
    graph = directed.maximum(directed.T).tocsr()
    graph.eliminate_zeros()
    return graph


def graph_laplacian(affinity: sparse.csr_array) -> sparse.csr_array:
    """Return the unnormalised Laplacian ``D − W`` of a symmetric affinity matrix without self-loops."""
    return (sparse.diags_array(affinity.sum(axis=1)) - affinity).tocsr()


def normalized_laplacian(affinity: sparse.csr_array) -> sparse.csr_array:
    """Return ``I − D^(−1/2) W D^(−1/2)`` of a symmetric affinity matrix in which each sample has an edge."""
    halves = sparse.diags_array(1 / np.sqrt(affinity.sum(axis=1)))
    return (sparse.eye_array(affinity.shape[0]) - halves @ affinity @ halves).tocsr()


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


def laplacian_quotients(X: Any, affinity: sparse.csr_array, *, block_bytes: int = 2**24) -> NDArray:
    r"""Return the Laplacian quotient of each feature, NaN for features that do not vary on the graph.

    .. math::

        s_j = \frac{\tilde f_j^\top L \tilde f_j}{\tilde f_j^\top D \tilde f_j}
            = \frac{\sum_{i<l} w_{il} (f_{ij} - f_{lj})^2}{\sum_i d_i (f_{ij} - \bar f_j)^2},
        \qquad \bar f_j = \frac{\sum_i d_i f_{ij}}{\sum_i d_i},

    where D holds the degrees :math:`d_i` and :math:`L = D - W`. The values lie in [0, 2]. Both sums are of
    squares, so no digits cancel, and are computed in blocks of edges and samples.
    """
    is_sparse = sparse.issparse(X)
    lowest, highest, first = X.min(axis=0), X.max(axis=0), X[[0]]
    if is_sparse:
        lowest, highest, first = lowest.toarray(), highest.toarray(), first.toarray()
    spread, first = (highest.astype(np.float64) - lowest).ravel(), first.astype(np.float64).ravel()
    # A constant feature has no quotient; dividing by its size keeps the sums of sparse data finite.
    unit = np.where(spread > 0, spread, np.where(first != 0, np.abs(first), 1.0))

    def blocks(n_rows: int) -> Iterator[slice]:
        return row_blocks(n_rows, 8 * X.shape[1], block_bytes, min_rows=1)

    variation, edges = np.zeros(X.shape[1]), incidence(affinity)
    for block in blocks(edges.shape[0]):
        differences = edges[block] @ X
        if is_sparse:
            squares = (differences.data / unit[differences.indices]) ** 2
            variation += np.bincount(differences.indices, weights=squares, minlength=variation.size)
        else:
            differences /= unit
            variation += np.einsum("ij,ij->j", differences, differences)
    degrees = affinity.sum(axis=1)
    if is_sparse:  # the stored entries first, then the zeros
        weights = np.repeat(degrees, np.diff(X.indptr))
        values = X.data / unit[X.indices]
        mean = np.bincount(X.indices, weights=weights * values, minlength=unit.size) / degrees.sum()
        squares = weights * (values - mean[X.indices]) ** 2
        variance = np.bincount(X.indices, weights=squares, minlength=unit.size)
        stored = np.bincount(X.indices, weights=weights, minlength=unit.size)
        variance += np.clip(degrees.sum() - stored, 0, None) * mean**2
    else:
        total, variance = np.zeros(X.shape[1]), np.zeros(X.shape[1])
        for block in blocks(X.shape[0]):
            total += degrees[block] @ ((X[block] - first) / unit)
        mean = total / degrees.sum()
        for block in blocks(X.shape[0]):
            deviations = (X[block] - first) / unit - mean
            variance += np.einsum("i,ij,ij->j", degrees[block], deviations, deviations)
    varies = (spread > 0) & (variance > 0)
    return np.divide(variation, variance, out=np.full(X.shape[1], np.nan), where=varies)


def smoothest_vectors(affinity: sparse.csr_array, count: int) -> tuple[NDArray, int]:
    """Return the lowest eigenvectors of the graph's Laplacian, and the number of connected components.

    Each component is solved separately: its constant vector is known, and several components may share an
    eigenvalue. The vectors are orthonormal, smoothest first. If there are more components than ``count``,
    each vector is constant on one of the first components and 0 elsewhere.
    """
    n_components, labels = connected_components(affinity, directed=False)
    n_each = max(count - n_components, 0) + 1
    values, columns = [], []
    for label in range(n_components):
        members = np.flatnonzero(labels == label)
        found = _lowest_pairs(affinity[members][:, members], min(n_each, members.size))
        values.append(found[0])
        block = np.zeros((labels.size, found[0].size))
        block[members] = found[1]
        columns.append(block)
    order = np.argsort(np.concatenate(values), kind="stable")[:count]
    return np.hstack(columns)[:, order], int(n_components)


def smoothest_normalized_pairs(affinity: sparse.csr_array, count: int) -> tuple[NDArray, NDArray]:
    r"""Return the lowest eigenpairs of the normalised Laplacian, except the trivial one.

    .. math::

        (I - D^{-1/2} W D^{-1/2})\, u = \lambda u, \qquad u^\top D^{1/2} 1 = 0.

    The eigenvalue 0 of a graph with several connected components has several vectors; those returned are
    orthogonal to the trivial one, :math:`D^{1/2} 1`, whatever basis the solver finds. Each sample must have a
    neighbour. The eigenvalues lie in [0, 2], in ascending order.
    """
    roots = np.sqrt(affinity.sum(axis=1))
    # The shift is close to zero, but far enough to keep the matrix regular; the diagonal is 1.
    values, vectors = symmetric_pairs(
        normalized_laplacian(affinity).tocsc(),
        count + 1,
        lowest=True,
        dense_order=200,
        dense_share=0.2,
        sigma=-1e-4,
        which="LM",
    )
    tied = int(np.count_nonzero(values < 1e-10))
    trivial = (roots / np.linalg.norm(roots))[:, None]
    others = vectors[:, :tied] - trivial @ (trivial.T @ vectors[:, :tied])
    basis = np.linalg.svd(others, full_matrices=False)[0][:, : tied - 1]
    return np.clip(values[1:], 0, 2), np.hstack([basis, vectors[:, tied:]])


def _lowest_pairs(affinity: sparse.csr_array, count: int) -> tuple[NDArray, NDArray]:
    """Return the lowest eigenpairs of a connected graph's Laplacian."""
    size = affinity.shape[0]
    constant = np.full((size, 1), 1 / np.sqrt(size))
    if count == 1:
        return np.zeros(1), constant
    laplacian = graph_laplacian(affinity).tocsc()
    # Close to the lowest eigenvalues, but far enough from zero to keep the shifted matrix regular.
    shift = -1e-4 * float(laplacian.diagonal().mean())
    values, vectors = symmetric_pairs(
        laplacian, count, lowest=True, dense_order=200, dense_share=0.2, sigma=shift, which="LM"
    )
    values[0], vectors[:, :1] = 0.0, constant
    return values, vectors
