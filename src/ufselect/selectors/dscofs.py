"""DSCOFS: feature selection by double-sparsity constrained PCA."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from sklearn.utils.validation import check_is_fitted

from ufselect.gram import GramOperator, RowLayout, Spectrum
from ufselect.selectors.base import PAPER_REGULARISERS, Columns, Fitted, Groups
from ufselect.selectors.choice import choose
from ufselect.selectors.convergence import run_attributes
from ufselect.selectors.dimension import component_spectrum
from ufselect.selectors.dscofs_steps import (
    build_problem,
    check_parameters,
    components_asked,
    solve,
    starting_point,
    unit_norms,
)
from ufselect.selectors.entries import warn_if_entries_cannot_bind
from ufselect.selectors.gram_selector import GramSelector
from ufselect.selectors.graph_start import graph_start
from ufselect.selectors.progress import FitProgress
from ufselect.selectors.wishes import Wanted
from ufselect.solvers import DoubleSparsePCA, SolverResult
from ufselect.solvers.dscofs.start import Start, given_start
from ufselect.solvers.row_sparse.certificates import bound_from_spectrum, optimality_gap, optimality_message


class DSCOFS(GramSelector):
    r"""Select features by double-sparsity constrained PCA.

    Set ``n_features_to_select`` and, if you know how many groups or directions to expect, ``n_components``;
    ignore the rest. The other parameters are for repeating published experiments.

    It finds an orthonormal loading matrix X (n_features × n_components) that captures as much variance as
    possible while few rows (features) and few entries are non-zero [1]_:

    .. math::

        \min_{X}\; -\mathrm{Tr}(X^\top S X) \quad\text{s.t.}\quad
        X^\top X = I,\; \|X\|_{2,0} \le r,\; \|X\|_0 \le s,

    with S the scatter matrix of the centred data. The two sparsity constraints are penalised with an
    entry-sparse copy Y (weight ``mu_entry``) and a row-sparse copy Z (weight ``mu_row``), and X, Y and Z are
    updated in turn. Features are ranked by the row norms of X.

    Each iteration costs one product with S and one step back to orthonormal columns: 2 d² m operations for
    d ≤ n features, 4 n d m otherwise, and d m² more. The whole fit takes about the time of a PCA.

    Use it when features are many and correlated and the leading principal components carry the structure.
    It sees linear structure only, and features with a large unit dominate, as in PCA: standardise first
    unless units are comparable.

    Parameters
    ----------
    n_features_to_select : int or float, default=0.1
        Number r of features, or their share.
    n_components : int or "auto", default="auto"
        Number m of components. ``"auto"`` keeps a component while its share of the variance is larger than
        that of a piece of a stick broken at random.
    entry_sparsity : "auto", float, int or None, default="auto"
        Entries of X to keep: with ``"auto"`` 0.4 of the r·m entries of as many rows as are selected, a share
        α of all d·m, their number s, or None for no entry constraint. It has an effect only if s < r·m. A
        share of d·m, as in [1]_, has none where few features are selected; of 0.2, 0.4, 0.6, 0.8 and all of
        the r·m entries, 0.4 gave the best clusters.
    mu_entry, mu_row : float, default=0.1 and 0.01
        Penalties μ₁ and μ₂ on the distance to the entry-sparse and row-sparse sets.
    penalty_scale : {"relative", "absolute"}, default="relative"
        Whether penalties and ``tau`` are in units of the largest eigenvalue of S, so that they mean the same
        on every data set, or absolute as in [1]_.
    tau : float, default=1e-3
        Proximal weight of all three steps.
    init : {"pca", "random", "graph"} or ndarray of shape (n_features, n_components), default="pca"
        Start: the leading PCA loadings, the best of ``n_init`` random orthonormal matrices as in [1]_,
        loadings that predict the smooth vectors of the graph of neighbours in the whitened scores, or a
        matrix with orthonormal columns. For large penalties the result is largely that of the start, and
        the graph's serves clusters better than the others.
    n_init : int, default=10
        Number of random starting points to choose from.
    x_solver : {"auto", "power", "rotated", "newton", "pencf"}, default="auto"
        How X is updated: one power step, extrapolated once steps have become small; a power step turned to
        the best basis of its span, which takes far fewer steps where the penalties are small beside the
        eigenvalues; a few steps of a Riemannian trust-region method; the exact penalty method of [1]_ run to
        convergence; or, with ``"auto"``, one of the two power steps by the size of the penalties. With the
        default penalties that is the plain one.
    mode : {"penalty", "constrained"}, default="penalty"
        Whether the sparsity constraints are penalised, as in [1]_, or met exactly.

        .. deprecated:: 0.1
           ``"constrained"`` goes in version 0.2; use :class:`ConstrainedDSCOFS`.
    max_iter : int, default=100
        Most iterations to make.
    tol : float, default=1e-3
        Stop once the relative decrease of the objective is at most this. The default is that of [1]_. It
        stops early: 1 to 44 of 100 features still change on the way to the settled selection, which
        ``tol=1e-7`` with ``max_iter=1000`` reaches.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random start.
    verbose : bool, default=False
        Log each iteration.
    keep, exclude : sequence of str or int, default=None
        Columns, by name or index, that are selected in any case, or never. Excluded columns have no part in
        the fit.
    groups : sequence or dict, default=None
        One label per column, None for a column of its own; or names of groups with their columns. A group is
        selected whole or not at all, and counts as one feature.
    max_correlation : float, default=None
        A column whose absolute correlation with a better one exceeds this waits until no other is left. Sets
        of identical columns are then listed in ``duplicates_``, for data in memory.

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
        ``‖X − Z‖`` as "row" and ``‖X − Y‖`` as "entry".
    objective_history_ : ndarray
        Objective at the start and after each iteration, in units of the data squared; non-increasing.
    n_iter_ : int
        Number of iterations.
    converged_ : bool
        Whether the relative decrease fell to ``tol`` within ``max_iter``. See ``tol`` for what that means.

    References
    ----------
    .. [1] X. Xiu, A. Yang, C. Huang, X. Li, W. Liu, "Enhancing unsupervised feature selection via double
       sparsity constrained optimization", arXiv:2501.00726, 2025. doi:10.48550/arXiv.2501.00726

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from ufselect import DSCOFS
    >>> pixels = load_digits().data
    >>> selector = DSCOFS(n_features_to_select=20, n_components=10).fit(pixels)
    >>> selector.transform(pixels).shape
    (1797, 20)
    """

    copies_wide_data = False
    label = "DSCOFS"
    cost = "n d² + iterations · d² m (tall), iterations · n d m (wide)"
    order = 140
    honours = frozenset({"keep", "groups"})
    feature_axes: ClassVar = {
        "components_": 1,
        "row_sparse_components_": 1,
        "entry_sparse_components_": 1,
    }
    paper_grid: ClassVar = {
        "mu_entry": PAPER_REGULARISERS,
        "mu_row": PAPER_REGULARISERS,
        "entry_sparsity": tuple(round(0.1 * k, 1) for k in range(1, 10)),
        "penalty_scale": ("absolute",),
        "init": ("random",),
    }

    components_: NDArray
    row_sparse_components_: NDArray
    entry_sparse_components_: NDArray
    n_components_: int
    n_entries_: int
    constraint_residuals_: dict[str, float]
    _selected_scatter: NDArray
    _variance_bound: float
    objective_history_: NDArray
    n_iter_: int
    converged_: bool

    def __init__(
        self,
        n_features_to_select: int | float = 0.1,
        *,
        n_components: int | str = "auto",
        entry_sparsity: float | int | str | None = "auto",
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
        keep: Columns | None = None,
        exclude: Columns | None = None,
        groups: Groups | None = None,
        max_correlation: float | None = None,
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
        self.keep = keep
        self.exclude = exclude
        self.groups = groups
        self.max_correlation = max_correlation

    def _check_parameters(self) -> None:
        check_parameters(self)

    def _fit_known(
        self,
        X: Any,
        layout: RowLayout | None,
        gram: GramOperator,
        wanted: Wanted,
        progress: FitProgress,
    ) -> Fitted:
        if not isinstance(self.init, str) or self.init != "graph":
            return self._fit_gram(gram, wanted, progress)
        n_components = component_spectrum(gram, self.n_components).values.size
        point = graph_start(X, gram, n_components)
        start = given_start(point, gram.shape[0], n_components, gram.dtype)
        return self._fit_gram(gram, wanted, progress, start)

    def _fit_gram(
        self, gram: GramOperator, wanted: Wanted, progress: FitProgress, start: Start | None = None
    ) -> Fitted:
        spectrum = component_spectrum(gram, components_asked(self))
        problem = build_problem(self, gram, spectrum, wanted)
        if self.entry_sparsity is not None and not isinstance(self.entry_sparsity, str):
            n_rows = wanted.agenda.capacity
            warn_if_entries_cannot_bind(problem.n_entries, n_rows, spectrum.values.size, gram.shape[0])
        result = solve(self, problem, start or starting_point(self, gram, spectrum, wanted), progress)
        run = run_attributes("DSCOFS", result, gram.scale)
        return _fitted(gram, spectrum, problem, result, run, wanted)

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
        return optimality_gap(
            float(self.explained_variance_ratio_.sum(dtype=np.float64)), self._variance_bound
        )

    @property
    def optimality_message_(self) -> str:
        """What the gap means, as in "within 3.1 % of the best possible"."""
        return optimality_message(self.optimality_gap_)


def _fitted(
    gram: GramOperator,
    spectrum: Spectrum,
    problem: DoubleSparsePCA,
    result: SolverResult,
    run: dict[str, Any],
    wanted: Wanted,
) -> Fitted:
    state, scores = result.state, unit_norms(result, wanted.units)
    choice = choose(scores, wanted, lambda: gram)
    selected = np.flatnonzero(choice.support)
    n_selected = selected.size
    n_components = spectrum.values.size
    trace = gram.trace()
    bound = bound_from_spectrum(spectrum, gram.diag(), n_selected, min(n_components, n_selected))
    return Fitted(
        scores,
        {
            "components_": state.X.T,
            "row_sparse_components_": state.Z.T,
            "entry_sparse_components_": state.Y.T,
            "n_components_": n_components,
            "n_entries_": problem.n_entries,
            "_selected_scatter": gram.subgram(selected) / trace,
            "_variance_bound": bound / trace,
            "constraint_residuals_": dict(result.residuals),
            **run,
        },
        choice=choice,
    )
