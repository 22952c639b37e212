"""Eigenpairs of symmetric matrices, by LAPACK or Lanczos, how many to compute, and orthonormal columns."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse
from scipy.linalg import lapack
from scipy.sparse.linalg import ArpackError, ArpackNoConvergence, LinearOperator, eigsh

from ufselect.exceptions import ConstantDataError

if TYPE_CHECKING:
    from ufselect.gram.operator import GramOperator

LANCZOS_SEED = 20240917
EXACT = 1e-9  # residuals, relative to the eigenvalue, of pairs that depend on S alone
# When a Krylov space is exhausted, ARPACK continues from a random vector, which SciPy draws from ``rng``, or
# from fresh entropy if that is not given; before 1.17 it came from ARPACK's own constant seed.
_FIXED_RESTARTS: dict[str, Any] = (
    {"rng": LANCZOS_SEED} if "rng" in inspect.signature(eigsh).parameters else {}
)


@dataclass(frozen=True)
class Spectrum:
    """Leading eigenvalues, largest first, and their orthonormal eigenvectors as columns.

    Pairs that are zero to working precision are left out: fewer pairs than asked for means that the
    rank is reached. ``error`` is the share of itself by which an eigenvalue may be too small.
    """

    values: NDArray
    vectors: NDArray
    error: float = 0.0

    def head(self, count: int) -> Spectrum:
        """Return the first ``count`` pairs."""
        return Spectrum(self.values[:count], self.vectors[:, :count], self.error)


def leading_spectrum(matrix: NDArray | LinearOperator, count: int, tol: float = EXACT) -> Spectrum:
    """Return up to ``count`` leading eigenpairs of a positive semidefinite matrix or operator.

    Lanczos runs to residuals of ``tol`` times the eigenvalue, by default to full accuracy, so that the result
    does not depend on its start beyond rounding.
    """
    order = matrix.shape[0]
    # Clustered eigenvalues that need more restarts get a wider Krylov space.
    values, vectors = symmetric_pairs(matrix, min(count, order), maxiter=1000, tol=tol)
    values, vectors = values[::-1], vectors[:, ::-1]
    # For centred data of low rank, rounding leaves eigenvalues of up to 3 eps, whatever the order.
    cutoff = max(float(values[0]), 0.0) * min(order, 32) * np.finfo(values.dtype).eps
    rank = int(np.count_nonzero(values > cutoff))
    error = tol if tol > EXACT and order > 128 else 0.0
    return Spectrum(values[:rank], np.asfortranarray(vectors[:, :rank]), error)


def symmetric_pairs(
    matrix: Any,
    count: int,
    *,
    lowest: bool = False,
    dense_order: int = 128,
    dense_share: float = 0.25,
    **lanczos: Any,
) -> tuple[NDArray, NDArray]:
    """Return the largest eigenvalues of a symmetric matrix, or the lowest, ascending, and their vectors.

    Of an array only the lower triangle is read. ``dense_order`` is the order up to which, and ``dense_share``
    the share of all pairs from which on, the dense solver is faster; a ``LinearOperator`` would have to be
    formed for it, so the share is ignored there. ``lanczos`` are options of ``scipy.sparse.linalg.eigsh``,
    which must say how the lowest are found.
    """
    order = matrix.shape[0]
    is_operator = isinstance(matrix, LinearOperator)

    def dense() -> tuple[NDArray, NDArray]:
        formed = matrix @ np.eye(order) if is_operator else matrix
        formed = formed.toarray() if sparse.issparse(formed) else formed
        first = 0 if lowest else order - count
        return eigenpairs_between(formed, first, first + count - 1)

    if order <= dense_order or (count > dense_share * order and not is_operator) or count >= order - 1:
        return dense()
    try:
        values, vectors = lanczos_pairs(matrix, count, **lanczos)
    except ArpackNoConvergence:
        if sparse.issparse(matrix):
            return dense()
        # A wider Krylov space settles clustered eigenvalues that the default width cannot: twice ARPACK's
        # 2 k + 1, and room for clusters when k is small.
        wider = {"ncv": min(order - 1, 4 * count + 40), "maxiter": 10_000}
        values, vectors = lanczos_pairs(matrix, count, **{**lanczos, **wider})
    ascending = np.argsort(values, kind="stable")
    return values[ascending], vectors[:, ascending]


def eigenpairs_between(
    matrix: NDArray, first: int, last: int, *, metric: NDArray | None = None
) -> tuple[NDArray, NDArray]:
    """Return eigenvalues number ``first`` to ``last``, ascending and counted from 0, and their vectors.

    Only the lower triangle is read. With a positive definite ``metric`` B they are those of ``A v = λ B v``.
    LAPACK's drivers for part of a spectrum lose pairs, or fail, if many eigenvalues are equal, as in whitened
    data; then the driver for the whole spectrum is used.
    """
    count = last - first + 1
    try:
        values, vectors = linalg.eigh(matrix, metric, subset_by_index=[first, last], check_finite=False)
    except linalg.LinAlgError:
        values, vectors = np.empty(0), np.empty((0, 0))
    if values.size == count == vectors.shape[1] and np.isfinite(vectors).all():
        return values, vectors
    values, vectors = linalg.eigh(
        matrix, metric, driver="evd" if metric is None else "gvd", check_finite=False
    )
    return values[first : last + 1], vectors[:, first : last + 1]


def lanczos_pairs(matrix: Any, count: int, **options: Any) -> tuple[NDArray, NDArray]:
    """Return ``count`` eigenpairs by Lanczos' method, as ``scipy.sparse.linalg.eigsh`` with the same options.

    Start and restarts are fixed, so that the same matrix gives the same pairs.
    """
    order = matrix.shape[0]
    start = np.random.default_rng(LANCZOS_SEED).standard_normal(order).astype(matrix.dtype)
    try:
        return eigsh(matrix, k=count, v0=start, **options, **_FIXED_RESTARTS)
    except ArpackNoConvergence:
        raise
    except ArpackError:
        if np.any(matrix @ start):
            raise
        # A matrix that maps a random vector to zero is zero, and ARPACK has nothing to start from.
        return np.zeros(count, start.dtype), np.eye(order, count, dtype=start.dtype)


def suggest_n_components(values: NDArray, trace: float, order: int) -> int | None:
    r"""Return the number of components by the broken-stick rule, at least 1.

    Component k is kept while its share of the ``trace`` exceeds the expected share of the k-th longest piece
    of a stick broken at random into as many pieces as eigenvalues could differ from zero, the ``order`` p:
    :math:`\frac{1}{p}\sum_{i=k}^{p} 1/i` (Frontier 1976, J. Exp. Mar. Biol. Ecol. 25; Jackson 1993, Ecology
    74). None means that all values given, largest first, exceed their pieces, so that more are needed.
    """
    pieces = np.cumsum((1 / np.arange(1, order + 1))[::-1])[::-1] / order
    exceeds = values / trace > pieces[: values.size]
    if np.all(exceeds) and values.size < order:
        return None
    return max(1, int(np.argmin(np.append(exceeds, False))))


def component_spectrum(gram: GramOperator, n_components: int | str, tol: float = EXACT) -> Spectrum:
    """Return the leading eigenpairs, as many as ``n_components`` says, ``"auto"`` included.

    ``tol`` is that of `GramOperator.eigenpairs`.
    """
    limit = rank_limit(gram)
    if not isinstance(n_components, str):
        count = int(n_components)
        spectrum = gram.eigenpairs(min(count, limit), tol)
        rank = spectrum.values.size
        if rank < count:
            raise ValueError(
                f"n_components={count} is more than the rank {rank} of the centred data; use at most {rank}."
            )
        return spectrum
    trace, width = gram.trace(), 32  # more than most data keep
    while True:
        spectrum = gram.eigenpairs(min(width, limit), tol)
        suggested = suggest_n_components(spectrum.values, trace, limit)
        if suggested is not None or spectrum.values.size < min(width, limit):
            return spectrum.head(spectrum.values.size if suggested is None else suggested)
        width *= 3  # a flat spectrum: each round starts over, so a few wide ones are cheaper


def auto_n_components(gram: GramOperator) -> int:
    """Return the number of components by the broken-stick rule; see `suggest_n_components`."""
    return component_spectrum(gram, "auto").values.size


def rank_limit(gram: GramOperator) -> int:
    """Return an upper bound on the rank, refusing data without any variance."""
    limit = min(gram.n_samples - 1, int(np.count_nonzero(gram.diag() > 0)))
    if limit == 0:
        raise ConstantDataError
    return limit


def leading_pairs(matrix: NDArray, count: int) -> Spectrum:
    """Return the ``count`` largest eigenvalues of a symmetric matrix, at most all, and their eigenvectors.

    Unlike in ``GramOperator.eigenpairs``, zeros are included. Only the lower triangle is read.
    """
    order = matrix.shape[0]
    values, vectors = eigenpairs_between(matrix, max(order - count, 0), order - 1)
    return Spectrum(values[::-1], vectors[:, ::-1])


def leading_sum(matrix: NDArray, count: int) -> float:
    """Return the sum of the ``count`` largest eigenvalues of a positive semidefinite matrix."""
    order = matrix.shape[0]
    if count >= order:
        return float(np.trace(matrix))
    return float(linalg.eigvalsh(matrix, check_finite=False)[order - count :].sum())


def thin_gram(matrix: NDArray) -> NDArray:
    """Return XᵀX for few columns. The copy makes BLAS form a general product, which is far faster here."""
    return matrix.T @ matrix.copy(order="K")


def polar_factor(matrix: NDArray) -> NDArray:
    """Return the polar factor, the nearest matrix with orthonormal columns.

    For well-conditioned input the m × m Gram matrix gives it at the cost of two products; if that loses
    digits, one Newton–Schulz step squares the remaining error. Otherwise QR and the SVD of R are used.
    """
    if matrix.shape[1] == 0:
        return matrix  # no columns are orthonormal
    gram = thin_gram(matrix)
    # on small matrices this call takes two thirds of the time of NumPy's
    values, vectors, _ = (lapack.ssyevd if gram.dtype == np.float32 else lapack.dsyevd)(gram, lower=1)
    # Forming the Gram matrix squares the condition number; past 1/sqrt(eps) its digits are gone.
    eps = np.finfo(matrix.dtype).eps
    if not values[0] > values[-1] * np.sqrt(eps):
        q, r = linalg.qr(matrix, mode="economic", check_finite=False)
        u, _, vt = linalg.svd(r, check_finite=False)
        return q @ (u @ vt)
    root = (vectors / np.sqrt(values)) @ vectors.T
    polar = (root @ matrix.T).T  # column-major, the order in which Gram operators are applied fastest
    if values[0] < 1e-3 * values[-1]:  # above this ratio at most three digits are lost
        polar -= ((0.5 * orthonormality_defect(polar)) @ polar.T).T
    return polar


def rotate_towards(X: NDArray, target: NDArray) -> NDArray:
    """Return ``X polar(Xᵀ target)``, the orthonormal basis of X's span that is nearest to a target."""
    rotation = polar_factor(X.T @ target)
    return (rotation.T @ X.T).T  # column-major


def orthonormality_defect(matrix: NDArray) -> NDArray:
    r"""Return :math:`X^\top X - I`, zero for orthonormal columns."""
    gram = thin_gram(matrix)
    gram.flat[:: gram.shape[0] + 1] -= 1
    return gram


def is_orthonormal(matrix: NDArray, tol: float) -> bool:
    """Tell whether the columns are orthonormal to within ``tol``."""
    return bool(np.abs(orthonormality_defect(matrix)).max(initial=0.0) <= tol)


def random_orthonormal(n_rows: int, n_columns: int, rng: np.random.Generator) -> NDArray:
    """Draw a matrix with orthonormal columns, the Q factor of a Gaussian one."""
    q, _ = np.linalg.qr(rng.standard_normal((n_rows, n_columns)))
    return q
