"""Weights that reconstruct each sample from its neighbours."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ufselect.common.row_blocks import row_blocks

BLOCK_BYTES = 2**24  # of differences to neighbours held at once
RIDGE = 1e-3  # the value of the method's authors, in units of the trace
# In units of the trace: what keeps a local Gram matrix invertible that only rounding makes regular.
ROUNDING = 1e-10


def lle_weights(X: NDArray, neighbors: NDArray[np.intp], ridge: float | None = None) -> sparse.csr_array:
    r"""Return the weights of locally linear embedding.

    For each sample i the weights of its neighbours j minimise

    .. math::

        \Bigl\|x_i - \sum_j w_{ij} x_j\Bigr\|^2 + \rho\, \mathrm{Tr}(C_i) \sum_j w_{ij}^2
        \quad\text{s.t.}\quad \sum_j w_{ij} = 1,

    with :math:`C_i` the Gram matrix of the differences :math:`x_j - x_i` [1]_: up to their sum, they solve
    :math:`(C_i + \rho\, \mathrm{Tr}(C_i) I) w_i = 1`. Neighbours that all coincide with the sample get equal
    weights.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        The data.
    neighbors : ndarray of shape (n_samples, n_neighbors)
        Neighbours of each sample.
    ridge : float or None
        The regulariser ρ ≥ 0. None takes 1e-3 where there are more neighbours than features, as in [1]_, and
        none otherwise. Where ρ is nearly 0 and the neighbours of a sample are linearly dependent, its
        matrix gets 1e-10 of its trace, which picks the smallest of the best weights.

    Returns
    -------
    csr_array of shape (n_samples, n_samples)
        Row i holds the weights that reconstruct sample i; rows sum to 1.

    References
    ----------
    .. [1] S. T. Roweis, L. K. Saul (2000), "Nonlinear dimensionality reduction by locally linear embedding",
       Science 290.

    Examples
    --------
    >>> import numpy as np
    >>> from ufselect.graphs import lle_weights
    >>> points = np.array([[0.0, 0.0], [1.0, 0.0], [4.0, 0.0]])
    >>> lle_weights(points, np.array([[1, 2], [0, 2], [1, 0]]), ridge=1e-9).toarray().round(3)[1].tolist()
    [0.75, 0.0, 0.25]
    """
    n_samples, n_neighbors = neighbors.shape
    if ridge is None:
        ridge = RIDGE if n_neighbors > X.shape[1] else 0.0
    weights = np.empty((n_samples, n_neighbors))
    for rows in row_blocks(n_samples, 8 * n_neighbors * X.shape[1], BLOCK_BYTES, min_rows=1):
        weights[rows] = _reconstruct(X[rows], X[neighbors[rows]], ridge)
    starts = np.arange(0, n_samples * n_neighbors + 1, n_neighbors)
    return sparse.csr_array((weights.ravel(), neighbors.ravel(), starts), shape=(n_samples, n_samples))


def _reconstruct(samples: NDArray, neighbors: NDArray, ridge: float) -> NDArray:
    """Return the weights for a block of samples; neighbours have shape (block, k, n_features)."""
    differences = neighbors.astype(np.float64) - samples[:, None, :]
    # The weights do not change with the unit of length, and squares must stay in range.
    reach = np.abs(differences).max(axis=(1, 2), keepdims=True)
    differences /= np.where(reach > 0, reach, 1.0)
    gram = differences @ differences.transpose(0, 2, 1)
    k = gram.shape[1]
    diagonal = np.einsum("ijj->ij", gram)
    trace = diagonal.sum(axis=1)
    gram[trace == 0] = np.eye(k)
    trace[trace == 0] = 1.0
    if ridge < ROUNDING:
        lowest = np.linalg.eigvalsh(gram)[:, 0]
        ridges = np.where(lowest < ROUNDING * trace, ROUNDING, ridge)
    else:
        ridges = np.full(trace.shape, ridge)
    diagonal += (ridges * trace)[:, None]
    weights = np.linalg.solve(gram, np.ones((*gram.shape[:2], 1)))[..., 0]
    return weights / weights.sum(axis=1, keepdims=True)
