"""UDFS: unsupervised discriminative feature selection."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ufselect.common.checks import check_nonnegative, check_positive_int
from ufselect.exceptions import ConstantDataError
from ufselect.gram import gram_operator
from ufselect.gram.centring import centre_and_scale
from ufselect.graphs import nearest_neighbors, usable_neighbors
from ufselect.selectors.base import (
    PAPER_REGULARISERS,
    Columns,
    Fitted,
    Groups,
    UnsupervisedSelector,
    resolve_auto,
)
from ufselect.selectors.convergence import check_comparable, in_units_of, run_attributes
from ufselect.selectors.dimension import auto_n_components
from ufselect.selectors.progress import FitProgress
from ufselect.selectors.wishes import Wanted
from ufselect.solvers import iterate
from ufselect.solvers.reweighted.eigenproblem import ReweightedEigenproblem
from ufselect.solvers.udfs import (
    local_scatter_laplacian,
    local_scatter_quadratic,
    mean_lowest_rows,
)


class UDFS(UnsupervisedSelector):
    r"""Select features that tell neighbourhoods apart.

    Finds an orthonormal projection W (n_features × n_clusters) that uses few features and whose values are as
    discriminative as possible in every neighbourhood, measured in the inverse of its scatter [1]_:

    .. math::

        \min_{W^\top W = I}\; \mathrm{Tr}(W^\top M W) + \gamma \|W\|_{2,1}, \qquad
        M = \sum_{i=1}^{n} X_i^\top H (H X_i X_i^\top H + \lambda I)^{-1} H X_i,

    where the rows of :math:`X_i` are sample i and its k nearest neighbours and H centres them. Features are
    ranked by the row norms of W.

    1. Sum the small matrices between the :math:`X_i` into a sparse n × n matrix L, so that M = XᵀLX.
    2. Weigh each feature by :math:`1 / 2\sqrt{\|w_j\|^2 + \varepsilon}`, with ε = 2.2e-16; at first with
       the rows of the lowest eigenvectors of M.
    3. Take the lowest eigenvectors of M plus γ times these weights; repeat from 2. The objective never rises.

    On wide data M has many eigenvectors with eigenvalue 0 and step 2 could start from any of them. The mean
    of the squared row norms over all of them is used, which is unique and does not favour any feature by
    rounding.

    Costs n² d for the neighbours, k² (d + k) for each neighbourhood that no other sample has, and d³ a step
    for d ≤ n; for wide data n² d a step.

    Use it where neighbourhoods carry the structure and features act together. It needs two regularisers that
    mean different things on different data, and most rows of W vanish: beyond the first ``n_clusters`` or so
    features, the order rests on small numbers. With k neighbours the neighbourhoods are noisy in many
    dimensions. Features with a large unit dominate the neighbourhoods: standardise first unless units are
    comparable.

    Parameters
    ----------
    n_features_to_select : int or float, default=0.1
        Number of features, or their share.
    n_clusters : int or "auto", default="auto"
        Number of columns of W. ``"auto"`` counts a component while its share of the variance is larger than
        that of a piece of a stick broken at random, with a minimum of 2.
    n_neighbors : int, default=5
        Number k of neighbours; lowered to n_samples − 1, with a warning, if there are fewer samples.
    gamma : float, default=1.0
        Weight of the penalty, above 0. M has no unit, so γ has none.
    reg : float, default=1.0
        The λ that regularises the scatter of a neighbourhood, above 0, in units of the data squared.
    max_iter : int, default=100
        Most iterations to make.
    tol : float, default=1e-6
        Stop once the relative decrease of the objective is at most this. Small rows settle later than the
        objective.
    verbose : bool, default=False
        Log each iteration.
    keep, exclude : sequence of str or int, default=None
        Columns, by name or index, that are selected in any case, or never. Excluded columns have no part in
        the fit.
    groups : sequence or dict, default=None
        One label per column, None for a column of its own; or names of groups with their columns. A group is
        selected whole or not at all, and counts as one feature.
    max_correlation : float, default=None
        A column whose absolute correlation with a better one exceeds this waits until no other is left. Sets
        of identical columns are then listed in ``duplicates_``, for data in memory.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Row norms of W, larger is better; 0 for constant features, which take no part.
    ranking_ : ndarray of shape (n_features,)
        Rank of each feature, 1 for the best.
    support_ : ndarray of shape (n_features,)
        Mask of the selected features.
    components_ : ndarray of shape (n_clusters, n_features)
        The transpose of W.
    n_clusters_, n_neighbors_ : int
        The numbers used.
    objective_history_ : ndarray
        Objective at the start and after each iteration; non-increasing.
    n_iter_ : int
        Number of iterations.
    converged_ : bool
        Whether the relative decrease fell to ``tol`` within ``max_iter``.

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
    order = 70
    is_nested = True
    paper_grid: ClassVar = {"reg": PAPER_REGULARISERS, "gamma": PAPER_REGULARISERS}

    components_: NDArray
    n_clusters_: int
    n_neighbors_: int
    objective_history_: NDArray
    n_iter_: int
    converged_: bool

    def __init__(
        self,
        n_features_to_select: int | float = 0.1,
        *,
        n_clusters: int | str = "auto",
        n_neighbors: int = 5,
        gamma: float = 1.0,
        reg: float = 1.0,
        max_iter: int = 100,
        tol: float = 1e-6,
        verbose: bool = False,
        keep: Columns | None = None,
        exclude: Columns | None = None,
        groups: Groups | None = None,
        max_correlation: float | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.n_clusters = n_clusters
        self.n_neighbors = n_neighbors
        self.gamma = gamma
        self.reg = reg
        self.max_iter = max_iter
        self.tol = tol
        self.verbose = verbose
        self.keep = keep
        self.exclude = exclude
        self.groups = groups
        self.max_correlation = max_correlation

    def _fit(self, X: Any, wanted: Wanted, progress: FitProgress) -> Fitted:
        n_neighbors = usable_neighbors(self.n_neighbors, X.shape[0] - 1)
        mean, scale = centre_and_scale(X)
        reg = in_units_of(scale, "reg", self.reg)
        centred = (X - mean).astype(np.float64, copy=False) / scale
        varying = np.any(centred != 0, axis=0)
        n_clusters = self._resolve_clusters(X, int(np.count_nonzero(varying)))
        method = self._method(X, centred[:, varying], n_neighbors, reg, n_clusters)
        result = iterate(method, max_iter=self.max_iter, tol=self.tol, callback=progress)
        components = np.zeros((n_clusters, X.shape[1]))
        components[:, varying] = result.state.vectors[:, :n_clusters].T
        return Fitted(
            np.linalg.norm(components, axis=0),
            {
                "components_": components,
                "n_clusters_": n_clusters,
                "n_neighbors_": n_neighbors,
                **run_attributes("UDFS", result),
            },
        )

    def _check_parameters(self) -> None:
        check_nonnegative("tol", self.tol)
        check_positive_int("max_iter", self.max_iter)
        for name in ("gamma", "reg"):
            check_nonnegative(name, getattr(self, name))
            if getattr(self, name) == 0:
                raise ValueError(f"{name} must be above 0: without it the solution is not unique.")

    def _resolve_clusters(self, X: Any, n_varying: int) -> int:
        if n_varying == 0:
            raise ConstantDataError
        n_clusters = resolve_auto(
            "n_clusters", self.n_clusters, lambda: min(max(2, auto_n_components(gram_operator(X))), n_varying)
        )
        if n_clusters > n_varying:
            raise ValueError(
                f"n_clusters={n_clusters} is more than the {n_varying} features of X that vary; lower it."
            )
        return n_clusters

    def _method(
        self, X: NDArray, centred: NDArray, n_neighbors: int, reg: float, n_clusters: int
    ) -> ReweightedEigenproblem:
        neighbors, _ = nearest_neighbors(X, n_neighbors)
        neighborhoods = np.column_stack([np.arange(X.shape[0]), neighbors])
        laplacian = local_scatter_laplacian(centred, neighborhoods, reg)
        quadratic = local_scatter_quadratic(centred, laplacian)
        check_comparable("gamma", self.gamma, quadratic.size)
        start = mean_lowest_rows(quadratic, n_clusters)
        return ReweightedEigenproblem(
            quadratic,
            n_clusters,
            float(self.gamma),
            1.0,
            vectors=start.likely_vectors,
            squared_norms=start.squared_norms,
            quadratic_value=start.value,
        )
