r"""Robust neighbourhood embedding: a non-negative, nearly orthogonal H that keeps reconstructions.

The problem is

.. math::

    \min_{H \ge 0} \|R H\|_1 + \tfrac{\alpha}{4} \|H^\top H - I\|_F^2,

with R the residuals that are left when each sample is reconstructed from its neighbours.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ufselect.solvers.iterate import Callback
from ufselect.solvers.result import SolverResult, Status
from ufselect.solvers.rne_support import EPSILON, SignedGram, Support, ratio

FIRST_PENALTY = 10.0
PENALTY_GROWTH = 1.1
LARGEST_PENALTY = 1e10
INNER_STEPS = 30
# One more than the original leaves outweighs what is lost by following negligible entries only roughly.
SUPPORT_STEPS = 30
SETTLED = 1e-3

SPARSE_SHARE = 0.15
NEGLIGIBLE = 1e-8
NOTICEABLE = 1e-6
LARGEST_GUESS = 1e-4
SMALLEST = 1e-150
LARGEST_RATIO = 4.0


@dataclass(frozen=True)
class Embedding:
    """A point of the run.

    Attributes
    ----------
    H : ndarray of shape (n_features, n_components)
        The embedding.
    multiplier : ndarray of shape (n_samples, n_components)
        Lagrange multiplier Y of the split M = RH.
    pull_multiplier : ndarray of shape (n_features, n_components)
        :math:`R^\\top Y`.
    pull_split : ndarray of shape (n_features, n_components)
        :math:`R^\\top M`.
    products : tuple of two ndarrays of shape (n_features, n_components)
        The positive and the negative part of :math:`R^\\top R`, times H.
    penalty : float
        Weight γ of the augmented term.
    objective : float
        Objective at H.
    """

    H: NDArray
    multiplier: NDArray
    pull_multiplier: NDArray
    pull_split: NDArray
    products: tuple[NDArray, NDArray]
    penalty: float
    objective: float


class RobustEmbedding:
    r"""The augmented Lagrangian method of robust neighbourhood embedding.

    With the split M = RH, a step updates H by multiplications, M by soft thresholding and the multiplier Y,
    then lets the penalty γ grow by a tenth. The updates of H are

    .. math::

        H \leftarrow H \circ \sqrt{\frac
        {\alpha H + \gamma (R^\top M)_+ + (R^\top Y)_+ + \gamma (R^\top R)_- H}
        {\alpha H H^\top H + \gamma (R^\top M)_- + (R^\top Y)_- + \gamma (R^\top R)_+ H}}

    after each column has been scaled to unit length. They soon drive most entries of H to nearly zero. From
    then on only the first of a step's updates is made for all entries; the others are made for the entries
    that are not negligible, while the negligible ones repeat their first factor.

    Parameters
    ----------
    residuals : ndarray of shape (n_samples, n_features)
        The matrix R.
    alpha : float
        Weight of the orthogonality term.
    """

    def __init__(self, residuals: NDArray, alpha: float) -> None:
        self.residuals = residuals
        self.alpha = alpha
        self.gram = SignedGram(residuals)
        self._support: Support | None = None

    def init(self, H: NDArray) -> Embedding:
        """Return the state at a non-negative starting matrix."""
        images = self.residuals @ H
        positive, negative = self.gram.products(H)
        return Embedding(
            H=H,
            multiplier=np.zeros_like(images),
            pull_multiplier=np.zeros_like(H),
            pull_split=positive - negative,
            products=(positive, negative),
            penalty=FIRST_PENALTY,
            objective=self._objective(H, images),
        )

    def step(self, state: Embedding) -> Embedding:
        """Return the next state."""
        H = self._update(state)
        images = self.residuals @ H
        # M = T + Y⁺/γ with T = RH − Y/γ and Y⁺ = −clip(γT, −1, 1) is soft thresholding of T at 1/γ.
        multiplier = -np.clip(state.penalty * images - state.multiplier, -1, 1)
        pull_multiplier = self.gram.pull(multiplier)
        positive, negative = self.gram.products(H)
        return Embedding(
            H=H,
            multiplier=multiplier,
            pull_multiplier=pull_multiplier,
            pull_split=positive - negative + (pull_multiplier - state.pull_multiplier) / state.penalty,
            products=(positive, negative),
            penalty=min(PENALTY_GROWTH * state.penalty, LARGEST_PENALTY),
            objective=self._objective(H, images),
        )

    def _objective(self, H: NDArray, images: NDArray) -> float:
        overlap = H.T @ H
        overlap[np.diag_indices_from(overlap)] -= 1
        return float(np.abs(images).sum() + self.alpha / 4 * np.vdot(overlap, overlap))

    def _update(self, state: Embedding) -> NDArray:
        """Return H after the multiplications of one step."""
        gain, loss = _parts(state)
        H, factor = self._multiply(state.H, state.products, gain, loss, state.penalty)
        if np.count_nonzero(H > NEGLIGIBLE) <= SPARSE_SHARE * H.size:
            return self._multiply_support(H, factor, gain, loss, state.penalty)
        for _ in range(INNER_STEPS - 1):
            H, _ = self._multiply(H, self.gram.products(H), gain, loss, state.penalty)
        return H

    def _multiply(
        self, H: NDArray, products: tuple[NDArray, NDArray], gain: NDArray, loss: NDArray, penalty: float
    ) -> tuple[NDArray, NDArray]:
        """Return H after one multiplication of all entries, and the factors."""
        scale = 1 / np.sqrt(np.einsum("ij,ij->j", H, H) + EPSILON)
        H = H * scale
        positive, negative = products
        factor = ratio(
            self.alpha * H + gain + negative * (penalty * scale),
            self.alpha * (H @ (H.T @ H)) + loss + positive * (penalty * scale),
        )
        return H * factor, factor

    def _multiply_support(
        self, H: NDArray, factor: NDArray, gain: NDArray, loss: NDArray, penalty: float
    ) -> NDArray:
        """Return H after the remaining multiplications, made for the support alone."""
        support = self._covering(H)
        entries = support.rows, support.columns
        values = H[entries]
        fixed = gain[entries], loss[entries]
        for _ in range(SUPPORT_STEPS):
            values = support.multiply(values, *fixed, self.alpha, penalty)
        guess = H * np.minimum(factor, LARGEST_RATIO) ** SUPPORT_STEPS
        H = np.clip(guess, np.where(H > 0, SMALLEST, 0.0), LARGEST_GUESS)
        H[entries] = values
        return H

    def _covering(self, H: NDArray) -> Support:
        """Return the last support while it fits H, or a new one."""
        kept = self._support
        if (
            kept is None
            or np.any((H > NOTICEABLE) & ~kept.mask)
            or 2 * np.count_nonzero(H > NEGLIGIBLE) < kept.rows.size
        ):
            kept = self._support = Support(H > NEGLIGIBLE, self.gram.block)
        return kept


def robust_embedding(
    residuals: NDArray,
    start: NDArray,
    *,
    alpha: float,
    max_iter: int,
    tol: float | None = None,
    callback: Callback | None = None,
) -> SolverResult:
    """Run the method for ``max_iter`` steps, or until the objective hardly changes.

    Parameters
    ----------
    residuals : ndarray of shape (n_samples, n_features)
        The matrix R.
    start : ndarray of shape (n_features, n_components)
        Non-negative starting matrix.
    alpha : float
        Weight of the orthogonality term.
    max_iter : int
        Most steps to make.
    tol : float or None
        Relative change that ends the run; None makes all steps.
    callback : callable, optional
        Called with the iteration's number and objective.

    Returns
    -------
    SolverResult
        Its state is an `Embedding`. Without ``tol`` it counts as converged if the last change was below 1e-3.
    """
    method = RobustEmbedding(residuals, alpha)
    state = method.init(start)
    history = [state.objective]
    settled = False
    for iteration in range(1, max_iter + 1):
        state = method.step(state)
        history.append(state.objective)
        if callback is not None:
            callback(iteration, state.objective)
        change = abs(history[-2] - history[-1])
        settled = change <= (SETTLED if tol is None else tol) * abs(history[-2])
        if settled and tol is not None:
            break
    return SolverResult(
        state=state,
        objective_history=np.asarray(history),
        n_iter=len(history) - 1,
        residuals={"orthogonality": _orthogonality(state.H)},
        status=Status.CONVERGED if settled else Status.MAX_ITER,
    )


def _parts(state: Embedding) -> tuple[NDArray, NDArray]:
    """Return the parts of numerator and denominator that do not change during the multiplications."""
    gain = state.penalty * np.maximum(state.pull_split, 0) + np.maximum(state.pull_multiplier, 0)
    loss = state.penalty * np.maximum(-state.pull_split, 0) + np.maximum(-state.pull_multiplier, 0)
    return gain, loss


def _orthogonality(H: NDArray) -> float:
    return float(np.linalg.norm(H.T @ H - np.eye(H.shape[1])))
