"""Heat-kernel graphs of neighbours, their Laplacians, and the vectors that are smoothest on them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from ufselect.gram import gram_operator
from ufselect.gram.rows import row_blocks
from ufselect.gram.spectrum import auto_n_components, symmetric_pairs
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
        variance = variance + np.clip(degrees.sum() - stored, 0, None) * mean**2
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


def clusters_asked(n_clusters: int | str, X: Any, most: int) -> int:
    """Return the number of clusters; for ``"auto"`` at least 2, from the spectrum of the data."""
    if n_clusters == "auto":
        return min(max(2, auto_n_components(gram_operator(X))), most)
    if int(n_clusters) > most:
        raise ValueError(
            f"n_clusters={n_clusters} is too many for the {X.shape[0]} samples of X; use at most {most}."
        )
    return int(n_clusters)


def smoothest_vectors(affinity: sparse.csr_array, count: int) -> tuple[NDArray, int]:
    """Return the lowest eigenvectors of the graph's Laplacian, and the number of connected components.

    The vectors are orthonormal, smoothest first. If there are more components than ``count``, each vector is
    constant on one of the largest components and 0 elsewhere.
    """
    trivial = np.ones(affinity.shape[0])
    _, vectors, n_components = _lowest_pairs(affinity, graph_laplacian(affinity), trivial, count)
    return vectors[:, :count], n_components


def smoothest_normalized_pairs(affinity: sparse.csr_array, count: int) -> tuple[NDArray, NDArray]:
    r"""Return the lowest eigenpairs of the normalised Laplacian, except the trivial one.

    .. math::

        (I - D^{-1/2} W D^{-1/2})\, u = \lambda u, \qquad u^\top D^{1/2} 1 = 0.

    If the graph has several connected components, the eigenvalue 0 has several vectors: each of those
    returned sets one more component apart, the largest first, so that they do not depend on the order of the
    samples. Each sample must have a neighbour. The eigenvalues lie in [0, 2], in ascending order.
    """
    roots = np.sqrt(affinity.sum(axis=1))
    values, vectors, n_components = _lowest_pairs(affinity, normalized_laplacian(affinity), roots, count + 1)
    shares = roots @ vectors[:, :n_components]  # of the components in the trivial vector
    mixing = np.linalg.qr(np.column_stack([shares, np.eye(n_components)[:, :-1]]))[0]
    vectors[:, :n_components] = vectors[:, :n_components] @ mixing
    return np.clip(values[1 : count + 1], 0, 2), vectors[:, 1 : count + 1]


def _lowest_pairs(
    affinity: sparse.csr_array, laplacian: sparse.csr_array, trivial: NDArray, count: int
) -> tuple[NDArray, NDArray, int]:
    """Return the lowest eigenpairs of a Laplacian and the number of components of the graph.

    Each component is solved separately: its lowest vector is its part of the ``trivial`` one, and several
    components may share an eigenvalue. First come the trivial vectors of all components, largest first.
    """
    n_components, labels = connected_components(affinity, directed=False)
    sizes = np.bincount(labels, weights=affinity.sum(axis=1))
    values, columns = [], []
    for label in np.argsort(-sizes, kind="stable"):
        members = np.flatnonzero(labels == label)
        block, n_pairs = (
            laplacian[members][:, members].tocsc(),
            min(max(count - n_components, 0) + 1, members.size),
        )
        some, vectors = np.zeros(1), np.empty((members.size, 1))
        if n_pairs > 1:
            # Close to the lowest eigenvalues, but far enough from zero to keep the shifted matrix regular.
            shift = -1e-4 * float(block.diagonal().mean())
            some, vectors = symmetric_pairs(
                block, n_pairs, lowest=True, dense_order=200, dense_share=0.2, sigma=shift, which="LM"
            )
        some[0], vectors[:, 0] = -1.0, trivial[members] / np.linalg.norm(trivial[members])
        values.append(some)
        columns.append(np.zeros((labels.size, n_pairs)))
        columns[-1][members] = vectors
    order = np.argsort(np.concatenate(values), kind="stable")[: max(count, n_components)]
    return np.maximum(np.concatenate(values)[order], 0), np.hstack(columns)[:, order], int(n_components)
