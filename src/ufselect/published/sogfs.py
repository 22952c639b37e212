"""SOGFS: structured optimal graph feature selection."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ufselect._columns import SelectionRequest
from ufselect._solver.iterate import Descent, iterate, run_attributes
from ufselect._solver.reweighted import (
    FormedQuadratic,
    Projection,
    ReweightedEigenproblem,
    smoothness_quadratic,
)
from ufselect.base import POSITIVE, FitResult, Interval, UnsupervisedSelector
from ufselect.exceptions import ConstantDataError
from ufselect.gram import gram_operator
from ufselect.gram.rows import mean_and_scale
from ufselect.gram.spectrum import auto_n_components, eigenpairs_between
from ufselect.graphs import (
    clusters_asked,
    graph_laplacian,
    nearest_neighbors,
    neighbor_matrix,
    smoothest_vectors,
    usable_neighbors,
)


def adaptive_weights(squared: NDArray) -> tuple[NDArray, NDArray]:
    r"""Return the weights of the k nearest neighbours, and the regularisers r that give exactly k of them.

    ``squared`` holds the squared distances d to the k + 1 nearest neighbours in ascending order. The weights
    :math:`s_j = (d_{k+1} - d_j) / 2r` with :math:`r = \tfrac12 \sum_{l \le k} (d_{k+1} - d_l)` minimise
    :math:`\sum_j d_j s_j + r s_j^2` on the simplex; if all distances are equal, so are the weights.
    """
    margins = squared[:, -1:] - squared[:, :-1]
    totals = margins.sum(axis=1)
    safe = np.where(totals > 0, totals, 1.0)[:, None]
    weights = np.where(totals[:, None] > 0, margins / safe, 1 / margins.shape[1])
    return weights, totals / 2


def project_simplex(points: NDArray) -> NDArray:
    r"""Return the nearest point of the simplex :math:`\{s \ge 0, \sum_j s_j = 1\}` to each row."""
    # A common shift does not change the result, and avoids cancellation.
    points = points - points.max(axis=1, keepdims=True)
    ordered = -np.sort(-points, axis=1)
    counts = np.arange(1, points.shape[1] + 1)
    thresholds = (np.cumsum(ordered, axis=1) - 1) / counts
    n_positive = np.count_nonzero(ordered > thresholds, axis=1)
    threshold = np.take_along_axis(thresholds, n_positive[:, None] - 1, axis=1)
    return np.maximum(points - threshold, 0)


def squared_to(points: NDArray, neighbors: NDArray) -> NDArray:
    """Return the squared distances of each point to its neighbours."""
    differences = points[neighbors] - points[:, None, :]
    return np.einsum("ijk,ijk->ij", differences, differences)


@dataclass(frozen=True)
class StructuredGraph:
    """The state after an iteration."""

    affinity: sparse.csr_array
    n_connected: int  # connected components of the graph
    indicators: NDArray  # the smooth vectors F
    projection: NDArray  # W
    rank_weight: float  # λ
    neighbors: NDArray[np.intp]  # candidates for the edges of the graph
    iteration: int
    objective: float  # after the update of the projection


@dataclass
class StructuredOptimalGraph(Descent):
    """The alternating method: graph, projection and F in turn, until the graph has c components.

    ``data`` are centred features of unit norm; ``tol`` ends the update of W.
    """

    data: NDArray
    n_clusters: int
    n_components: int
    n_neighbors: int
    gamma: float
    p: float
    tol: float

    def init(self) -> StructuredGraph:
        n_available = min(self.n_neighbors + 1, self.data.shape[0] - 1)
        indices, distances = nearest_neighbors(self.data, n_available)
        if n_available == self.n_neighbors:  # the last distance replaces the missing one
            distances = np.hstack([distances, distances[:, -1:]])
        weights, regularisers = adaptive_weights(distances**2)
        self.regulariser = float(regularisers.mean()) or float((distances**2).mean()) or 1.0
        return self._state(indices[:, : self.n_neighbors], weights, self.regulariser, 0)

    def step(self, state: StructuredGraph) -> StructuredGraph:
        neighbors, rank_weight = state.neighbors, state.rank_weight
        projected = self.data @ state.projection
        if state.iteration >= 5:  # before, the neighbours in the full data, as in the authors' program
            neighbors, _ = nearest_neighbors(projected, self.n_neighbors)
        distances = squared_to(projected, neighbors) + rank_weight * squared_to(state.indicators, neighbors)
        weights = project_simplex(-distances / (2 * self.regulariser))
        new = self._state(neighbors, weights, rank_weight, state.iteration + 1)
        if new.n_connected < self.n_clusters:
            return replace(new, rank_weight=2 * rank_weight)
        if new.n_connected > self.n_clusters:
            return replace(new, rank_weight=rank_weight / 2, indicators=state.indicators)
        return new

    def is_settled(self, last: StructuredGraph, state: StructuredGraph, tol: float | None) -> bool:
        """Return whether the graph has c components, after at least two steps."""
        return state.iteration > 1 and state.n_connected == self.n_clusters

    def project(self, affinity: sparse.csr_array) -> Projection:
        """Return the row-sparse projection for a graph.

        The reweighting starts from the lowest eigenvectors of M if they are unique, else from its diagonal.
        """
        quadratic = smoothness_quadratic(self.data, graph_laplacian(affinity))
        m, vectors = self.n_components, None
        if isinstance(quadratic, FormedQuadratic) and m < quadratic.order:
            values, lowest = eigenpairs_between(quadratic.matrix, 0, m)
            if values[m] - values[0] > 1e-10 * quadratic.diagonal.sum():
                vectors = lowest[:, :m]
        if vectors is None:
            # A perfectly smooth feature must not dominate.
            weights = np.maximum(quadratic.diagonal / (float(quadratic.diagonal.mean()) or 1.0), 1e-3)
            likely = np.zeros((quadratic.order, m))
            likely[np.argsort(weights, kind="stable")[:m], np.arange(m)] = 1.0
            vectors = quadratic.lowest(self.gamma * weights, m, likely)[:, :m]
        method = ReweightedEigenproblem(quadratic, m, self.gamma, self.p, vectors=vectors)
        return iterate(method, max_iter=100, tol=self.tol).state

    def _state(
        self, neighbors: NDArray, weights: NDArray, rank_weight: float, iteration: int
    ) -> StructuredGraph:
        directed = neighbor_matrix(neighbors, weights)
        affinity = ((directed + directed.T) / 2).tocsr()
        affinity.data[affinity.data <= 1e-11] = 0  # no edge, as in the authors' program
        affinity.eliminate_zeros()
        indicators, n_connected = smoothest_vectors(affinity, self.n_clusters)
        projection = self.project(affinity)
        W = projection.vectors[:, : self.n_components]
        return StructuredGraph(
            affinity, n_connected, indicators, W, rank_weight, neighbors, iteration, projection.objective
        )


@dataclass(kw_only=True, eq=False, repr=False)
class SOGFS(UnsupervisedSelector):
    r"""Select features by a projection and a graph that are learnt together.

    Use structured optimal graph feature selection [1]_ if you expect clusters in a few features, and n and d
    are at most some thousands. For ``gamma`` of 1 and more, hardly more than ``n_components`` features get a
    weight, and the others are ranked by their coupling to these: lower it to select many features.

    Parameters
    ----------
    {n_features_to_select}
    n_clusters : int or "auto", default="auto"
        Number c of connected components of the graph. ``"auto"`` uses the automatic ``n_components``, at
        least 2.
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
    {verbose}
    {constraints}

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Row norms of W, larger is better; 0 for constant features, which are not used.
    {ranking_and_support}
    components_ : ndarray of shape (n_components, n_features)
        The transpose of W.
    affinity_ : csr_array of shape (n_samples, n_samples)
        The symmetric graph (S + Sᵀ) / 2.
    n_clusters_, n_components_, n_neighbors_ : int
        The numbers c, m and k used.
    objective_history_ : ndarray
        :math:`\mathrm{Tr}(W^\top X^\top L_S X W) + \gamma \|W\|_{2,p}^p` for the initial graph and after each
        iteration. Each value is a minimum for its own graph, so the values may rise.
    n_iter_ : int
        Number of iterations.
    converged_ : bool
        Whether the graph has c components.

    See Also
    --------
    MCFS : Clusters of a fixed graph; faster.
    UDFS : A projection for fixed neighbourhoods.
    AutoSelector : Select for clusters and compare with random columns on held-out rows.

    Notes
    -----
    For centred features of unit norm the problem is

    .. math::

        \min_{S, W} \sum_{ij} \bigl(\|W^\top x_i - W^\top x_j\|^2 s_{ij} + r s_{ij}^2\bigr)
        + \gamma \|W\|_{2,p}^p \quad\text{s.t.}\quad
        W^\top W = I,\; s_i \ge 0,\; s_i^\top 1 = 1,\; \mathrm{rank}(L_S) = n - c.

    The graph S joins each sample to k neighbours and has c connected components. The projection W (n_features
    × n_components) is smooth on the graph and uses few features.

    1. Graph: the weights of the k neighbours are a projection onto the simplex; neighbours are searched in
       the full data for five iterations, then in the projected data.
    2. Projection: a reweighted eigenproblem of :math:`X^\top L_S X`. With fewer samples than features its
       start is not unique, and the selection of the authors' program depends on the order of the features.
       Here the first weights are then the features' own roughness :math:`(X^\top L_S X)_{jj}`.
    3. Rank: a weight λ on the c smoothest vectors of the graph is doubled while there are fewer than c
       components and halved while there are more; the run ends when there are c.

    Costs n² d for the neighbours and, per iteration, n d² and about ten eigenproblems of order d, which
    shrink with the number of remaining features (n² d and the row space if d > 2n).

    References
    ----------
    .. [1] F. Nie, W. Zhu, X. Li (2019), "Structured graph optimization for unsupervised feature selection",
       IEEE Transactions on Knowledge and Data Engineering 33(3); first at AAAI 2016.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from ufselect import SOGFS
    >>> measurements = scale(load_wine().data)
    >>> selector = SOGFS(n_features_to_select=5, n_clusters=3, gamma=0.1).fit(measurements)
    >>> selector.transform(measurements).shape
    (178, 5)
    """

    label = "SOGFS"
    cost = "n² d + iterations · (n d² + d³)"
    is_nested = True

    affinity_: sparse.csr_array = field(init=False)

    _parameter_constraints: ClassVar = {"gamma": [POSITIVE], "p": [Interval(Real, 0, 1, closed="right")]}

    n_clusters: int | str = "auto"
    n_components: int | str = "auto"
    n_neighbors: int = 5
    gamma: float = 1.0
    p: float = 1.0
    max_iter: int = 50
    tol: float = 1e-7
    verbose: bool = False

    def _fit(self, X: Any, request: SelectionRequest) -> FitResult:
        n_samples = X.shape[0]
        n_neighbors = usable_neighbors(self.n_neighbors, max(1, n_samples - 2))
        X = X.astype(np.float64, copy=False)
        mean, scale = mean_and_scale(X)
        data = (X - mean) / scale
        largest = np.abs(data).max(axis=0)
        varying = largest > 0
        n_varying = np.count_nonzero(varying)
        if n_varying == 0:
            raise ConstantDataError
        data = data[:, varying] / largest[varying]
        data /= np.linalg.norm(data, axis=0)
        n_clusters = clusters_asked(self.n_clusters, data, n_samples - 1)
        is_auto = self.n_components == "auto"
        n_components = auto_n_components(gram_operator(data)) if is_auto else int(self.n_components)
        if n_components > n_varying:
            raise ValueError(
                f"n_components={n_components} is more than the {n_varying} features of X that vary; lower it."
            )
        method = StructuredOptimalGraph(
            data, n_clusters, n_components, n_neighbors, float(self.gamma), float(self.p), self.tol
        )
        result = iterate(method, max_iter=self.max_iter, tol=self.tol, callback=request.progress)
        components = np.zeros((n_components, X.shape[1]))
        components[:, varying] = result.state.projection.T
        reason = (
            f"the graph has {result.state.n_connected} components instead of {n_clusters}",
            "set n_clusters, change n_neighbors, or raise max_iter",
        )
        return np.linalg.norm(components, axis=0), {
            "components_": components,
            "affinity_": result.state.affinity,
            "n_clusters_": n_clusters,
            "n_components_": n_components,
            "n_neighbors_": n_neighbors,
            **run_attributes("SOGFS", result, reason=reason),
        }
