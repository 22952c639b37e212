"""The steps of a DSCOFS run, for a selector's parameters: what one fit and a whole path have in common."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ufselect.common.checks import check_choice, check_nonnegative, check_positive_int
from ufselect.common.seeds import generator
from ufselect.common.warn import warn_user
from ufselect.gram import GramOperator, Spectrum
from ufselect.selectors.entries import check_entry_sparsity, resolve_entry_count
from ufselect.selectors.progress import FitProgress
from ufselect.selectors.wishes import Wanted
from ufselect.sets.units import Units
from ufselect.solvers import DoubleSparsePCA, ProximalAlternatingMinimisation, SolverResult, iterate
from ufselect.solvers.dscofs.pam import onset_for
from ufselect.solvers.dscofs.start import Start, best_random_start, given_start, pca_start
from ufselect.solvers.dscofs.x_steps import X_SOLVER_NAMES, make_x_solver
from ufselect.solvers.row_sparse.constrained import solve_constrained


def check_parameters(selector: Any) -> None:
    """Refuse bad parameters of a DSCOFS selector."""
    for name in ("mu_entry", "mu_row", "tau", "tol"):
        check_nonnegative(name, getattr(selector, name))
    for name in ("max_iter", "n_init"):
        check_positive_int(name, getattr(selector, name))
    check_choice("penalty_scale", selector.penalty_scale, ("relative", "absolute"))
    check_choice("x_solver", selector.x_solver, X_SOLVER_NAMES)
    check_choice("mode", selector.mode, ("penalty", "constrained"))
    if selector.mode == "constrained":
        warn_user(
            'mode="constrained" goes in version 0.2; use ConstrainedDSCOFS, which also says whether its '
            "result is proven to be the best.",
            FutureWarning,
        )
    if isinstance(selector.init, str):
        check_choice("init", selector.init, ("pca", "random", "graph"))
    check_entry_sparsity(selector.entry_sparsity)


def components_asked(selector: Any) -> int | str:
    """Return ``n_components``, or the width of a starting matrix when it is ``"auto"``."""
    is_auto = isinstance(selector.n_components, str) and selector.n_components == "auto"
    if is_auto and not isinstance(selector.init, str) and np.ndim(selector.init) == 2:
        return int(np.shape(selector.init)[1])
    return selector.n_components


def _check_weights(selector: Any, unit: float, dtype: np.dtype) -> None:
    """Refuse penalties whose products with themselves leave the range of the data's type.

    Raises
    ------
    ValueError
        With the parameter and its limit.
    """
    largest = float(np.finfo(dtype).max) ** 0.4  # its square leaves a fifth of the range for sums
    for name in ("mu_row", "mu_entry", "tau"):
        if not getattr(selector, name) * unit < largest:
            raise ValueError(
                f"{name}={getattr(selector, name)} leaves nothing of the data beside it; "
                f"choose it below {largest / unit:.0e}."
            )


def build_problem(selector: Any, gram: GramOperator, spectrum: Spectrum, wanted: Wanted) -> DoubleSparsePCA:
    """Return the problem in units of the operator."""
    unit = float(spectrum.values[0]) if selector.penalty_scale == "relative" else 1 / gram.scale / gram.scale
    _check_weights(selector, unit, gram.dtype)
    return DoubleSparsePCA(
        gram=gram,
        n_rows=wanted.n_selected,
        n_entries=resolve_entry_count(
            selector.entry_sparsity, gram.shape[0], spectrum.values.size, wanted.agenda.capacity
        ),
        mu_row=selector.mu_row * unit,
        mu_entry=0.0 if selector.entry_sparsity is None else selector.mu_entry * unit,
        tau=selector.tau * unit,
        memory=selector.tau,
        unit=unit,
        leading_variance=float(spectrum.values.mean()),
        rules=wanted.rules,
    )


def starting_point(selector: Any, gram: GramOperator, spectrum: Spectrum, wanted: Wanted) -> Start:
    """Return the start that ``init`` names or gives."""
    n_components = spectrum.values.size
    if not isinstance(selector.init, str):
        start = given_start(selector.init, wanted.n_features, n_components, gram.dtype)
        return start.on(wanted.columns) if wanted.excludes else start
    if selector.init == "random":
        return best_random_start(gram, n_components, selector.n_init, generator(selector.random_state))
    if selector.init == "graph":
        raise ValueError(
            'init="graph" needs rows in memory to find neighbours among: fit to an array or a sample of '
            'rows, or use init="pca".'
        )
    return pca_start(spectrum)


def solve(
    selector: Any, problem: DoubleSparsePCA, start: Start, progress: FitProgress | None = None
) -> SolverResult:
    """Solve the penalised or the constrained problem, as ``mode`` says."""
    if selector.mode == "constrained":
        return solve_constrained(
            problem, start, x_solver=selector.x_solver, max_iter=selector.max_iter, callback=progress
        )
    x_solver = make_x_solver(selector.x_solver, problem)
    method = ProximalAlternatingMinimisation(problem, start, x_solver, onset_for(selector.tol))
    return iterate(method, max_iter=selector.max_iter, tol=selector.tol, callback=progress)


def unit_norms(result: SolverResult, units: Units) -> NDArray:
    """Return the score of each feature: the norm of its row of X, or of all rows of its group."""
    rows = np.linalg.norm(result.state.X, axis=1)
    return rows if units.is_single else np.sqrt(units.of_rows(units.sums(np.square(rows))))
