"""Heat-kernel affinities between neighbours, as a sparse symmetric matrix."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

LARGEST_RATIO = 1e150  # its square is within the range of float64


def heat_affinity(
    indices: NDArray[np.intp], distances: NDArray, bandwidth: float | None = None
) -> sparse.csr_array:
    r"""Return the heat-kernel graph of a list of neighbours, relative to its largest weight.

    Neighbours i and j are joined by

    .. math::

        w_{ij} = \exp\Bigl(-\frac{\|x_i - x_j\|^2 - \delta^2}{2 t^2}\Bigr),

    with :math:`\delta` the smallest distance of all, if either is a neighbour of the other. Without
    :math:`\delta`, which divides all weights by the largest, they vanish as soon as t is small beside the
    distances; quotients of quadratic forms of the graph do not depend on it.

    Parameters
    ----------
    indices, distances : ndarray of shape (n_samples, n_neighbors)
        Neighbours of each sample and their distances, as `nearest_neighbors` returns them.
    bandwidth : float or None
        The positive bandwidth t; None takes the mean of the distances.

    Returns
    -------
    csr_array of shape (n_samples, n_samples)
        Symmetric, with weights in (0, 1] and no diagonal.

    Examples
    --------
    >>> import numpy as np
    >>> from ufselect.graphs import heat_affinity, nearest_neighbors
    >>> indices, distances = nearest_neighbors(np.array([[0.0], [1.0], [3.0]]), 1)
    >>> heat_affinity(indices, distances, bandwidth=1.0).toarray().round(3).tolist()
    [[0.0, 1.0, 0.0], [1.0, 0.0, 0.223], [0.0, 0.223, 0.0]]
    """
    t = _mean_distance(distances) if bandwidth is None else bandwidth
    nearest, farthest = float(distances.min()), float(distances.max())
    # Below this bandwidth only the nearest pairs have any weight; a smaller one would overflow the quotients.
    t = max(t, farthest / LARGEST_RATIO)
    if t > 0:
        weights = np.exp(-((distances - nearest) / t) * (distances / t + nearest / t) / 2)
    else:
        weights = np.ones_like(distances)  # all samples coincide with their neighbours
    n_samples, n_neighbors = indices.shape
    row_starts = np.arange(0, n_samples * n_neighbors + 1, n_neighbors)
    directed = sparse.csr_array((weights.ravel(), indices.ravel(), row_starts), shape=(n_samples, n_samples))
    graph = directed.maximum(directed.T).tocsr()
    graph.eliminate_zeros()
    return graph


def _mean_distance(distances: NDArray) -> float:
    """Return the mean without overflow."""
    farthest = float(distances.max())
    return farthest * float(np.mean(distances / farthest)) if farthest > 0 else 0.0
