"""Exact nearest neighbours in bounded memory."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.neighbors import NearestNeighbors

from ufselect.common.checks import check_positive_int
from ufselect.common.row_blocks import row_blocks
from ufselect.common.warn import warn_user

BLOCK_BYTES = 2**25  # of distances held at once
SPARE_CANDIDATES = 6  # found beyond k, so that ties and rounding at the k-th distance can be settled exactly


def nearest_neighbors(X: Any, n_neighbors: int) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Return the Euclidean nearest neighbours of each sample among the others.

    A sample is never its own neighbour, but a duplicate of it may be. Equal distances are ordered by index.

    Fast products propose candidates; their distances are then computed from differences, so that large
    means cost no digits. A sample for which rounding or ties leave a doubt that the candidates are
    enough is compared with all samples.

    Parameters
    ----------
    X : array or CSR matrix of shape (n_samples, n_features)
        Finite data.
    n_neighbors : int
        Number k of neighbours, from 1 to n_samples − 1.

    Returns
    -------
    indices : ndarray of shape (n_samples, n_neighbors)
        Neighbours of each sample, nearest first.
    distances : ndarray of shape (n_samples, n_neighbors)
        Their distances.

    Raises
    ------
    ValueError
        If there are not enough samples, or if the range of the data overflows.

    Examples
    --------
    >>> import numpy as np
    >>> from ufselect.graphs import nearest_neighbors
    >>> indices, distances = nearest_neighbors(np.array([[0.0], [1.0], [3.0]]), 1)
    >>> indices.ravel().tolist(), distances.ravel().tolist()
    ([1, 0, 1], [1.0, 1.0, 2.0])
    """
    n_samples = X.shape[0]
    check_positive_int("n_neighbors", n_neighbors)
    if n_neighbors >= n_samples:
        raise ValueError(
            f"n_neighbors={n_neighbors} needs more than {n_neighbors} samples, but X has {n_samples}: "
            "lower n_neighbors or give more samples."
        )
    scale = _power_of_two(X)
    scaled = X.astype(np.float64) * (1 / scale)
    if sparse.issparse(scaled):
        indices, squared = _compare_with_all(scaled, scaled, np.arange(n_samples), n_neighbors)
    else:
        indices, squared = _dense_neighbors(scaled, n_neighbors)
    return indices, np.sqrt(squared) * scale


