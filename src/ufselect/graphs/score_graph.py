"""Neighbours in principal-component scores, and the vectors that are smooth on their graph."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from ufselect.gram.rows import row_blocks
from ufselect.gram.spectrum import symmetric_pairs

N_NEIGHBORS = 5


def score_widths(n_clusters: int, rank: int) -> list[int]:
    """Return the numbers of scores over which the graph averages: 1, 1.5 and 2 times n_clusters."""
    return [min(rank, max(1, round(width * n_clusters))) for width in (1.0, 1.5, 2.0)]


def score_neighbours(scores: NDArray, width: int, n_neighbors: int = N_NEIGHBORS) -> NDArray[np.intp]:
    """Return the nearest other rows of each row in so many leading scores, in any order.

    Single precision is enough: if two distances agree to seven digits, either sample may be the neighbour.
    Products give exact enough distances, since scores have no large means, in a tenth of the time in which
    scikit-learn starts its threads.
    """
    points = scores.astype(np.float32)[:, :width]
    n_samples = len(points)
    # With neighbours among more than half of the others, a small graph would be nearly complete.
    n_neighbors = min(n_neighbors, max(1, (n_samples - 1) // 2))
    squares, factor = np.einsum("ij,ij->i", points, points), -2 * points.T
    indices = np.empty((n_samples, n_neighbors), dtype=np.intp)
    # The distances of a block of rows to all rows stay in the cache.
    for rows in row_blocks(n_samples, points.itemsize * n_samples, 2**18):
        # Without the squared norm of the row itself, which does not change the order.
        distances = points[rows] @ factor
        distances += squares
        within = np.arange(len(distances))
        distances[within, within + rows.start] = np.inf
        found, reach = indices[rows], np.empty((len(within), n_neighbors), dtype=distances.dtype)
        for place in range(n_neighbors):  # for so few neighbours several times faster than a partition
            found[:, place] = nearest = distances.argmin(axis=1)
            reach[:, place] = distances[within, nearest]
            distances[within, nearest] = np.inf
        # Of duplicates, which are equally far, the first must not be the neighbour of all.
        tied = np.flatnonzero(distances.min(axis=1) == reach[:, -1])
        distances[tied[:, None], found[tied]] = reach[tied]
        found[tied] = np.argpartition(distances[tied], n_neighbors - 1, axis=1)[:, :n_neighbors]
    return indices


def score_graph(scores: NDArray, widths: Sequence[int], n_neighbors: int = N_NEIGHBORS) -> sparse.csr_array:
    """Return the share, in [0, 1], of the graphs in which two samples are joined.

    There is one graph per width: samples are joined if one is among the nearest neighbours of the other in
    that many leading scores.
    """
    neighbours = {width: score_neighbours(scores, width, n_neighbors) for width in set(widths)}
    return joined([neighbours[width] for width in widths])


def joined(searches: Sequence[NDArray]) -> sparse.csr_array:
    """Return the graph of `score_graph` from the neighbours that are already known for each width."""
    n_samples, n_searches = len(searches[0]), len(searches)
    rows = np.arange(n_samples)[:, None]
    pairs = np.stack([(rows * n_samples + each, each * n_samples + rows) for each in searches])
    # Pair and search as one number: one sort is faster than sparse matrices with few entries.
    found = np.sort((pairs * n_searches + np.arange(n_searches)[:, None, None, None]).ravel())
    pairs = found[np.diff(found, prepend=-1) > 0] // n_searches
    first = np.flatnonzero(np.diff(pairs, prepend=-1))
    shares = np.diff(first, append=pairs.size) / n_searches
    starts = np.searchsorted(pairs[first], n_samples * np.arange(n_samples + 1))
    return sparse.csr_array((shares, pairs[first] % n_samples, starts), shape=(n_samples, n_samples))


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
