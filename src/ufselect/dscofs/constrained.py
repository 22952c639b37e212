"""ConstrainedDSCOFS: sparsity constraints met exactly, and a bound on the distance to the optimum."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ufselect._columns import SelectionRequest, Units, choose
from ufselect._solver.feature_sparse import (
    FeatureSparsePCA,
    loadings_on,
    proxy_diagonal,
    quotient_diagonal,
    spread,
)
from ufselect._solver.iterate import Callback, SolverResult, Status, iterate, run_attributes
from ufselect._solver.sets import project_entries, project_rows
from ufselect._utils.validation import warn_user
from ufselect.base import FitResult
from ufselect.dscofs.branch_and_bound import BranchAndBound
from ufselect.dscofs.estimator import DoubleSparseSelector, row_norms
from ufselect.dscofs.loadings import sparse_loadings
from ufselect.dscofs.pam import EARLY_ONSET, ProximalAlternatingMinimisation
from ufselect.dscofs.problem import (
    DoubleSparsePCA,
    optimality_gap,
    optimality_message,
    variance_bound,
)
from ufselect.dscofs.start import Start
from ufselect.dscofs.x_steps import make_x_step
from ufselect.exceptions import InactiveConstraintWarning
from ufselect.gram import GramOperator, Spectrum
from ufselect.gram.spectrum import leading_pairs, leading_sum

RELATIVE_GAIN = 1e-9  # smaller gains are rounding
SHORTLIST = 2  # rows or groups tried exactly in place of each removed one


@dataclass(kw_only=True, eq=False, repr=False)
class ConstrainedDSCOFS(DoubleSparseSelector):
    r"""Select features by PCA with at most r non-zero rows and s entries, with an optimality bound.

    Use it if you need the loadings themselves, sparse and orthonormal, or a guarantee on the variance of the
    selected features. A fit takes seconds for a hundred features, :class:`DSCOFS` a fraction of a second.

    Parameters
    ----------
    {n_features_to_select}
    {n_components}
        There can be at most r.
    entry_sparsity : float, int or None, default=None
        Non-zero entries of X: a share α of all d·m entries, their number s, or None for no entry constraint.
        It has an effect only if s < r·m.
    init : {"pca", "random"} or ndarray of shape (n_features, n_components), default="pca"
        Start, as in :class:`DSCOFS`.
    n_init : int, default=10
        Number of random starts, of which the best is used.
    max_iter : int, default=100
        Maximum number of iterations for each value of the penalties.
    {random_start}
    verbose : bool, default=False
        Log each value of the penalties.
    {constraints}

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Row norms of X, zero for features that are not selected; larger is better.
    {ranking_and_support}
    components_ : ndarray of shape (n_components, n_features)
        The transpose of X.
    n_components_, n_entries_ : int
        The m and s used.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        Variance along each of the leading principal axes of the selected features alone, as a share of the
        total variance of all features.
    optimality_gap_ : float
        Upper bound on the share of the best possible objective that X misses: no feasible matrix has more
        than :math:`\mathrm{Tr}(X^\top SX)` divided by one minus this. 0 if X is proven to be optimal.
    optimality_message_ : str
        The same in words, such as "within 3.1 % of the best possible".
    is_proven_optimal_ : bool
        Whether X is proven to be optimal, up to rounding.
    constraint_residuals_ : dict
        Distances of X to the row-sparse and to the entry-sparse matrices, "row" and "entry"; both are 0.
    objective_history_ : ndarray
        :math:`-\mathrm{Tr}(X^\top SX)` after each improvement of rows or loadings, in units of the data
        squared; non-increasing.
    n_iter_ : int
        Number of iterations over all values of the penalties.
    converged_ : bool
        Always True: the search ends when it finds no improvement.

    See Also
    --------
    DSCOFS : Faster; penalises the constraints instead of meeting them exactly.
    FSPCA : Limits the number of rows only; faster.

    Notes
    -----
    The problem is the one that :class:`DSCOFS` penalises [1]_,

    .. math::

        \max_{X}\; \mathrm{Tr}(X^\top S X) \quad\text{s.t.}\quad
        X^\top X = I,\; \|X\|_{2,0} \le r,\; \|X\|_0 \le s,

    with S the scatter matrix of the centred data. The penalties start at the defaults of :class:`DSCOFS` and
    grow until X is close to its sparse copies. Rows, or groups of them, are then exchanged until no single
    exchange gives more variance. On up to 50 features, branch and bound continues until they are proven to be
    the best, or for 500 nodes. If s is below r·m, the loadings on these rows are rotated towards sparsity and
    truncated. A round of exchanges solves r eigenproblems of order r.

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

    label = "DSCOFS, constrained"
    cost = "n d² + iterations · d² m + rounds · r² (d + r) m"

    n_entries_: int = field(init=False)
    explained_variance_ratio_: NDArray = field(init=False)
    optimality_gap_: float = field(init=False)
    optimality_message_: str = field(init=False)
    is_proven_optimal_: bool = field(init=False)
    constraint_residuals_: dict[str, float] = field(init=False)

    n_components: int | str = "auto"
    entry_sparsity: float | int | None = None
    init: str | NDArray = "pca"
    n_init: int = 10
    max_iter: int = 100
    random_state: Any = None
    verbose: bool = False

    def _fit_gram(self, gram: GramOperator, request: SelectionRequest) -> FitResult:
        units, diagonal = request.units, gram.diag()
        spectrum = self._spectrum(gram)
        fewest = units.fewest_rows(request.n_selected)
        if isinstance(self.n_components, str):
            spectrum = spectrum.head(fewest)
        m = spectrum.values.size
        if fewest < m:
            raise ValueError(
                f"{fewest} features cannot hold {m} orthonormal components; select at least {m} features or "
                "lower n_components."
            )
        problem = self._problem(gram, spectrum, request)
        self._warn_if_entries_are_free(problem.n_entries, m, request)
        start = self._start(gram, spectrum, request)
        agreed, n_iter = raise_penalties(problem, start, self.max_iter, request.progress)
        rows, history, bound = search_rows(problem, start, agreed)
        X = loadings_on(gram, rows, m)
        if problem.n_entries < rows.size * m:
            block = np.asarray(gram.subgram(rows), dtype=np.float64)
            few, values = sparse_loadings(block, np.asarray(X[rows], dtype=np.float64), problem.n_entries)
            X, history = spread(few, rows, gram), [-value for value in values]

        scores = row_norms(X, units)
        n_loaded = int(np.count_nonzero(scores))
        if n_loaded < request.n_selected:
            warn_user(
                f"Only {n_loaded} features have non-zero loadings; the other "
                f"{request.n_selected - n_loaded} are selected by their variance. Select fewer features, or "
                "use more components or entries.",
                InactiveConstraintWarning,
            )
        ranking, support = choose(scores, request, lambda: gram, ties=diagonal)
        selected = leading_pairs(gram.subgram(np.flatnonzero(support)), m)
        bound = min(bound, variance_bound(spectrum, diagonal, request.n_selected, m, units))
        gap = optimality_gap(-history[-1], bound)
        result = SolverResult(X, np.asarray(history), n_iter, {}, Status.CONVERGED)
        return scores, {
            "ranking_": ranking,
            "support_": support,
            "components_": X.T,
            "n_components_": m,
            "n_entries_": problem.n_entries,
            "explained_variance_ratio_": np.clip(selected.values, 0, None) / gram.trace(),
            "optimality_gap_": gap,
            "optimality_message_": optimality_message(gap),
            "is_proven_optimal_": gap == 0,
            "constraint_residuals_": {
                "row": float(np.linalg.norm(X - project_rows(X, problem.n_rows, rules=problem.rules)[0])),
                "entry": float(np.linalg.norm(X - project_entries(X, problem.n_entries)[0])),
            },
            **run_attributes("ConstrainedDSCOFS", result, gram.scale),
        }


