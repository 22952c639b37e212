"""NDFS: non-negative discriminative feature selection."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ufselect._utils.validation import generator
from ufselect.graphs import heat_affinity, nearest_neighbors, usable_neighbors
from ufselect.methods._base import POSITIVE, Columns, FitResult, Groups, UnsupervisedSelector
from ufselect.methods._columns import SelectionRequest
from ufselect.methods._iterate import Descent, iterate, run_attributes
from ufselect.methods._pseudo_labels import (
    CentredRows,
    RowSparseRegression,
    kmeans_labels,
    label_count,
    multiplicative_step,
    orthogonality_penalty,
    row_norms,
)


@dataclass(frozen=True)
class LabelledProjection:
    """A point of the run: labels F, coefficients W, and the objective."""

    labels: NDArray
    coefficients: NDArray
    objective: float


@dataclass
class NonnegativeSpectralAnalysis(Descent):
    """Move the labels, then solve for the coefficients with the row weights of the last ones.

    Both steps lower a function that lies above the objective and touches it, so that it never rises.
    """

    resolution = 1e-14
    rows: CentredRows
    laplacian: sparse.csr_array
    labels: NDArray  # the start of F: positive, with columns of norm 1
    alpha: float
    beta: float
    gamma: float

    def init(self) -> LabelledProjection:
        # The published start: all features weigh the same, as rows of norm 1/2 would.
        regression = RowSparseRegression(self.rows, np.full(self.rows.shape[1], 0.5), self.beta)
        return self._state(self.labels, regression.solve(self.labels))

    def step(self, state: LabelledProjection) -> LabelledProjection:
        regression = RowSparseRegression(self.rows, row_norms(state.coefficients), self.beta)

        def value(labels: NDArray) -> float:
            """Return the objective with the best coefficients for the weights of this step."""
            fitted = self.rows.times(regression.solve(labels))
            return (
                float(np.vdot(labels, self.laplacian @ labels))
                + self.alpha * float(np.vdot(labels, labels - fitted))
                + self.gamma / 2 * orthogonality_penalty(labels)
            )

        fitted = self.rows.times(regression.solve(state.labels))
        slope = self.laplacian @ state.labels + self.alpha * (state.labels - fitted)
        labels = multiplicative_step(state.labels, slope, self.gamma, value)
        new = self._state(labels, regression.solve(labels))
        return new if new.objective < state.objective else state  # stationary up to rounding

    def _state(self, labels: NDArray, coefficients: NDArray) -> LabelledProjection:
        errors = self.rows.times(coefficients) - labels
        objective = (
            float(np.vdot(labels, self.laplacian @ labels))
            + self.alpha * (float(np.vdot(errors, errors)) + self.beta * float(row_norms(coefficients).sum()))
            + self.gamma / 2 * orthogonality_penalty(labels)
        )
        return LabelledProjection(labels, coefficients, objective)


def normalised_laplacian(affinity: sparse.csr_array) -> sparse.csr_array:
    r"""Return :math:`I - D^{-1/2} S D^{-1/2}` for symmetric weights S with the degrees D."""
    roots = 1 / np.sqrt(affinity.sum(axis=1))
    scaled = sparse.diags_array(roots) @ affinity @ sparse.diags_array(roots)
    return (sparse.eye_array(affinity.shape[0]) - scaled).tocsr()


class NDFS(UnsupervisedSelector):
    r"""Select features that predict cluster labels, which are learnt along with them.

    Use non-negative discriminative feature selection [1]_ where rows form compact clusters whose number you
    know. The labels start from K-means on all features and stay there: with the published ``gamma``
    orthogonality outweighs all else, and on five real sets not one of 3,258 rows changed its cluster. Where
    K-means fails on all features, so does the selection.

    Features with a large unit dominate: standardise first unless units are comparable.

    Parameters
    ----------
    {n_features_to_select}
    n_clusters : int or "auto", default="auto"
        Number of columns of F and W. ``"auto"`` counts a component while its share of the variance is larger
        than that of a piece of a stick broken at random, with a minimum of 2.
    {n_neighbors}
    alpha : float, default=1.0
        Weight of the regression on the labels, above 0.
    beta : float, default=0.1
        Weight of the row penalty within the regression, above 0, for rows of mean squared norm 1.
    gamma : float, default=1e8
        Weight of orthogonality, above 0. The default is that of [1]_.
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
        The cluster of each row: the largest entry of its row of F.
    n_clusters_, n_neighbors_ : int
        The numbers used.
    objective_history_ : ndarray
        Objective at the start and after each iteration; non-increasing.
    n_iter_ : int
        Number of iterations.
    converged_ : bool
        Whether the relative decrease fell to ``tol`` within ``max_iter``.

    Notes
    -----
    Labels F (n_samples × n_clusters) are to be smooth on the graph of neighbours and linear in few features:

    .. math::

        \min_{F \ge 0,\, W}\; \mathrm{Tr}(F^\top L F) + \alpha \bigl(\|XW - F\|_F^2 + \beta \|W\|_{2,1}\bigr)
            + \tfrac{\gamma}{2} \|F^\top F - I\|_F^2, \qquad L = I - D^{-1/2} S D^{-1/2},

    with S the heat-kernel weights between nearest neighbours.

    1. Start from the indicator of the clusters of K-means, raised by 0.02, with columns of norm 1.
    2. With :math:`G = \mathrm{diag}(1 / 2\|w_j\|)` and :math:`M = L + \alpha (I - X (X^\top X + \beta G)^{-1}
       X^\top)`, multiply F by :math:`\gamma F / (MF + \gamma F F^\top F)`, entry by entry, and normalise it.
    3. Set :math:`W = (X^\top X + \beta G)^{-1} X^\top F`; repeat from 2.

    The published rule can raise the objective; a root of the factor is then taken, so that it never does.
    Ours too: X is centred, so that constant columns have no part, and divided by the size of its rows, so
    that β means the same on every data set; ε = 2.2e-16 stands under the roots of row norms.

    The inverse is never formed. A step factors a matrix of order min(n, d): n d min(n, d) operations. Sparse
    data stay sparse; the memory is min(n, d)² beside them.

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

    accepts_sparse = True
    is_stochastic = True
    is_nested = True
    label = "NDFS"
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
        "alpha": [POSITIVE],
        "beta": [POSITIVE],
        "gamma": [POSITIVE],
    }

    def __init__(
        self,
        n_features_to_select: int | float = 0.1,
        *,
        n_clusters: int | str = "auto",
        n_neighbors: int = 5,
        alpha: float = 1.0,
        beta: float = 0.1,
        gamma: float = 1e8,
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
        self.alpha = alpha
        self.beta = beta
        self.gamma = gamma
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
        laplacian = normalised_laplacian(heat_affinity(*nearest_neighbors(X, n_neighbors), smallest=1e-6))
        method = NonnegativeSpectralAnalysis(rows, laplacian, labels, self.alpha, self.beta, self.gamma)
        result = iterate(method, max_iter=self.max_iter, tol=self.tol, callback=request.progress)
        return np.linalg.norm(result.state.coefficients, axis=1), {
            "components_": result.state.coefficients.T,
            "labels_": result.state.labels.argmax(axis=1),
            "n_clusters_": n_clusters,
            "n_neighbors_": n_neighbors,
            **run_attributes("NDFS", result),
        }