def balanced_neighbors(
    X: Any, n_neighbors: int, batches: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Return nearest neighbours of each sample, equally many from every batch [1]_.

    Parameters
    ----------
    X : array or CSR matrix of shape (n_samples, n_features)
        Finite data.
    n_neighbors : int
        Number of neighbours in all, rounded up to a multiple of the number of batches.
    batches : ndarray of shape (n_samples,)
        The batch of each sample, from 0; a batch with fewer samples gives all but one.

    Returns
    -------
    indices, distances : ndarray of shape (n_samples, n_found)
        Neighbours of each sample, batch by batch, and their distances.

    References
    ----------
    .. [1] K. Polański, M. D. Young, Z. Miao, K. B. Meyer, S. A. Teichmann, J.-E. Park (2020), "BBKNN: fast
       batch alignment of single cell transcriptomes", Bioinformatics 36(3).

    Examples
    --------
    >>> import numpy as np
    >>> from ufselect.graphs import balanced_neighbors
    >>> indices, _ = balanced_neighbors(np.array([[0.0], [1.0], [10.0], [11.0]]), 2, np.array([0, 0, 1, 1]))
    >>> indices.tolist()
    [[1, 2], [0, 2], [1, 3], [1, 2]]
    """
    check_positive_int("n_neighbors", n_neighbors)
    shifted = X if sparse.issparse(X) else X - X.mean(axis=0)
    share = -(-n_neighbors // int(batches.max() + 1))
    found = [_neighbors_within(shifted, members, share) for members in _members(batches)]
    return np.hstack([part[0] for part in found]), np.hstack([part[1] for part in found])


def _members(batches: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    return [np.flatnonzero(batches == batch) for batch in range(int(batches.max()) + 1)]


def _neighbors_within(X: Any, members: NDArray[np.intp], share: int) -> tuple[NDArray[np.intp], NDArray]:
    """Return, for every sample, its nearest others among the members."""
    count = min(share, members.size - 1)
    search = NearestNeighbors(n_neighbors=count + 1).fit(X[members])
    distances, places = search.kneighbors(X)
    indices = members[places]
    # The sample itself goes where it is among the members, the farthest elsewhere.
    out = indices == np.arange(X.shape[0])[:, None]
    out[~out.any(axis=1), -1] = True
    return indices[~out].reshape(-1, count), distances[~out].reshape(-1, count)


def usable_neighbors(n_neighbors: int, available: int) -> int:
    """Return the number of neighbours, lowered to what the samples allow with a warning.

    Small samples then get a coarser graph and not an error, as in scikit-learn's local outlier factor.

    Parameters
    ----------
    n_neighbors : int
        Number of neighbours asked for, at least 1.
    available : int
        Most that the samples allow, at least 1.
    """
    check_positive_int("n_neighbors", n_neighbors)
    if n_neighbors > available:
        warn_user(
            f"n_neighbors={n_neighbors} is lowered to {available}, the most that so few samples allow; "
            "set n_neighbors or give more samples.",
            UserWarning,
        )
    return min(int(n_neighbors), available)


def _power_of_two(X: Any) -> float:
    """Return a power of two by which X is divided so that squares stay in range; it changes no digit."""
    entries = X.data if sparse.issparse(X) else X
    low, high = float(entries.min(initial=0.0)), float(entries.max(initial=0.0))
    spread = high - low
    if not spread <= np.finfo(np.float64).max / np.sqrt(X.shape[1]):
        raise ValueError(
            "The range of the data is larger than its floating-point type can hold; divide X by a constant."
        )
    largest = max(spread, -low, high)
    return float(np.ldexp(1.0, max(int(np.frexp(largest)[1]) - 1, -1000))) if largest else 1.0


def _dense_neighbors(X: NDArray, k: int) -> tuple[NDArray[np.intp], NDArray]:
    """Return neighbours and squared distances from proposed candidates, checked row by row."""
    n_samples = X.shape[0]
    centred = X - X.mean(axis=0)
    n_candidates = min(n_samples, k + 1 + SPARE_CANDIDATES)
    search = NearestNeighbors(n_neighbors=n_candidates).fit(centred)
    approximate, candidates = search.kneighbors(centred)
    rows = np.repeat(np.arange(n_samples), n_candidates)
    indices, squared = _k_smallest(X, rows, candidates.ravel(), k)
    if n_candidates < n_samples:
        beyond = approximate[:, -1] ** 2 - _rounding(centred)
        doubtful = np.flatnonzero(beyond <= squared[:, -1])
        if doubtful.size:
            indices[doubtful], squared[doubtful] = _compare_with_all(X, centred, doubtful, k)
    return indices, squared


def _compare_with_all(X: Any, shifted: Any, samples: NDArray, k: int) -> tuple[NDArray[np.intp], NDArray]:
    """Return neighbours and squared distances of the named samples, by blocks of them.

    ``shifted`` differs from X by one common row at most: its products are used to rule out most pairs.
    """
    n_samples = X.shape[0]
    indices = np.empty((samples.size, k), dtype=np.intp)
    squared = np.empty((samples.size, k))
    norms = _squared_norms(shifted)
    slack = 2 * _rounding(shifted)
    for rows in row_blocks(samples.size, 8 * n_samples, BLOCK_BYTES, min_rows=1):
        block = samples[rows]
        products = shifted[block] @ shifted.T
        products = products.toarray() if sparse.issparse(products) else products
        estimate = norms - 2 * products
        estimate[np.arange(block.size), block] = np.inf
        threshold = np.partition(estimate, k - 1, axis=1)[:, k - 1 : k] + slack
        local, columns = np.nonzero(estimate <= threshold)
        found = _k_smallest(X, block[local], columns, k)
        indices[rows], squared[rows] = found
    return indices, squared


def _k_smallest(X: Any, rows: NDArray, columns: NDArray, k: int) -> tuple[NDArray[np.intp], NDArray]:
    """Return the k nearest among the given pairs of each row, which are adjacent; the self is left out."""
    others = rows != columns
    rows, columns = rows[others], columns[others]
    squared = _pair_distances(X, rows, columns)
    group = np.cumsum(np.diff(rows, prepend=rows[0]) != 0)
    order = np.lexsort((columns, squared, group))
    first = np.flatnonzero(np.diff(group, prepend=-1))
    best = order[first[:, None] + np.arange(k)]
    return columns[best].astype(np.intp), squared[best]


def _pair_distances(X: Any, rows: NDArray, columns: NDArray) -> NDArray:
    """Return squared distances from differences, by blocks of pairs."""
    squared = np.empty(rows.size)
    per_pair = X.shape[1] if not sparse.issparse(X) else 2 * (1 + X.nnz // X.shape[0])
    for pairs in row_blocks(rows.size, 16 * per_pair, BLOCK_BYTES, min_rows=1):
        squared[pairs] = _squared_norms(X[rows[pairs]] - X[columns[pairs]])
    return squared


def _squared_norms(X: Any) -> NDArray:
    if sparse.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", X, X)


def _rounding(X: Any) -> float:
    """Return a bound of the rounding error of squared distances computed through products."""
    terms = X.shape[1] + 8
    return float(8 * terms * np.finfo(np.float64).eps * _squared_norms(X).max())
