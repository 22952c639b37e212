r"""The reweighted eigenproblem, which UDFS, SOGFS and SPCAFS share.

.. math::

    \min_{W^\top W = I}\; \mathrm{Tr}(W^\top M W) + \gamma \sum_j (\|w_j\|^2 + \varepsilon)^{p/2}

M is :math:`A^\top L A` for a Laplacian L over the samples, or −S. Each step takes the lowest eigenvectors of
M plus a diagonal that grows without bound for rows that vanish.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from ufselect._solver.iterate import Descent
from ufselect.gram.spectrum import eigenpairs_between

EPSILON = float(np.finfo(np.float64).eps)  # the ε of the published programs
RESOLUTION = 1e-14  # relative decrease that rounding of a sum of squares still shows


def row_penalty(squared_norms: NDArray, p: float) -> float:
    r"""Return :math:`\sum_j (\|w_j\|^2 + \varepsilon)^{p/2}`, the smoothed :math:`\|W\|_{2,p}^p`."""
    return float(np.sum((squared_norms + EPSILON) ** (p / 2)))


def row_weights(squared_norms: NDArray, p: float) -> NDArray:
    r"""Return :math:`\tfrac{p}{2} (\|w_j\|^2 + \varepsilon)^{(p-2)/2}`, the slopes of the row penalty.

    For p ≤ 2 the penalty is concave in the squared row norms, so that with these weights a quadratic lies
    above it and touches it at the current rows.
    """
    return p / 2 * (squared_norms + EPSILON) ** ((p - 2) / 2)


@dataclass(frozen=True)
class Projection:
    """A point of the run: vectors, perhaps followed by guard vectors, squared row norms and objective."""

    vectors: NDArray
    squared_norms: NDArray
    objective: float


@dataclass
class ReweightedEigenproblem(Descent):
    """Put the row weights of the current W on the diagonal of M and take the lowest eigenvectors of the sum.

    They minimise a quadratic above the objective, which therefore never rises.
    """

    resolution = RESOLUTION
    quadratic: Quadratic  # M
    n_components: int
    gamma: float
    p: float  # in (0, 2]
    vectors: NDArray  # the start, or vectors near it if the next two are given
    squared_norms: NDArray | None = None  # of the start's rows, or their mean if it is one of many
    value: float | None = None  # of the quadratic at the start
    unit: float = 0.0  # added to the size of the objective in the stopping rule

    def init(self) -> Projection:
        squared_norms, value = self.squared_norms, self.value
        if squared_norms is None:
            squared_norms = np.einsum("ij,ij->i", self.vectors, self.vectors)
        if value is None:
            value = float(np.vdot(self.vectors, self.quadratic.matmat(self.vectors)))
        objective = value + self.gamma * row_penalty(squared_norms, self.p)
        self._start = Projection(self.vectors, squared_norms, objective)
        return self._start

    def step(self, state: Projection) -> Projection:
        diagonal = self.gamma * row_weights(state.squared_norms, self.p)
        vectors = self.quadratic.lowest(diagonal, self.n_components, state.vectors)
        wanted = vectors[:, : self.n_components]
        product = self.quadratic.matmat(wanted)
        value = float(np.vdot(wanted, product))
        # Row j of (M + diag(δ)) w = θ w says w_j = −(M w)_j / (δ_j − θ). Where δ_j is large this is much
        # smaller than the rounding of w, but it ranks the features that the penalty has all but removed.
        thetas = np.einsum("ij,ij->j", wanted, product + diagonal[:, None] * wanted)
        large = diagonal > 1e3 * max(self.quadratic.size, float(np.abs(thetas).max()))
        wanted[large] = -product[large] / (diagonal[large, None] - thetas)
        squared_norms = np.einsum("ij,ij->i", wanted, wanted)
        penalty = self.gamma * row_penalty(squared_norms, self.p)
        objective = value + penalty
        if objective > state.objective and state is not self._start:
            return state  # the rise is rounding
        if 0 < objective - state.objective <= RESOLUTION * (abs(value) + penalty):
            objective = state.objective  # a start may be a mean, which cannot be kept; the rise is rounding
        return Projection(vectors, squared_norms, objective)


class Quadratic(ABC):
    """The matrix M, by its diagonal and a lower bound of its eigenvalues, 0 for a semidefinite one."""

    def __init__(self, diagonal: NDArray, floor: float) -> None:
        self.diagonal = diagonal
        self.floor = floor
        self.order = diagonal.size
        self.size = float(np.abs(diagonal).max())  # no entry is larger
        self.max_light = self.order - 1  # up to which it pays to eliminate the other rows

    @abstractmethod
    def matmat(self, vectors: NDArray) -> NDArray:
        """Return ``M @ vectors``."""

    @abstractmethod
    def columns(self, indices: NDArray) -> NDArray:
        """Return ``M[:, indices]``."""

    @abstractmethod
    def _lowest(self, diagonal: NDArray, count: int, start: NDArray) -> NDArray:
        """Implement `lowest` for a diagonal that makes the sum positive definite."""

    def lowest(self, diagonal: NDArray, count: int, start: NDArray) -> NDArray:
        r"""Return the ``count`` lowest eigenvectors of ``M + diag(diagonal)``, perhaps with guards after.

        They are accurate to about 1e-8, however large the diagonal; ``start`` holds vectors that may be near.

        Heavy rows I, those whose entry D in the diagonal is more than 10⁴ times the largest entry of M, or of
        its eigenvalues if they are negative, are eliminated: to second order in :math:`\|M\| / D` the
        vectors follow from those of the light rows A,

        .. math::

            \bigl(M_{AA} + \mathrm{diag}_A - M_{AI} D^{-1} M_{IA}\bigr) W_A = W_A \Theta, \qquad
            W_I = -D^{-1} M_{IA} W_A.
        """
        # At least ``count`` rows are light.
        bound = 1e4 * (max(self.size, -self.floor) + float(diagonal.min()))
        heavy = diagonal > max(bound, float(np.partition(diagonal, count - 1)[count - 1]))
        light = np.flatnonzero(~heavy)
        if light.size > self.max_light:
            return self._lowest(diagonal - self._shift(diagonal), count, start)
        columns = self.columns(light)
        coupling = columns[heavy]
        stiffness = (diagonal + self.diagonal)[heavy, None]
        correction = coupling.T @ (coupling / stiffness)
        reduced = FormedQuadratic(columns[light] - correction, self.floor - float(correction.trace()))
        vectors = np.zeros((self.order, count))
        rest = diagonal[light]
        vectors[light] = reduced._lowest(rest - reduced._shift(rest), count, start[light])[:, :count]
        vectors[heavy] = -(coupling @ vectors[light]) / stiffness
        # Orthonormal again, without mixing rows.
        triangle = linalg.cholesky(vectors.T @ vectors, check_finite=False)
        return linalg.solve_triangular(triangle, vectors.T, trans="T", check_finite=False).T

    def _shift(self, diagonal: NDArray) -> float:
        """Return a number below the spectrum of the sum, far enough for its lowest part to keep its scale."""
        lowest = float(diagonal.min())
        return lowest + self.floor - max(abs(self.floor), 0.01 * lowest)


class FormedQuadratic(Quadratic):
    """An explicit symmetric M in float64."""

    def __init__(self, matrix: NDArray, floor: float = 0.0) -> None:
        super().__init__(matrix.diagonal().copy(), floor)
        self.matrix = matrix

    def matmat(self, vectors: NDArray) -> NDArray:
        return self.matrix @ vectors

    def columns(self, indices: NDArray) -> NDArray:
        return self.matrix[:, indices]

    def eigenpairs(self) -> tuple[NDArray, NDArray]:
        """Return the eigenvalues in ascending order and their vectors."""
        values, vectors = linalg.eigh(self.matrix, check_finite=False)
        return np.clip(values, 0, None), vectors

    def _lowest(self, diagonal: NDArray, count: int, start: NDArray) -> NDArray:
        # Up to this order, or for a large share of all vectors, a dense eigensolver is faster.
        if self.order > 1500 and 8 * count < self.order:
            roots = np.sqrt(diagonal)
            scaled = self.matrix / roots / roots[:, None]
            factor = linalg.cho_factor(scaled + np.eye(self.order), overwrite_a=True, check_finite=False)
            return lowest_eigenvectors(
                lambda block: scaled @ block,
                lambda block: linalg.cho_solve(factor, block, check_finite=False),
                diagonal,
                start,
                count,
            )
        return eigenpairs_between(self.matrix + np.diag(diagonal), 0, count - 1)[1]


class FactoredQuadratic(Quadratic):
    """``M = FᵀF`` for a factor F with fewer rows than columns; M is never formed."""

    def __init__(self, factor: NDArray) -> None:
        super().__init__(np.einsum("ij,ij->j", factor, factor), 0.0)
        self.factor = factor
        self.max_light = int(0.8 * factor.shape[0])

    def matmat(self, vectors: NDArray) -> NDArray:
        return self.factor.T @ (self.factor @ vectors)

    def columns(self, indices: NDArray) -> NDArray:
        return self.factor.T @ self.factor[:, indices]

    def eigenpairs(self) -> tuple[NDArray, NDArray]:
        """Return the same without the eigenvalues that must be 0."""
        _, roots, rows = linalg.svd(self.factor, full_matrices=False, check_finite=False)
        return roots[::-1] ** 2, rows[::-1].T

    def _lowest(self, diagonal: NDArray, count: int, start: NDArray) -> NDArray:
        scaled = self.factor / np.sqrt(diagonal)
        core = linalg.cho_factor(
            scaled @ scaled.T + np.eye(len(scaled)), overwrite_a=True, check_finite=False
        )

        def solve(block: NDArray) -> NDArray:  # by Woodbury's identity
            return block - scaled.T @ linalg.cho_solve(core, scaled @ block, check_finite=False)

        return lowest_eigenvectors(lambda block: scaled.T @ (scaled @ block), solve, diagonal, start, count)


def smoothness_quadratic(data: NDArray, laplacian: sparse.csr_array) -> FormedQuadratic | FactoredQuadratic:
    """Return ``M = AᵀLA``, or for many features, more than twice the samples, its factor ``L^½ A``."""
    n_samples, n_features = data.shape
    if n_features <= max(500, 2 * n_samples):
        matrix = data.T @ (laplacian @ data)
        return FormedQuadratic((matrix + matrix.T) / 2)
    values, vectors = linalg.eigh(laplacian.toarray(), overwrite_a=True, check_finite=False)
    roots = np.sqrt(np.clip(values, 0, None))
    return FactoredQuadratic((vectors * roots).T @ data)


def lowest_eigenvectors(
    scaled_matmat: Callable[[NDArray], NDArray],
    scaled_solve: Callable[[NDArray], NDArray],
    diagonal: NDArray,
    start: NDArray,
    count: int,
) -> NDArray:
    r"""Return the lowest eigenvectors of :math:`K = M + E`, positive definite, with a positive diagonal E.

    With :math:`w = E^{-1/2} u` the eigenproblem is :math:`E^{-1} u = \mu N u`, :math:`\mu = 1/\theta`, for
    :math:`N = I + E^{-1/2} M E^{-1/2}`. Both matrices are bounded however large the diagonal, N is well
    conditioned, and the largest μ are wanted: nothing is lost to the rounding of large entries.

    Block Davidson: the best vectors of a growing orthonormal basis are corrected by their residuals times an
    approximate inverse of N; a full basis is cut back to its two best blocks. The first two arguments apply
    :math:`E^{-1/2} M E^{-1/2}` and, approximately, :math:`N^{-1}` to a block of vectors. The ``count``
    vectors, lowest first and orthonormal, are followed by guards, which let them converge at the rate of a
    wider gap.
    """
    order = diagonal.size
    root = np.sqrt(diagonal)[:, None]
    block = min(order, count + max(4, count // 2))
    basis = linalg.qr((start * root)[:, :block], mode="economic", check_finite=False)[0]
    if basis.shape[1] < block:
        guards = np.random.default_rng(20240917).standard_normal((order, block - basis.shape[1]))
        basis = np.hstack([basis, orthonormal_beyond(guards, basis)])
    images = basis + scaled_matmat(basis)
    for _ in range(500):  # a safeguard against a run without end
        weighed, inner = basis / root, basis.T @ images
        size = inner.shape[0]
        values, mixing = eigenpairs_between(
            weighed.T @ weighed, max(0, size - 2 * block), size - 1, metric=(inner + inner.T) / 2
        )
        values, mixing = values[::-1], mixing[:, ::-1]
        best = basis @ mixing[:, :block]
        residual = best / diagonal[:, None] - (images @ mixing[:, :block]) * values[:block]
        correction = scaled_solve(residual)
        errors = np.linalg.norm(correction[:, :count] / root, axis=0)
        # The square root of the precision, so that the objective is exact.
        if np.all(errors <= 1e-8 * np.maximum(values[:count], 0) ** 1.5):
            break
        if size + block > min(8 * block, order):  # a larger basis costs as much as the products it saves
            basis, triangle = linalg.qr(basis @ mixing, mode="economic", check_finite=False)
            images = linalg.solve_triangular(triangle, (images @ mixing).T, trans="T", check_finite=False).T
        fresh = orthonormal_beyond(correction, basis)
        if fresh.shape[1] == 0:
            break
        basis = np.hstack([basis, fresh])
        images = np.hstack([images, fresh + scaled_matmat(fresh)])
    vectors = best / root
    # The norms are the roots of μ; read off the vectors they are never negative by rounding.
    return vectors / np.linalg.norm(vectors, axis=0)


def orthonormal_beyond(directions: NDArray, basis: NDArray) -> NDArray:
    """Return an orthonormal basis of the part of some directions outside the span of a basis."""
    lengths = np.linalg.norm(directions, axis=0)
    fresh = directions[:, lengths > 0] / lengths[lengths > 0]
    for _ in range(2):  # a second pass removes what rounding leaves of the first
        fresh = fresh - basis @ (basis.T @ fresh)
        fresh, triangle, _ = linalg.qr(fresh, mode="economic", pivoting=True, check_finite=False)
        fresh = fresh[:, np.abs(triangle.diagonal()) > 1e-8]  # less is rounding
    return fresh
