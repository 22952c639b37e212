"""SPEC: spectral feature selection."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ufselect._columns import SelectionRequest
from ufselect.base import FitResult, StrOptions, UnsupervisedSelector
from ufselect.exceptions import ConstantDataError
from ufselect.graphs import (
    clusters_asked,
    heat_affinity,
    laplacian_quotients,
    nearest_neighbors,
    smoothest_normalized_pairs,
    usable_neighbors,
)


@dataclass(kw_only=True, eq=False, repr=False)
class SPEC(UnsupervisedSelector):
    r"""Select features that agree with the spectrum of the graph of nearest neighbours.

    Spectral feature selection [1]_ scores each feature alone by one of three functions: how smooth it is on
    the graph (``"smoothness"``), the same without the feature's mean (``"normalized"``, which is the
    Laplacian score), or how much of it lies in the eigenvectors that separate c clusters (``"leading"``).

    Use it as a fast filter if neighbouring samples show the structure. Redundant features get equal scores
    and are selected together. The graph depends on the units of all features: standardise first unless they
    are comparable. ``"smoothness"`` and ``"leading"`` also change if a constant is added to a feature.

    Parameters
    ----------
    {n_features_to_select}
    ranking : {"leading", "normalized", "smoothness"}, default="leading"
        The score function: :math:`\varphi_3`, :math:`\varphi_2` or :math:`\varphi_1` of [1]_.
    {n_clusters}
    {n_neighbors}
    {bandwidth}
    {constraints}

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        :math:`\varphi_3`, or minus :math:`\varphi_1` or :math:`\varphi_2`, which are small for good features;
        −3 for constant features, which come last.
    {ranking_and_support}
    n_clusters_ : int
        The c used by ``"leading"``, else 0.
    n_neighbors_ : int
        The number of neighbours used.

    See Also
    --------
    LaplacianScore : The score "normalized", for data with batches or in dask collections.
    MCFS : Score features jointly, so that one of several redundant ones is selected.

    Notes
    -----
    Let W be the heat-kernel weights between samples of which one is among the k nearest neighbours of the
    other, D their sums and :math:`I - D^{-1/2} W D^{-1/2}` the normalised Laplacian with eigenpairs
    :math:`(\lambda_l, u_l)`, :math:`\lambda_1 = 0`. With
    :math:`\alpha_l = u_l^\top D^{1/2} f / \|D^{1/2} f\|`,

    .. math::

        \varphi_1 = \sum_{l=1}^{n} \lambda_l \alpha_l^2, \qquad
        \varphi_2 = \frac{\varphi_1}{1 - \alpha_1^2}, \qquad
        \varphi_3 = \sum_{l=2}^{c} (2 - \lambda_l)\, \alpha_l^2 .

    c is ``n_clusters``; at least one eigenvector is used. The first two are sums over edges and need no
    eigenvectors. A constant feature would be the best by :math:`\varphi_1`; it is ranked last. The graph of
    [1]_ joins all pairs, as ``n_neighbors`` of n_samples − 1 does here.

    Costs n² d for the neighbours, n k d for the sums over edges, and c eigenvectors of a sparse matrix for
    ``"leading"``. Sparse data stay sparse.

    References
    ----------
    .. [1] Z. Zhao and H. Liu (2007), "Spectral feature selection for supervised and unsupervised learning",
       Proceedings of the 24th International Conference on Machine Learning.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from ufselect import SPEC
    >>> pixels = load_digits().data
    >>> SPEC(n_features_to_select=20, n_clusters=10).fit_transform(pixels).shape
    (1797, 20)
    """

    accepts_sparse = True
    label = "SPEC"
    cost = "n² d"
    is_nested = True

    _parameter_constraints: ClassVar = {"ranking": [StrOptions({"leading", "normalized", "smoothness"})]}

    ranking: str = "leading"
    n_clusters: int | str = "auto"
    n_neighbors: int = 5
    bandwidth: float | str = "auto"

    def _fit(self, X: Any, request: SelectionRequest) -> FitResult:
        n_neighbors = usable_neighbors(self.n_neighbors, X.shape[0] - 1)
        affinity = heat_affinity(*nearest_neighbors(X, n_neighbors), self.bandwidth, smallest=1e-6)
        degrees, n_clusters = affinity.sum(axis=1), 0
        if self.ranking == "leading":  # φ₃, NaN for constant features
            n_clusters = clusters_asked(self.n_clusters, X, X.shape[0] - 1)
            values, vectors = smoothest_normalized_pairs(affinity, max(n_clusters - 1, 1))
            scaled, varies = in_own_units(X)
            alpha = scaled.T @ (np.sqrt(degrees)[:, None] * vectors)
            norms = degrees @ (scaled.power(2) if sparse.issparse(scaled) else scaled**2)
            scores = np.divide(alpha**2 @ (2 - values), norms, out=np.full(norms.size, np.nan), where=varies)
        else:
            scores = -laplacian_quotients(X, affinity)
        if self.ranking == "smoothness":  # times 1 − α₁², the share of the squared norm not due to the mean
            scaled, varies = in_own_units(X)
            mean = degrees @ scaled / degrees.sum()
            if sparse.issparse(scaled):
                square = degrees @ scaled.power(2) / degrees.sum()
                variance = np.maximum(square - mean**2, 0)
            else:
                variance = degrees @ (scaled - mean) ** 2 / degrees.sum()
                square = variance + mean**2
            scores *= np.divide(variance, square, out=np.zeros(mean.size), where=varies)
        return np.where(np.isnan(scores), -3.0, scores), {
            "n_clusters_": n_clusters,
            "n_neighbors_": n_neighbors,
        }


def in_own_units(X: Any) -> tuple[Any, NDArray]:
    """Return the features divided by their largest entry, to keep squares in range, and which vary."""
    lowest, highest = X.min(axis=0), X.max(axis=0)
    if sparse.issparse(X):
        lowest, highest = lowest.toarray().ravel(), highest.toarray().ravel()
    varies = highest > lowest
    if not varies.any():
        raise ConstantDataError
    largest = np.maximum(np.abs(lowest), np.abs(highest)).astype(np.float64)
    unit = np.where(largest > 0, largest, 1.0)
    if sparse.issparse(X):
        return sparse.csr_array((X.data / unit[X.indices], X.indices, X.indptr), shape=X.shape), varies
    return X / unit, varies
