r"""Structured optimal graph: a graph with c components and a row-sparse projection, learned in turn.

.. math::

    \min_{S, W} \sum_{ij} \bigl(\|W^\top x_i - W^\top x_j\|^2 s_{ij} + r s_{ij}^2\bigr) + \gamma \|W\|_{2,p}^p
    \quad\text{s.t.}\quad W^\top W = I,\; \mathrm{rank}(L_S) = n - c,

with the rows of S on the simplex. The rank is reached by adding :math:`2 \lambda \mathrm{Tr}(F^\top L_S F)`,
with F the c smoothest vectors of the graph, and doubling or halving λ.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ufselect.graphs import (
    adaptive_weights,
    graph_laplacian,
    mean_graph,
    nearest_neighbors,
    smoothest_vectors,
)
from ufselect.sets import simplex
from ufselect.solvers.iterate import iterate
from ufselect.solvers.reweighted.eigenproblem import Projection, ReweightedEigenproblem
from ufselect.solvers.reweighted.quadratic import Semidefinite, smoothness_quadratic
from ufselect.solvers.reweighted.reduced_quadratic import ReducedQuadratic

# As in the authors' program: neighbours in the full data for five steps, at most 100 reweightings, and
# weights that count as no edge.
FIXED_NEIGHBOR_STEPS = 5
MAX_PROJECTION_STEPS = 100
SMALLEST_WEIGHT = 1e-11
TIE = 1e-10  # share of the trace within which two eigenvalues count as equal
# M is formed up to this order, or up to so many features per sample: both make it cheaper than a factor.
FORMED_ORDER = 500
FORMED_RATIO = 2
SMALLEST_START_WEIGHT = 1e-3  # of the mean, so that a feature without any roughness does not rule alone


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
    regulariser : float
        The weight r of the squared affinities.
    neighbors : ndarray of shape (n_samples, n_neighbors)
        The neighbours that the graph was chosen from.
    iteration : int
        Number of updates made so far.
    objective : float
        :math:`\\mathrm{Tr}(W^\\top X^\\top L X W) + \\gamma \\|W\\|_{2,p}^p` after the projection's update.
    """

    affinity: sparse.csr_array
    n_components: int
    indicators: NDArray
    projection: NDArray
    rank_weight: float
    regulariser: float
    neighbors: NDArray[np.intp]
    iteration: int
    objective: float


@dataclass(frozen=True)
class StructuredOptimalGraph:
    """The alternating method: graph, projection and F in turn, until the graph has c components.

    The neighbours are those in the full data for five steps, and those in the projected data afterwards. The
    rank weight λ starts at the regulariser.

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

    resolution: ClassVar[float] = 0.0

    def init(self) -> StructuredGraph:
        indices, distances = _one_more_neighbor(self.data, self.n_neighbors)
        weights, regularisers = adaptive_weights(distances**2)
        regulariser = float(regularisers.mean()) or float((distances**2).mean()) or 1.0
        return self._for_graph(indices[:, : self.n_neighbors], weights, regulariser, regulariser, 0)

    def step(self, state: StructuredGraph) -> StructuredGraph:
        neighbors = state.neighbors
        projected = self.data @ state.projection
        if state.iteration >= FIXED_NEIGHBOR_STEPS:
            neighbors, _ = nearest_neighbors(projected, self.n_neighbors)
        distances = _squared_to(projected, neighbors)
        distances += state.rank_weight * _squared_to(state.indicators, neighbors)
        weights = simplex.project(-distances / (2 * state.regulariser))
        found = self._for_graph(neighbors, weights, state.rank_weight, state.regulariser, state.iteration + 1)
        if found.n_components < self.n_clusters:
            return replace(found, rank_weight=2 * state.rank_weight)
        if found.n_components > self.n_clusters:
            return replace(found, rank_weight=state.rank_weight / 2, indicators=state.indicators)
        return found

    def is_settled(self, last: StructuredGraph, state: StructuredGraph, tol: float | None) -> bool:
        """Tell whether the graph has c components, after two steps at least."""
        return state.iteration > 1 and state.n_components == self.n_clusters

    def residuals(self, state: StructuredGraph) -> dict[str, float]:
        return {"components": float(abs(state.n_components - self.n_clusters))}

    def _for_graph(
        self, neighbors: NDArray, weights: NDArray, rank_weight: float, regulariser: float, iteration: int
    ) -> StructuredGraph:
        """Return the state with the projection and F that belong to neighbours and their weights."""
        affinity = mean_graph(neighbors, weights, SMALLEST_WEIGHT)
        indicators, n_components = smoothest_vectors(affinity, self.n_clusters)
        projection = self._project(affinity)
        return StructuredGraph(
            affinity=affinity,
            n_components=n_components,
            indicators=indicators,
            projection=projection.vectors[:, : self.n_components],
            rank_weight=rank_weight,
            regulariser=regulariser,
            neighbors=neighbors,
            iteration=iteration,
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


def first_vectors(quadratic: ReducedQuadratic, count: int, gamma: float) -> NDArray:
    """Return the vectors from which the reweighting starts.

    These are the lowest eigenvectors of M where they are determined. Where more directions than are wanted
    have the lowest eigenvalue, as the zero of data with fewer samples than features, a solver would
    return any of them, and which one would depend on the order of the features. The features' own entries
    M_jj then are the first weights: they prefer features that are smooth on the graph.
    """
    matrix = quadratic.quadratic
    determined = matrix.lowest_distinct(count, TIE)
    if determined is not None:
        return determined
    mean = float(matrix.diagonal.mean()) or 1.0
    weights = np.maximum(matrix.diagonal / mean, SMALLEST_START_WEIGHT)
    likely = np.zeros((matrix.order, count))
    likely[np.argsort(weights, kind="stable")[:count], np.arange(count)] = 1.0
    return quadratic.lowest(gamma * weights, count, likely)[:, :count]


def _smoothness(data: NDArray, laplacian: sparse.csr_array) -> Semidefinite:
    """Return ``M = XᵀLX``, formed unless the features are many more than the samples."""
    n_samples, n_features = data.shape
    is_formed = n_features <= max(FORMED_ORDER, FORMED_RATIO * n_samples)
    return smoothness_quadratic(data, laplacian, is_formed=is_formed)


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
