"""Neighbours in principal-component scores, and the vectors that are smooth on their graph."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from ufselect.gram.spectrum import symmetric_pairs
from ufselect.graphs.neighbors import neighbor_matrix, neighbors_by_products

N_NEIGHBORS = 5


def score_widths(n_clusters: int, rank: int) -> list[int]:
    """Return the numbers of scores over which the graph averages: 1, 1.5 and 2 times n_clusters."""
    return [min(rank, max(1, round(width * n_clusters))) for width in (1.0, 1.5, 2.0)]


def score_neighbours(
    scores: NDArray, widths: Iterable[int], n_neighbors: int = N_NEIGHBORS
) -> dict[int, NDArray]:
    """Return the nearest neighbours of each sample in the leading scores, by their number, the width.

    Single precision is enough: if two distances agree to seven digits, either sample may be the neighbour.
    """
    scores = scores.astype(np.float32)
    # With neighbours among more than half of the others, a small graph would be nearly complete.
    n_neighbors = min(n_neighbors, max(1, (len(scores) - 1) // 2))
    return {width: neighbors_by_products(scores[:, :width], n_neighbors) for width in sorted(set(widths))}


def score_graph(scores: NDArray, widths: Sequence[int], n_neighbors: int = N_NEIGHBORS) -> sparse.csr_array:
    """Return the share, in [0, 1], of the graphs in which two samples are joined.

    There is one graph per width: samples are joined if one is among the nearest neighbours of the other in
    that many leading scores.
    """
    return joined(score_neighbours(scores, widths, n_neighbors), widths)


def joined(neighbours: dict[int, NDArray], widths: Sequence[int]) -> sparse.csr_array:
    """Return the graph of `score_graph` from neighbours that are already known for each width."""
    one_way = [neighbor_matrix(neighbours[width], np.ones(neighbours[width].shape)) for width in widths]
    graphs = [directed.maximum(directed.T) for directed in one_way]
    graph = sparse.csr_array(sum(graphs[1:], start=graphs[0]) / len(graphs))
    graph.sort_indices()
    return graph


def smooth_vectors(graph: sparse.csr_array, count: int) -> tuple[NDArray, NDArray]:
    r"""Return the leading eigenvalues of :math:`D^{-1/2} W D^{-1/2}` and :math:`D^{-1/2}` times its vectors.

    The vectors are the right eigenvectors of the random walk :math:`D^{-1} W`, smoothest first.
    """
    root = 1 / np.sqrt(np.asarray(graph.sum(axis=1)).ravel())
    data = graph.data * np.repeat(root, np.diff(graph.indptr)) * root[graph.indices]
    # The index arrays are shared with the graph; neither matrix is sorted or changed.
    normalised = sparse.csr_array((data, graph.indices, graph.indptr), shape=graph.shape)
    values, vectors = _leading_pairs(normalised, min(count, graph.shape[0]))
    return values[::-1], vectors[:, ::-1] * root[:, None]


def end_clearly(values: NDArray, count: int) -> bool:
    """Tell whether the eigenvalues of a random walk clearly end with the first ``count``.

    They do if the distance from 1 of the next one is at least twice that of the last; 0.005 is added to both,
    because smaller distances, on a graph that hardly mixes, mean nothing.
    """
    if values.size <= count:
        return False
    last, following = 1 - values[count - 1 : count + 1] + 0.005
    return bool(following >= 2 * last)


def _leading_pairs(matrix: sparse.csr_array, count: int) -> tuple[NDArray, NDArray]:
    """Return the largest eigenvalues, ascending, and their vectors, computed separately for each component.

    Every component has the eigenvalue 1, and the Lanczos method finds only one vector of an eigenvalue that
    several components share.
    """
    solve = partial(symmetric_pairs, dense_order=300, dense_share=0.2, which="LA", tol=1e-6)
    n_components, member = connected_components(matrix, directed=False)
    if n_components == 1:
        return solve(matrix, count)
    pairs = []
    for component in range(n_components):
        rows = np.flatnonzero(member == component)
        values, vectors = solve(matrix[rows][:, rows], min(count, rows.size))
        pairs += [(value, rows, vector) for value, vector in zip(values, vectors.T, strict=True)]
    pairs.sort(key=itemgetter(0))
    kept = pairs[-max(count, n_components) :]
    basis = np.zeros((matrix.shape[0], len(kept)))
    for place, (_, rows, vector) in enumerate(kept):
        basis[rows, place] = vector
    if n_components <= count:
        return np.array([value for value, _, _ in kept]), basis
    # Mixtures of the components' vectors also have the eigenvalue 1, and give every row coordinates.
    mixture = np.random.default_rng(20240918).standard_normal((n_components, count))
    return np.ones(count), basis @ np.linalg.qr(mixture)[0]


def centred_basis(vectors: NDArray) -> NDArray:
    """Return an orthonormal basis of the span of the columns without their means."""
    left, values, _ = np.linalg.svd(vectors - vectors.mean(axis=0), full_matrices=False)
    return left[:, values > 1e-8 * max(values[0], np.finfo(float).tiny)]
