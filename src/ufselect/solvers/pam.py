"""Proximal alternating minimisation, the paper's Algorithm 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ufselect.sets import entry_sparse, row_sparse, stiefel
from ufselect.solvers.problem import DoubleSparsePCA, squared_distance
from ufselect.solvers.start import Start

# Early steps change the supports and gain nothing from momentum; once the relative decrease has fallen to
# the paper's tolerance, extrapolation makes the remaining way three to six times shorter.
MOMENTUM_ONSET = 1e-3


class XSolver(Protocol):
    """Solves the X-step, or makes descent on it."""

    extrapolates: bool

    def solve(self, problem: DoubleSparsePCA, X: NDArray, product: NDArray, ascent: NDArray) -> NDArray:
        """Return the next X, given ``product = S @ X`` and ``ascent = S @ X + B``."""


@dataclass(frozen=True)
class PamState:
    """A point of the iteration.

    ``product`` is S @ X, ``ascent`` is S @ X + B, half the negative gradient of the X-step; ``momentum`` is
    the weighted change of ascent to be added at the next step, ``age`` the number of extrapolated steps in
    a row, 0 before momentum has set in.
    """

    X: NDArray
    Y: NDArray
    Z: NDArray
    product: NDArray
    ascent: NDArray
    objective: float
    momentum: NDArray | None = None
    age: int = 0


class ProximalAlternatingMinimisation:
    """Block order of Algorithm 1: X on the Stiefel manifold, Y entry-sparse, Z row-sparse.

    Parameters
    ----------
    problem : DoubleSparsePCA
        What to minimise.
    start : Start
        Where to begin. From a point that does not know the data yet, a first X-step is made with
        Y = Z = X, before any sparsity, as the authors' program does.
    x_solver : XSolver
        How the X-step is made.
    """

    def __init__(self, problem: DoubleSparsePCA, start: Start, x_solver: XSolver) -> None:
        self.problem = problem
        self.start = start
        self.x_solver = x_solver
        self.unit = problem.unit
        self.resolution = 4 * float(np.finfo(problem.gram.dtype).eps)

    def init(self) -> PamState:
        X, product = np.asfortranarray(self.start.point), self.start.product
        if not self.start.is_informed:
            product = self.problem.gram.matmat(X) if product is None else product
            ascent = self.problem.ascent(X, product, X, X)
            X, product = self.x_solver.solve(self.problem, X, product, ascent), None
        return self._complete(X, X, X, product)

    def step(self, state: PamState) -> PamState:
        if state.momentum is not None:
            extrapolated = self._move(state, state.ascent + state.momentum)
            if extrapolated.objective < state.objective:
                return self._with_momentum(state, extrapolated, state.age)
        plain = self._move(state, state.ascent)
        if plain.objective > state.objective:
            plain = self._complete(stiefel.project(state.ascent), state.Y, state.Z)
        if plain.objective >= state.objective:
            return state  # stationary up to rounding
        return self._with_momentum(state, plain, 0)

    def residuals(self, state: PamState) -> dict[str, float]:
        return {
            "row": float(np.sqrt(squared_distance(state.X, state.Z))),
            "entry": float(np.sqrt(squared_distance(state.X, state.Y))),
        }

    def _move(self, state: PamState, ascent: NDArray) -> PamState:
        X = self.x_solver.solve(self.problem, state.X, state.product, ascent)
        return self._complete(X, state.Y, state.Z)

    def _complete(
        self, X: NDArray, last_Y: NDArray, last_Z: NDArray, product: NDArray | None = None
    ) -> PamState:
        """Make the Y- and Z-steps for a new X and evaluate the objective there."""
        problem = self.problem
        Y = Z = X  # what a set that holds every matrix leaves
        if problem.n_entries < X.size:
            Y = entry_sparse.project(_remember(X, last_Y, problem.memory), problem.n_entries)
        if problem.n_rows < X.shape[0]:
            Z = row_sparse.project(_remember(X, last_Z, problem.memory), problem.n_rows)
        if product is None:
            product = problem.gram.matmat(X)
        objective = problem.objective(X, product, Y, Z)
        return PamState(X, Y, Z, product, problem.ascent(X, product, Y, Z), objective)

    def _with_momentum(self, last: PamState, new: PamState, age: int) -> PamState:
        """Give the new state its extrapolation, once steps have become small."""
        if not self.x_solver.extrapolates:
            return new
        decrease = last.objective - new.objective
        if age == 0 and last.age == 0 and decrease > MOMENTUM_ONSET * (self.unit + abs(last.objective)):
            return new
        age += 1
        momentum = (age / (age + 3)) * (new.ascent - last.ascent)
        return PamState(new.X, new.Y, new.Z, new.product, new.ascent, new.objective, momentum, age)


def _remember(X: NDArray, last: NDArray, memory: float) -> NDArray:
    """Return the paper's proximal average ``(X + τ last) / (1 + τ)``."""
    average = last - X
    average *= memory / (1 + memory)
    average += X
    return average
