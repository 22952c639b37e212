"""The constrained problem itself: exactly orthonormal, at most r rows, at most s entries."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ufselect.solvers.dscofs.pam import EARLY_ONSET, PamState, ProximalAlternatingMinimisation
from ufselect.solvers.dscofs.problem import DoubleSparsePCA
from ufselect.solvers.dscofs.start import Start
from ufselect.solvers.dscofs.x_steps import make_x_solver
from ufselect.solvers.iterate import Callback, iterate
from ufselect.solvers.result import SolverResult, Status
from ufselect.solvers.row_sparse.branch_and_bound import MAX_FEATURES, best_subset
from ufselect.solvers.row_sparse.loadings import sparse_loadings
from ufselect.solvers.row_sparse.search import (
    SHORTLIST,
    improve_by_proxy,
    improve_by_swaps,
    loadings_on,
    proxy_diagonal,
)

GROWTH = 4.0  # of both penalties, from one round to the next
MAX_ROUNDS = 12
AGREEMENT = 1e-2  # distance of X from its sparse copies, in units of sqrt(m), at which they agree
ROUND_TOL = 1e-5
SEARCH_SEED = 20240917  # the same few random supports for everyone: they escape the optimum of the others
RANDOM_ROWS = 240  # as many random supports as have this many rows together, from one to eight
MAX_NODES = 500  # of branch and bound, which ends the search where features are few
LEAST_PENALTY = 1e-3  # first penalty where none is given, in units of the problem


@dataclass(frozen=True)
class ConstrainedState:
    """A feasible X; its sparse copies are X itself. ``product`` is S @ X."""

    X: NDArray
    product: NDArray
    objective: float

    @property
    def Y(self) -> NDArray:
        """The entry-sparse copy."""
        return self.X

    @property
    def Z(self) -> NDArray:
        """The row-sparse copy."""
        return self.X


def solve_constrained(
    problem: DoubleSparsePCA,
    start: Start,
    *,
    x_solver: str = "auto",
    max_iter: int = 100,
    callback: Callback | None = None,
) -> SolverResult:
    r"""Maximise the variance under both constraints, not only penalised.

    .. math::

        \max_X\; \mathrm{Tr}(X^\top S X) \quad\text{s.t.}\quad
        X^\top X = I_m,\; \|X\|_{2,0} \le r,\; \|X\|_0 \le s

    The penalties grow until X, Y and Z agree. Where :math:`s \ge rm` the entry constraint is met by every X
    with r rows: the best loadings on a support are then eigenvectors, and the supports of X, of the start, of
    the largest variances and a few random ones are improved by a proxy and by exchanges of single rows, on up
    to 50 features also by branch and bound. Otherwise the rows are found in the same way, and loadings with s
    entries on them by rotation, truncation and ascent; see `sparse_loadings`.

    Returns
    -------
    SolverResult
        The history has the constrained objective :math:`-\mathrm{Tr}(X^\top SX)` of each improvement.

    Raises
    ------
    ValueError
        If r is smaller than m: r rows hold no m orthonormal columns.
    """
    n_components = start.point.shape[1]
    if problem.n_rows < n_components:
        raise ValueError(
            f"{problem.n_rows} features cannot hold {n_components} orthonormal components; select at least "
            f"{n_components} features or lower n_components."
        )
    state, n_iter = _continue(problem, start, x_solver, max_iter, callback)
    if problem.n_entries >= problem.n_rows * n_components:
        X, history = _polish_rows(problem, start, state.X)
    else:
        X, history = _polish_entries(problem, start, state.X)
    product = problem.gram.matmat(X)
    return SolverResult(
        state=ConstrainedState(X, product, history[-1]),
        objective_history=np.asarray(history),
        n_iter=n_iter,
        residuals={"row": 0.0, "entry": 0.0},
        status=Status.CONVERGED,
    )


def _continue(
    problem: DoubleSparsePCA, start: Start, x_solver: str, max_iter: int, callback: Callback | None
) -> tuple[PamState, int]:
    """Raise the penalties until X is close to both of its sparse copies."""
    least = LEAST_PENALTY * problem.unit
    problem = replace(problem, mu_row=max(problem.mu_row, least), mu_entry=max(problem.mu_entry, least))
    n_components = start.point.shape[1]
    n_iter = 0
    for _ in range(MAX_ROUNDS):
        solver = make_x_solver(x_solver, problem)
        method = ProximalAlternatingMinimisation(problem, start, solver, EARLY_ONSET)
        result = iterate(method, max_iter=max_iter, tol=ROUND_TOL)
        n_iter += result.n_iter
        if callback is not None:
            callback(n_iter, result.state.objective)
        if max(result.residuals.values()) <= AGREEMENT * np.sqrt(n_components):
            break
        start = Start(result.state.X, result.state.product, is_informed=True)
        problem = replace(problem, mu_row=GROWTH * problem.mu_row, mu_entry=GROWTH * problem.mu_entry)
    return result.state, n_iter


def _polish_rows(problem: DoubleSparsePCA, start: Start, X: NDArray) -> tuple[NDArray, list[float]]:
    """Improve several supports, keep the best, and improve it further; there is no entry constraint."""
    gram, n_components = problem.gram, X.shape[1]
    product = gram.matmat(start.point) if start.product is None else start.product
    rng = np.random.default_rng(SEARCH_SEED)
    n_random = int(np.clip(RANDOM_ROWS // problem.n_rows, 1, 8))
    scores = [np.einsum("ij,ij->i", X, X), proxy_diagonal(start.point, product), gram.diag()]
    scores += list(rng.random((n_random, gram.shape[0])))
    first = [improve_by_proxy(gram, _top(score, problem.n_rows), n_components)[0] for score in scores]
    improved = [
        improve_by_swaps(gram, support, n_components, shortlist=SHORTLIST)
        for support in np.unique(first, axis=0)
    ]
    support, captured = max(improved, key=lambda pair: pair[1])
    history = [-captured]
    support, _ = improve_by_swaps(gram, support, n_components, report=lambda value: history.append(-value))
    if gram.shape[0] <= MAX_FEATURES:
        exact = best_subset(
            gram.to_dense(), problem.n_rows, n_components, incumbent=support, max_nodes=MAX_NODES
        )
        support = exact.support
        history.append(min(-exact.captured, history[-1]))
    return loadings_on(gram, support, n_components), history


def _polish_entries(problem: DoubleSparsePCA, start: Start, X: NDArray) -> tuple[NDArray, list[float]]:
    """Choose the rows as if there were no entry constraint, then sparse loadings on them."""
    loadings, _ = _polish_rows(problem, start, X)
    support = np.flatnonzero(loadings.any(axis=1))
    block = np.asarray(problem.gram.subgram(support), dtype=np.float64)
    sparse, values = sparse_loadings(
        block, np.asarray(loadings[support], dtype=np.float64), problem.n_entries
    )
    result = np.zeros(X.shape, dtype=X.dtype, order="F")
    result[support] = sparse
    return result, [-value for value in values]


def _top(scores: NDArray, count: int) -> NDArray:
    return np.sort(np.argsort(-scores, kind="stable")[:count])
