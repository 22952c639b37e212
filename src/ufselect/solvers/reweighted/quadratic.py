r"""The quadratic :math:`\mathrm{Tr}(W^\top M W)` and the lowest eigenvectors of M plus a diagonal."""

from __future__ import annotations

from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from ufselect.gram import FactoredGram, GramOperator
from ufselect.solvers.reweighted.davidson import lowest_eigenvectors, lowest_through_inverse

DIRECT_ORDER = 1500
FORMED_ORDER = 4000
WIDE_RANGE = 1e3
RELATIVE_MARGIN = 0.01
SMALL_SHARE = 8


class Quadratic(Protocol):
    """A positive or negative semidefinite matrix M as the reweighted eigenproblem needs it."""

    @property
    def order(self) -> int:
        """Number of rows of M."""

    @property
    def size(self) -> float:
        """Largest entry of M in magnitude; it stands on the diagonal."""

    def matmat(self, vectors: NDArray) -> NDArray:
        """Return ``M @ vectors``."""

    def lowest(self, diagonal: NDArray, count: int, start: NDArray) -> NDArray:
        """Return the ``count`` lowest eigenvectors of ``M + diag(diagonal)``, perhaps with guards behind.

        They are accurate to about 1e-8, however large the diagonal. ``start`` holds vectors that may be
        close.
        """


class FormedQuadratic:
    """An explicit M.

    Parameters
    ----------
    matrix : ndarray of shape (order, order)
        Symmetric and semidefinite, float64.
    floor : float
        A lower bound of the eigenvalues of M.
    """

    def __init__(self, matrix: NDArray, floor: float) -> None:
        self.matrix = matrix
        self.floor = floor

    @property
    def order(self) -> int:
        return self.matrix.shape[0]

    @cached_property
    def size(self) -> float:
        return float(np.abs(self.matrix.diagonal()).max())

    def matmat(self, vectors: NDArray) -> NDArray:
        return self.matrix @ vectors

    def lowest(self, diagonal: NDArray, count: int, start: NDArray) -> NDArray:
        positive = diagonal - shift_below(diagonal, self.floor)
        if self.order > DIRECT_ORDER and SMALL_SHARE * count < self.order:
            return self._lowest_by_steps(positive, count, start)
        if diagonal.max() > WIDE_RANGE * self.size:
            # The rounding of a large diagonal would reach every vector; the inverse has no large entries.
            return lowest_through_inverse(_plus_diagonal(self.matrix, positive), count)
        return linalg.eigh(
            _plus_diagonal(self.matrix, diagonal),
            subset_by_index=[0, count - 1],
            overwrite_a=True,
            check_finite=False,
        )[1]

    def _lowest_by_steps(self, positive: NDArray, count: int, start: NDArray) -> NDArray:
        roots = np.sqrt(positive)
        scaled = self.matrix / roots / roots[:, None]
        factor = linalg.cho_factor(_plus_diagonal(scaled, 1.0), overwrite_a=True, check_finite=False)
        return lowest_eigenvectors(
            lambda vectors: scaled @ vectors,
            lambda vectors: linalg.cho_solve(factor, vectors, check_finite=False),
            positive,
            start,
            count,
        )


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

    @cached_property
    def size(self) -> float:
        return float(np.einsum("ij,ij->j", self.factor, self.factor).max())

    def matmat(self, vectors: NDArray) -> NDArray:
        return self.factor.T @ (self.factor @ vectors)

    def lowest(self, diagonal: NDArray, count: int, start: NDArray) -> NDArray:
        positive = diagonal - shift_below(diagonal, 0.0)
        scaled = self.factor / np.sqrt(positive)
        core = linalg.cho_factor(_plus_diagonal(scaled @ scaled.T, 1.0), overwrite_a=True, check_finite=False)

        def solve(vectors: NDArray) -> NDArray:
            """Apply Woodbury's identity."""
            return vectors - scaled.T @ linalg.cho_solve(core, scaled @ vectors, check_finite=False)

        return lowest_eigenvectors(
            lambda vectors: scaled.T @ (scaled @ vectors), solve, positive, start, count
        )


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

    @cached_property
    def size(self) -> float:
        return float(self.gram.diag().max())

    def matmat(self, vectors: NDArray) -> NDArray:
        return -self.gram.matmat(vectors)

    def lowest(self, diagonal: NDArray, count: int, start: NDArray) -> NDArray:
        positive = diagonal - shift_below(diagonal, self.floor)
        roots = np.sqrt(positive)[:, None]
        return lowest_eigenvectors(
            lambda vectors: self.matmat(vectors / roots) / roots,
            lambda vectors: vectors,
            positive,
            start,
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


def _plus_diagonal(matrix: NDArray, diagonal: NDArray | float) -> NDArray:
    total = matrix.copy()
    total[np.diag_indices_from(total)] += diagonal
    return total
