"""Exact nearest neighbours in bounded memory."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.neighbors import NearestNeighbors

from ufselect._utils.validation import warn_user
from ufselect.gram.rows import order_of_rows, power_of_two_near, row_blocks


def nearest_neighbors(
    X: Any, n_neighbors: int, *, block_bytes: int = 2**25
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Return the Euclidean nearest neighbours of each sample among the others.

    A sample is never its own neighbour, but a duplicate of it may be. Samples at equal distances, up to
    twelve digits, are ordered by their values, so that neither the order of the rows nor the unit matters.

    Fast products propose candidates; their distances are then computed from differences, so that large
    means cost no digits. If rounding or ties make it uncertain that the candidates of a sample are enough,
    it is compared with all samples.

    X is a finite array or CSR matrix. Indices and distances have a row for each sample, nearest first.
    ``block_bytes`` is the memory for the distances held at once.
    """
    n_samples = X.shape[0]
    entries = X.data if sparse.issparse(X) else X
    low, high = float(entries.min(initial=0.0)), float(entries.max(initial=0.0))
    power_of_two_near((high - low) * float(np.sqrt(X.shape[1])))  # raises if distances would overflow
    scale = power_of_two_near(max(high - low, -low, high))
    scaled = X.astype(np.float64) * (1 / scale)
    ranks = np.argsort(order_of_rows(scaled))
    if sparse.issparse(scaled):
        every = np.arange(n_samples)
        indices, squared = _compare_with_all(scaled, scaled, every, n_neighbors, ranks, block_bytes)
        return indices, np.sqrt(squared) * scale
    centred = scaled - scaled.mean(axis=0)
    # Six more than k, to resolve ties and rounding at the k-th distance exactly.
    n_candidates = min(n_samples, n_neighbors + 7)
    approximate, candidates = NearestNeighbors(n_neighbors=n_candidates).fit(centred).kneighbors(centred)
    samples = np.repeat(np.arange(n_samples), n_candidates)
    indices, squared = _k_smallest(scaled, samples, candidates.ravel(), n_neighbors, ranks, block_bytes)
    if n_candidates < n_samples:
        beyond = approximate[:, -1] ** 2 - _rounding(centred)
        doubtful = np.flatnonzero(beyond <= squared[:, -1])
        if doubtful.size:
            exact = _compare_with_all(scaled, centred, doubtful, n_neighbors, ranks, block_bytes)
            indices[doubtful], squared[doubtful] = exact
    return indices, np.sqrt(squared) * scale


def balanced_neighbors(
    X: Any, n_neighbors: int, batches: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Return the nearest neighbours of each sample, equally many from every batch, as BBKNN does.

    ``batches`` are numbered from 0. The number of neighbours is rounded up to a multiple of the number of
    batches; a batch with too few samples gives all but one. Indices and distances have a row for each sample,
    batch by batch.
    """
    shifted = X if sparse.issparse(X) else X - X.mean(axis=0)
    n_batches = int(batches.max()) + 1
    share = -(-n_neighbors // n_batches)
    by_batch = []
    for batch in range(n_batches):
        members = np.flatnonzero(batches == batch)
        count = min(share, members.size - 1)
        search = NearestNeighbors(n_neighbors=count + 1).fit(shifted[members])
        distances, places = search.kneighbors(shifted)
        indices = members[places]
        # Drop the sample itself if it is in this batch, else the farthest neighbour.
        out = indices == np.arange(X.shape[0])[:, None]
        out[~out.any(axis=1), -1] = True
        by_batch.append((indices[~out].reshape(-1, count), distances[~out].reshape(-1, count)))
    return np.hstack([part[0] for part in by_batch]), np.hstack([part[1] for part in by_batch])


def neighbor_matrix(indices: NDArray[np.intp], weights: NDArray) -> sparse.csr_array:
    """Return the square matrix with the weights of each sample's neighbours in its row."""
    n_samples, k = indices.shape
    starts = np.arange(0, n_samples * k + 1, k)
    return sparse.csr_array((weights.ravel(), indices.ravel(), starts), shape=(n_samples, n_samples))


def usable_neighbors(n_neighbors: int, available: int) -> int:
    """Return the number of neighbours, lowered with a warning if there are too few samples.

    Small data then get a coarser graph instead of an error, as in scikit-learn's local outlier factor.
    """
    if n_neighbors > available:
        warn_user(
            f"n_neighbors={n_neighbors} is lowered to {available} because there are too few samples; set a "
            "smaller n_neighbors or give more samples.",
            UserWarning,
        )
    return min(int(n_neighbors), available)


def _compare_with_all(
    X: Any, shifted: Any, samples: NDArray, k: int, ranks: NDArray, block_bytes: int
) -> tuple[NDArray[np.intp], NDArray]:
    """Return the neighbours and squared distances of some samples, compared with all others in blocks.

    ``shifted`` is X, or X with one vector subtracted from all rows; its products rule out most pairs.
    """
    n_samples = X.shape[0]
    indices = np.empty((samples.size, k), dtype=np.intp)
    squared = np.empty((samples.size, k))
    norms = _squared_norms(shifted)
    slack = 2 * _rounding(shifted)
    for rows in row_blocks(samples.size, 8 * n_samples, block_bytes, min_rows=1):
        block = samples[rows]
        products = shifted[block] @ shifted.T
        products = products.toarray() if sparse.issparse(products) else products
        estimate = norms - 2 * products
        estimate[np.arange(block.size), block] = np.inf
        threshold = np.partition(estimate, k - 1, axis=1)[:, k - 1 : k] + slack
        local, columns = np.nonzero(estimate <= threshold)
        indices[rows], squared[rows] = _k_smallest(X, block[local], columns, k, ranks, block_bytes)
    return indices, squared


def _k_smallest(
    X: Any, rows: NDArray, columns: NDArray, k: int, ranks: NDArray, block_bytes: int
) -> tuple[NDArray[np.intp], NDArray]:
    """Return the k nearest of each row's candidates, which are adjacent pairs, without the row itself."""
    others = rows != columns
    rows, columns = rows[others], columns[others]
    squared = np.empty(rows.size)  # from differences, by blocks of pairs
    per_pair = X.shape[1] if not sparse.issparse(X) else 2 * (1 + X.nnz // X.shape[0])
    for pairs in row_blocks(rows.size, 16 * per_pair, block_bytes, min_rows=1):
        squared[pairs] = _squared_norms(X[rows[pairs]] - X[columns[pairs]])
    group = np.cumsum(np.diff(rows, prepend=rows[0]) != 0)
    digits, exponents = np.frexp(squared)
    order = np.lexsort((ranks[columns], np.ldexp(np.round(digits, 12), exponents), group))
    first = np.flatnonzero(np.diff(group, prepend=-1))
    best = order[first[:, None] + np.arange(k)]
    return columns[best].astype(np.intp), squared[best]


def _squared_norms(X: Any) -> NDArray:
    if sparse.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", X, X)


def _rounding(X: Any) -> float:
    """Return a bound on the error of squared distances from products, and on what counts as equal."""
    terms = X.shape[1] + 8
    return float((8 * terms * np.finfo(np.float64).eps + 1e-11) * _squared_norms(X).max())
