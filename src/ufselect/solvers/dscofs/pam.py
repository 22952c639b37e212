"""Proximal alternating minimisation, the paper's Algorithm 1."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ufselect.sets import entry_sparse, row_sparse, stiefel
from ufselect.sets.largest import Support
from ufselect.solvers.dscofs import extrapolation
from ufselect.solvers.dscofs.extrapolation import Trail
from ufselect.solvers.dscofs.problem import DoubleSparsePCA, squared_distance
from ufselect.solvers.dscofs.start import Start
from ufselect.solvers.iterate import Descent

# Relative decrease of the objective at which extrapolation sets in. A run that stops near the paper's
# tolerance is over sooner without it. One that is to settle takes a third of the steps with it, the earlier
# it sets in the fewer.
LATE_ONSET = 1e-3
EARLY_ONSET = 1e-2
SETTLING_TOL = 1e-5  # tolerances from here on mean that the selection is to settle


def onset_for(tol: float) -> float:
    """Return when extrapolation should set in for a run that stops at ``tol``."""
    return EARLY_ONSET if tol <= SETTLING_TOL else LATE_ONSET


class XSolver(Protocol):
    """Solves the X-step, or makes descent on it."""

    extrapolates: bool

    def solve(self, problem: DoubleSparsePCA, state: PamState) -> NDArray:
        """Return the X after a state.

        Where the solver ``extrapolates``, the state's ``ascent`` may be what extrapolation proposes in its
        place.
        """


@dataclass(frozen=True)
class PamState:
    """A point of the iteration.

    ``product`` is S @ X, ``ascent`` is S @ X + B, half the negative gradient of the X-step; ``entries`` and
    ``rows`` are the supports of Y (flat, column by column) and Z, None where everything is kept; ``trail`` is
    what extrapolation knows, None before it has set in.
    """

    X: NDArray
    Y: NDArray
    Z: NDArray
    product: NDArray
    ascent: NDArray
    objective: float
    entries: Support | None
    rows: Support | None
    trail: Trail | None = None


class ProximalAlternatingMinimisation(Descent):
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
    onset : float
        Relative decrease of the objective at which extrapolation sets in.
    """

    def __init__(
        self, problem: DoubleSparsePCA, start: Start, x_solver: XSolver, onset: float = LATE_ONSET
    ) -> None:
        self.problem = problem
        self.start = start
        self.x_solver = x_solver
        self.onset = onset
        self.unit = problem.unit
        # The objective sums four terms, each rounded in the precision of the data.
        self.resolution = 4 * float(np.finfo(problem.gram.dtype).eps)

    def init(self) -> PamState:
        X, product = np.asfortranarray(self.start.point), self.start.product
        if not self.start.is_informed:
            product = self.problem.gram.matmat(X) if product is None else product
            ascent = self.problem.ascent(X, product, X, X)
            state = PamState(X, X, X, product, ascent, np.inf, None, None)
            X, product = self.x_solver.solve(self.problem, state), None
        return self._complete(X, X, X, product)

    def step(self, state: PamState) -> PamState:
        if state.trail is not None:
            point = extrapolation.extrapolate(state.trail, state.ascent)
            extrapolated = self._move(state, point)
            if extrapolated.objective < state.objective:
                is_smooth = _same_supports(state, extrapolated)
                trail = state.trail.follow(point, extrapolated.ascent, state.ascent, is_smooth=is_smooth)
                return replace(extrapolated, trail=trail)
        plain = self._move(state, state.ascent)
        if plain.objective > state.objective:
            plain = self._complete(stiefel.project(state.ascent), state.Y, state.Z)
        if plain.objective >= state.objective:
            return state  # stationary up to rounding
        return replace(plain, trail=self._begin_trail(state, plain))

    def residuals(self, state: PamState) -> dict[str, float]:
        return {
            "row": float(np.sqrt(squared_distance(state.X, state.Z))),
            "entry": float(np.sqrt(squared_distance(state.X, state.Y))),
        }

    def _move(self, state: PamState, trial: NDArray) -> PamState:
        X = self.x_solver.solve(self.problem, replace(state, ascent=trial))
        return self._complete(X, state.Y, state.Z, last=state)

    def _complete(
        self,
        X: NDArray,
        last_Y: NDArray,
        last_Z: NDArray,
        product: NDArray | None = None,
        last: PamState | None = None,
    ) -> PamState:
        """Make the Y- and Z-steps for a new X and evaluate the objective there."""
        problem = self.problem
        Y = Z = X  # what a set that holds every matrix leaves
        entries = rows = None
        if problem.n_entries < X.size:
            Y = _remember(X, last_Y, problem.memory)
            Y, entries = entry_sparse.project(Y, problem.n_entries, last.entries if last else None, out=Y)
        if problem.constrains_rows:
            Z = _remember(X, last_Z, problem.memory)
            last_rows = last.rows if last else None
            Z, rows = row_sparse.project(Z, problem.n_rows, last_rows, out=Z, rules=problem.rules)
        if product is None:
            product = problem.gram.matmat(X)
        objective = problem.objective(X, product, Y, Z)
        return PamState(X, Y, Z, product, problem.ascent(X, product, Y, Z), objective, entries, rows)

    def _begin_trail(self, last: PamState, new: PamState) -> Trail | None:
        """Return the new state's trail, once steps have become small."""
        decrease = last.objective - new.objective
        is_early = decrease > self.onset * (self.unit + abs(last.objective))
        if not self.x_solver.extrapolates or (last.trail is None and is_early):
            return None
        return extrapolation.begin(last.ascent, new.ascent, last.ascent)


def _same_supports(first: PamState, second: PamState) -> bool:
    return _same(first.entries, second.entries) and _same(first.rows, second.rows)


def _same(first: Support | None, second: Support | None) -> bool:
    return first is None or second is None or np.array_equal(first.mask, second.mask)


def _remember(X: NDArray, last: NDArray, memory: float) -> NDArray:
    """Return the paper's proximal average ``(X + τ last) / (1 + τ)``."""
    average = last - X
    average *= memory / (1 + memory)
    average += X
    return average
