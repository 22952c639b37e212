"""DSCOFS: feature selection by double-sparsity constrained PCA."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from sklearn.utils.validation import check_is_fitted

from ufselect._columns import SelectionRequest, Units, choose
from ufselect._solver.iterate import SolverResult, iterate, run_attributes
from ufselect._utils.validation import generator, seed_from, warn_user
from ufselect.base import (
    AT_LEAST_ONE,
    NON_NEGATIVE,
    FitProgress,
    FitResult,
    GramSelector,
    Interval,
    RealNotInt,
    StrOptions,
)
from ufselect.dscofs.algorithm import (
    EARLY_ONSET,
    LATE_ONSET,
    DoubleSparsePCA,
    PamState,
    ProximalAlternatingMinimisation,
    Start,
    best_random_start,
    constraint_residuals,
    given_start,
    make_x_step,
    optimality_gap,
    optimality_message,
    pca_start,
    penalty_unit,
    variance_bound,
)  # fmt: skip
from ufselect.dscofs.guide import MAX_PARTIAL_CORRELATION, MIN_RELATIVE_SCORE, GuidedGram, guided_gram
from ufselect.exceptions import InactiveConstraintWarning
from ufselect.gram import GramOperator, Spectrum
from ufselect.gram.spectrum import EXACT, component_spectrum, polar_factor

SINGLE_TOL = 1e-6  # the smallest relative decrease of the objective that float32 resolves


class DoubleSparseSelector(GramSelector):
    """What `DSCOFS` and `ConstrainedDSCOFS` share: components, problem and start."""

    copies_wide_data = False
    supports = frozenset({"keep", "feature_groups"})

    n_components: int | str
    entry_sparsity: float | int | str | None
    init: str | NDArray
    n_init: int
    max_iter: int
    random_state: Any
    # Parameters of DSCOFS; the penalties that ConstrainedDSCOFS begins with.
    penalty_scale: str = "relative"
    mu_entry: float = 0.1
    mu_row: float = 0.01
    tau: float = 1e-3
    tol: float = 0.0

    _parameter_constraints: ClassVar = {
        "entry_sparsity": [
            AT_LEAST_ONE,
            Interval(RealNotInt, 0, 1, closed="right"),
            StrOptions({"auto"}),
            None,
        ],
        "init": [StrOptions({"pca", "random"}), "array-like"],
        "n_init": [AT_LEAST_ONE],
    }

    def _spectrum(self, gram: GramOperator) -> Spectrum:
        """Return the leading eigenpairs, with ``"auto"`` as many as a given start has columns."""
        count = self.n_components
        if isinstance(count, str) and count == "auto" and np.ndim(self.init) == 2:
            count = int(np.shape(self.init)[1])
        # As accurate as the tolerance of the iterations requires.
        return component_spectrum(gram, count, min(max(self.tol, 2e-6), 4e-4) if self.tol else EXACT)

    def _problem(self, gram: GramOperator, spectrum: Spectrum, request: SelectionRequest) -> DoubleSparsePCA:
        """Return the problem in units of the operator."""
        penalties = {name: float(getattr(self, name)) for name in ("mu_row", "mu_entry", "tau")}
        unit = penalty_unit(gram, spectrum, penalties, is_relative=self.penalty_scale == "relative")
        n_rows = request.units.most_rows(request.n_selected)
        return DoubleSparsePCA(
            gram=gram,
            rules=request,
            n_entries=entry_count(self.entry_sparsity, gram.shape[0], spectrum.values.size, n_rows),
            mu_row=penalties["mu_row"] * unit,
            mu_entry=0.0 if self.entry_sparsity is None else penalties["mu_entry"] * unit,
            tau=penalties["tau"] * unit,
            memory=penalties["tau"],
            unit=unit,
            leading_variance=float(spectrum.values.mean()),
        )

    def _warn_if_entries_are_free(self, n_entries: int, n_components: int, request: SelectionRequest) -> None:
        """Warn if every matrix with as many non-zero rows meets the entry constraint."""
        n_rows = request.units.most_rows(request.n_selected)
        is_given = self.entry_sparsity is not None and not isinstance(self.entry_sparsity, str)
        if is_given and n_entries >= n_rows * n_components:
            warn_user(
                f"The entry constraint has no effect: {n_entries} entries are allowed and {n_rows} features "
                f"have {n_rows * n_components}. Set entry_sparsity below "
                f"{n_rows / request.columns.size:.3g}, or to None to drop the constraint.",
                InactiveConstraintWarning,
            )

    def _start(self, gram: GramOperator, spectrum: Spectrum, request: SelectionRequest) -> Start:
        """Return the start that ``init`` names, or the given one."""
        n_components = spectrum.values.size
        if not isinstance(self.init, str):
            start = given_start(request.table.numbers("init", self.init), n_components, gram.dtype)
            return Start(polar_factor(start.point[request.columns])) if request.excludes else start
        if self.init == "random":
            return best_random_start(gram, n_components, self.n_init, generator(self.random_state))
        return pca_start(spectrum)


def entry_count(
    entry_sparsity: float | int | str | None, n_features: int, n_components: int, n_rows: int
) -> int:
    """Return s, how many entries of the loadings with ``n_rows`` non-zero rows are kept."""
    total = n_features * n_components
    if entry_sparsity is None:
        return total
    if isinstance(entry_sparsity, str):
        # Of shares 0.2, 0.4, 0.6, 0.8 and 1, 0.4 gave the best clusters on fifteen labelled sets.
        return max(n_components, round(0.4 * n_rows * n_components))
    if isinstance(entry_sparsity, Integral):
        count = int(entry_sparsity)
    else:
        count = int(np.floor(entry_sparsity * total * (1 + 1e-12)))  # so that 0.1 · 30 is 3
    if count < n_components:
        raise ValueError(
            f"entry_sparsity={entry_sparsity} keeps {count} of the {total} entries of the loading matrix; "
            f"{n_components} orthonormal columns need at least {n_components}: raise entry_sparsity."
        )
    if count > total:
        raise ValueError(
            f"entry_sparsity={entry_sparsity} is more than the {total} entries of the loading matrix; "
            f"use at most {total}, or None."
        )
    return count


def row_norms(X: NDArray, units: Units) -> NDArray:
    """Return the score of each feature: the norm of its row of X, or of all rows of its group."""
    norms = np.linalg.norm(X, axis=1)
    return norms if units.is_single else np.sqrt(units.of_rows(units.sums(np.square(norms))))


@dataclass(kw_only=True, eq=False, repr=False)
class DSCOFS(DoubleSparseSelector):
    r"""Select features by double-sparsity constrained PCA.

    Use it for features that carry the variance of the leading principal components, on large, sparse or
    streaming data. It may select redundant features. Features with a large unit dominate, as in PCA:
    standardise first unless units are comparable.

    Set ``n_features_to_select`` and, if you know how many clusters or directions to expect, ``n_components``;
    the other parameters serve to repeat published experiments.

    Parameters
    ----------
    {n_features_to_select}
    {n_components}
        With ``guide="graph"``, the number of its vectors: one less than the number of clusters. At least five
        are used, unless the number is given and the eigenvalues of the graph clearly end with it.
    guide : None, "graph" or array-like of shape (n_samples, n_vectors), default=None
        What the selected features should show of the rows. ``"graph"``, for clusters: the smoothest vectors
        of the graph of neighbours in whitened principal-component scores. An array holds vectors of your own,
        such as an embedding, indicators of classes, or a covariate; only the span of its columns matters.
        It belongs to the rows of one fit, so a selector with an array cannot be cross-validated.
    entry_sparsity : "auto", float, int or None, default="auto"
        Non-zero entries of X: ``"auto"`` for 0.4 of the r·m entries of r rows, a share α of all d·m entries,
        their number s, or None for no entry constraint. It has an effect only if s < r·m; a share of d·m, as
        in [1]_, has none if few features are selected.
    mu_entry, mu_row : float, default=0.1 and 0.01
        Penalties μ₁ and μ₂ on the distance to the entry-sparse and row-sparse sets.
    penalty_scale : {"relative", "absolute"}, default="relative"
        Whether penalties and ``tau`` are in units of the largest eigenvalue of S, so that they mean the same
        on every data set, or absolute as in [1]_.
    tau : float, default=1e-3
        Proximal weight of all three steps.
    init : {"pca", "random"} or ndarray of shape (n_features, n_components), default="pca"
        Start: the leading PCA loadings, the best of ``n_init`` random orthonormal matrices as in [1]_, or a
        matrix with orthonormal columns. With large penalties the result depends mostly on the start.
    n_init : int, default=10
        Number of random starts, of which the best is used.
    x_solver : {"auto", "power", "rotated", "pencf"}, default="auto"
        How X is updated: ``"power"``, one power step, extrapolated once steps have become small;
        ``"rotated"``, a power step rotated to the best basis of its span, which takes far fewer steps if the
        penalties are small compared with the eigenvalues; ``"pencf"``, the exact penalty method of [1]_ run
        to convergence (after 10,000 gradient steps in all, power steps follow); or ``"auto"``, "power" or
        "rotated" by the size of the penalties. With the default penalties that is "power".
    {max_iter}
    tol : float, default=1e-3
        Stop once the relative decrease of the objective is at most this. The default, that of [1]_, stops
        early: 1 to 42 of 100 features still change before the selection settles, which ``tol=1e-7`` with
        ``max_iter=1000`` reaches.
    max_samples : int, default=2000
        Maximum number of rows for ``guide="graph"``; if there are more, they are sampled.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random start and of the sample; None draws the same sample each time.
    {verbose}
    {constraints}

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Row norms of X; larger is better.
    {ranking_and_support}
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
        The largest share of the best possible variance that the selection can miss. The bound holds for every
        selection of as many features or groups, along as many orthonormal axes.
    optimality_message_ : str
        The same in words, such as "within 3.1 % of the best possible". With a guide, these three are about
        the guided table of the Notes.
    constraint_residuals_ : dict
        ``‖X − Z‖`` as "row" and ``‖X − Y‖`` as "entry".
    guide_vectors_ : ndarray of shape (n_rows, n_vectors)
        The orthonormal vectors used, and in ``guide_rows_`` the rows that they are for; None without a guide.
    guide_noise_ : ndarray of shape (n_features,)
        The standard deviation of what a guide leaves unexplained of each feature: w of the Notes, in the
        units of X; None without a guide.
    {iterations}

    See Also
    --------
    ConstrainedDSCOFS : Meets the sparsity constraints exactly and bounds the distance to the optimum; slower.
    dscofs_path : Fit for many numbers of features at once.
    AutoSelector : Selects by the guide and compares the selection with random columns.

    Notes
    -----
    DSCOFS finds an orthonormal loading matrix X (n_features × n_components) with as much variance as possible
    and few non-zero rows (features) and entries [1]_:

    .. math::

        \min_{X}\; -\mathrm{Tr}(X^\top S X) \quad\text{s.t.}\quad
        X^\top X = I,\; \|X\|_{2,0} \le r,\; \|X\|_0 \le s,

    with S the scatter matrix of the centred data. The two sparsity constraints are penalised with an
    entry-sparse copy Y (weight ``mu_entry``) and a row-sparse copy Z (weight ``mu_row``), and X, Y and Z are
    updated in turn. Features are ranked by the row norms of X.

    With a guide, S is the scatter matrix of the guided table

    .. math:: G = V^\top A\, \mathrm{diag}(w)^{-3/2}, \qquad w_j = \|(I - V V^\top) a_j\|,

    with A the centred data and V the guide, orthonormal and centred. A feature is skipped if its partial
    correlation, given V, with one of a higher rank exceeds 0.5. Such a fit costs a PCA, n² operations for the
    neighbours of at most ``max_samples`` rows, and iterations on a table with a row for each vector.

    An iteration costs one product with S, 2 d² m operations for d ≤ n features and 4 n d m otherwise, plus
    d m². The whole fit takes about the time of a PCA.

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

    label = "DSCOFS"
    cost = "n d² + iterations · d² m (tall), iterations · n d m (wide)"
    feature_axes: ClassVar = {
        "components_": 1,
        "row_sparse_components_": 1,
        "entry_sparse_components_": 1,
        "guide_noise_": 0,
    }
    optional_attributes = (
        *GramSelector.optional_attributes,
        "guide_vectors_",
        "guide_rows_",
        "guide_noise_",
    )

    guide_vectors_: NDArray = field(init=False)
    guide_rows_: NDArray = field(init=False)
    guide_noise_: NDArray = field(init=False)
    row_sparse_components_: NDArray = field(init=False)
    entry_sparse_components_: NDArray = field(init=False)
    n_entries_: int = field(init=False)
    constraint_residuals_: dict[str, float] = field(init=False)
    _selected_scatter: NDArray = field(init=False)
    _variance_bound: float = field(init=False)

    _parameter_constraints: ClassVar = {
        "guide": [StrOptions({"graph"}), "array-like", None],
        "max_samples": [AT_LEAST_ONE],
        "mu_entry": [NON_NEGATIVE],
        "mu_row": [NON_NEGATIVE],
        "penalty_scale": [StrOptions({"relative", "absolute"})],
        "tau": [NON_NEGATIVE],
        "x_solver": [StrOptions({"auto", "power", "rotated", "pencf"})],
    }

    n_components: int | str = "auto"
    guide: Any = None
    entry_sparsity: float | int | str | None = "auto"
    mu_entry: float = 0.1
    mu_row: float = 0.01
    penalty_scale: str = "relative"
    tau: float = 1e-3
    init: str | NDArray = "pca"
    n_init: int = 10
    x_solver: str = "auto"
    max_iter: int = 100
    tol: float = 1e-3
    max_samples: int = 2000
    random_state: Any = None
    verbose: bool = False

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.guide is None
        return tags

    @property
    def _goal(self) -> str:
        return "clusters" if isinstance(self.guide, str) else "reconstruct"

    def _needs_rows(self) -> bool:
        return super()._needs_rows() or self.guide is not None

    def _gram(self, request: SelectionRequest) -> GramOperator:
        if self.guide is None:
            return super()._gram(request)
        seed = 0 if self.random_state is None else seed_from(self.random_state)
        return guided_gram(request, self.guide, self.n_components, self.max_samples, seed)

    def _spectrum(self, gram: GramOperator) -> Spectrum:
        if not isinstance(gram, GuidedGram):
            return super()._spectrum(gram)
        count = self.n_components
        if isinstance(self.guide, str) or isinstance(count, str):
            count = gram.n_rows
        return gram.eigenpairs(count)

    def _ranked(
        self, scores: NDArray, request: SelectionRequest, gram: GramOperator
    ) -> tuple[NDArray, NDArray]:
        """Return ranking and support; with a guide, columns that go together beside it are skipped first."""
        if not isinstance(gram, GuidedGram):
            return choose(scores, request, lambda: gram)
        limited = replace(request, max_correlation=MAX_PARTIAL_CORRELATION)
        ranking, support = choose(scores, limited, lambda: gram.residual, least=MIN_RELATIVE_SCORE)
        if self.max_correlation is None:
            return ranking, support
        return choose(-ranking.astype(np.float64), request, lambda: request.gram)

    def _fit_gram(self, gram: GramOperator, request: SelectionRequest) -> FitResult:
        spectrum = self._spectrum(gram)
        n_components = spectrum.values.size
        problem = self._problem(gram, spectrum, request)
        self._warn_if_entries_are_free(problem.n_entries, n_components, request)
        result = self._solve(problem, self._start(gram, spectrum, request), request.progress)
        scores = row_norms(result.state.X, request.units)
        ranking, support = self._ranked(scores, request, gram)
        selected = np.flatnonzero(support)
        trace, n_axes = gram.trace(), min(n_components, selected.size)
        guide = {}
        if isinstance(gram, GuidedGram):
            guide = {"guide_vectors_": gram.vectors, "guide_rows_": gram.rows, "guide_noise_": gram.noise}
        return scores, {
            **guide,
            "ranking_": ranking,
            "support_": support,
            "components_": result.state.X.T,
            "row_sparse_components_": result.state.Z.T,
            "entry_sparse_components_": result.state.Y.T,
            "n_components_": n_components,
            "n_entries_": problem.n_entries,
            "constraint_residuals_": constraint_residuals(result.state),
            "_selected_scatter": gram.subgram(selected) / trace,
            "_variance_bound": variance_bound(spectrum, gram.diag(), request, n_axes) / trace,
            **run_attributes("DSCOFS", result, gram.scale),
        }

    def _solve(
        self, problem: DoubleSparsePCA, start: Start, progress: FitProgress | None = None
    ) -> SolverResult:
        # A tolerance of 1e-5 or less asks for a settled selection.
        onset = EARLY_ONSET if self.tol <= 1e-5 else LATE_ONSET
        if self.x_solver == "pencf":
            onset = 0.0  # X-steps solved to convergence are not steps of one smooth map

        def run(problem: DoubleSparsePCA, start: Start | PamState, first: int, tol: float) -> SolverResult:
            method = ProximalAlternatingMinimisation(
                problem, start, make_x_step(self.x_solver, problem), onset
            )
            report = None if progress is None else lambda number, value: progress(first + number, value)
            return iterate(method, max_iter=self.max_iter - first, tol=tol, callback=report)

        rough = self._single_problem(problem, start)
        if rough is None:
            return run(problem, start, 0, self.tol)
        quick = run(rough, start.astype(np.float32), 0, max(self.tol, 0.1 * SINGLE_TOL))
        state = quick.state.astype(problem.gram.dtype)
        reached = problem.objective(state.X, None, state.Y, state.Z)
        shift = reached - quick.objective_history[-1]
        if abs(shift) > 1e-5 * (problem.unit + abs(reached)):
            return run(problem, replace(start, product=None), 0, self.tol)  # float32 was too coarse
        if self.tol >= SINGLE_TOL:
            return replace(quick, state=state, objective_history=quick.objective_history + shift)
        exact = run(problem, state, quick.n_iter, self.tol)
        shift = exact.objective_history[0] - quick.objective_history[-1]
        return replace(
            exact,
            objective_history=np.append(quick.objective_history[:-1] + shift, exact.objective_history),
            n_iter=quick.n_iter + exact.n_iter,
        )

    def _single_problem(self, problem: DoubleSparsePCA, start: Start) -> DoubleSparsePCA | None:
        """Return the problem in float32, in which steps take half the time; None to stay in float64.

        float64 is needed if the penalties exceed the variance, or if columns that may be selected vary so
        little that their products are lost in the rounding of the largest. On small data, or in a run of a
        few steps, the change of precision takes longer than it saves.
        """
        gram = problem.gram
        n_features, n_components = start.point.shape
        n_vectors = n_components * (1 if self.tol > 1e-5 else 20)
        exceeds_variance = problem.mu_row + problem.mu_entry > n_components * problem.leading_variance
        if self.x_solver == "pencf" or exceeds_variance or not gram.pays_in_single(n_vectors):
            return None
        variances = np.sort(gram.diag())
        if variances[-min(problem.rules.n_selected, n_features)] < 1e-6 * variances[-1]:
            return None
        single = gram.single()
        return None if single is None else replace(problem, gram=single)

    @property
    def explained_variance_ratio_(self) -> NDArray:
        """Share of the total variance along each leading principal axis of the selected features.

        Computed on access, because it would take a large part of the time of a small fit.
        """
        check_is_fitted(self, "support_")
        values = linalg.eigvalsh(self._selected_scatter, check_finite=False)[::-1]
        return np.clip(values[: self.n_components_], 0, None)

    @property
    def optimality_gap_(self) -> float:
        """Largest share of the best possible variance that the selected features can miss."""
        captured = float(self.explained_variance_ratio_.sum(dtype=np.float64))
        return optimality_gap(captured, self._variance_bound)

    @property
    def optimality_message_(self) -> str:
        """What the gap means, as in "within 3.1 % of the best possible"."""
        return optimality_message(self.optimality_gap_)
