"""Leading eigenpairs of a Gram operator, and the number of components they suggest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator

from ufselect.common.eigen import eigenpairs_between, lanczos_pairs

# Below this order, or when a fair share of all pairs is asked for, the dense solver is the faster one.
DENSE_ORDER = 128
DENSE_SHARE = 0.25
LANCZOS_MAX_ITER = 1000  # restarts; clustered eigenvalues that need more get a wider Krylov space
LANCZOS_TOL = 1e-9  # of the residual, relative to the eigenvalue


@dataclass(frozen=True)
class Spectrum:
    """Leading eigenvalues, largest first, and their orthonormal eigenvectors as columns.

    Pairs that are zero to working precision are left out: fewer pairs than asked for means that the
    rank is reached.
    """

    values: NDArray
    vectors: NDArray

    def head(self, count: int) -> Spectrum:
        """Return the first ``count`` pairs."""
        return Spectrum(self.values[:count], self.vectors[:, :count])


def symmetric_eigenpairs(matrix: NDArray | LinearOperator, count: int) -> Spectrum:
    """Return up to ``count`` leading eigenpairs of a positive semidefinite matrix or operator.

    Lanczos starts from a fixed vector and runs to full accuracy, so the result is deterministic and does
    not depend on that vector beyond rounding.
    """
    order = matrix.shape[0]
    count = min(count, order)
    formed = isinstance(matrix, np.ndarray)
    if order <= DENSE_ORDER or (formed and count > DENSE_SHARE * order) or count >= order - 1:
        values, vectors = _dense_eigenpairs(matrix if formed else matrix @ np.eye(order), count)
    else:
        values, vectors = _lanczos_eigenpairs(matrix, count)
    values, vectors = values[::-1], vectors[:, ::-1]
    cutoff = max(float(values[0]), 0.0) * order * np.finfo(values.dtype).eps
    rank = int(np.count_nonzero(values > cutoff))
    return Spectrum(values[:rank], np.asfortranarray(vectors[:, :rank]))


def _dense_eigenpairs(matrix: NDArray, count: int) -> tuple[NDArray, NDArray]:
    order = matrix.shape[0]
    return eigenpairs_between(matrix, order - count, order - 1)


def _lanczos_eigenpairs(matrix: NDArray | LinearOperator, count: int) -> tuple[NDArray, NDArray]:
    try:
        return lanczos_pairs(matrix, count, maxiter=LANCZOS_MAX_ITER, tol=LANCZOS_TOL)
    except ArpackNoConvergence:
        # A wider Krylov space settles clustered eigenvalues that the default width cannot.
        # Twice ARPACK's default of 2 k + 1, and room for clusters when k is small.
        width = min(matrix.shape[0] - 1, 4 * count + 40)
        return lanczos_pairs(matrix, count, ncv=width, maxiter=10 * LANCZOS_MAX_ITER, tol=LANCZOS_TOL)


def suggest_n_components(values: NDArray, trace: float, order: int) -> int | None:
    r"""Apply the broken-stick rule to leading eigenvalues.

    Component k is kept while its share of the variance exceeds the expected share of the k-th longest
    piece of a stick broken at random into ``order`` pieces,
    :math:`\frac{1}{p}\sum_{i=k}^{p} 1/i` [1]_, [2]_.

    Parameters
    ----------
    values : ndarray
        Leading eigenvalues, largest first.
    trace : float
        Sum of all eigenvalues.
    order : int
        Number p of eigenvalues that could differ from zero.

    Returns
    -------
    int or None
        The number of components, at least 1, or None if every value given exceeds its piece, so that
        more values are needed.

    References
    ----------
    .. [1] S. Frontier (1976), "Étude de la décroissance des valeurs propres dans une analyse en
       composantes principales: comparaison avec le modèle du bâton brisé", J. Exp. Mar. Biol. Ecol. 25.
    .. [2] D. A. Jackson (1993), "Stopping rules in principal components analysis: a comparison of
       heuristical and statistical approaches", Ecology 74(8).
    """
    pieces = np.cumsum((1 / np.arange(1, order + 1))[::-1])[::-1] / order
    exceeds = values / trace > pieces[: values.size]
    if np.all(exceeds) and values.size < order:
        return None
    return max(1, int(np.argmin(np.append(exceeds, False))))
