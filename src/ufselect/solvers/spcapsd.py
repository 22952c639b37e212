"""Reconstruction of the data by a positive semidefinite matrix with small rows and small trace."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from ufselect.gram import Spectrum
from ufselect.solvers.iterate import Descent
from ufselect.solvers.reweighted.davidson import orthonormal_beyond
from ufselect.solvers.reweighted.eigenproblem import RESOLUTION, row_penalty, row_weights

WHOLE_SHARE = 0.8  # of all dimensions, from which a basis saves nothing
MAX_RANKS = 4  # dimension of the subspace in units of the rank of S
EPS = float(np.finfo(np.float64).eps)


class Subspace(Protocol):
    """Where Ω lives: matrices are given by their coordinates in an orthonormal basis Q."""

    scatter: NDArray

    def weigh(self, weights: NDArray) -> NDArray:
        """Return the compression ``Qᵀ diag(weights) Q``."""

    def lift(self, coordinates: NDArray) -> NDArray:
        """Return ``Q @ coordinates``."""


class SpannedSpace:
    """The span of the orthonormal columns of an array; ``root`` is F with S = FᵀF."""

    def __init__(self, basis: NDArray, root: NDArray) -> None:
        self.basis = basis
        image = root @ basis
        self.scatter = image.T @ image

    def weigh(self, weights: NDArray) -> NDArray:
        half = self.basis * np.sqrt(weights)[:, None]
        return half.T @ half

    def lift(self, coordinates: NDArray) -> NDArray:
        return self.basis @ coordinates


class WholeSpace:
    """All of the feature space, with the features as basis."""

    def __init__(self, root: NDArray) -> None:
        self.scatter = root.T @ root

    def weigh(self, weights: NDArray) -> NDArray:
        return np.diag(weights)

    def lift(self, coordinates: NDArray) -> NDArray:
        return coordinates


@dataclass(frozen=True)
class Reconstruction:
    """``Ω = ZZᵀ`` with Z the lifted factor, its squared row norms, and the objective."""

    space: Subspace
    factor: NDArray
    squared_norms: NDArray
    objective: float


class PSDReconstruction(Descent):
    r"""Reconstruct centred data A by a positive semidefinite matrix:

    .. math::

        \min_{\Omega \succeq 0}\; \|A - A\Omega\|_F^2 + \lambda\|\Omega\|_{2,1} + \eta\,\mathrm{Tr}\,\Omega.

    With the row weights D of the current Ω, the quadratic above the objective is least, among symmetric
    matrices, where :math:`B\Omega + \Omega B = 2S - \eta I` for :math:`B = S + \lambda D`: a division in the
    eigenbasis of B. Its Hessian there is the diagonal of :math:`b_i + b_j`; the projection onto the cone is
    made in the norm that has :math:`2\sqrt{b_i b_j}` instead, where it is an eigendecomposition. Should the
    objective rise, the quadratic is minimised on the face of the cone around the current Ω, as far as the
    face reaches, which cannot raise it.

    Ω is sought in a subspace: first in that of the eigenvectors of S with :math:`2s > \eta`, as along the
    others the trace costs more than the fit gains. Where the weights D differ, the optimum leaves it; so
    when steps have become small, the vectors of Ω with their coordinates multiplied by the row norms join
    the subspace, until they gain nothing, or its dimension is that of the whole space or four times the
    rank of S. Nothing of order d² is formed while four times the rank is below d.

    Parameters
    ----------
    spectrum : Spectrum
        All eigenpairs of S that are not zero; 2s > η for one at least.
    gamma : float
        The weight λ of the row norms.
    eta : float
        The weight η of the trace.
    start_norms : ndarray of shape (n_features,)
        Positive row norms that give the first weights.
    tol : float
        Relative decrease below which the subspace is widened.
    """

    resolution = RESOLUTION

    def __init__(
        self, spectrum: Spectrum, gamma: float, eta: float, start_norms: NDArray, tol: float
    ) -> None:
        values = spectrum.values.astype(np.float64)
        vectors = spectrum.vectors
        if vectors.dtype != np.float64:  # single precision is not orthonormal enough
            vectors = linalg.qr(vectors.astype(np.float64), mode="economic", check_finite=False)[0]
        self.gamma = gamma
        self.eta = eta
        self.tol = tol
        self.start_norms = start_norms
        self.root = np.sqrt(values)[:, None] * vectors.T
        self.trace = float(values.sum())
        self.first_basis = vectors[:, 2 * values > eta]
        self.max_dimension = min(vectors.shape[0], MAX_RANKS * values.size)

    def init(self) -> Reconstruction:
        space = SpannedSpace(self.first_basis, self.root)
        return self._free_step(space, self.start_norms**2)

    def step(self, state: Reconstruction) -> Reconstruction:
        new = self._improve(state)
        if self.gamma == 0 or new.factor.shape[0] == self.max_dimension:
            return new
        if state.objective - new.objective > self.tol * abs(state.objective):
            return new
        wider = self._improve(self._widen(new))
        return wider if wider.objective < new.objective else new

    def _improve(self, state: Reconstruction) -> Reconstruction:
        if state.factor.shape[1] == 0:
            return state
        new = self._free_step(state.space, state.squared_norms)
        if new.objective >= state.objective:
            new = self._face_step(state)
        return new if new.objective < state.objective else state

    def _free_step(self, space: Subspace, squared_norms: NDArray) -> Reconstruction:
        values, vectors = linalg.eigh(self._curvature(space, squared_norms), check_finite=False)
        values = np.maximum(values, EPS * values[-1])
        target = vectors.T @ (2 * space.scatter @ vectors)
        target[np.diag_indices_from(target)] -= self.eta
        metric = values**0.25
        target *= np.multiply.outer(metric, metric) / np.add.outer(values, values)
        return self._from_eigen(space, linalg.eigh(target, check_finite=False), vectors / metric)

    def _face_step(self, state: Reconstruction) -> Reconstruction:
        sizes, rotation = linalg.eigh(state.factor.T @ state.factor, check_finite=False)
        kept = sizes > EPS * sizes.size * sizes[-1]
        sizes = sizes[kept]
        face = state.factor @ (rotation[:, kept] / np.sqrt(sizes))
        values, vectors = linalg.eigh(
            face.T @ self._curvature(state.space, state.squared_norms) @ face, check_finite=False
        )
        rotated = face @ vectors
        target = 2 * rotated.T @ state.space.scatter @ rotated
        target[np.diag_indices_from(target)] -= self.eta
        target = vectors @ (target / np.add.outer(values, values)) @ vectors.T
        reach = linalg.eigvalsh(target / np.sqrt(np.multiply.outer(sizes, sizes)), check_finite=False)[0]
        share = 1.0 if reach >= 0 else 1 / (1 - reach)
        target = share * target
        target[np.diag_indices_from(target)] += (1 - share) * sizes
        return self._from_eigen(state.space, linalg.eigh(target, check_finite=False), face)

    def _curvature(self, space: Subspace, squared_norms: NDArray) -> NDArray:
        return space.scatter + self.gamma * space.weigh(row_weights(squared_norms, 1.0))

    def _from_eigen(self, space: Subspace, pairs: tuple[NDArray, NDArray], basis: NDArray) -> Reconstruction:
        """Return the positive part of a matrix given by its eigenpairs in some basis."""
        values, vectors = pairs
        kept = values > EPS * values.size * np.abs(values).max()
        return self._evaluate(space, basis @ (vectors[:, kept] * np.sqrt(values[kept])))

    def _evaluate(self, space: Subspace, factor: NDArray) -> Reconstruction:
        sizes = factor.T @ factor
        fits = factor.T @ space.scatter @ factor
        lifted = space.lift(factor)
        squared_norms = np.clip(np.einsum("ij,ij->i", lifted @ sizes, lifted), 0, None)
        objective = self.trace - 2 * np.trace(fits) + np.vdot(fits, sizes) + self.eta * np.trace(sizes)
        return Reconstruction(
            space, factor, squared_norms, float(objective) + self.gamma * row_penalty(squared_norms, 1.0)
        )

    def _widen(self, state: Reconstruction) -> Reconstruction:
        """Return the same Ω in a larger subspace."""
        lifted = state.space.lift(state.factor)
        n_features, dimension = lifted.shape[0], state.factor.shape[0]
        if min(dimension + lifted.shape[1], self.max_dimension) > WHOLE_SHARE * n_features:
            return self._evaluate(WholeSpace(self.root), lifted)
        basis = state.space.lift(np.eye(dimension))
        weighed = np.sqrt(state.squared_norms)[:, None] * lifted
        extra = orthonormal_beyond(weighed, basis)[:, : self.max_dimension - dimension]
        space = SpannedSpace(np.hstack([basis, extra]), self.root)
        padded = np.vstack([state.factor, np.zeros((extra.shape[1], state.factor.shape[1]))])
        return self._evaluate(space, padded)
