"""The local discriminative quadratic of UDFS."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from ufselect.solvers.quadratic import FactoredQuadratic, FormedQuadratic, Quadratic

BLOCK_BYTES = 2**24
TIE = 1e-10


def local_scatter_laplacian(data: NDArray, neighborhoods: NDArray, reg: float) -> sparse.csr_array:
    r"""Return the n × n matrix L that sums the regularised inverse scatters of all neighbourhoods.

    .. math::

        L = \sum_i S_i B_i S_i^\top, \qquad B_i = H (\tilde X_i \tilde X_i^\top + \lambda I)^{-1} H,

    with :math:`\tilde X_i` the centred rows of neighbourhood i, H the centring matrix and :math:`S_i` the
    selection of its members. With C an orthonormal basis of the vectors of zero sum, :math:`B_i = C (C^\top
    X_i X_i^\top C + \lambda I)^{-1} C^\top`: the direction that H removes, along which the inverse is as
    large as :math:`1/\lambda`, never enters.

    Parameters
    ----------
    data : ndarray of shape (n_samples, n_features)
        The data.
    neighborhoods : ndarray of shape (n_samples, k + 1)
        The members of each neighbourhood, the sample itself included.
    reg : float
        The positive regulariser λ.
    """
    n_samples, size = neighborhoods.shape
    contrasts = linalg.helmert(size)
    parts = np.empty((n_samples, size, size))
    step = max(1, BLOCK_BYTES // (8 * size * data.shape[1]))
    for start in range(0, n_samples, step):
        rows = slice(start, start + step)
        local = contrasts @ data[neighborhoods[rows]]
        scatter = local @ local.transpose(0, 2, 1) + reg * np.eye(size - 1)
        parts[rows] = contrasts.T @ np.linalg.solve(scatter, np.broadcast_to(contrasts, local.shape[:2] + (size,)))
    rows_of = np.repeat(neighborhoods, size, axis=1).ravel()
    columns_of = np.tile(neighborhoods, (1, size)).ravel()
    total = sparse.coo_array((parts.ravel(), (rows_of, columns_of)), shape=(n_samples, n_samples)).tocsr()
    return (total + total.T) / 2


def local_scatter_quadratic(centred: NDArray, laplacian: sparse.csr_array) -> Quadratic:
    """Return ``M = AᵀLA``: formed for tall data, through ``L^½ A`` for wide."""
    n_samples, n_features = centred.shape
    if n_features <= n_samples:
        matrix = centred.T @ (laplacian @ centred)
        return FormedQuadratic((matrix + matrix.T) / 2, floor=0.0)
    values, vectors = linalg.eigh(laplacian.toarray(), overwrite_a=True, check_finite=False)
    roots = np.sqrt(np.clip(values, 0, None))
    return FactoredQuadratic((vectors * roots).T @ centred)


def mean_lowest_rows(quadratic: Quadratic, count: int) -> tuple[NDArray, float]:
    """Return the squared row norms of the lowest eigenvectors of M, and the sum of their eigenvalues.

    Where the last eigenvalue wanted is shared by more vectors than are wanted, as the zero of wide data, the
    lowest eigenvectors are not determined; the mean of the squared norms over all choices is.
    """
    if isinstance(quadratic, FactoredQuadratic):
        _, roots, rows = linalg.svd(quadratic.factor, full_matrices=False, check_finite=False)
        values, vectors = roots[::-1] ** 2, rows[::-1].T
    else:
        values, vectors = linalg.eigh(quadratic.matmat(np.eye(quadratic.order)), check_finite=False)
    n_null = quadratic.order - values.size
    last = 0.0 if count <= n_null else values[count - n_null - 1]
    slack = TIE * values[-1]
    below, tied = values < last - slack, np.abs(values - last) <= slack
    n_below, n_tied = np.count_nonzero(below), np.count_nonzero(tied)
    if last <= slack:
        n_tied += n_null
    else:
        n_below += n_null
    share = (count - n_below) / n_tied
    null_share = share if last <= slack else 1.0
    shares = np.where(below, 1.0, np.where(tied, share, 0.0))
    squared_norms = vectors**2 @ (shares - null_share) + null_share
    return np.clip(squared_norms, 0, None), float(np.clip(values, 0, None) @ shares)
