"""DSCOFS: feature selection by double-sparsity constrained PCA."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from sklearn.utils.validation import check_is_fitted

from ufselect.common.seeds import generator
from ufselect.gram import GramOperator, Spectrum, gram_operator
from ufselect.selectors.base import PAPER_REGULARISERS, Fitted, UnsupervisedSelector
from ufselect.selectors.checks import (
    check_choice,
    check_entry_sparsity,
    check_nonnegative,
    check_positive_int,
    resolve_entry_count,
    warn_if_entries_cannot_bind,
)
from ufselect.selectors.convergence import run_attributes
from ufselect.selectors.dimension import component_spectrum
from ufselect.selectors.progress import FitProgress
from ufselect.sets.largest import mask_of_largest
from ufselect.solvers import (
    DoubleSparsePCA,
    ProximalAlternatingMinimisation,
    SolverResult,
    iterate,
)
from ufselect.solvers.dscofs.pam import onset_for
from ufselect.solvers.dscofs.start import Start, best_random_start, given_start, pca_start
from ufselect.solvers.dscofs.x_steps import X_SOLVER_NAMES, make_x_solver
from ufselect.solvers.row_sparse.certificates import bound_from_spectrum, optimality_gap, optimality_message
from ufselect.solvers.row_sparse.constrained import solve_constrained


class DSCOFS(UnsupervisedSelector):
    r"""Select features by double-sparsity constrained PCA.

    Finds an orthonormal loading matrix X (n_features × n_components) that captures as much variance as
    possible while few rows (features) and few entries are non-zero [1]_:

    .. math::

        \min_{X}\; -\mathrm{Tr}(X^\top S X) \quad\text{s.t.}\quad
        X^\top X = I,\; \|X\|_{2,0} \le r,\; \|X\|_0 \le s,

    with S the scatter matrix of the centred data. The two sparsity constraints are penalised with an
    entry-sparse copy Y (weight ``mu_entry``) and a row-sparse copy Z (weight ``mu_row``), and X, Y and Z are
    updated in turn. Features are ranked by the row norms of X.

    Each iteration costs one product with S and a polar decomposition: 2 d² m operations for d ≤ n features,
    4 n d m otherwise, and d m² more. The whole fit takes about the time of a PCA.

    Use it when features are many and correlated and the leading principal components carry the structure.
    It sees linear structure only, and features with a large unit dominate, as in PCA: standardise first
    unless units are comparable.

    Parameters
    ----------
    n_features_to_select : int or float, default=0.1
        Number r of features, or their share.
    n_components : int or "auto", default="auto"
        Number m of components. ``"auto"`` applies the broken-stick rule to the eigenvalues of S.
    entry_sparsity : float, int or None, default=0.1
        Entries of X to keep: a share α of all d·m (on fewer than ten features the default share is raised
        to one entry a component), their number s, or None for no entry constraint. It can bind only if
        s < r·m.
    mu_entry, mu_row : float, default=0.1 and 0.01
        Penalties μ₁ and μ₂ on the distance to the entry-sparse and row-sparse sets.
    penalty_scale : {"relative", "absolute"}, default="relative"
        Whether penalties and ``tau`` are in units of the largest eigenvalue of S, so that they mean the same
        on every data set, or absolute as in [1]_.
    tau : float, default=1e-3
        Proximal weight of all three steps.
    init : {"pca", "random"} or ndarray of shape (n_features, n_components), default="pca"
        Start: the leading PCA loadings, the best of ``n_init`` random orthonormal matrices as in [1]_, or a
        matrix with orthonormal columns. For large penalties the result is largely that of the start.
    n_init : int, default=10
        Number of random starting points to choose from.
    x_solver : {"auto", "power", "rotated", "newton", "pencf"}, default="auto"
        How X is updated: one power step, extrapolated once steps have become small; a power step turned to
        the best basis of its span, which takes far fewer steps where the penalties are small beside the
        eigenvalues; a few steps of a Riemannian trust-region method; the exact penalty method of [1]_ run to
        convergence; or, with ``"auto"``, one of the two power steps by the size of the penalties. With the
        default penalties that is the plain one.
    mode : {"penalty", "constrained"}, default="penalty"
        Whether the sparsity constraints are penalised, as in [1]_, or met exactly: the penalties then grow
        until X, Y and Z agree, and X is polished to an orthonormal matrix with at most r non-zero rows and at
        most s non-zero entries. Rows are exchanged until no single exchange carries more variance, which
        takes r eigenproblems of order r a round; where the entry constraint binds, the loadings on them are
        then turned towards sparsity and cut. ``tol`` is not used.
    max_iter : int, default=100
        Most iterations to make; in constrained mode, for each value of the penalties.
    tol : float, default=1e-3
        Stop once the relative decrease of the objective is at most this. The default is that of [1]_. It
        stops early: some 6 to 22 of 100 features still change on the way to the settled selection, which
        ``tol=1e-7`` with ``max_iter=1000`` reaches to within two features; early stopping does not
        make the selection worse for clustering.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random start.
    verbose : bool, default=False
        Log each iteration.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Row norms of X; larger is better.
    ranking_ : ndarray of shape (n_features,)
        Rank of each feature, 1 for the best.
    support_ : ndarray of shape (n_features,)
        Mask of the selected features.
    components_ : ndarray of shape (n_components, n_features)
        The transpose of X.
    row_sparse_components_, entry_sparse_components_ : ndarray of shape (n_components, n_features)
        The transposes of Z and Y.
    n_components_, n_entries_ : int
        The m and s used.
    explained_variance_ratio_ : ndarray of shape (min(n_components, n_selected),)
        Variance along each of the leading principal axes of the selected features alone, as a share of the
        total variance of all features.
    optimality_gap_ : float
        Upper bound on the share of variance lost: no selection of as many features carries, along as many
        orthonormal axes, more than the selected features' variance divided by one minus this.
    optimality_message_ : str
        The same in words, such as "within 3.1 % of the best possible".
    constraint_residuals_ : dict
        ``‖X − Z‖`` as "row" and ``‖X − Y‖`` as "entry"; zero in constrained mode.
    objective_history_ : ndarray
        Objective at the start and after each iteration, in units of the data squared; non-increasing. In
        constrained mode the constrained objective after each improvement of the polish.
    n_iter_ : int
        Number of iterations.
    converged_ : bool
        Whether the relative decrease fell to ``tol`` within ``max_iter``. See ``tol`` for what that means.

    References
    ----------
    .. [1] X. Xiu, A. Yang, C. Huang, X. Li, W. Liu, "Enhancing unsupervised feature selection via double
       sparsity constrained optimization".

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from ufselect import DSCOFS
    >>> pixels = load_digits().data
    >>> selector = DSCOFS(n_features_to_select=20, n_components=10).fit(pixels)
    >>> selector.transform(pixels).shape
    (1797, 20)
    """

    accepts_sparse = True
    reduces_to = "gram"
    label = "DSCOFS"
    cost = "n d² + iterations · d² m (tall), iterations · n d m (wide)"
    paper_grid: ClassVar = {
        "mu_entry": PAPER_REGULARISERS,
        "mu_row": PAPER_REGULARISERS,
        "entry_sparsity": tuple(round(0.1 * k, 1) for k in range(1, 10)),
    }

    def __init__(
        self,
        n_features_to_select: int | float = 0.1,
        *,
        n_components: int | str = "auto",
        entry_sparsity: float | int | None = 0.1,
        mu_entry: float = 0.1,
        mu_row: float = 0.01,
        penalty_scale: str = "relative",
        tau: float = 1e-3,
        init: str | NDArray = "pca",
        n_init: int = 10,
        x_solver: str = "auto",
        mode: str = "penalty",
        max_iter: int = 100,
        tol: float = 1e-3,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.n_components = n_components
        self.entry_sparsity = entry_sparsity
        self.mu_entry = mu_entry
        self.mu_row = mu_row
        self.penalty_scale = penalty_scale
        self.tau = tau
        self.init = init
        self.n_init = n_init
        self.x_solver = x_solver
        self.mode = mode
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose

    def _fit(self, X: Any, n_selected: int, progress: FitProgress) -> Fitted:
        self._check_parameters()
        gram = gram_operator(X, copy=False)
        spectrum = component_spectrum(gram, self._given_n_components())
        problem = self._problem(gram, spectrum, n_selected)
        if self.entry_sparsity is not None:
            warn_if_entries_cannot_bind(problem.n_entries, n_selected, spectrum.values.size, X.shape[1])
        result = self._solve(problem, self._start(gram, spectrum), progress)
        run = run_attributes("DSCOFS", result, gram.scale)
        return self._fitted(gram, spectrum, problem, result, run)

    def _check_parameters(self) -> None:
        check_nonnegative("mu_entry", self.mu_entry)
        check_nonnegative("mu_row", self.mu_row)
        check_nonnegative("tau", self.tau)
        check_nonnegative("tol", self.tol)
        check_positive_int("max_iter", self.max_iter)
        check_positive_int("n_init", self.n_init)
        check_choice("penalty_scale", self.penalty_scale, ("relative", "absolute"))
        check_choice("x_solver", self.x_solver, X_SOLVER_NAMES)
        check_choice("mode", self.mode, ("penalty", "constrained"))
        if isinstance(self.init, str):
            check_choice("init", self.init, ("pca", "random"))
        check_entry_sparsity(self.entry_sparsity)

    def _given_n_components(self) -> int | str:
        """Return the parameter, or the width of a starting matrix when it is ``"auto"``."""
        if not isinstance(self.init, str) and self.n_components == "auto" and np.ndim(self.init) == 2:
            return int(np.shape(self.init)[1])
        return self.n_components

    def _problem(self, gram: GramOperator, spectrum: Spectrum, n_selected: int) -> DoubleSparsePCA:
        n_components = spectrum.values.size
        n_entries = resolve_entry_count(self.entry_sparsity, gram.shape[0], n_components)
        unit = float(spectrum.values[0]) if self.penalty_scale == "relative" else 1 / gram.scale / gram.scale
        return DoubleSparsePCA(
            gram=gram,
            n_rows=n_selected,
            n_entries=n_entries,
            mu_row=self.mu_row * unit,
            mu_entry=0.0 if self.entry_sparsity is None else self.mu_entry * unit,
            tau=self.tau * unit,
            memory=self.tau,
            unit=unit,
            leading_variance=float(spectrum.values.mean()),
        )

    def _start(self, gram: GramOperator, spectrum: Spectrum) -> Start:
        n_components = spectrum.values.size
        if not isinstance(self.init, str):
            return given_start(self.init, gram.shape[0], n_components, gram.dtype)
        if self.init == "random":
            return best_random_start(gram, n_components, self.n_init, generator(self.random_state))
        return pca_start(spectrum)

    def _solve(self, problem: DoubleSparsePCA, start: Start, progress: FitProgress | None) -> SolverResult:
        if self.mode == "constrained":
            return solve_constrained(
                problem, start, x_solver=self.x_solver, max_iter=self.max_iter, callback=progress
            )
        x_solver = make_x_solver(self.x_solver, problem)
        method = ProximalAlternatingMinimisation(problem, start, x_solver, onset_for(self.tol))
        return iterate(method, max_iter=self.max_iter, tol=self.tol, callback=progress)

    @property
    def explained_variance_ratio_(self) -> NDArray:
        """Share of the total variance along each leading principal axis of the selected features.

        Worked out when asked for: it would be a fair part of the time of a small fit.
        """
        check_is_fitted(self, "support_")
        values = linalg.eigvalsh(self._selected_scatter, check_finite=False)[::-1]
        return np.clip(values[: self.n_components_], 0, None)

    @property
    def optimality_gap_(self) -> float:
        """Share of the best possible variance that the selected features may miss, at most."""
        check_is_fitted(self, "support_")
        spectrum, diagonal, trace = self._bound_parts
        n_selected = int(np.count_nonzero(self.support_))
        bound = bound_from_spectrum(spectrum, diagonal, n_selected, min(self.n_components_, n_selected))
        return optimality_gap(float(self.explained_variance_ratio_.sum(dtype=np.float64)), bound / trace)

    @property
    def optimality_message_(self) -> str:
        """What the gap means, as in "within 3.1 % of the best possible"."""
        return optimality_message(self.optimality_gap_)

    def _fitted(
        self,
        gram: GramOperator,
        spectrum: Spectrum,
        problem: DoubleSparsePCA,
        result: SolverResult,
        run: dict[str, Any],
    ) -> Fitted:
        state = result.state
        scores = np.linalg.norm(state.X, axis=1)
        selected = np.flatnonzero(mask_of_largest(scores, problem.n_rows))
        trace = gram.trace()
        return Fitted(
            scores,
            {
                "components_": state.X.T,
                "row_sparse_components_": state.Z.T,
                "entry_sparse_components_": state.Y.T,
                "n_components_": state.X.shape[1],
                "n_entries_": problem.n_entries,
                "_selected_scatter": gram.subgram(selected) / trace,
                "_bound_parts": (spectrum, gram.diag(), trace),
                "constraint_residuals_": dict(result.residuals),
                **run,
            },
        )
