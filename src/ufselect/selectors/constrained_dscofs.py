"""DSCOFS with its constraints met exactly."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ufselect.common.warn import warn_user
from ufselect.exceptions import InactiveConstraintWarning
from ufselect.gram import GramOperator, Spectrum
from ufselect.selectors.base import Columns, Fitted, Groups
from ufselect.selectors.choice import choose
from ufselect.selectors.convergence import run_attributes
from ufselect.selectors.dimension import component_spectrum
from ufselect.selectors.dscofs import DSCOFS
from ufselect.selectors.dscofs_steps import (
    build_problem,
    check_parameters,
    components_asked,
    starting_point,
    unit_norms,
)
from ufselect.selectors.entries import warn_if_entries_cannot_bind
from ufselect.selectors.gram_selector import GramSelector
from ufselect.selectors.progress import FitProgress
from ufselect.selectors.wishes import Wanted
from ufselect.solvers import SolverResult
from ufselect.solvers.leading import leading_pairs
from ufselect.solvers.row_sparse.certificates import (
    bound_from_spectrum,
    of_units,
    optimality_gap,
    optimality_message,
)
from ufselect.solvers.row_sparse.constrained import solve_constrained


class ConstrainedDSCOFS(GramSelector):
    r"""Select features by PCA with exactly r non-zero rows and s non-zero entries, and say how good it is.

    .. math::

        \max_{X}\; \mathrm{Tr}(X^\top S X) \quad\text{s.t.}\quad
        X^\top X = I,\; \|X\|_{2,0} \le r,\; \|X\|_0 \le s,

    with S the scatter matrix of the centred data: the problem that :class:`DSCOFS` penalises [1]_. From its
    default penalties on, these grow until X is close to its sparse copies. Rows, or groups of them, are then
    exchanged until no single exchange carries more variance; on up to 50 features branch and bound goes on
    until they are proven to be the best, or for 500 nodes. Where s is below r·m, the loadings on these rows
    are turned towards sparsity and cut.

    Rows are exchanged by solving r eigenproblems of order r a round, so that a fit takes seconds for a
    hundred features, where :class:`DSCOFS` takes a fraction of one.

    Use it when the loadings themselves are wanted, sparse and orthonormal, or a guarantee on the variance
    that the features carry.

    Parameters
    ----------
    n_features_to_select : int or float, default=0.1
        Number r of features, or their share.
    n_components : int or "auto", default="auto"
        Number m of components, at most r. ``"auto"`` keeps a component while its share of the variance
        is larger than that of a piece of a stick broken at random, and takes r where that asks for more.
    entry_sparsity : float, int or None, default=None
        Entries of X to keep: a share α of all d·m, their number s, or None for no entry constraint. It can
        bind only if s < r·m.
    init : {"pca", "random"} or ndarray of shape (n_features, n_components), default="pca"
        Start: the leading PCA loadings, the best of ``n_init`` random orthonormal matrices, or a matrix with
        orthonormal columns.
    n_init : int, default=10
        Number of random starting points to choose from.
    max_iter : int, default=100
        Most iterations to make for each value of the penalties.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random start.
    verbose : bool, default=False
        Log each value of the penalties.
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
        Row norms of X, zero for features that are not selected; larger is better.
    ranking_ : ndarray of shape (n_features,)
        Rank of each feature, 1 for the best.
    support_ : ndarray of shape (n_features,)
        Mask of the selected features.
    components_ : ndarray of shape (n_components, n_features)
        The transpose of X.
    n_components_, n_entries_ : int
        The m and s used.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        Variance along each of the leading principal axes of the selected features alone, as a share of the
        total variance of all features.
    optimality_gap_ : float
        Upper bound on the share of the best possible objective that X misses: no feasible matrix carries more
        than :math:`\mathrm{Tr}(X^\top SX)` divided by one minus this. 0 if X is proven to be optimal.
    optimality_message_ : str
        The same in words, such as "within 3.1 % of the best possible".
    is_proven_optimal_ : bool
        Whether no feasible matrix carries more, up to rounding.
    constraint_residuals_ : dict
        Distances of X to the row-sparse and to the entry-sparse matrices, "row" and "entry"; both are 0.
    objective_history_ : ndarray
        :math:`-\mathrm{Tr}(X^\top SX)` after each improvement of rows or loadings, in units of the data
        squared; non-increasing.
    n_iter_ : int
        Number of iterations over all values of the penalties.
    converged_ : bool
        Always True: the search ends when it finds no improvement.

    References
    ----------
    .. [1] X. Xiu, A. Yang, C. Huang, X. Li, W. Liu, "Enhancing unsupervised feature selection via double
       sparsity constrained optimization", arXiv:2501.00726, 2025. doi:10.48550/arXiv.2501.00726

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from ufselect import ConstrainedDSCOFS
    >>> wine = scale(load_wine().data)
    >>> selector = ConstrainedDSCOFS(n_features_to_select=4, n_components=2).fit(wine)
    >>> selector.is_proven_optimal_
    True
    """

    copies_wide_data = False
    label = "DSCOFS, constrained"
    cost = "n d² + iterations · d² m + rounds · (r d m + r⁴)"
    order = 145
    honours = frozenset({"keep", "groups"})
    on_request = True  # a fit takes seconds, where that of DSCOFS takes milliseconds

    components_: NDArray
    n_components_: int
    n_entries_: int
    explained_variance_ratio_: NDArray
    optimality_gap_: float
    optimality_message_: str
    is_proven_optimal_: bool
    constraint_residuals_: dict[str, float]
    objective_history_: NDArray
    n_iter_: int
    converged_: bool

    def __init__(
        self,
        n_features_to_select: int | float = 0.1,
        *,
        n_components: int | str = "auto",
        entry_sparsity: float | int | None = None,
        init: str | NDArray = "pca",
        n_init: int = 10,
        max_iter: int = 100,
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
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose
        self.keep = keep
        self.exclude = exclude
        self.groups = groups
        self.max_correlation = max_correlation

    def _check_parameters(self) -> None:
        check_parameters(self._penalised())

    def _fit_gram(self, gram: GramOperator, wanted: Wanted, progress: FitProgress) -> Fitted:
        penalised = self._penalised()
        spectrum = component_spectrum(gram, components_asked(penalised))
        if isinstance(self.n_components, str):
            spectrum = spectrum.head(wanted.units.fewest_rows(wanted.n_selected))
        problem = build_problem(penalised, gram, spectrum, wanted)
        m = spectrum.values.size
        if self.entry_sparsity is not None:
            n_rows = wanted.units.most_rows(wanted.n_selected)
            warn_if_entries_cannot_bind(problem.n_entries, n_rows, m, gram.shape[0])
        start = starting_point(penalised, gram, spectrum, wanted)
        result = solve_constrained(problem, start, max_iter=self.max_iter, callback=progress)
        scores = unit_norms(result, wanted.units)
        _warn_if_filled_up(scores, wanted.n_selected)
        choice = choose(scores, wanted, lambda: gram, ties=gram.diag())
        selected = gram.subgram(np.flatnonzero(choice.support))
        return Fitted(
            scores,
            {
                "components_": result.state.X.T,
                "n_components_": m,
                "n_entries_": problem.n_entries,
                "explained_variance_ratio_": np.clip(leading_pairs(selected, m).values, 0, None)
                / gram.trace(),
                "constraint_residuals_": dict(result.residuals),
                **_optimality(gram, spectrum, wanted, result),
                **run_attributes("ConstrainedDSCOFS", result, gram.scale),
            },
            choice=choice,
        )

    def _penalised(self) -> DSCOFS:
        """Return the selector whose penalties the search begins with."""
        return DSCOFS(
            self.n_features_to_select,
            n_components=self.n_components,
            entry_sparsity=self.entry_sparsity,
            init=self.init,
            n_init=self.n_init,
            max_iter=self.max_iter,
            random_state=self.random_state,
        )


def _warn_if_filled_up(scores: NDArray, n_selected: int) -> None:
    """Warn that loadings rest on fewer features than are selected."""
    n_loaded = int(np.count_nonzero(scores))
    if n_loaded < n_selected:
        warn_user(
            f"The loadings rest on {n_loaded} features; the other {n_selected - n_loaded} selected ones are "
            "those of largest variance and add nothing to them: ask for fewer features, or for more "
            "components or entries.",
            InactiveConstraintWarning,
        )


def _optimality(
    gram: GramOperator, spectrum: Spectrum, wanted: Wanted, result: SolverResult
) -> dict[str, Any]:
    """Return what the bounds say of a result among all with as many features or groups."""
    units = wanted.units
    certificate = bound_from_spectrum(
        of_units(spectrum, units), units.sums(gram.diag()), wanted.n_selected, spectrum.values.size
    )
    gap = optimality_gap(-result.state.objective, min(certificate, result.state.bound))
    return {
        "optimality_gap_": gap,
        "optimality_message_": optimality_message(gap),
        "is_proven_optimal_": gap == 0,
    }
