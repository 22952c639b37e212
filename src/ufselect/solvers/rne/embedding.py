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

from ufselect.sets import stiefel
from ufselect.solvers.rne.active_entries import EPSILON, ActiveEntries, ratio
from ufselect.solvers.rne.signed_gram import SignedGram

# As in the authors' program.
FIRST_PENALTY = 10.0
PENALTY_GROWTH = 1.1
LARGEST_PENALTY = 1e10
INNER_STEPS = 30
# One more than the original leaves outweighs what is lost by following negligible entries only roughly.
ACTIVE_STEPS = 30
SETTLED = 1e-3  # relative change below which a run of a fixed number of steps counts as converged

SPARSE_SHARE = 0.15  # of entries that are not negligible, up to which following them alone is faster
NEGLIGIBLE = 1e-8  # entries of unit columns whose squares are lost to rounding in the objective
NOTICEABLE = 1e-6  # an inactive entry that has grown to this makes the active ones be chosen anew
LARGEST_GUESS = 1e-4  # bound of what an inactive entry may be guessed to grow to before it is looked at again
SMALLEST = 1e-150  # its square is still a normal float; an entry at zero could never grow again
LARGEST_RATIO = 4.0  # of a factor that is repeated, lest one guess overflow


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
    active : ActiveEntries or None
        The entries that were last followed alone, None before H has become sparse.
    objective : float
        Objective at H.
    """

    H: NDArray
    multiplier: NDArray
    pull_multiplier: NDArray
    pull_split: NDArray
    products: tuple[NDArray, NDArray]
    penalty: float
    active: ActiveEntries | None
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
    start : ndarray of shape (n_features, n_components)
        Non-negative starting matrix.
    """

    resolution = 0.0

    def __init__(self, residuals: NDArray, alpha: float, start: NDArray) -> None:
        self.R = residuals
        self.alpha = alpha
        self.start = start
        self.gram = SignedGram(residuals)

    def init(self) -> Embedding:
        H = self.start
        images = self.R @ H
        positive, negative = self.gram.products(H)
        return Embedding(
            H=H,
            multiplier=np.zeros_like(images),
            pull_multiplier=np.zeros_like(H),
            pull_split=positive - negative,
            products=(positive, negative),
            penalty=FIRST_PENALTY,
            active=None,
            objective=self._objective(H, images),
        )

    def step(self, state: Embedding) -> Embedding:
        H, active = self._update(state)
        images = self.R @ H
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
            active=active,
            objective=self._objective(H, images),
        )

    def is_settled(self, last: Embedding, state: Embedding, tol: float | None) -> bool:
        """Tell whether the objective, which may rise, has changed by at most ``tol``, or 1e-3 without one."""
        share = SETTLED if tol is None else tol
        return abs(last.objective - state.objective) <= share * abs(last.objective)

    def residuals(self, state: Embedding) -> dict[str, float]:
        return {"orthogonality": float(np.linalg.norm(stiefel.defect(state.H)))}

    def _objective(self, H: NDArray, images: NDArray) -> float:
        overlap = stiefel.defect(H)
        return float(np.abs(images).sum() + self.alpha / 4 * np.vdot(overlap, overlap))

    def _update(self, state: Embedding) -> tuple[NDArray, ActiveEntries | None]:
        """Return H after the multiplications of one step, and the entries that were followed."""
        gain, loss = _parts(state)
        H, factor = self._multiply(state.H, state.products, gain, loss, state.penalty)
        if np.count_nonzero(H > NEGLIGIBLE) <= SPARSE_SHARE * H.size:
            active = self._covering(H, state.active)
            return self._multiply_active(active, H, factor, gain, loss, state.penalty), active
        for _ in range(INNER_STEPS - 1):
            H, _ = self._multiply(H, self.gram.products(H), gain, loss, state.penalty)
        return H, state.active

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

    def _multiply_active(
        self,
        active: ActiveEntries,
        H: NDArray,
        factor: NDArray,
        gain: NDArray,
        loss: NDArray,
        penalty: float,
    ) -> NDArray:
        """Return H after the remaining multiplications, made for the active entries alone."""
        entries = active.rows, active.columns
        values = H[entries]
        fixed = gain[entries], loss[entries]
        for _ in range(ACTIVE_STEPS):
            values = active.multiply(values, *fixed, self.alpha, penalty)
        guess = H * np.minimum(factor, LARGEST_RATIO) ** ACTIVE_STEPS
        H = np.clip(guess, np.where(H > 0, SMALLEST, 0.0), LARGEST_GUESS)
        H[entries] = values
        return H

    def _covering(self, H: NDArray, last: ActiveEntries | None) -> ActiveEntries:
        """Return the last active entries while they fit H, or new ones."""
        if (
            last is None
            or np.any((H > NOTICEABLE) & ~last.mask)
            or 2 * np.count_nonzero(H > NEGLIGIBLE) < last.rows.size
        ):
            return ActiveEntries(H > NEGLIGIBLE, self.gram.block)
        return last


def _parts(state: Embedding) -> tuple[NDArray, NDArray]:
    """Return the parts of numerator and denominator that do not change during the multiplications."""
    gain = state.penalty * np.maximum(state.pull_split, 0) + np.maximum(state.pull_multiplier, 0)
    loss = state.penalty * np.maximum(-state.pull_split, 0) + np.maximum(-state.pull_multiplier, 0)
    return gain, loss
