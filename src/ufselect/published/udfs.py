"""UDFS: unsupervised discriminative feature selection."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from ufselect._columns import SelectionRequest
from ufselect._solver.iterate import in_units_of, iterate, run_attributes
from ufselect._solver.reweighted import ReweightedEigenproblem, smoothness_quadratic
from ufselect.base import POSITIVE, FitResult, UnsupervisedSelector
from ufselect.exceptions import ConstantDataError
from ufselect.gram import gram_operator
from ufselect.gram.rows import mean_and_scale, row_blocks
from ufselect.gram.spectrum import auto_n_components
from ufselect.graphs import nearest_neighbors, usable_neighbors


def local_scatter_laplacian(data: NDArray, neighborhoods: NDArray, reg: float) -> sparse.csr_array:
    r"""Return the n × n matrix L with M = XᵀLX; ``neighborhoods`` holds each sample and its neighbours.

    With C an orthonormal basis of the vectors of zero sum, :math:`H (H X X^\top H + \lambda I)^{-1} H = C
    (C^\top X X^\top C + \lambda I)^{-1} C^\top`. This leaves out the direction that H removes, along which
    the inverse is as large as :math:`1/\lambda`.
    """
    n_samples, size = neighborhoods.shape
    contrasts = linalg.helmert(size)
    total = sparse.csr_array((n_samples, n_samples))
    for rows in row_blocks(n_samples, 8 * size * max(size, data.shape[1]), 2**24, min_rows=1):
        members = neighborhoods[rows]
        # Contrasts sum to zero, so differences to a member may be used; for copies they are exactly 0.
        local = contrasts @ (data[members] - data[members[:, :1]])
        scatter = local @ local.transpose(0, 2, 1)
        sizes = np.trace(scatter, axis1=1, axis2=2)
        # This share of the largest scatter keeps a singular one invertible.
        scatter += (max(reg, 1e-12 * float(sizes.max())) or 1.0) * np.eye(size - 1)
        parts = contrasts.T @ np.linalg.solve(scatter, contrasts)
        parts[sizes == 0] = 0.0  # copies add nothing to M; their inverse would add rounding errors
        places = np.repeat(members, size, axis=1).ravel(), np.tile(members, (1, size)).ravel()
        total += sparse.coo_array((parts.ravel(), places), shape=total.shape).tocsr()
    return (total + total.T) / 2


def mean_lowest_rows(values: NDArray, vectors: NDArray, count: int) -> tuple[NDArray, float]:
    """Return squared row norms of the ``count`` lowest eigenvectors of M, and the sum of their eigenvalues.

    Eigenpairs are given in ascending order; those missing from a full set have the eigenvalue 0. If more
    than ``count`` vectors share the last eigenvalue, such as 0 for wide data, the vectors are not unique, but
    the mean of their squared row norms over all choices is.
    """
    n_null = vectors.shape[0] - values.size
    values = np.concatenate([np.zeros(n_null), values])
    slack = 1e-10 * values[-1]  # eigenvalues that differ by less count as equal
    below, tied = values < values[count - 1] - slack, np.abs(values - values[count - 1]) <= slack
    shares = below + tied * (count - np.count_nonzero(below)) / np.count_nonzero(tied)
    # The null vectors are not needed: together with the others they make up the identity.
    squared_norms = np.clip(vectors**2 @ (shares[n_null:] - shares[0]) + shares[0], 0, 1)
    return squared_norms, float(values @ shares)


@dataclass(kw_only=True, eq=False, repr=False)
class UDFS(UnsupervisedSelector):
    r"""Select features that discriminate within neighbourhoods of samples.

    Use unsupervised discriminative feature selection [1]_ if neighbourhoods show the structure and features
    act together. The effect of its two regularisers depends on the data, and hardly more than ``n_clusters``
    features get a large score: the ranking of the others is based on very small values.

    Neighbourhoods of k samples are noisy in many dimensions. Features with large units dominate them:
    standardise first unless units are comparable.

    Parameters
    ----------
    {n_features_to_select}
    {n_clusters}
    {n_neighbors}
    gamma : float, default=1.0
        Weight γ of the penalty, above 0. M has no unit, so γ has none.
    reg : float, default=1.0
        The λ that regularises the scatter of a neighbourhood, above 0, in units of the data squared: in
        other units of X the same value selects other features.
    {max_iter}
    tol : float, default=1e-6
        Stop once the relative decrease of the objective is at most this. Small rows converge later than the
        objective.
    {verbose}
    {constraints}

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Row norms of W, larger is better; 0 for constant features, which are not used.
    {ranking_and_support}
    components_ : ndarray of shape (n_clusters, n_features)
        The transpose of W.
    n_clusters_, n_neighbors_ : int
        The numbers used.
    {iterations}

    See Also
    --------
    NDFS : Clusters of known number from K-means.
    MCFS : Clusters of a neighbour graph; handles sparse data.

    Notes
    -----
    An orthonormal projection W (n_features × n_clusters) that uses few features is made as discriminative as
    possible in every neighbourhood, measured by the inverse of its scatter:

    .. math::

        \min_{W^\top W = I}\; \mathrm{Tr}(W^\top M W) + \gamma \|W\|_{2,1}, \qquad
        M = \sum_{i=1}^{n} X_i^\top H (H X_i X_i^\top H + \lambda I)^{-1} H X_i,

    where the rows of :math:`X_i` are sample i and its k nearest neighbours and H centres them.

    1. Sum the small matrices between the :math:`X_i` into a sparse n × n matrix L, so that M = XᵀLX.
    2. Weight each feature by :math:`1 / 2\sqrt{\|w_j\|^2 + \varepsilon}`, with ε = 2.2e-16; at first with
       the rows of the lowest eigenvectors of M.
    3. Take the lowest eigenvectors of M plus γ times these weights; repeat from 2. The objective never rises.

    On wide data M has many eigenvectors with eigenvalue 0. The start is the mean of the squared row norms
    over all choices of them, which is unique, so rounding favours no feature.

    Costs n² d for the neighbours, n k² (d + k) for the neighbourhoods, and at most d³ per step, n² d for wide
    data.

    References
    ----------
    .. [1] Y. Yang, H. T. Shen, Z. Ma, Z. Huang, X. Zhou (2011), "ℓ2,1-norm regularized discriminative feature
       selection for unsupervised learning", International Joint Conference on Artificial Intelligence.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from ufselect import UDFS
    >>> wine = scale(load_wine().data)
    >>> UDFS(n_features_to_select=4, n_clusters=3).fit_transform(wine).shape
    (178, 4)
    """

    label = "UDFS"
    cost = "n² d + iterations · d³ (tall), iterations · n² d (wide)"
    is_nested = True

    _parameter_constraints: ClassVar = {"gamma": [POSITIVE], "reg": [POSITIVE]}

    n_clusters: int | str = "auto"
    n_neighbors: int = 5
    gamma: float = 1.0
    reg: float = 1.0
    max_iter: int = 100
    tol: float = 1e-6
    verbose: bool = False

    def _fit(self, X: Any, request: SelectionRequest) -> FitResult:
        n_neighbors = usable_neighbors(self.n_neighbors, X.shape[0] - 1)
        X = X.astype(np.float64, copy=False)
        mean, scale = mean_and_scale(X)
        reg = in_units_of(scale, "reg", self.reg)
        centred = (X - mean) / scale
        varying = np.any(centred != 0, axis=0)
        centred = centred[:, varying]
        n_varying = centred.shape[1]
        if n_varying == 0:
            raise ConstantDataError
        if self.n_clusters == "auto":
            n_clusters = min(max(2, auto_n_components(gram_operator(X))), n_varying)
        else:
            n_clusters = int(self.n_clusters)
        if n_clusters > n_varying:
            raise ValueError(
                f"n_clusters={n_clusters} is more than the {n_varying} features of X that vary; lower it."
            )
        neighbors, _ = nearest_neighbors(X, n_neighbors)
        neighborhoods = np.column_stack([np.arange(X.shape[0]), neighbors])
        quadratic = smoothness_quadratic(centred, local_scatter_laplacian(centred, neighborhoods, reg))
        size = quadratic.size or 1.0
        if not 1e-12 * size <= self.gamma <= 1e100 * size:  # lost to rounding, or its square overflows
            raise ValueError(
                f"gamma={self.gamma} is out of range for data of this scale; use a value between "
                f"{1e-12 * size:.0e} and {1e100 * size:.0e}."
            )
        squares, value = mean_lowest_rows(*quadratic.eigenpairs(), n_clusters)
        # The features with the largest rows are a guess for the vectors that follow.
        likely = np.zeros((n_varying, n_clusters))
        likely[np.argsort(-squares, kind="stable")[:n_clusters], np.arange(n_clusters)] = 1.0
        method = ReweightedEigenproblem(
            quadratic, n_clusters, float(self.gamma), 1.0, vectors=likely, squared_norms=squares, value=value
        )
        result = iterate(method, max_iter=self.max_iter, tol=self.tol, callback=request.progress)
        components = np.zeros((n_clusters, X.shape[1]))
        components[:, varying] = result.state.vectors[:, :n_clusters].T
        return np.linalg.norm(components, axis=0), {
            "components_": components,
            "n_clusters_": n_clusters,
            "n_neighbors_": n_neighbors,
            **run_attributes("UDFS", result),
        }
