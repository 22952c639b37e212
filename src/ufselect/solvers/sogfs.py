r"""Structured optimal graph: a graph with c components and a row-sparse projection, learned in turn.

.. math::

    \min_{S, W} \sum_{ij} \bigl(\|W^\top x_i - W^\top x_j\|^2 s_{ij} + r s_{ij}^2\bigr) + \gamma \|W\|_{2,p}^p
    \quad\text{s.t.}\quad W^\top W = I,\; \mathrm{rank}(L_S) = n - c,

with the rows of S on the simplex. The rank is reached by adding :math:`2 \lambda \mathrm{Tr}(F^\top L_S F)`,
with F the c smoothest vectors of the graph, and doubling or halving λ.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from ufselect.graphs import (
    adaptive_weights,
    graph_laplacian,
    mean_graph,
    nearest_neighbors,
    project_to_simplex,
    smoothest_vectors,
)
from ufselect.solvers.iterate import Callback, iterate
from ufselect.solvers.result import SolverResult, Status
from ufselect.solvers.reweighted.eigenproblem import Projection, ReweightedEigenproblem
from ufselect.solvers.reweighted.quadratic import FactoredQuadratic, FormedQuadratic
from ufselect.solvers.reweighted.reduced_quadratic import ReducedQuadratic
from ufselect.solvers.udfs import local_scatter_quadratic

FIXED_NEIGHBOR_STEPS = 5
MAX_PROJECTION_STEPS = 100
SMALLEST_WEIGHT = 1e-11
TIE = 1e-10
FORMED_RATIO = 2
FORMED_ORDER = 500
SMALLEST_START_WEIGHT = 1e-3


@dataclass(frozen=True)
class StructuredGraph:
    """A point of the run.

    Attributes
    ----------
    affinity : csr_array of shape (n_samples, n_samples)
        The symmetric graph.
    n_components : int
        Number of its connected components.
    indicators : ndarray of shape (n_samples, n_clusters)
        The smooth vectors F.
    projection : ndarray of shape (n_features, n_components)
        The projection W.
    rank_weight : float
        The weight λ.
    objective : float
        :math:`\\mathrm{Tr}(W^\\top X^\\top L X W) + \\gamma \\|W\\|_{2,p}^p` after the projection's update.
    """

    affinity: sparse.csr_array
    n_components: int
    indicators: NDArray
    projection: NDArray
    rank_weight: float
    objective: float


@dataclass(frozen=True)
class StructuredOptimalGraph:
    """The alternating method.

    Parameters
    ----------
    data : ndarray of shape (n_samples, n_features)
        Centred features of unit norm.
    n_clusters : int
        Number c of components that the graph shall have.
    n_components : int
        Number m of columns of W.
    n_neighbors : int
        Number k of neighbours of a sample.
    gamma : float
        Positive weight of the row penalty.
    p : float
        Exponent of the row penalty, in (0, 1].
    tol : float
        The update of W ends when its objective falls by no more than this share of itself.
    """

    data: NDArray
    n_clusters: int
    n_components: int
    n_neighbors: int
    gamma: float
    p: float
    tol: float

    def init(self) -> tuple[StructuredGraph, NDArray[np.intp], float]:
        """Return the state of the initial graph, the neighbours and the regulariser r."""
        indices, distances = _one_more_neighbor(self.data, self.n_neighbors)
        weights, regularisers = adaptive_weights(distances**2)
        neighbors = indices[:, : self.n_neighbors]
        regulariser = float(regularisers.mean()) or float((distances**2).mean()) or 1.0
        state = self._advance(neighbors, weights, regulariser)
        return state, neighbors, regulariser

    def step(self, state: StructuredGraph, neighbors: NDArray, regulariser: float) -> StructuredGraph:
        """Return the state after the graph, the projection and F have been updated once."""
        projected = self.data @ state.projection
        distances = _squared_to(projected, neighbors)
        distances += state.rank_weight * _squared_to(state.indicators, neighbors)
        weights = project_to_simplex(-distances / (2 * regulariser))
        found = self._advance(neighbors, weights, state.rank_weight)
        if found.n_components < self.n_clusters:
            return replace(found, rank_weight=2 * state.rank_weight)
        if found.n_components > self.n_clusters:
            return replace(found, rank_weight=state.rank_weight / 2, indicators=state.indicators)
        return found

    def _advance(self, neighbors: NDArray, weights: NDArray, rank_weight: float) -> StructuredGraph:
        affinity = mean_graph(neighbors, weights, SMALLEST_WEIGHT)
        indicators, n_components = smoothest_vectors(affinity, self.n_clusters)
        projection = self._project(affinity)
        return StructuredGraph(
            affinity=affinity,
            n_components=n_components,
            indicators=indicators,
            projection=projection.vectors[:, : self.n_components],
            rank_weight=rank_weight,
            objective=projection.objective,
        )

    def _project(self, affinity: sparse.csr_array) -> Projection:
        """Return the row-sparse projection for a graph."""
        quadratic = ReducedQuadratic(_smoothness(self.data, graph_laplacian(affinity)))
        vectors = first_vectors(quadratic, self.n_components, self.gamma)
        method = ReweightedEigenproblem(
            quadratic,
            self.n_components,
            self.gamma,
            self.p,
            vectors=vectors,
            squared_norms=np.einsum("ij,ij->i", vectors, vectors),
            quadratic_value=float(np.vdot(vectors, quadratic.matmat(vectors))),
        )
        return iterate(method, max_iter=MAX_PROJECTION_STEPS, tol=self.tol).state


def structured_optimal_graph(
    method: StructuredOptimalGraph, *, max_iter: int, callback: Callback | None = None
) -> SolverResult:
    """Run the method until the graph has the wanted number of components, for at least two steps.

    The neighbours are those in the full data for five steps, and those in the projected data afterwards.
    """
    state, neighbors, regulariser = method.init()
    history = [state.objective]
    status = Status.MAX_ITER
    for iteration in range(1, max_iter + 1):
        if iteration > FIXED_NEIGHBOR_STEPS:
            neighbors, _ = nearest_neighbors(method.data @ state.projection, method.n_neighbors)
        state = method.step(state, neighbors, regulariser)
        history.append(state.objective)
        if callback is not None:
            callback(iteration, state.objective)
        if iteration > 1 and state.n_components == method.n_clusters:
            status = Status.CONVERGED
            break
    return SolverResult(
        state=state,
        objective_history=np.asarray(history),
        n_iter=len(history) - 1,
        residuals={"components": float(abs(state.n_components - method.n_clusters))},
        status=status,
    )


def first_vectors(quadratic: ReducedQuadratic, count: int, gamma: float) -> NDArray:
    """Return the vectors from which the reweighting starts.

    These are the lowest eigenvectors of M where they are determined. Where more directions than are wanted
    have the lowest eigenvalue, as the zero of data with fewer samples than features, a solver would
    return any of them, and which one would depend on the order of the features. The features' own entries
    M_jj then are the first weights: they prefer features that are smooth on the graph.
    """
    matrix = quadratic.quadratic
    if isinstance(matrix, FormedQuadratic) and count < matrix.order:
        values, vectors = linalg.eigh(matrix.matrix, subset_by_index=[0, count], check_finite=False)
        if values[count] - values[0] > TIE * quadratic.diagonal.sum():
            return vectors[:, :count]
    mean = float(quadratic.diagonal.mean()) or 1.0
    weights = np.maximum(quadratic.diagonal / mean, SMALLEST_START_WEIGHT)
    likely = np.zeros((quadratic.order, count))
    likely[np.argsort(weights, kind="stable")[:count], np.arange(count)] = 1.0
    return quadratic.lowest(gamma * weights, count, likely)[:, :count]


def _smoothness(data: NDArray, laplacian: sparse.csr_array) -> FormedQuadratic | FactoredQuadratic:
    """Return ``M = XᵀLX``, formed unless the features are many more than the samples."""
    if data.shape[1] > max(FORMED_ORDER, FORMED_RATIO * data.shape[0]):
        return local_scatter_quadratic(data, laplacian)
    matrix = data.T @ (laplacian @ data)
    return FormedQuadratic((matrix + matrix.T) / 2, floor=0.0)


def _one_more_neighbor(data: NDArray, k: int) -> tuple[NDArray[np.intp], NDArray]:
    """Return k + 1 neighbours; where there are only k, the last distance stands for the missing one."""
    available = min(k + 1, data.shape[0] - 1)
    indices, distances = nearest_neighbors(data, available)
    if available == k:
        distances = np.hstack([distances, distances[:, -1:]])
    return indices, distances


def _squared_to(points: NDArray, neighbors: NDArray) -> NDArray:
    """Return the squared distances of each point to its neighbours."""
    differences = points[neighbors] - points[:, None, :]
    return np.einsum("ijk,ijk->ij", differences, differences)
