"""ConstrainedDSCOFS: sparsity constraints met exactly, and a bound on the distance to the optimum."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator, minres

from ufselect._columns import SelectionRequest, choose
from ufselect._solver.iterate import Callback, SolverResult, Status, iterate, run_attributes
from ufselect._utils.validation import warn_user
from ufselect.base import FitResult
from ufselect.dscofs.algorithm import (
    EARLY_ONSET,
    DoubleSparsePCA,
    ProximalAlternatingMinimisation,
    Start,
    barzilai_borwein,
    constraint_residuals,
    make_x_step,
    optimality_gap,
    optimality_message,
    variance_bound,
)
from ufselect.dscofs.estimator import DoubleSparseSelector, row_norms
from ufselect.dscofs.row_search import loadings_on, search_rows, spread
from ufselect.exceptions import InactiveConstraintWarning
from ufselect.gram import GramOperator
from ufselect.gram.spectrum import leading_pairs, orthonormality_defect, polar_factor, rotate_towards

# Smaller relative gains do not show in the reported variance. Every loop here ends once it gains no more; the
# numbers of rounds are safeguards.
LEAST_GAIN = 1e-6


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
        bound = min(bound, variance_bound(spectrum, diagonal, request, m))
        gap = optimality_gap(-history[-1], bound)
        result = SolverResult(X, np.asarray(history), n_iter, Status.CONVERGED)
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
        if max(constraint_residuals(result.state).values()) <= 0.01 * np.sqrt(start.point.shape[1]):
            break
        start = Start(result.state.X, result.state.product, is_informed=True)
        problem = replace(problem, mu_row=4 * problem.mu_row, mu_entry=4 * problem.mu_entry)
    return result.state.X, n_iter


def sparse_loadings(S: NDArray, loadings: NDArray, n_entries: int) -> tuple[NDArray, list[float]]:
    r"""Return orthonormal X with few entries and a large ``Tr(XᵀSX)``, and the values of each improvement.

    Every rotation of the loadings carries the same variance, so the one whose largest entries hold most of
    its length comes first, as in SPCArt (Hu and others 2016, IEEE Trans. Neural Netw. Learn. Syst. 27). X is
    then moved to a nearby orthonormal matrix within the pattern of these entries and improved there, and the
    pattern is set again after a power step, as long as that helps. The other start is a matrix whose columns
    have no common rows, which always exists.

    S is that of the rows at hand; the loadings have orthonormal columns, at most ``n_entries`` of them.
    """
    apart = disjoint_columns(S, sparse_rotation(loadings, loadings.shape[0]), n_entries)
    X = ascend(S, apart, _widened(S, apart, n_entries))
    values = [variance(S, apart), variance(S, X)]
    for start in (sparse_rotation(loadings, n_entries), _power_step(S, X)):
        last = 0.0
        for _ in range(5):
            trial = _feasible(start, n_entries)
            if trial is None:
                break
            trial = ascend(S, trial, _widened(S, trial, n_entries))
            value = variance(S, trial)
            if value > values[-1]:
                X = trial
                values.append(value)
            if value <= last * (1 + LEAST_GAIN):
                break
            last = value
            start = _power_step(S, trial)
    return X, values


def variance(S: NDArray, X: NDArray) -> float:
    """Return ``Tr(XᵀSX)``."""
    return float(np.vdot(X, S @ X))


def _power_step(S: NDArray, X: NDArray) -> NDArray:
    """Return the power step, rotated to be as near to X as its span allows."""
    return rotate_towards(polar_factor(S @ X), X)


def largest_pattern(X: NDArray, n_entries: int) -> NDArray:
    """Mark the largest entries, first the largest of each column, so that no column is empty."""
    weights = np.abs(X)
    weights[weights.argmax(axis=0), np.arange(X.shape[1])] += weights.max() + 1
    flat = np.zeros(X.size, dtype=bool)
    flat[np.argsort(-weights.ravel(), kind="stable")[:n_entries]] = True
    return flat.reshape(X.shape)


def _widened(S: NDArray, X: NDArray, n_entries: int) -> NDArray:
    """Return X's pattern and, up to ``n_entries``, the entries in which ``SX`` is largest."""
    weights = np.abs(S @ X)
    weights[X != 0] += weights.max() + 1
    return largest_pattern(weights, n_entries)


def sparse_rotation(X: NDArray, n_entries: int) -> NDArray:
    """Return a rotation of X's columns whose ``n_entries`` largest entries hold much of its length."""
    rotation = np.eye(X.shape[1])
    kept = 0.0
    for _ in range(100):
        turned = X @ rotation
        cut = turned * largest_pattern(turned, n_entries)
        length = float(np.vdot(cut, cut))
        if length <= kept * (1 + LEAST_GAIN):
            break
        kept = length
        rotation = polar_factor(X.T @ cut)
    return turned


