r"""The quadratic :math:`\mathrm{Tr}(W^\top M W)` and the lowest eigenvectors of M plus a diagonal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from ufselect.gram import FactoredGram, GramOperator
from ufselect.solvers.davidson import lowest_eigenvectors, lowest_through_inverse

DIRECT_ORDER = 1500
FORMED_ORDER = 4000
WIDE_RANGE = 1e3
RELATIVE_MARGIN = 0.01
GUARD_SHARE = 0.5
MIN_GUARDS = 4
GUARD_SEED = 20240917


class Quadratic(Protocol):
    """A symmetric matrix M as the reweighted eigenproblem needs it."""

    @property
    def order(self) -> int:
        """Number of rows of M."""

    def matmat(self, vectors: NDArray) -> NDArray:
        """Return ``M @ vectors``."""

    def lowest(self, diagonal: NDArray, count: int, start: NDArray) -> NDArray:
        """Return the ``count`` lowest eigenvectors of ``M + diag(diagonal)``, perhaps with guards behind.

        Small rows of the vectors, where the diagonal is large, are accurate to about 1e-16 absolutely,
        however large the diagonal. ``start`` holds vectors that may be close.
        """


class FormedQuadratic:
    """An explicit M.

    Parameters
    ----------
    matrix : ndarray of shape (order, order)
        Symmetric, float64.
    floor : float
        A lower bound of the eigenvalues of M.
    """

    def __init__(self, matrix: NDArray, floor: float) -> None:
        self.matrix = matrix
        self.floor = floor

    @property
    def order(self) -> int:
        return self.matrix.shape[0]

    def matmat(self, vectors: NDArray) -> NDArray:
        return self.matrix @ vectors

    def lowest(self, diagonal: NDArray, count: int, start: NDArray) -> NDArray:
        if self.order > DIRECT_ORDER and 8 * count < self.order:
            factor = linalg.cho_factor(self._shifted(diagonal), overwrite_a=True, check_finite=False)
            return lowest_eigenvectors(
                lambda vectors: self.matrix @ vectors + diagonal[:, None] * vectors,
                lambda vectors: linalg.cho_solve(factor, vectors, check_finite=False),
                shift_below(diagonal, self.floor),
                with_guards(start, count),
                count,
            )
        if diagonal.max() > WIDE_RANGE * np.abs(self.matrix.diagonal()).max():
            # The rounding of a large diagonal would reach every vector; the inverse has no large entries.
            return lowest_through_inverse(self._shifted(diagonal), count)[1]
        return linalg.eigh(
            _plus_diagonal(self.matrix, diagonal),
            subset_by_index=[0, count - 1],
            overwrite_a=True,
            check_finite=False,
        )[1]

    def _shifted(self, diagonal: NDArray) -> NDArray:
        return _plus_diagonal(self.matrix, diagonal - shift_below(diagonal, self.floor))


class FactoredQuadratic:
    """``M = FᵀF`` for a wide factor F; nothing of the order of M squared is formed.

    Parameters
    ----------
    factor : ndarray of shape (k, order)
        The factor F, float64, with k smaller than the order.
    """

    def __init__(self, factor: NDArray) -> None:
        self.factor = factor

    @property
    def order(self) -> int:
        return self.factor.shape[1]

    def matmat(self, vectors: NDArray) -> NDArray:
        return self.factor.T @ (self.factor @ vectors)

    def lowest(self, diagonal: NDArray, count: int, start: NDArray) -> NDArray:
        shift = shift_below(diagonal, 0.0)
        return lowest_eigenvectors(
            lambda vectors: self.matmat(vectors) + diagonal[:, None] * vectors,
            self._inverse(diagonal - shift),
            shift,
            with_guards(start, count),
            count,
        )

    def _inverse(self, positive: NDArray) -> Callable[[NDArray], NDArray]:
        """Return the inverse of ``M + diag(positive)`` by Woodbury's identity."""
        weighted = self.factor / positive
        core = weighted @ self.factor.T
        core[np.diag_indices_from(core)] += 1.0
        cholesky = linalg.cho_factor(core, overwrite_a=True, check_finite=False)

        def solve(vectors: NDArray) -> NDArray:
            inner = linalg.cho_solve(cholesky, weighted @ vectors, check_finite=False)
            return (vectors - self.factor.T @ inner) / positive[:, None]

        return solve


class NegativeGram:
    """``M = −S`` through products alone, for data whose Gram matrix is too large to form.

    Parameters
    ----------
    gram : GramOperator
        The operator S.
    floor : float
        A lower bound of the eigenvalues of −S.
    """

    def __init__(self, gram: GramOperator, floor: float) -> None:
        self.gram = gram
        self.floor = floor

    @property
    def order(self) -> int:
        return self.gram.shape[0]

    def matmat(self, vectors: NDArray) -> NDArray:
        return -self.gram.matmat(vectors)

    def lowest(self, diagonal: NDArray, count: int, start: NDArray) -> NDArray:
        shift = shift_below(diagonal, self.floor)
        positive = (diagonal - shift)[:, None]
        return lowest_eigenvectors(
            lambda vectors: self.matmat(vectors) + diagonal[:, None] * vectors,
            lambda vectors: vectors / positive,
            shift,
            with_guards(start, count),
            count,
        )


def negative_gram(gram: GramOperator, largest: float) -> Quadratic:
    """Return M = −S in float64, formed where that is affordable; ``largest`` is the top eigenvalue of S."""
    if isinstance(gram, FactoredGram):
        factor = gram.factor.astype(np.float64, copy=False)
        return NegativeGram(FactoredGram(factor, gram.n_samples, gram.scale), -largest)
    if gram.shape[0] > FORMED_ORDER:
        return NegativeGram(gram, -largest)
    return FormedQuadratic(-gram.to_dense().astype(np.float64, copy=False), -largest)


def shift_below(diagonal: NDArray, floor: float) -> float:
    """Return a number safely below the spectrum of ``M + diag(diagonal)``, on its lowest part's scale."""
    lowest = float(diagonal.min())
    return lowest + floor - max(abs(floor), RELATIVE_MARGIN * lowest)


def with_guards(start: NDArray, count: int) -> NDArray:
    """Bring a starting block to ``count`` columns and some guards, filled up with fixed random columns."""
    order = start.shape[0]
    block = min(order, count + max(MIN_GUARDS, int(GUARD_SHARE * count)))
    missing = block - start.shape[1]
    if missing <= 0:
        return start[:, :block]
    rng = np.random.default_rng(GUARD_SEED)
    return np.hstack([start, rng.standard_normal((order, missing)) / np.sqrt(order)])


def _plus_diagonal(matrix: NDArray, diagonal: NDArray) -> NDArray:
    total = matrix.copy()
    total[np.diag_indices_from(total)] += diagonal
    return total
