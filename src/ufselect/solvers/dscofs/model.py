"""Value, gradient, Hessian and preconditioner of the X-step on the Stiefel manifold."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ufselect.gram import GramOperator
from ufselect.sets import stiefel
from ufselect.solvers.dscofs.problem import inner

LEAST_CURVATURE = 1e-6  # smallest curvature used in the preconditioner, as a share of the largest


@dataclass(frozen=True)
class StiefelModel:
    r"""The function :math:`\varphi(X) = -\mathrm{Tr}(X^\top S X) - 2\mathrm{Tr}(X^\top B)` around a point.

    With the metric of the surrounding space, :math:`M = \mathrm{sym}(X^\top(SX + B))` and P the projection
    on the tangent space,

    .. math::

        \mathrm{grad}\,\varphi = -2P(SX + B), \qquad
        \mathrm{Hess}\,\varphi[\xi] = 2P(\xi M - S\xi).
    """

    gram: GramOperator
    linear: NDArray
    X: NDArray
    product: NDArray

    @classmethod
    def at(cls, gram: GramOperator, linear: NDArray, X: NDArray, product: NDArray) -> StiefelModel:
        """Return the model at X, given ``linear = B`` and ``product = S @ X``."""
        return cls(gram, linear, np.asfortranarray(X), np.asfortranarray(product))

    @cached_property
    def ascent(self) -> NDArray:
        """SX + B."""
        return self.product + self.linear

    @cached_property
    def objective(self) -> float:
        """φ(X)."""
        return -inner(self.X, self.ascent) - inner(self.X, self.linear)

    @cached_property
    def multiplier(self) -> NDArray:
        """M, the symmetric part of Xᵀ(SX + B)."""
        return _symmetric(self.X.T @ self.ascent)

    @cached_property
    def gradient(self) -> NDArray:
        """The Riemannian gradient."""
        return -2 * self.tangent(self.ascent)

    def tangent(self, direction: NDArray) -> NDArray:
        """Project on the tangent space, ``D − X sym(XᵀD)``."""
        return direction - (_symmetric(self.X.T @ direction) @ self.X.T).T

    def hessian(self, direction: NDArray, product: NDArray) -> NDArray:
        """Return the Hessian along a tangent direction, given ``product = S @ direction``."""
        return 2 * self.tangent((self.multiplier @ direction.T).T - product)

    def precondition(self, direction: NDArray) -> NDArray:
        r"""Apply a cheap approximate inverse of the Hessian to a tangent direction.

        Split :math:`\xi = X\Omega + K` with :math:`X^\top K = 0`. On the rotations :math:`X\Omega` the
        Hessian is exactly :math:`\Omega \mapsto \Omega N + N\Omega` with
        :math:`N = \mathrm{sym}(X^\top B)`; on K it is about :math:`K \mapsto 2KM`, S being small there.
        """
        rotation = self.X.T @ direction
        across = direction - self.X @ rotation
        rotation = 0.5 * (rotation - rotation.T)
        weights, basis = self._rotation_curvature
        turned = basis @ ((basis.T @ rotation @ basis) / weights) @ basis.T
        values, vectors = self._normal_curvature
        return self.X @ turned + ((vectors / values) @ vectors.T @ across.T).T

    @cached_property
    def _rotation_curvature(self) -> tuple[NDArray, NDArray]:
        values, basis = np.linalg.eigh(_symmetric(self.X.T @ self.linear))
        weights = np.abs(values[:, None] + values)
        floor = max(LEAST_CURVATURE * float(weights.max()), float(np.finfo(self.X.dtype).tiny))
        return np.maximum(weights, floor), basis

    @cached_property
    def _normal_curvature(self) -> tuple[NDArray, NDArray]:
        values, vectors = np.linalg.eigh(self.multiplier)
        floor = max(LEAST_CURVATURE * float(np.abs(values).max()), float(np.finfo(self.X.dtype).tiny))
        return 2 * np.maximum(np.abs(values), floor), vectors

    def moved(self, direction: NDArray, product: NDArray) -> StiefelModel:
        """Return the model at the polar factor of X + ξ, given ``product = S @ ξ``.

        For a tangent ξ the factor is ``(X + ξ)(I + ξᵀξ)^(-1/2)``, and S times it needs no new product.
        """
        values, vectors = np.linalg.eigh(direction.T @ direction)
        root = (vectors / np.sqrt(1 + np.maximum(values, 0))) @ vectors.T
        return StiefelModel(
            self.gram,
            self.linear,
            (root @ (self.X + direction).T).T,
            (root @ (self.product + product).T).T,
        )

    def rotated(self) -> StiefelModel:
        """Return the model at the best point with the same span, ``X polar(XᵀB)``; it costs no product."""
        rotation = stiefel.project(self.X.T @ self.linear)
        turned = StiefelModel.at(self.gram, self.linear, self.X @ rotation, self.product @ rotation)
        return turned if turned.objective <= self.objective else self


def norm(matrix: NDArray) -> float:
    """Return the Frobenius norm."""
    return float(np.sqrt(inner(matrix, matrix)))


def _symmetric(matrix: NDArray) -> NDArray:
    return 0.5 * (matrix + matrix.T)
