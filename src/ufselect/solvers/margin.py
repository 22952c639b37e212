"""Feature weights under which the nearest cluster centre is the right one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from ufselect.sets import simplex
from ufselect.solvers.accelerated import AcceleratedState, Point, advance, start_at
from ufselect.solvers.iterate import Descent, iterate

FIRST_MOVE = 0.3  # length of the first step, in units of the norm of r whole weights


@dataclass(frozen=True)
class MarginResult:
    """Weights, the gradient there and the objective after each step."""

    weights: NDArray
    gradient: NDArray
    objective_history: NDArray


class CentreMargin:
    r"""Logistic loss of the nearest-centre rule as a function of feature weights.

    .. math::

        f(w) = \frac{1}{n} \sum_i \sum_{q \ne y_i}
        \log\Bigl(1 + \exp\frac{D_{i y_i}(w) - D_{iq}(w)}{T}\Bigr), \qquad
        D_{iq}(w) = \sum_j w_j (a_{ij} - \mu_{qj})^2,

    with :math:`\mu_q` the centre of cluster q. Distances are linear in w, so f is convex.

    Parameters
    ----------
    A : ndarray or CSR array of shape (n_samples, n_features)
        The data; where they lie in space does not matter.
    labels : ndarray of shape (n_samples,)
        Cluster of each sample, 0, 1, … without gaps.
    temperature : float
        The positive scale T of distances.
    """

    def __init__(self, A: Any, labels: NDArray, temperature: float) -> None:
        self.A = A
        self.labels = labels
        self.temperature = temperature
        self.rows = np.arange(A.shape[0])
        self.sizes = np.bincount(labels)
        self.member = np.zeros((A.shape[0], self.sizes.size))
        self.member[self.rows, labels] = 1.0
        self.centres = (self.member.T @ A) / self.sizes[:, None]
        self.squared_centres = np.square(self.centres)

    def excess(self, weights: NDArray) -> NDArray:
        """Return by how much the own centre is farther than each other one, over T: linear in the weights."""
        # What all centres of a sample share, its own squared norm, drops out of the differences.
        distance = self.squared_centres @ weights - self.A @ (2 * weights * self.centres).T
        return (distance[self.rows, self.labels][:, None] - distance) / self.temperature

    def value(self, excess: NDArray) -> float:
        """Return f from the excess."""
        loss = np.logaddexp(0.0, excess)
        loss[self.rows, self.labels] = 0.0
        return float(loss.sum()) / self.rows.size

    def value_and_gradient(self, excess: NDArray) -> tuple[float, NDArray]:
        """Return f and its gradient by the weights from the excess."""
        pull = expit(excess)
        pull[self.rows, self.labels] = 0.0
        balance = self.member * pull.sum(axis=1, keepdims=True) - pull
        gradient = balance.sum(axis=0) @ self.squared_centres
        gradient -= 2 * np.einsum("ij,ij->j", balance.T @ self.A, self.centres)
        return self.value(excess), gradient / (self.temperature * self.rows.size)


class MarginWeights(Descent):
    """Minimise the loss over weights in [0, 1] that sum to ``n_chosen``, by accelerated projected gradients.

    A point is the weights and their excess.

    Parameters
    ----------
    loss : CentreMargin
        What to minimise.
    start : ndarray of shape (n_features,)
        Weights to start from.
    n_chosen : int
        Sum of the weights.
    """

    def __init__(self, loss: CentreMargin, start: NDArray, n_chosen: int) -> None:
        self.loss = loss
        self.start = start
        self.n_chosen = n_chosen

    def init(self) -> AcceleratedState:
        excess = self.loss.excess(self.start)
        slope = float(np.linalg.norm(self.loss.value_and_gradient(excess)[1]))
        return start_at(self, (self.start, excess), slope / (FIRST_MOVE * np.sqrt(self.n_chosen)))

    def step(self, state: AcceleratedState) -> AcceleratedState:
        return advance(self, state) if state.curvature > 0 else state

    def smooth(self, point: Point) -> float:
        return self.loss.value(point[1])

    def smooth_gradient(self, point: Point) -> tuple[float, Sequence[NDArray]]:
        value, gradient = self.loss.value_and_gradient(point[1])
        return value, (gradient,)

    def proximal(self, point: Sequence[NDArray], curvature: float) -> Point:
        weights = simplex.project_capped(point[0], self.n_chosen)
        return weights, self.loss.excess(weights)

    def penalty(self, point: Point) -> float:
        return 0.0


def minimise_margin(
    loss: CentreMargin, start: NDArray, n_chosen: int, max_iter: int = 20, tol: float = 1e-4
) -> MarginResult:
    """Minimise the loss over weights in [0, 1] that sum to ``n_chosen``."""
    result = iterate(MarginWeights(loss, start, n_chosen), max_iter=max_iter, tol=tol)
    weights, excess = result.state.point
    return MarginResult(weights, loss.value_and_gradient(excess)[1], result.objective_history)
