"""RUFS: robust unsupervised feature selection."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from ufselect._utils.arrays import row_blocks
from ufselect._utils.validation import generator
from ufselect.graphs import nearest_neighbors, usable_neighbors
from ufselect.methods._base import NON_NEGATIVE, POSITIVE, Columns, FitResult, Groups, UnsupervisedSelector
from ufselect.methods._columns import SelectionRequest
from ufselect.methods._iterate import Descent, iterate, run_attributes
from ufselect.methods._pseudo_labels import (
    EPSILON,
    CentredRows,
    RowSparseRegression,
    kmeans_labels,
    label_count,
    multiplicative_step,
    orthogonality_penalty,
    row_norms,
)


@dataclass(frozen=True)
class RobustLabels:
    """A point of the run: labels G, centres F, coefficients W, and the objective."""

    labels: NDArray
    centres: NDArray
    coefficients: NDArray
    objective: float


@dataclass
class RobustLabelRegression(Descent):
    """Update coefficients, labels and centres in turn, each by a weighted square above its norm."""

    resolution = 1e-14
    rows: CentredRows
    laplacian: sparse.csr_array
    labels: NDArray  # the start of G: positive, with columns of norm 1
    nu: float
    alpha: float
    beta: float
    zeta: float

    def __post_init__(self) -> None:
        self.squared_norms = self.rows.squared_norms()

    def init(self) -> RobustLabels:
        n_samples, n_features = self.rows.shape
        # Means of the clusters, and a ridge regression on the labels, as in the published program.
        centres = self.fit_centres(self.labels, np.ones(n_samples))
        ridge = RowSparseRegression(self.rows, np.full(n_features, 0.5), self.beta / self.alpha)
        return self._state(self.labels, centres, ridge.solve(self.labels))

    def step(self, state: RobustLabels) -> RobustLabels:
        weights = 0.5 / row_norms(self.rows.times(state.coefficients) - state.labels)
        regression = RowSparseRegression(
            self.rows, row_norms(state.coefficients), self.beta / self.alpha, weights
        )
        coefficients = regression.solve(state.labels)
        # G moves by a square above the two norms that it is in.
        fitted, between = self.rows.times(coefficients), state.centres @ state.centres.T
        near = 0.5 / self.centre_distances(state.labels, state.centres)[:, None]
        linear = self.alpha * 0.5 / row_norms(fitted - state.labels)[:, None]
        target = near * self.rows.times(state.centres.T) + linear * fitted

        def slope(G: NDArray) -> NDArray:
            return near * (G @ between) + self.nu * (self.laplacian @ G) + linear * G - target

        def value(G: NDArray) -> float:
            return float(np.vdot(G, slope(G) - target)) + self.zeta / 4 * orthogonality_penalty(G)

        labels = multiplicative_step(state.labels, slope(state.labels), self.zeta / 2, value)
        centres = self.fit_centres(labels, 0.5 / self.centre_distances(labels, state.centres))
        new = self._state(labels, centres, coefficients)
        return new if new.objective < state.objective else state  # stationary up to rounding

    def fit_centres(self, labels: NDArray, weights: NDArray) -> NDArray:
        """Return F, the weighted least squares of the rows on the labels."""
        weighted = labels * weights[:, None]
        # K-means may leave clusters without rows, whose labels are all alike.
        return linalg.lstsq(labels.T @ weighted, self.rows.transposed_times(weighted).T)[0]

    def centre_distances(self, labels: NDArray, centres: NDArray) -> NDArray:
        """Return the smoothed norms of the rows of X − GF, without forming it."""
        mixed = 2 * self.rows.times(centres.T) - labels @ (centres @ centres.T)
        return np.sqrt(np.clip(self.squared_norms - np.einsum("ij,ij->i", labels, mixed), 0, None) + EPSILON)

    def _state(self, labels: NDArray, centres: NDArray, coefficients: NDArray) -> RobustLabels:
        objective = (
            float(self.centre_distances(labels, centres).sum())
            + self.nu * float(np.vdot(labels, self.laplacian @ labels))
            + self.alpha * float(row_norms(self.rows.times(coefficients) - labels).sum())
            + self.beta * float(row_norms(coefficients).sum())
            + self.zeta / 4 * orthogonality_penalty(labels)
        )
        return RobustLabels(labels, centres, coefficients, objective)


def local_learning_laplacian(data: Any, indices: NDArray, distances: NDArray) -> sparse.csr_array:
    r"""Return :math:`(I - A)^\top (I - A)`, the squared errors of predicting each row's label locally.

    Row i of A has the weights by which kernel ridge regression on its neighbours predicts it,
    :math:`a_i = k_i^\top (K_i + I)^{-1}`, with the heat kernel of the mean distance to neighbours.
    """
    n_samples, k = indices.shape
    first, second = np.repeat(indices, k, axis=1).ravel(), np.tile(indices, (1, k)).ravel()
    squared = np.empty(first.size)
    for pairs in row_blocks(first.size, 16 * data.shape[1], 2**24, min_rows=1):
        difference = data[first[pairs]] - data[second[pairs]]
        squares = difference.multiply(difference) if sparse.issparse(data) else difference**2
        squared[pairs] = np.asarray(squares.sum(axis=1)).ravel()
    rate = -0.5 / (float(distances.mean()) ** 2 or 1.0)
    kernels = np.exp(rate * squared).reshape(n_samples, k, k) + np.eye(k)
    weights = np.linalg.solve(kernels, np.exp(rate * distances**2)[:, :, None])[:, :, 0]
    starts = np.arange(0, n_samples * k + 1, k)
    prediction = sparse.csr_array((weights.ravel(), indices.ravel(), starts), shape=(n_samples, n_samples))
    error = sparse.eye_array(n_samples) - prediction
    return (error.T @ error).tocsr()


class RUFS(UnsupervisedSelector):
    r"""Select features that predict cluster labels, both learnt with norms that bear outlying rows.

    Use robust unsupervised feature selection [1]_ in place of `NDFS` where some rows lie far from all others.
    As there, the labels hardly leave those of K-means on all features, and the robust norms come after it: a
    row that takes a cluster of its own in K-means keeps it.

    Features with a large unit dominate: standardise first unless units are comparable.

    Parameters
    ----------
    {n_features_to_select}
    n_clusters : int or "auto", default="auto"
        Number of columns of G and W. ``"auto"`` counts a component while its share of the variance is larger
        than that of a piece of a stick broken at random, with a minimum of 2.
    {n_neighbors}
    nu : float, default=1.0
        Weight of smoothness, at least 0.
    alpha : float, default=1.0
        Weight of the regression on the labels, above 0.
    beta : float, default=0.3
        Weight of the row penalty, above 0. This and the other weights are for rows of mean squared norm 1. At
        1 no row of W is left on data with 50 rows and thousands of columns.
    zeta : float, default=1e7
        Weight of orthogonality, above 0. The default is that of the program of [1]_.
    max_iter : int, default=100
        Most iterations to make.
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
    objective_history_ : ndarray
        Objective at the start and after each iteration, for rows of mean squared norm 1; non-increasing.
    n_iter_ : int
        Number of iterations.
    converged_ : bool
        Whether the relative decrease fell to ``tol`` within ``max_iter``.

    Notes
    -----
    Labels G (n_samples × n_clusters) are to factor the data, with centres F, to be predicted by those of
    neighbours, and to be linear in few features:

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

    The problem is that of [1]_, the steps are ours: there each of W, G and F is found by a (projected)
    limited-memory BFGS method. Weighted squares need no step size, and no step raises the objective. Ours
    too: X is centred and divided by the size of its rows; F may be negative, as centred data are (for
    non-negative X and orthonormal G the best F is non-negative anyway); the kernel of A is a heat kernel as
    wide as the mean distance to neighbours, with a ridge of 1.

    A step factors a matrix of order min(n, d): n d min(n, d) operations. Sparse data stay sparse; the memory
    is min(n, d)² beside them.

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

    accepts_sparse = True
    is_stochastic = True
    is_nested = True
    label = "RUFS"
    cost = "n² d + iterations · n d min(n, d)"

    components_: NDArray
    labels_: NDArray
    n_clusters_: int
    n_neighbors_: int
    objective_history_: NDArray
    n_iter_: int
    converged_: bool

    _parameter_constraints: ClassVar = {
        **UnsupervisedSelector._parameter_constraints,
        "nu": [NON_NEGATIVE],
        "alpha": [POSITIVE],
        "beta": [POSITIVE],
        "zeta": [POSITIVE],
    }

    def __init__(
        self,
        n_features_to_select: int | float = 0.1,
        *,
        n_clusters: int | str = "auto",
        n_neighbors: int = 5,
        nu: float = 1.0,
        alpha: float = 1.0,
        beta: float = 0.3,
        zeta: float = 1e7,
        max_iter: int = 100,
        tol: float = 1e-4,
        random_state: Any = None,
        verbose: bool = False,
        keep: Columns | None = None,
        exclude: Columns | None = None,
        groups: Groups | None = None,
        max_correlation: float | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.n_clusters = n_clusters
        self.n_neighbors = n_neighbors
        self.nu = nu
        self.alpha = alpha
        self.beta = beta
        self.zeta = zeta
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose
        self.keep = keep
        self.exclude = exclude
        self.groups = groups
        self.max_correlation = max_correlation

    def _fit(self, X: Any, request: SelectionRequest) -> FitResult:
        n_neighbors = usable_neighbors(self.n_neighbors, X.shape[0] - 1)
        rows = CentredRows(X)
        n_clusters = label_count(self.n_clusters, X)
        labels = kmeans_labels(rows.data, n_clusters, generator(self.random_state))
        laplacian = local_learning_laplacian(rows.data, *nearest_neighbors(rows.data, n_neighbors))
        method = RobustLabelRegression(rows, laplacian, labels, self.nu, self.alpha, self.beta, self.zeta)
        result = iterate(method, max_iter=self.max_iter, tol=self.tol, callback=request.progress)
        return np.linalg.norm(result.state.coefficients, axis=1), {
            "components_": result.state.coefficients.T,
            "labels_": result.state.labels.argmax(axis=1),
            "n_clusters_": n_clusters,
            "n_neighbors_": n_neighbors,
            **run_attributes("RUFS", result),
        }
