"""The local discriminative quadratic of UDFS."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from ufselect.common.row_blocks import row_blocks
from ufselect.solvers.reweighted.quadratic import Semidefinite, smoothness_quadratic

BLOCK_BYTES = 2**24  # of neighbourhoods at a time, about what a cache holds
TIE = 1e-10  # share of the largest eigenvalue within which two count as equal
MIN_REG = 1e-12  # share of the largest scatter that keeps a singular one invertible


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
        The positive regulariser λ; not taken smaller than rounding allows.
    """
    n_samples, size = neighborhoods.shape
    contrasts = linalg.helmert(size)
    # Samples that have the same members share one inverse; with k = n − 1 all of them do.
    _, first, times = np.unique(np.sort(neighborhoods), axis=0, return_index=True, return_counts=True)
    order = np.argsort(first)
    members, weights = neighborhoods[first[order]], times[order].astype(np.float64)
    total = sparse.csr_array((n_samples, n_samples))
    for rows in row_blocks(len(members), 8 * size * max(size, data.shape[1]), BLOCK_BYTES, min_rows=1):
        # Contrasts sum to zero, so that differences to a member serve as well, and copies differ by nothing.
        local = contrasts @ (data[members[rows]] - data[members[rows, :1]])
        scatter = local @ local.transpose(0, 2, 1)
        sizes = np.trace(scatter, axis1=1, axis2=2)
        scatter += (max(reg, MIN_REG * float(sizes.max())) or 1.0) * np.eye(size - 1)
        # Copies add nothing to M; their inverse, as large as 1/λ, would add its rounding.
        times_each = np.where(sizes > 0, weights[rows], 0.0)
        parts = times_each[:, None, None] * (contrasts.T @ np.linalg.solve(scatter, contrasts))
        places = (
            np.repeat(members[rows], size, axis=1).ravel(),
            np.tile(members[rows], (1, size)).ravel(),
        )
        total += sparse.coo_array((parts.ravel(), places), shape=total.shape).tocsr()
    return (total + total.T) / 2


def local_scatter_quadratic(centred: NDArray, laplacian: sparse.csr_array) -> Semidefinite:
    """Return ``M = AᵀLA``: formed for tall data, through ``L^½ A`` for wide."""
    n_samples, n_features = centred.shape
    return smoothness_quadratic(centred, laplacian, is_formed=n_features <= n_samples)


@dataclass(frozen=True)
class LowestRows:
    """Squared row norms of the lowest eigenvectors, their eigenvalues' sum, and a guess for what follows."""

    squared_norms: NDArray
    value: float
    likely_vectors: NDArray


def mean_lowest_rows(quadratic: Semidefinite, count: int) -> LowestRows:
    """Describe the ``count`` lowest eigenvectors of M by the mean of all choices.

    Where the last eigenvalue is shared by more vectors than are wanted, as the zero of wide data is, the
    eigenvectors are not determined, but the mean of their squared row norms over all choices is. The
    features with the largest rows are the guess for the eigenvectors of the reweighted matrix.
    """
    values, vectors = quadratic.eigenpairs()
    n_null = quadratic.order - values.size
    last = 0.0 if count <= n_null else float(values[count - n_null - 1])
    slack = TIE * float(values[-1])
    null_is_tied = last <= slack
    below, tied = values < last - slack, np.abs(values - last) <= slack
    n_below = np.count_nonzero(below) + (0 if null_is_tied else n_null)
    n_tied = np.count_nonzero(tied) + (n_null if null_is_tied else 0)
    share = (count - n_below) / n_tied
    null_share = share if null_is_tied else 1.0
    shares = np.where(below, 1.0, np.where(tied, share, 0.0))
    # Zero vectors need not be known: with the others they make up the identity.
    squared_norms = np.clip(vectors**2 @ (shares - null_share) + null_share, 0, 1)
    likely = np.zeros((quadratic.order, count))
    likely[np.argsort(-squared_norms, kind="stable")[:count], np.arange(count)] = 1.0
    return LowestRows(squared_norms, float(values @ shares), likely)
