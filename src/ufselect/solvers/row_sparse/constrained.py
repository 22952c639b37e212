"""The constrained problem itself: exactly orthonormal, at most r rows, at most s entries."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ufselect.sets import entry_sparse, row_sparse
from ufselect.solvers.dscofs.pam import EARLY_ONSET, PamState, ProximalAlternatingMinimisation
from ufselect.solvers.dscofs.problem import DoubleSparsePCA
from ufselect.solvers.dscofs.start import Start
from ufselect.solvers.dscofs.x_steps import make_x_solver
from ufselect.solvers.fspca import FeatureChoice, FeatureSparsePCA
from ufselect.solvers.iterate import Callback, iterate
from ufselect.solvers.leading import loadings_on, proxy_diagonal, spread
from ufselect.solvers.result import SolverResult, Status
from ufselect.solvers.row_sparse.branch_and_bound import MAX_FEATURES, best_subset
from ufselect.solvers.row_sparse.exchange import RELATIVE_GAIN, SHORTLIST, improve_by_swaps
from ufselect.solvers.row_sparse.group_exchange import improve_by_group_swaps
from ufselect.solvers.row_sparse.loadings import sparse_loadings

GROWTH = 4.0  # of both penalties, from one round to the next
MAX_ROUNDS = 12  # of growth, by seven orders of magnitude
AGREEMENT = 1e-2  # distance of X from its sparse copies, in units of sqrt(m), at which they agree
ROUND_TOL = 1e-5  # as DSCOFS with a selection that is to settle
MAX_PROXY_STEPS = 50  # a safeguard: the proxy moves until it gains nothing
# A constant and not random_state: the same few random supports for everyone, to escape the optimum of others.
SEARCH_SEED = 20240917
EQUAL_DIGITS = 9  # shares of the variance that agree in so many decimals are equal but for rounding
RANDOM_ROWS = 240  # as many random supports as have this many rows together, one at least
MOST_RANDOM = 8  # bounds the time that random supports take where rows are few
MAX_NODES = 500  # of branch and bound, which ends the search where features are few
LEAST_PENALTY = 1e-3  # first penalty where none is given, in units of the problem


@dataclass(frozen=True)
class ConstrainedState:
    """A feasible X; its sparse copies are X itself.

    ``product`` is S @ X. No X with as many rows carries more variance than ``bound``, infinite where none was
    worked out.
    """

    X: NDArray
    product: NDArray
    objective: float
    bound: float

    @property
    def Y(self) -> NDArray:
        """The entry-sparse copy."""
        return self.X

    @property
    def Z(self) -> NDArray:
        """The row-sparse copy."""
        return self.X


@dataclass(frozen=True)
class RowSearch:
    """The rows found, the objectives on the way to them, and a bound of the variance of any rows."""

    support: NDArray
    history: list[float]
    bound: float


def solve_constrained(
    problem: DoubleSparsePCA,
    start: Start,
    *,
    x_solver: str = "auto",
    max_iter: int,
    callback: Callback | None = None,
) -> SolverResult:
    r"""Maximise the variance under both constraints, not only penalised.

    .. math::

        \max_X\; \mathrm{Tr}(X^\top S X) \quad\text{s.t.}\quad
        X^\top X = I_m,\; \|X\|_{2,0} \le r,\; \|X\|_0 \le s

    The penalties grow until X, Y and Z agree. Where :math:`s \ge rm` the entry constraint is met by every X
    with r rows: the best loadings on a support are then eigenvectors, and the supports of X, of the start, of
    the largest variances and a few random ones are improved by a proxy and by exchanges of single rows, on up
    to 50 features also by branch and bound; where rows come in groups, these are exchanged. Otherwise the
    rows are found in the same way, and loadings with s entries on them by rotation, truncation and ascent;
    see `sparse_loadings`.

    Returns
    -------
    SolverResult
        Its state is a `ConstrainedState`. The history has the constrained objective
        :math:`-\mathrm{Tr}(X^\top SX)` of each improvement.

    Raises
    ------
    ValueError
        If r is smaller than m: r rows hold no m orthonormal columns.
    """
    n_components = start.point.shape[1]
    fewest = problem.units.fewest_rows(problem.n_rows)
    if fewest < n_components:
        raise ValueError(
            f"{fewest} features cannot hold {n_components} orthonormal components; select at least "
            f"{n_components} features or lower n_components."
        )
    agreed, n_iter = _continue(problem, start, x_solver, max_iter, callback)
    rows = _search_rows(problem, start, agreed.X)
    X, history = loadings_on(problem.gram, rows.support, n_components), rows.history
    if problem.n_entries < rows.support.size * n_components:
        X, history = _with_few_entries(problem, rows.support, X)
    return SolverResult(
        state=ConstrainedState(X, problem.gram.matmat(X), history[-1], rows.bound),
        objective_history=np.asarray(history),
        n_iter=n_iter,
        residuals={
            "row": row_sparse.distance(X, problem.n_rows, problem.rules),
            "entry": entry_sparse.distance(X, problem.n_entries),
        },
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


def _search_rows(problem: DoubleSparsePCA, start: Start, X: NDArray) -> RowSearch:
    """Improve several supports, keep the best, and improve it further, as if entries were free."""
    gram, n_components = problem.gram, X.shape[1]
    first = [_improve_by_proxy(problem, scores, n_components) for scores in _scores(problem, start, X)]
    fixed = [] if problem.rules is None else problem.rules.fixed.tolist()
    supports = {tuple(choice.features.tolist()): choice.features for choice in first}
    improved = [
        _exchanged(problem, supports[key], n_components, fixed, shortlist=SHORTLIST)
        for key in sorted(supports)
    ]
    support, captured = max(improved, key=lambda pair: pair[1])
    history = [-captured]
    support, _ = _exchanged(
        problem, support, n_components, fixed, report=lambda value: history.append(-value)
    )
    if gram.shape[0] > MAX_FEATURES:
        return RowSearch(support, history, np.inf)
    exact = best_subset(
        gram.to_dense(),
        problem.n_rows,
        n_components,
        incumbent=support,
        max_nodes=MAX_NODES,
        fixed=fixed,
        units=problem.units,
    )
    return RowSearch(exact.support, [*history, min(-exact.captured, history[-1])], exact.bound)


def _exchanged(
    problem: DoubleSparsePCA, support: NDArray, n_components: int, fixed: list[int], **how: Any
) -> tuple[NDArray, float]:
    """Improve a support by exchanges of rows, or of groups where rows come in groups."""
    if problem.units.is_single:
        return improve_by_swaps(problem.gram, support, n_components, fixed=fixed, **how)
    return improve_by_group_swaps(problem.gram, support, problem.units, n_components, fixed=fixed, **how)


def _scores(problem: DoubleSparsePCA, start: Start, X: NDArray) -> list[NDArray]:
    """Return scores of which the r largest are a support to start from, each."""
    gram = problem.gram
    product = gram.matmat(start.point) if start.product is None else start.product
    n_random = int(np.clip(RANDOM_ROWS // problem.n_rows, 1, MOST_RANDOM))
    random = np.random.default_rng(SEARCH_SEED).random((n_random, gram.shape[0]))
    # By what a feature is and not by where it stands, so that the order of the columns does not matter.
    norms = gram.squared_column_norms()
    random = random[:, np.argsort(np.argsort(norms, kind="stable"))]
    variances = gram.diag() / gram.trace()
    # Standardised features have equal variances up to rounding; their ties go by what they share with others.
    variances = np.round(variances, EQUAL_DIGITS) + 10.0**-EQUAL_DIGITS * norms / norms.max()
    return [np.einsum("ij,ij->i", X, X), proxy_diagonal(start.point, product), variances, *random]


def _improve_by_proxy(problem: DoubleSparsePCA, scores: NDArray, n_components: int) -> FeatureChoice:
    method = FeatureSparsePCA(problem.gram, n_components, problem.n_rows, scores, problem.rules)
    return iterate(method, max_iter=MAX_PROXY_STEPS, tol=RELATIVE_GAIN).state


def _with_few_entries(
    problem: DoubleSparsePCA, support: NDArray, loadings: NDArray
) -> tuple[NDArray, list[float]]:
    """Return loadings on the support with at most s entries, and the objectives on the way to them."""
    block = np.asarray(problem.gram.subgram(support), dtype=np.float64)
    sparse, values = sparse_loadings(
        block, np.asarray(loadings[support], dtype=np.float64), problem.n_entries
    )
    return spread(sparse, support, problem.gram), [-value for value in values]
