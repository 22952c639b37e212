"""Structured optimal graph feature selection."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ufselect.common.checks import check_nonnegative, check_positive_int
from ufselect.exceptions import ConstantDataError
from ufselect.gram import gram_operator
from ufselect.gram.centring import centre_and_scale
from ufselect.graphs import usable_neighbors
from ufselect.selectors.base import (
    PAPER_REGULARISERS,
    Columns,
    Fitted,
    Groups,
    UnsupervisedSelector,
    resolve_auto,
)
from ufselect.selectors.convergence import run_attributes
from ufselect.selectors.dimension import auto_n_components
from ufselect.selectors.progress import FitProgress
from ufselect.selectors.wishes import Wanted
from ufselect.solvers import SolverResult, iterate
from ufselect.solvers.sogfs import StructuredOptimalGraph


class SOGFS(UnsupervisedSelector):
    r"""Select features by a projection and a graph with c components that are learned together.

    Solves [1]_

    .. math::

        \min_{S, W} \sum_{ij} \bigl(\|W^\top x_i - W^\top x_j\|^2 s_{ij} + r s_{ij}^2\bigr)
        + \gamma \|W\|_{2,p}^p \quad\text{s.t.}\quad
        W^\top W = I,\; s_i \ge 0,\; s_i^\top 1 = 1,\; \mathrm{rank}(L_S) = n - c,

    for centred features of unit norm: the graph S joins each sample to k neighbours and falls into c
    components, and the projection W (n_features × n_components) is smooth on it and uses few features, by
    whose row norms features are ranked.

    1. Graph: the weights of the k neighbours are a projection onto the simplex; neighbours are sought in the
       full data for five iterations, then in the projected data.
    2. Projection: a reweighted eigenproblem of :math:`X^\top L_S X`, from equal weights.
    3. Rank: a weight λ on the c smoothest vectors of the graph is doubled while there are fewer than c
       components and halved while there are more; the run ends when there are c.

    Costs n² d for the neighbours and, per iteration, n d² and about ten eigenproblems of order d that
    shrink with the number of features still in play (n² d and the row space if d > 2n).

    Use it where clusters are expected in a few features and n and d are at most some thousands. For ``gamma``
    of 1 and more hardly more than ``n_components`` features get a weight, and the others are ranked by
    their coupling to these: lower it to spread the weights when many features are wanted.

    Parameters
    ----------
    n_features_to_select : int or float, default=0.1
        Number of features, or their share.
    n_clusters : int or "auto", default="auto"
        Number c of components of the graph. ``"auto"`` takes the automatic number of components of the
        projection, at least 2.
    n_components : int or "auto", default="auto"
        Number m of columns of W. ``"auto"`` counts a component of the standardised data while its share of
        the variance is larger than that of a piece of a stick broken at random.
    n_neighbors : int, default=5
        Number k of neighbours; lowered to n_samples − 2, with a warning, if there are fewer samples.
    gamma : float, default=1.0
        Weight γ > 0 of the row penalty.
    p : float, default=1.0
        Exponent of the row penalty, in (0, 1].
    max_iter : int, default=50
        Most iterations to make.
    tol : float, default=1e-7
        Accuracy of the projection: each reweighted eigenproblem ends once its objective falls by no more
        than this share of itself.
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
    components_ : ndarray of shape (n_components, n_features)
        The transpose of W.
    affinity_ : csr_array of shape (n_samples, n_samples)
        The symmetric graph (S + Sᵀ) / 2.
    n_clusters_, n_components_, n_neighbors_ : int
        The numbers c, m and k used.
    objective_history_ : ndarray
        :math:`\mathrm{Tr}(W^\top X^\top L_S X W) + \gamma \|W\|_{2,p}^p` for the initial graph and after each
        iteration. Each value is a minimum for its own graph; they need not fall from one to the next.
    n_iter_ : int
        Number of iterations.
    converged_ : bool
        Whether the graph has c components.

    Notes
    -----
    With fewer samples than features the first eigenproblem has many solutions, and the selection of the
    authors' program depends on the order of the features. Here the first weights then are the features' own
    roughness :math:`(X^\top L_S X)_{jj}`.

    References
    ----------
    .. [1] F. Nie, W. Zhu, X. Li (2019), "Structured graph optimization for unsupervised feature selection",
       IEEE Transactions on Knowledge and Data Engineering 33(3); first at AAAI 2016.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from ufselect import SOGFS
    >>> measurements = load_wine().data
    >>> selector = SOGFS(n_features_to_select=5, n_clusters=3, gamma=0.1).fit(measurements)
    >>> selector.transform(measurements).shape
    (178, 5)
    """

    label = "SOGFS"
    cost = "n² d + iterations · (n d² + d³)"
    order = 80
    is_nested = True
    paper_grid: ClassVar = {"gamma": PAPER_REGULARISERS}

    components_: NDArray
    affinity_: sparse.csr_array
    n_clusters_: int
    n_components_: int
    n_neighbors_: int
    objective_history_: NDArray
    n_iter_: int
    converged_: bool

    def __init__(
        self,
        n_features_to_select: int | float = 0.1,
        *,
        n_clusters: int | str = "auto",
        n_components: int | str = "auto",
        n_neighbors: int = 5,
        gamma: float = 1.0,
        p: float = 1.0,
        max_iter: int = 50,
        tol: float = 1e-7,
        verbose: bool = False,
        keep: Columns | None = None,
        exclude: Columns | None = None,
        groups: Groups | None = None,
        max_correlation: float | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.n_clusters = n_clusters
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.gamma = gamma
        self.p = p
        self.max_iter = max_iter
        self.tol = tol
        self.verbose = verbose
        self.keep = keep
        self.exclude = exclude
        self.groups = groups
        self.max_correlation = max_correlation

    def _fit(self, X: Any, wanted: Wanted, progress: FitProgress) -> Fitted:
        n_neighbors = usable_neighbors(self.n_neighbors, max(1, X.shape[0] - 2))
        data, varying = _unit_features(X)
        n_components, n_clusters = self._resolve_dimensions(data)
        method = StructuredOptimalGraph(
            data=data,
            n_clusters=n_clusters,
            n_components=n_components,
            n_neighbors=n_neighbors,
            gamma=float(self.gamma),
            p=float(self.p),
            tol=float(self.tol),
        )
        result = iterate(method, max_iter=self.max_iter, tol=method.tol, callback=progress)
        components = np.zeros((n_components, X.shape[1]))
        components[:, varying] = result.state.projection.T
        return _fitted(components, result, method)

    def _check_parameters(self) -> None:
        check_nonnegative("gamma", self.gamma)
        if self.gamma == 0:
            raise ValueError("gamma must be above 0: without it the projection selects no features.")
        if isinstance(self.p, bool) or not isinstance(self.p, Real) or not 0 < float(self.p) <= 1:
            raise ValueError(f"p must be a number in (0, 1], not {self.p!r}.")
        check_positive_int("max_iter", self.max_iter)
        check_nonnegative("tol", self.tol)

    def _resolve_dimensions(self, data: NDArray) -> tuple[int, int]:
        """Return the number of columns of W and of components of the graph."""
        n_samples, n_varying = data.shape
        automatic = 0
        if "auto" in (self.n_components, self.n_clusters):
            automatic = auto_n_components(gram_operator(data))
        n_components = resolve_auto("n_components", self.n_components, lambda: automatic)
        n_clusters = resolve_auto(
            "n_clusters", self.n_clusters, lambda: min(max(2, automatic), n_samples - 1)
        )
        if n_components > n_varying:
            raise ValueError(
                f"n_components={n_components} is more than the {n_varying} features of X that vary; lower it."
            )
        if n_clusters >= n_samples:
            raise ValueError(
                f"n_clusters={n_clusters} needs more samples than the {n_samples} of X; lower it."
            )
        return n_components, n_clusters


def _unit_features(X: NDArray) -> tuple[NDArray, NDArray]:
    """Return the features that vary, centred and of unit norm, and their mask."""
    mean, scale = centre_and_scale(X)
    centred = (X - mean).astype(np.float64, copy=False) / scale
    largest = np.abs(centred).max(axis=0)
    varying = largest > 0
    if not np.any(varying):
        raise ConstantDataError
    centred = centred[:, varying] / largest[varying]
    return centred / np.linalg.norm(centred, axis=0), varying


def _fitted(components: NDArray, result: SolverResult, method: StructuredOptimalGraph) -> Fitted:
    reason = (
        f"the graph has {result.state.n_components} components and not {method.n_clusters}",
        "set n_clusters, change n_neighbors, or raise max_iter",
    )
    return Fitted(
        np.linalg.norm(components, axis=0),
        {
            "components_": components,
            "affinity_": result.state.affinity,
            "n_clusters_": method.n_clusters,
            "n_components_": method.n_components,
            "n_neighbors_": method.n_neighbors,
            **run_attributes("SOGFS", result, reason=reason),
        },
    )