def disjoint_columns(S: NDArray, X: NDArray, n_entries: int) -> NDArray:
    """Return orthonormal columns without common rows; X says which column a row joins.

    Each column is the leading eigenvector of its rows.
    """
    n_rows, m = X.shape
    weights = np.abs(X)
    taken = np.full(n_rows, -1)
    for column in range(m):  # every column first gets the free row that weighs most in it
        free = np.flatnonzero(taken < 0)
        taken[free[weights[free, column].argmax()]] = column
    rows = np.argsort(-weights.max(axis=1), kind="stable")
    rows = rows[taken[rows] < 0][: max(min(n_entries, n_rows) - m, 0)]
    taken[rows] = weights.argmax(axis=1)[rows]
    result = np.zeros((n_rows, m))
    for column in range(m):
        members = np.flatnonzero(taken == column)
        # The whole decomposition: the climb that follows is sensitive to the last digits of a shorter one.
        result[members, column] = leading_pairs(S[np.ix_(members, members)], members.size).vectors[:, 0]
    return result


def _feasible(X: NDArray, n_entries: int) -> NDArray | None:
    """Return orthonormal columns in the pattern of X's largest entries, or of fewer if there are none."""
    for share in (1.0, 0.8, 0.6, 0.4, 0.2):
        pattern = largest_pattern(X, max(X.shape[1], int(share * n_entries)))
        near = X
        for _ in range(200):  # project on the matrices with the pattern and on the orthonormal ones in turn
            projected = polar_factor(near * pattern)
            if float(np.abs(projected - near).max()) <= LEAST_GAIN:
                break
            near = projected
        found = restore(near, pattern)
        if found is not None:
            return found
    return None


def restore(X: NDArray, pattern: NDArray) -> NDArray | None:
    r"""Return orthonormal columns near X with entries in the pattern only, or None if there seem to be none.

    Newton's method on :math:`X^\top X = I`: the smallest correction inside the pattern is
    :math:`-\Omega \circ (X\Lambda)` with a symmetric :math:`\Lambda` that solves a linear system of the
    size of the constraints.
    """
    X = X * pattern
    for _ in range(30):  # it converges quadratically or not at all
        defect = orthonormality_defect(X)
        size = float(np.abs(defect).max())
        if size <= 1e-13:
            return X
        if not size < 1e3:
            return None
        X = X - pattern * (X @ _multiplier(X, pattern, defect))
    return None


def ascend(S: NDArray, X: NDArray, pattern: NDArray) -> NDArray:
    """Increase ``Tr(XᵀSX)`` over orthonormal matrices with the pattern, from a feasible X.

    Projected gradient steps of Barzilai and Borwein's length, shortened until they gain.
    """
    value = variance(S, X)
    # The largest row sum bounds the largest eigenvalue, the curvature of the objective.
    step = 1 / max(float(np.abs(S).sum(axis=1).max()), float(np.finfo(np.float64).tiny))
    longest = 1e12 * step  # longer steps leave the neighbourhood of any X
    last: tuple[NDArray, NDArray] | None = None
    for _ in range(100):
        ascent = pattern * (S @ X)
        mixed = X.T @ ascent
        direction = ascent - pattern * (X @ _multiplier(X, pattern, mixed + mixed.T))
        if last is not None:
            step = barzilai_borwein(X - last[0], direction - last[1], longest)
        for shortening in range(12):  # to some 1e-7 of the step's length
            trial = restore(X + 0.25**shortening * step * direction, pattern)
            reached = -np.inf if trial is None else variance(S, trial)
            if reached > value:
                break
        if trial is None or not reached > value:
            break
        last = X, direction
        X, gain, value = trial, reached - value, reached
        if gain <= LEAST_GAIN * abs(value):
            break
    return X


def _multiplier(X: NDArray, pattern: NDArray, right: NDArray) -> NDArray:
    r"""Solve :math:`X^\top D + D^\top X = right`, :math:`D = \Omega \circ (X\Lambda)`, for symmetric Λ.

    Column j of :math:`X^\top D` is :math:`X^\top \mathrm{diag}(\Omega_j) X` times column j of Λ.
    """
    m = X.shape[1]
    blocks = (pattern.T[:, None, :] * X.T) @ X
    diagonal = np.diagonal(blocks, axis1=1, axis2=2)
    diagonal = (diagonal + diagonal.T).ravel()
    diagonal = np.where(diagonal > 0, diagonal, 1.0)  # two columns without common rows need no correction

    def apply(flat: NDArray) -> NDArray:
        mixed = np.matmul(blocks, flat.reshape(m, m, 1))[:, :, 0]
        return (mixed + mixed.T).ravel()

    shape = (m * m, m * m)
    solution, _ = minres(  # if no Λ solves the system, a least-squares one
        LinearOperator(shape, matvec=apply, dtype=np.float64),
        right.ravel(),
        rtol=1e-12,  # below the defect that counts as zero after one more Newton step
        maxiter=300,  # without rounding it needs at most m²
        M=LinearOperator(shape, matvec=lambda flat: flat / diagonal, dtype=np.float64),
    )
    square = solution.reshape(m, m)
    return 0.5 * (square + square.T)
