"""Quality of a selection, measured without labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from ufselect._utils.validation import as_numpy, check_array, tabular
from ufselect.assessment.stability import selected_index
from ufselect.gram.rows import centre_and_scale


def variance_reconstructed(X: Any, features: Any) -> float:
    r"""Compute the share of the variance of all features that a linear map of selected ones reconstructs.

    The map is fitted to the same rows, so the value is optimistic with few rows; `ufselect.assess` measures
    the reconstruction error on held-out rows.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The data.
    features : array-like
        The selection: indices of features, or a boolean mask over all.

    Returns
    -------
    float
        A value in [0, 1]; 1 also if X does not vary.

    See Also
    --------
    neighbours_kept : How well the selection preserves the neighbours of each sample.
    ufselect.assess : Reconstruction error on held-out rows, compared with random columns.

    Notes
    -----
    With A the centred data and Q an orthonormal basis of the selected columns, the share is

    .. math:: \|Q^\top A\|_F^2 / \|A\|_F^2 .

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from ufselect.metrics import variance_reconstructed
    >>> X = load_wine().data
    >>> round(variance_reconstructed(X, [12]), 3), variance_reconstructed(X, range(13))
    (0.998, 1.0)
    """
    centred = centred_in_unit(X)
    chosen = centred[:, selected_index(features, "features", centred.shape[1])]
    total = float(np.sum(centred**2))
    # Pivoting reveals the rank: columns with a remainder below 1e-10 of the first depend on the others.
    basis, triangle, _ = linalg.qr(chosen, mode="economic", pivoting=True, check_finite=False)
    size = np.abs(np.diag(triangle))
    basis = basis[:, size > 1e-10 * size[:1]]
    return min(1.0, float(np.sum((basis.T @ centred) ** 2)) / total) if total else 1.0


def neighbours_kept(X: Any, features: Any, n_neighbors: int = 10) -> float:
    r"""Compute the mean share of each sample's nearest neighbours that the selected features preserve.

    Random features also preserve some neighbours: compare with them.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The data; memory grows with the square of n_samples.
    features : array-like
        The selection: indices of features, or a boolean mask over all.
    n_neighbors : int, default=10
        Number k of neighbours, less than the number of samples.

    Returns
    -------
    float
        A value in [0, 1].

    See Also
    --------
    variance_reconstructed : Share of the variance that the selection reconstructs.
    ufselect.assess : Compare a selection with random columns on held-out rows.

    Notes
    -----
    With :math:`N_k(i)` the k samples nearest to sample i in the Euclidean distance of all features, and
    :math:`N_k'(i)` those nearest by the selected features, the share is

    .. math:: \frac{1}{n k} \sum_{i=1}^{n} |N_k(i) \cap N_k'(i)| .

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from ufselect.metrics import neighbours_kept
    >>> X = load_wine().data
    >>> neighbours_kept(X, range(13)), neighbours_kept(X, [0]) < 0.3
    (1.0, True)
    """
    values = centred_in_unit(X)  # far from the origin the squares of distances would cancel
    if not 1 <= n_neighbors < values.shape[0]:
        raise ValueError(
            f"n_neighbors must lie between 1 and {values.shape[0] - 1}, one less than the number of samples, "
            f"not {n_neighbors!r}."
        )
    chosen = values[:, selected_index(features, "features", values.shape[1])]
    pairs = zip(nearest_rows(values, n_neighbors), nearest_rows(chosen, n_neighbors), strict=True)
    return float(np.mean([np.intersect1d(a, b).size for a, b in pairs])) / n_neighbors


def centred_in_unit(X: Any) -> NDArray:
    """Return centred data over a power of two near their largest entry, so that squares stay in range."""
    values = check_array(tabular(as_numpy(X)), dtype=np.float64, ensure_min_samples=2)
    mean, scale = centre_and_scale(values)
    return (values - mean) / scale


def nearest_rows(values: NDArray, n_neighbors: int) -> NDArray[np.intp]:
    """Return the nearest other rows of each row, in any order."""
    norms = np.einsum("ij,ij->i", values, values)
    squared = norms[:, None] + norms - 2 * values @ values.T
    np.fill_diagonal(squared, np.inf)
    return np.argpartition(squared, n_neighbors - 1, axis=1)[:, :n_neighbors]