def raise_penalties(
    problem: DoubleSparsePCA, start: Start, max_iter: int, callback: Callback | None = None
) -> tuple[NDArray, int]:
    """Return an X that is close to both of its sparse copies, and the iterations over all penalties."""
    least = 1e-3 * problem.unit  # a positive value to grow from
    problem = replace(problem, mu_row=max(problem.mu_row, least), mu_entry=max(problem.mu_entry, least))
    n_iter = 0
    for _ in range(12):  # a growth by seven orders of magnitude
        step = make_x_step("auto", problem)
        method = ProximalAlternatingMinimisation(problem, start, step, EARLY_ONSET)
        result = iterate(method, max_iter=max_iter, tol=1e-5)
        n_iter += result.n_iter
        if callback is not None:
            callback(n_iter, result.state.objective)
        if max(result.residuals.values()) <= 0.01 * np.sqrt(start.point.shape[1]):
            break
        start = Start(result.state.X, result.state.product, is_informed=True)
        problem = replace(problem, mu_row=4 * problem.mu_row, mu_entry=4 * problem.mu_entry)
    return result.state.X, n_iter


def search_rows(problem: DoubleSparsePCA, start: Start, X: NDArray) -> tuple[NDArray, list[float], float]:
    """Return the rows with the most variance, the objective of each improvement, and a bound.

    The entry constraint is not considered, so the best loadings on a support are eigenvectors. The supports
    of X, of the start, of the largest variances and a few random ones are improved by a proxy and by
    exchanges, the best of them further. On up to 50 features branch and bound follows, with up to 500 nodes;
    beyond, the bound is infinite.
    """
    gram, units, n_components = problem.gram, problem.units, X.shape[1]
    product = gram.matmat(start.point) if start.product is None else start.product
    # As many random supports as have 240 rows together, which bounds their time. The seed is fixed, and the
    # numbers follow the order of the norms, so that the order of columns does not matter.
    n_random = int(np.clip(240 // problem.n_rows, 1, 8))
    norms = gram.squared_column_norms()
    random = np.random.default_rng(20240917).random((n_random, gram.shape[0]))
    random = random[:, np.argsort(np.argsort(norms, kind="stable"))]
    # Standardised features have equal variances up to rounding; their ties are broken by the norms of S.
    variances = np.round(gram.diag() / gram.trace(), 9) + 1e-9 * norms / norms.max()

    supports = {}
    for scores in (np.einsum("ij,ij->i", X, X), proxy_diagonal(start.point, product), variances, *random):
        method = FeatureSparsePCA(gram, n_components, problem.n_rows, scores, problem.rules)
        features = iterate(method, max_iter=50, tol=RELATIVE_GAIN).state.features
        supports[tuple(features.tolist())] = features
    fixed = [] if problem.rules is None else problem.rules.kept.tolist()
    support, captured = max(
        (
            improve_by_exchanges(gram, supports[key], n_components, units, fixed, shortlist=SHORTLIST)
            for key in sorted(supports)
        ),
        key=lambda improved: improved[1],
    )
    history = [-captured]
    support, _ = improve_by_exchanges(
        gram, support, n_components, units, fixed, report=lambda value: history.append(-value)
    )
    if gram.shape[0] > 50:
        return support, history, np.inf
    proof = BranchAndBound(gram.to_dense(), problem.n_rows, n_components, units)
    support, captured, bound = proof.run(support, 500, fixed)
    return support, [*history, min(-captured, history[-1])], bound


def improve_by_exchanges(
    gram: GramOperator,
    support: NDArray,
    n_components: int,
    units: Units | None = None,
    fixed: Collection[int] = (),
    *,
    shortlist: int = 8,
    report: Callable[[float], None] | None = None,
) -> tuple[NDArray, float]:
    r"""Exchange single rows, or groups of rows, until no exchange helps; return the rows and their value.

    ``support`` has the rows of whole groups, and fixed groups are never removed. For each removed group the
    loadings of the remaining rows give a proxy whose diagonal :math:`q_j` bounds from below what a new row j
    adds; the groups with the largest sums, at first `SHORTLIST` and finally ``shortlist``, are tried exactly.
    """
    units = Units.single(gram.shape[0]) if units is None else units
    rows = np.sort(support)
    columns = np.array(gram.columns(rows), dtype=np.float64, order="F")
    pairs = leading_pairs(columns[rows], n_components)
    captured = leading_sum(columns[rows], n_components)
    tried = min(SHORTLIST, shortlist)
    is_large = rows.size > max(64, 4 * n_components)  # below, whole decompositions are no slower
    for _ in range(20):  # a safeguard: exchanges stop by themselves once none helps
        before = captured
        weights = np.bincount(units.codes[rows], pairs.vectors**2 @ np.maximum(pairs.values, 0), units.count)
        chosen = np.unique(units.codes[rows])
        for leaving in chosen[np.argsort(weights[chosen], kind="stable")].tolist():
            if leaving in fixed:
                continue
            stays = units.codes[rows] != leaving
            others, beside = rows[stays], columns.T[stays].T  # column-major
            block = beside[others]
            if is_large:
                rest = _ritz_pairs(block, pairs.vectors[stays], n_components)
                gains = quotient_diagonal(beside, rest)
            elif others.size:
                gains = quotient_diagonal(beside, leading_pairs(block, n_components))
            else:
                gains = gram.diag().astype(np.float64)
            gains = units.sums(gains)
            gains[np.unique(units.codes[rows])] = -np.inf
            entering = np.argsort(-gains)[: min(tried, units.count - chosen.size)]
            if entering.size == 0:
                continue
            candidates = np.concatenate([units.members(unit) for unit in entering])
            added = np.asarray(gram.columns(candidates), dtype=np.float64)
            edges, corners = added[others], added[candidates]
            for unit in entering:
                own = units.codes[candidates] == unit
                edge = edges[:, own]
                grown = np.block([[block, edge], [edge.T, corners[own][:, own]]])
                if is_large:
                    start = np.eye(len(grown), n_components + edge.shape[1], n_components - others.size)
                    start[: others.size, :n_components] = rest.vectors
                    found = _ritz_pairs(grown, start, n_components)
                    reached = float(found.values.sum())
                else:
                    reached = leading_sum(grown, n_components)
                if reached > captured * (1 + RELATIVE_GAIN):
                    captured, pairs = reached, found if is_large else pairs
                    rows = np.append(others, candidates[own])
                    columns = np.hstack([beside, added[:, own]])
        pairs = leading_pairs(columns[rows], n_components)
        captured = float(pairs.values.sum())
        if report is not None:
            report(captured)
        if captured <= before * (1 + RELATIVE_GAIN):
            if tried >= shortlist:
                break
            tried = shortlist
    return np.sort(rows), captured


def _ritz_pairs(matrix: NDArray, vectors: NDArray, count: int) -> Spectrum:
    """Return the leading eigenpairs within the span of some vectors and their images.

    If the vectors are eigenvectors of a matrix that differs by a row, this is nearly exact, and never an
    overestimate.
    """
    basis = np.linalg.qr(np.hstack([vectors, matrix @ vectors]))[0]
    values, rotation = np.linalg.eigh(basis.T @ matrix @ basis)
    return Spectrum(values[::-1][:count], basis @ rotation[:, ::-1][:, :count])
