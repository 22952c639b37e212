"""NDFS and RUFS: cluster labels that start from K-means, and sparse coefficients that predict them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse
from sklearn.cluster import KMeans

from ufselect._columns import SelectionRequest
from ufselect._solver.iterate import Descent, iterate, run_attributes
from ufselect._utils.validation import generator
from ufselect.base import NON_NEGATIVE, POSITIVE, FitResult, UnsupervisedSelector
from ufselect.exceptions import ConstantDataError
from ufselect.gram.rows import mean_and_scale, order_of_rows, row_blocks
from ufselect.gram.spectrum import orthonormality_defect
from ufselect.graphs import (
    clusters_asked,
    heat_affinity,
    nearest_neighbors,
    neighbor_matrix,
    normalized_laplacian,
    usable_neighbors,
)

EPSILON = float(np.finfo(np.float64).eps)  # under the roots of squared norms, as published


def row_norms(matrix: NDArray) -> NDArray:
    r"""Return the smoothed norms :math:`\sqrt{\|w_j\|^2 + \varepsilon}` of the rows."""
    return np.sqrt(np.einsum("ij,ij->i", matrix, matrix) + EPSILON)


def row_sparse_regression(
    data: NDArray, norms: NDArray, beta: float, weights: NDArray | float = 1.0
) -> Callable[[NDArray], NDArray]:
    r"""Return a function from labels F to :math:`(X^\top B X + \beta D)^{-1} X^\top B F`.

    B holds the weights of the rows, D half the inverses of ``norms``. The smaller of two systems, of n or of
    d equations, is factored once; scaling it by the roots of B and of the inverse of D keeps it regular when
    rows of W vanish or weights are large.
    """
    roots, row_roots = np.sqrt(2 * norms)[:, None], np.sqrt(np.broadcast_to(weights, len(data)))[:, None]
    scaled = row_roots * data * roots.T
    is_wide = data.shape[0] < data.shape[1]
    matrix = scaled @ scaled.T if is_wide else scaled.T @ scaled
    matrix[np.diag_indices_from(matrix)] += max(beta, 1e-12 * float(matrix.trace()))  # rounding
    factor = linalg.cho_factor(matrix, overwrite_a=True, check_finite=False)

    def solve(labels: NDArray) -> NDArray:
        labels = row_roots * labels
        if is_wide:
            return roots * (scaled.T @ linalg.cho_solve(factor, labels, check_finite=False))
        return roots * linalg.cho_solve(factor, scaled.T @ labels, check_finite=False)

    return solve


def orthogonality_penalty(labels: NDArray) -> float:
    """Return the squared norm of FᵀF − I."""
    return float(np.sum(np.square(orthonormality_defect(labels))))


def multiplicative_step(
    labels: NDArray, slope: NDArray, weight: float, value: Callable[[NDArray], float]
) -> NDArray:
    """Multiply labels by the published factor, or by a root of it, such that the value falls.

    ``slope`` is half the gradient without the penalty on orthogonality, ``weight`` that of the penalty.
    """
    above = weight * labels
    below = slope + above @ (labels.T @ labels)
    # Entries that have become 0 stay 0.
    factor = np.divide(above, np.maximum(below, above / 16), out=np.ones_like(labels), where=labels > 0)
    last = value(labels)
    for halvings in range(8):
        moved = labels * factor ** (0.5**halvings)
        norms = np.linalg.norm(moved, axis=0)
        if np.all(norms > 0) and value(moved / norms) < last:
            return moved / norms
    return labels


@dataclass(frozen=True)
class LabelState:
    """A point of the run: labels, coefficients W, the objective, and the centres F of RUFS."""

    labels: NDArray
    coefficients: NDArray
    objective: float
    centres: Any = None


class LabelSelector(UnsupervisedSelector):
    """Labels from K-means, then updates of labels and coefficients."""

    accepts_sparse = True
    is_stochastic = True
    is_nested = True
    cost = "n² d + iterations · n d min(n, d)"

    labels_: NDArray

    _parameter_constraints: ClassVar = {
        **{name: [POSITIVE] for name in ("alpha", "beta", "gamma", "zeta")},
        "nu": [NON_NEGATIVE],
    }

    @abstractmethod
    def _method(self, data: NDArray, labels: NDArray, n_neighbors: int) -> Descent:
        """Return the method to iterate, which starts from the labels of K-means."""

    def _fit(self, X: Any, request: SelectionRequest) -> FitResult:
        X = (X.toarray() if sparse.issparse(X) else X).astype(np.float64, copy=False)
        n_neighbors = usable_neighbors(self.n_neighbors, len(X) - 1)
        n_clusters = clusters_asked(self.n_clusters, X, len(X))
        mean, scale = mean_and_scale(X)
        data = (X - mean) / scale
        size = np.sqrt(np.einsum("ij,ij->i", data, data).mean())
        if not size > 0:
            raise ConstantDataError
        # Rows of mean squared norm 1, the unit of the penalties; K-means magnifies the last digits.
        data = np.round(data / size, 12)
        seed = int(generator(self.random_state).integers(2**31))
        order, clusters = order_of_rows(data), np.empty(len(data), dtype=np.intp)
        clusters[order] = KMeans(n_clusters, n_init=10, random_state=seed).fit_predict(data[order])
        indicator = np.eye(n_clusters)[clusters]
        # Raised a little, because multiplicative steps cannot move an entry away from 0.
        labels = indicator / np.sqrt(np.maximum(indicator.sum(axis=0), 1)) + 0.02
        labels /= np.linalg.norm(labels, axis=0)
        method = self._method(data, labels, n_neighbors)
        result = iterate(method, max_iter=self.max_iter, tol=self.tol, callback=request.progress)
        return np.linalg.norm(result.state.coefficients, axis=1), {
            "components_": result.state.coefficients.T,
            "labels_": result.state.labels.argmax(axis=1),
            "n_clusters_": n_clusters,
            "n_neighbors_": n_neighbors,
            **run_attributes(type(self).__name__, result),
        }


@dataclass
class NonnegativeSpectralAnalysis(Descent):
    """Update the labels, then solve for the coefficients with the row weights of the last ones."""

    resolution = 1e-14
    data: NDArray
    laplacian: sparse.csr_array
    labels: NDArray  # the start of F: positive, with columns of norm 1
    alpha: float
    beta: float
    gamma: float

    def init(self) -> LabelState:
        # The published start: all features have the same weight, as if all rows had norm 1/2.
        regress = row_sparse_regression(self.data, np.full(self.data.shape[1], 0.5), self.beta)
        return self._state(self.labels, regress(self.labels))

    def step(self, state: LabelState) -> LabelState:
        regress = row_sparse_regression(self.data, row_norms(state.coefficients), self.beta)

        def slope(F: NDArray) -> NDArray:  # M F
            return self.laplacian @ F + self.alpha * (F - self.data @ regress(F))

        def value(F: NDArray) -> float:
            return float(np.vdot(F, slope(F))) + self.gamma / 2 * orthogonality_penalty(F)

        labels = multiplicative_step(state.labels, slope(state.labels), self.gamma, value)
        new = self._state(labels, regress(labels))
        return new if new.objective < state.objective else state  # stationary up to rounding

    def _state(self, labels: NDArray, coefficients: NDArray) -> LabelState:
        errors = self.data @ coefficients - labels
        objective = (
            float(np.vdot(labels, self.laplacian @ labels))
            + self.alpha * (float(np.vdot(errors, errors)) + self.beta * float(row_norms(coefficients).sum()))
            + self.gamma / 2 * orthogonality_penalty(labels)
        )
        return LabelState(labels, coefficients, objective)


@dataclass(kw_only=True, eq=False, repr=False)
class NDFS(LabelSelector):
    r"""Select features that predict cluster labels, which are learnt along with them.

    Use non-negative discriminative feature selection [1]_ if rows form compact clusters and you know their
    number. The labels start from K-means on all features and hardly change: with the published ``gamma``
    orthogonality outweighs everything else, and on five real data sets none of 3,258 rows changed its
    cluster. If K-means on all features fails, so does the selection.

    Features with large units dominate: standardise first unless units are comparable.

    Parameters
    ----------
    {n_features_to_select}
    {n_clusters}
    {n_neighbors}
    alpha : float, default=1.0
        Weight of the regression on the labels, above 0.
    beta : float, default=0.1
        Weight of the row penalty within the regression, above 0, for rows of mean squared norm 1.
    gamma : float, default=1e8
        Weight of orthogonality, above 0. The default is that of [1]_.
    {max_iter}
    tol : float, default=1e-4
        Stop once the relative decrease of the objective is at most this.
    random_state : int, RandomState, Generator or None, default=None
        Seed of K-means.
    {verbose}
    {constraints}

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Row norms of W, larger is better; 0 for constant features.
    {ranking_and_support}
    components_ : ndarray of shape (n_clusters, n_features)
        The transpose of W.
    labels_ : ndarray of shape (n_samples,)
        The cluster of each row: the largest entry of its row of F.
    n_clusters_, n_neighbors_ : int
        The numbers used.
    {iterations}

    See Also
    --------
    RUFS : The same approach with norms that are robust to outlying rows.
    MCFS : Clusters of a neighbour graph instead of K-means.
    AutoSelector : Select for clusters and compare with random columns on held-out rows.

    Notes
    -----
    Labels F (n_samples × n_clusters) that are smooth on the graph of neighbours and linear in few features
    solve

    .. math::

        \min_{F \ge 0,\, W}\; \mathrm{Tr}(F^\top L F) + \alpha \bigl(\|XW - F\|_F^2 + \beta \|W\|_{2,1}\bigr)
            + \tfrac{\gamma}{2} \|F^\top F - I\|_F^2, \qquad L = I - D^{-1/2} S D^{-1/2},

    with S the heat-kernel weights between nearest neighbours.

    1. Start from the indicator of the clusters of K-means, raised by 0.02, with columns of norm 1.
    2. With :math:`G = \mathrm{diag}(1 / 2\|w_j\|)` and :math:`M = L + \alpha (I - X (X^\top X + \beta G)^{-1}
       X^\top)`, multiply F by :math:`\gamma F / (MF + \gamma F F^\top F)`, entry by entry, and normalise it.
    3. Set :math:`W = (X^\top X + \beta G)^{-1} X^\top F`; repeat from 2.

    If the published rule would raise the objective, a root of the factor is used, so it never rises. Also
    unlike [1]_, X is centred, so constant columns have no influence, and divided by the size of its rows,
    which makes β comparable across data sets; ε = 2.2e-16 is added under the roots of row norms.

    The inverse is never formed. A step factors a matrix of order min(n, d): n d min(n, d) operations.
    Sparse data are made dense.

    References
    ----------
    .. [1] Z. Li, Y. Yang, J. Liu, X. Zhou, H. Lu (2012), "Unsupervised feature selection using nonnegative
       spectral analysis", AAAI Conference on Artificial Intelligence.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from ufselect import NDFS
    >>> wine = scale(load_wine().data)
    >>> NDFS(n_features_to_select=4, n_clusters=3, random_state=0).fit_transform(wine).shape
    (178, 4)
    """

    label = "NDFS"

    n_clusters: int | str = "auto"
    n_neighbors: int = 5
    alpha: float = 1.0
    beta: float = 0.1
    gamma: float = 1e8
    max_iter: int = 100
    tol: float = 1e-4
    random_state: Any = None
    verbose: bool = False

    def _method(self, data: NDArray, labels: NDArray, n_neighbors: int) -> Descent:
        laplacian = normalized_laplacian(heat_affinity(*nearest_neighbors(data, n_neighbors), smallest=1e-6))
        return NonnegativeSpectralAnalysis(data, laplacian, labels, self.alpha, self.beta, self.gamma)


@dataclass
class RobustLabelRegression(Descent):
    """Update coefficients, labels and centres in turn; weighted squares bound each norm from above."""

    resolution = 1e-14
    data: NDArray
    laplacian: sparse.csr_array
    labels: NDArray  # the start of G: positive, with columns of norm 1
    nu: float
    alpha: float
    beta: float
    zeta: float

    def init(self) -> LabelState:
        n_samples, n_features = self.data.shape
        # Means of the clusters, and a ridge regression on the labels, as in the published program.
        centres = self.fit_centres(self.labels, np.ones(n_samples))
        regress = row_sparse_regression(self.data, np.full(n_features, 0.5), self.beta / self.alpha)
        return self._state(self.labels, centres, regress(self.labels))

    def step(self, state: LabelState) -> LabelState:
        weights = 0.5 / row_norms(self.data @ state.coefficients - state.labels)
        norms = row_norms(state.coefficients)
        coefficients = row_sparse_regression(self.data, norms, self.beta / self.alpha, weights)(state.labels)
        # For G, weighted squares bound the two norms in which it occurs.
        fitted, between = self.data @ coefficients, state.centres @ state.centres.T
        near = 0.5 / row_norms(self.data - state.labels @ state.centres)[:, None]
        linear = self.alpha * 0.5 / row_norms(fitted - state.labels)[:, None]
        target = near * (self.data @ state.centres.T) + linear * fitted

        def slope(G: NDArray) -> NDArray:
            return near * (G @ between) + self.nu * (self.laplacian @ G) + linear * G - target

        def value(G: NDArray) -> float:
            return float(np.vdot(G, slope(G) - target)) + self.zeta / 4 * orthogonality_penalty(G)

        labels = multiplicative_step(state.labels, slope(state.labels), self.zeta / 2, value)
        centres = self.fit_centres(labels, 0.5 / row_norms(self.data - labels @ state.centres))
        new = self._state(labels, centres, coefficients)
        return new if new.objective < state.objective else state  # stationary up to rounding

    def fit_centres(self, labels: NDArray, weights: NDArray) -> NDArray:
        """Return F, the weighted least squares of the rows on the labels."""
        weighted = labels * weights[:, None]
        # K-means may leave clusters without rows, whose labels are all equal.
        return linalg.lstsq(labels.T @ weighted, weighted.T @ self.data)[0]

    def _state(self, labels: NDArray, centres: NDArray, coefficients: NDArray) -> LabelState:
        objective = (
            float(row_norms(self.data - labels @ centres).sum())
            + self.nu * float(np.vdot(labels, self.laplacian @ labels))
            + self.alpha * float(row_norms(self.data @ coefficients - labels).sum())
            + self.beta * float(row_norms(coefficients).sum())
            + self.zeta / 4 * orthogonality_penalty(labels)
        )
        return LabelState(labels, coefficients, objective, centres)


def local_learning_laplacian(data: NDArray, indices: NDArray, distances: NDArray) -> sparse.csr_array:
    r"""Return L of RUFS; row i of A is :math:`k_i^\top (K_i + I)^{-1}` for the kernel of its neighbours."""
    n_samples, k = indices.shape
    first, second = np.repeat(indices, k, axis=1).ravel(), np.tile(indices, (1, k)).ravel()
    squared = np.empty(first.size)
    for pairs in row_blocks(first.size, 16 * data.shape[1], 2**24, min_rows=1):
        difference = data[first[pairs]] - data[second[pairs]]
        squared[pairs] = np.einsum("ij,ij->i", difference, difference)
    rate = -0.5 / (float(distances.mean()) ** 2 or 1.0)
    kernels = np.exp(rate * squared).reshape(n_samples, k, k) + np.eye(k)
    weights = np.linalg.solve(kernels, np.exp(rate * distances**2)[:, :, None])[:, :, 0]
    error = sparse.eye_array(n_samples) - neighbor_matrix(indices, weights)
    return (error.T @ error).tocsr()


@dataclass(kw_only=True, eq=False, repr=False)
class RUFS(LabelSelector):
    r"""Select features that predict cluster labels, with norms that are robust to outlying rows.

    Use robust unsupervised feature selection [1]_ instead of `NDFS` if some rows lie far from all others. As
    in `NDFS`, the labels hardly leave those of K-means on all features. K-means itself is not robust: an
    outlying row that forms its own cluster keeps it.

    Features with large units dominate: standardise first unless units are comparable.

    Parameters
    ----------
    {n_features_to_select}
    {n_clusters}
    {n_neighbors}
    nu : float, default=1.0
        Weight of smoothness, at least 0.
    alpha : float, default=1.0
        Weight of the regression on the labels, above 0.
    beta : float, default=0.3
        Weight of the row penalty, above 0. This and the other weights are for rows of mean squared norm 1. At
        1, all rows of W are zero on data with 50 rows and thousands of columns.
    zeta : float, default=1e7
        Weight of orthogonality, above 0. The default is that of the authors' program.
    {max_iter}
    tol : float, default=1e-4
        Stop once the relative decrease of the objective is at most this.
    random_state : int, RandomState, Generator or None, default=None
        Seed of K-means.
    {verbose}
    {constraints}

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Row norms of W, larger is better; 0 for constant features.
    {ranking_and_support}
    components_ : ndarray of shape (n_clusters, n_features)
        The transpose of W.
    labels_ : ndarray of shape (n_samples,)
        The cluster of each row: the largest entry of its row of G.
    n_clusters_, n_neighbors_ : int
        The numbers used.
    {iterations}

    See Also
    --------
    NDFS : The same approach with squared norms, for data without outlying rows.
    MCFS : Clusters of a neighbour graph instead of K-means.

    Notes
    -----
    Labels G (n_samples × n_clusters) that factor the data with centres F, are predicted by the labels of
    neighbours and are linear in few features solve

    .. math::

        \min_{G \ge 0,\, F,\, W}\; \|X - GF\|_{2,1} + \nu\, \mathrm{Tr}(G^\top L G) + \alpha \|XW - G\|_{2,1}
            + \beta \|W\|_{2,1} + \tfrac{\zeta}{4} \|G^\top G - I\|_F^2, \qquad L = (I - A)^\top (I - A),

    where row i of A predicts sample i from its neighbours by kernel ridge regression.

    1. Start from the indicator of the clusters of K-means, raised by 0.02, with columns of norm 1.
    2. With weights :math:`b_i = 1 / 2\|x_i^\top W - g_i\|` and :math:`D = \mathrm{diag}(1 / 2\|w_j\|)`, set
       :math:`W = (\alpha X^\top B X + \beta D)^{-1} \alpha X^\top B G`.
    3. Multiply G by :math:`\tfrac{\zeta}{2} G / (H + \tfrac{\zeta}{2} G G^\top G)`, H being half the gradient
       of the other terms with their weights, or by a root of that, and normalise its columns.
    4. With weights :math:`c_i = 1 / 2\|x_i - g_i F\|`, set :math:`F = (G^\top C G)^{-1} G^\top C X`; repeat.

    The problem is that of [1]_, which finds each of W, G and F by a (projected) limited-memory BFGS method.
    The steps here use weighted squares instead: they need no step size, and no step raises the objective.
    Also unlike [1]_, X is centred and divided by the size of its rows; F may be negative, as centred data are
    (for non-negative X and orthonormal G the best F is non-negative anyway); the kernel of A is a heat kernel
    as wide as the mean distance to neighbours, with a ridge of 1.

    A step factors a matrix of order min(n, d): n d min(n, d) operations.
    Sparse data are made dense.

    References
    ----------
    .. [1] M. Qian, C. Zhai (2013), "Robust unsupervised feature selection", International Joint Conference on
       Artificial Intelligence.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from ufselect import RUFS
    >>> wine = scale(load_wine().data)
    >>> RUFS(n_features_to_select=4, n_clusters=3, random_state=0).fit_transform(wine).shape
    (178, 4)
    """

    label = "RUFS"

    n_clusters: int | str = "auto"
    n_neighbors: int = 5
    nu: float = 1.0
    alpha: float = 1.0
    beta: float = 0.3
    zeta: float = 1e7
    max_iter: int = 100
    tol: float = 1e-4
    random_state: Any = None
    verbose: bool = False

    def _method(self, data: NDArray, labels: NDArray, n_neighbors: int) -> Descent:
        laplacian = local_learning_laplacian(data, *nearest_neighbors(data, n_neighbors))
        return RobustLabelRegression(data, laplacian, labels, self.nu, self.alpha, self.beta, self.zeta)
