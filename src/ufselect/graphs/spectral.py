"""The smoothest vectors on a graph."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import ArpackNoConvergence

from ufselect.common.eigen import eigenpairs_between, lanczos_pairs
from ufselect.graphs.laplacian import graph_laplacian

# Below this order, or when a fair share of all pairs is asked for, the dense solver is the faster one.
DENSE_ORDER = 200
DENSE_SHARE = 0.2
# In units of the mean degree: near zero, where the wanted eigenvalues are, yet the shifted matrix is regular.
RELATIVE_SHIFT = 1e-4


def smoothest_vectors(affinity: sparse.csr_array, count: int) -> tuple[NDArray, int]:
    """Return the lowest eigenvectors of the graph's Laplacian, and the number of connected components.

    Each component is solved by itself: its constant vector is known, and eigenvalues that several components
    share do no harm.

    Parameters
    ----------
    affinity : csr_array of shape (n_samples, n_samples)
        Symmetric non-negative weights without diagonal.
    count : int
        Number of vectors, at most n_samples. If there are more components, the vectors are constant on
        the first ``count`` of them and 0 elsewhere.

    Returns
    -------
    vectors : ndarray of shape (n_samples, count)
        Orthonormal, smoothest first.
    n_components : int
        Number of connected components.
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


def _lowest_pairs(affinity: sparse.csr_array, count: int) -> tuple[NDArray, NDArray]:
    """Return the lowest eigenpairs of a connected graph's Laplacian."""
    size = affinity.shape[0]
    constant = np.full((size, 1), 1 / np.sqrt(size))
    if count == 1:
        return np.zeros(1), constant
    laplacian = graph_laplacian(affinity)
    if size <= DENSE_ORDER or count > DENSE_SHARE * size:
        values, vectors = _dense_pairs(laplacian, count)
    else:
        values, vectors = _lanczos_pairs(laplacian, count)
    values[0], vectors[:, :1] = 0.0, constant
    return values, vectors


def _dense_pairs(laplacian: sparse.csr_array, count: int) -> tuple[NDArray, NDArray]:
    return eigenpairs_between(laplacian.toarray(), 0, count - 1)


def _lanczos_pairs(laplacian: sparse.csr_array, count: int) -> tuple[NDArray, NDArray]:
    shift = -RELATIVE_SHIFT * float(laplacian.diagonal().mean())
    try:
        values, vectors = lanczos_pairs(laplacian.tocsc(), count, sigma=shift, which="LM")
    except ArpackNoConvergence:
        return _dense_pairs(laplacian, count)
    order = np.argsort(values)
    return values[order], vectors[:, order]
