r"""The quadratic :math:`\mathrm{Tr}(W^\top M W)` and the lowest eigenvectors of M plus a diagonal."""

from __future__ import annotations

from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from ufselect.common.eigen import eigenpairs_between
from ufselect.gram import GramOperator
from ufselect.solvers.reweighted.davidson import lowest_eigenvectors, lowest_through_inverse

DIRECT_ORDER = 1500  # up to which a dense eigensolver beats a block method with a factored inverse
SMALL_SHARE = 8  # the block method pays for less than one vector in so many
FORMED_ORDER = 4000  # S of this order takes 128 MB; beyond, products with the data replace it
WIDE = 1.15  # features per sample from which products with the data are cheaper than a formed S
WIDE_RANGE = 1e3  # of the diagonal over M, from which rounding of the sum costs three digits of M
RELATIVE_MARGIN = 0.01  # distance of a shift from the spectrum that keeps the shifted matrix well conditioned


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


class Semidefinite(Quadratic, Protocol):
    """A positive semidefinite M that is known by its entries, formed or through a factor."""

    @property
    def diagonal(self) -> NDArray:
        """The diagonal of M."""

    @property
    def direct_order(self) -> int:
        """Order of the dense eigenproblem that ``lowest`` comes down to."""

    def columns(self, indices: NDArray) -> NDArray:
        """Return ``M[:, indices]``."""

    def eigenpairs(self) -> tuple[NDArray, NDArray]:
        """Return eigenvalues in ascending order and their vectors; zeros known by the order are left out."""

    def lowest_distinct(self, count: int, tie: float) -> NDArray | None:
        """Return the ``count`` lowest eigenvectors of M, or None where they are not determined.

        They are not where the next eigenvalue is within the share ``tie`` of the trace of the lowest.
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

    @property
    def direct_order(self) -> int:
        return self.order

    @cached_property
    def diagonal(self) -> NDArray:
        return self.matrix.diagonal().copy()

    @cached_property
    def size(self) -> float:
        return float(np.abs(self.diagonal).max())

    def matmat(self, vectors: NDArray) -> NDArray:
        return self.matrix @ vectors

    def columns(self, indices: NDArray) -> NDArray:
        return self.matrix[:, indices]

    def eigenpairs(self) -> tuple[NDArray, NDArray]:
        values, vectors = linalg.eigh(self.matrix, check_finite=False)
        return np.clip(values, 0, None), vectors

    def lowest_distinct(self, count: int, tie: float) -> NDArray | None:
        if count >= self.order:
            return None
        values, vectors = eigenpairs_between(self.matrix, 0, count)
        return vectors[:, :count] if values[count] - values[0] > tie * self.diagonal.sum() else None

    def lowest(self, diagonal: NDArray, count: int, start: NDArray) -> NDArray:
        positive = diagonal - shift_below(diagonal, self.floor)
        if self.order > DIRECT_ORDER and SMALL_SHARE * count < self.order:
            return self._lowest_by_steps(positive, count, start)
        if diagonal.max() > WIDE_RANGE * self.size:
            # The rounding of a large diagonal would reach every vector; the inverse has no large entries.
            return lowest_through_inverse(_plus_diagonal(self.matrix, positive), count)
        return eigenpairs_between(_plus_diagonal(self.matrix, diagonal), 0, count - 1)[1]

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

    @property
    def direct_order(self) -> int:
        return self.factor.shape[0]

    @cached_property
    def diagonal(self) -> NDArray:
        return np.einsum("ij,ij->j", self.factor, self.factor)

    @cached_property
    def size(self) -> float:
        return float(self.diagonal.max())

    def matmat(self, vectors: NDArray) -> NDArray:
        return self.factor.T @ (self.factor @ vectors)

    def columns(self, indices: NDArray) -> NDArray:
        return self.factor.T @ self.factor[:, indices]

    def eigenpairs(self) -> tuple[NDArray, NDArray]:
        _, roots, rows = linalg.svd(self.factor, full_matrices=False, check_finite=False)
        return roots[::-1] ** 2, rows[::-1].T

    def lowest_distinct(self, count: int, tie: float) -> NDArray | None:
        return None  # the zero of a wide factor belongs to many vectors

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
    order = gram.shape[0]
    if order > FORMED_ORDER or order > WIDE * gram.n_samples:
        return NegativeGram(gram, -largest)
    return FormedQuadratic(-gram.to_dense().astype(np.float64, copy=False), -largest)


def smoothness_quadratic(data: NDArray, laplacian: sparse.csr_array, *, is_formed: bool) -> Semidefinite:
    """Return ``M = AᵀLA`` for a positive semidefinite L over the samples, formed or through ``L^½ A``."""
    if is_formed:
        matrix = data.T @ (laplacian @ data)
        return FormedQuadratic((matrix + matrix.T) / 2, floor=0.0)
    values, vectors = linalg.eigh(laplacian.toarray(), overwrite_a=True, check_finite=False)
    roots = np.sqrt(np.clip(values, 0, None))
    return FactoredQuadratic((vectors * roots).T @ data)


def shift_below(diagonal: NDArray, floor: float) -> float:
    """Return a number safely below the spectrum of ``M + diag(diagonal)``, on its lowest part's scale."""
    lowest = float(diagonal.min())
    return lowest + floor - max(abs(floor), RELATIVE_MARGIN * lowest)


def _plus_diagonal(matrix: NDArray, diagonal: NDArray | float) -> NDArray:
    total = matrix.copy()
    total[np.diag_indices_from(total)] += diagonal
    return total
