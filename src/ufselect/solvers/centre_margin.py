"""Feature weights under which the nearest cluster centre is the right one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from ufselect.solvers import capped_simplex

FIRST_MOVE = 0.3


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
    A : ndarray of shape (n_samples, n_features)
        Centred data.
    labels : ndarray of shape (n_samples,)
        Cluster of each sample, 0, 1, … without gaps.
    temperature : float
        The positive scale T of distances.
    """

    def __init__(self, A: NDArray, labels: NDArray, temperature: float) -> None:
        self.A = A
        self.labels = labels
        self.temperature = temperature
        self.rows = np.arange(len(A))
        sizes = np.bincount(labels)
        self.member = np.zeros((len(A), sizes.size))
        self.member[self.rows, labels] = 1.0
        self.centres = (self.member.T @ A) / sizes[:, None]
        self.squared_centres = np.square(self.centres)

    def own_distance(self, weights: NDArray) -> float:
        """Return the mean weighted squared distance of samples to their own centre."""
        return float(np.square(self.A - self.centres[self.labels]).mean(axis=0) @ weights)

    def value(self, weights: NDArray) -> float:
        """Return f."""
        return self._loss(self._excess(weights))

    def value_and_gradient(self, weights: NDArray) -> tuple[float, NDArray]:
        """Return f and its gradient."""
        excess = self._excess(weights)
        pull = expit(excess)
        pull[self.rows, self.labels] = 0.0
        balance = self.member * pull.sum(axis=1, keepdims=True) - pull
        gradient = balance.sum(axis=0) @ self.squared_centres
        gradient -= 2 * np.einsum("ij,ij->j", self.A, balance @ self.centres)
        return self._loss(excess), gradient / (self.temperature * len(self.A))

    def _excess(self, weights: NDArray) -> NDArray:
        """Return by how much the own centre is farther than each other one, over T."""
        # What all centres of a sample share, its own squared norm, drops out of the differences.
        distance = self.squared_centres @ weights - 2 * self.A @ (self.centres * weights).T
        return (distance[self.rows, self.labels][:, None] - distance) / self.temperature

    def _loss(self, excess: NDArray) -> float:
        loss = np.logaddexp(0.0, excess)
        loss[self.rows, self.labels] = 0.0
        return float(loss.sum()) / len(self.A)


def minimise_margin(
    problem: CentreMargin, start: NDArray, n_chosen: int, max_iter: int = 20, tol: float = 1e-4
) -> MarginResult:
    """Minimise over weights in [0, 1] that sum to ``n_chosen``, by accelerated projected gradients.

    A step that would raise the objective restarts the momentum, so the history never rises [1]_.

    References
    ----------
    .. [1] B. O'Donoghue and E. Candès (2015), "Adaptive restart for accelerated gradient schemes",
       Foundations of Computational Mathematics 15.
    """
    weights = probe = start
    value, slope = problem.value_and_gradient(weights)
    at_probe = value
    curvature = float(np.linalg.norm(slope)) / (FIRST_MOVE * np.sqrt(n_chosen))
    history, age = [value], 1.0
    for _ in range(max_iter if curvature > 0 else 0):
        trial, reached, curvature = _descend(problem, probe, at_probe, slope, curvature, n_chosen)
        if reached > value and probe is weights:
            break  # no descent left beyond rounding
        if reached > value:
            probe, age = weights, 1.0
        else:
            settled = value - reached <= tol * abs(value)
            next_age = (1 + np.sqrt(1 + 4 * age**2)) / 2
            probe = trial + (age - 1) / next_age * (trial - weights)
            weights, value, age = trial, reached, next_age
            history.append(value)
            curvature *= 0.9
            if settled:
                break
        at_probe, slope = problem.value_and_gradient(probe)
    return MarginResult(weights, problem.value_and_gradient(weights)[1], np.array(history))


def _descend(
    problem: CentreMargin, probe: NDArray, at_probe: float, slope: NDArray, curvature: float, n_chosen: int
) -> tuple[NDArray, float, float]:
    """Take a projected step, shortened until the quadratic model bounds the objective."""
    while True:
        trial = capped_simplex.project(probe - slope / curvature, n_chosen)
        move = trial - probe
        reached = problem.value(trial)
        bound = at_probe + slope @ move + curvature / 2 * (move @ move)
        if reached <= bound + 1e-12 * abs(at_probe):
            return trial, reached, curvature
        curvature *= 2
