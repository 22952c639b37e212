"""The error of rebuilding each row from weights fitted to all other rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

# A row that fits itself but for rounding cannot be left out; this keeps the quotient finite. What rounding
# has left of a squared error, 1e-16 of it, stays small beside the square of this.
LEAST_FREEDOM = 1e-6
# The mean fourth power of the lengths of rows, in units of their squared mean square, is at most 3 for normal
# data, whatever their covariances: 3 for one component, less for more. Over n rows of one component it varies
# by the root of 24 / n; three times that is seldom an accident.
MOST_NORMAL = 3.0
SPREAD_OF_NORMAL = 24.0
STANDARD_ERRORS = 3.0


@dataclass(frozen=True)
class LeaveOneOut:
    r"""The leave-one-out error of a regularised set C of columns, over few rows.

    .. math:: \sum_i \frac{\|e_i\|^2}{(1 - h_i)^2}, \qquad E = (I - H) A, \quad
              H = A_C (S_{CC} + \Pi_C)^{-1} A_C^\top, \quad h_i = H_{ii} + 1/n,

    which is exact for the linear map and very near for the mean [1]_. Columns that a single outlying row
    recommends lose by it. A column that joins or leaves changes H by a rank-one term, so that everything is
    done with two n × n matrices: :math:`I - H`, which has the leverages on its diagonal, and
    :math:`(I - H) A A^\top (I - H)`, which has the squared errors.

    References
    ----------
    .. [1] D. M. Allen (1974), "The relationship between variable selection and data augmentation and a method
       for prediction", Technometrics 16(1).
    """

    columns: NDArray
    weights: NDArray
    inner: NDArray
    outside: NDArray
    products: NDArray

    @classmethod
    def of_nothing(cls, rows: NDArray, weights: NDArray | None = None) -> LeaveOneOut:
        """Return the state of the empty set for centred rows.

        A row of weight w is the root of w times one of w equal rows, of which one is left out.
        """
        weights = np.ones(len(rows)) if weights is None else weights
        inner = np.asarray(rows @ rows.T, dtype=np.float64)
        columns = np.ascontiguousarray(rows.T, dtype=np.float64)
        return cls(columns, weights, inner, np.eye(len(rows)), inner)

    @property
    def squares(self) -> NDArray:
        """The squared error of each row, not left out."""
        return self.products.diagonal()

    @property
    def leverage(self) -> NDArray:
        """The part of each row, or of all its copies, in its own rebuilding."""
        return 1 - self.outside.diagonal() + self.weights / self.weights.sum()

    def squared_column_norms(self) -> NDArray:
        """Return the squared norm of each column of S."""
        return np.einsum("ij,ij->i", self.columns @ self.inner, self.columns)

    def error_of(self, members: NDArray, penalties: NDArray) -> float:
        """Return the error of a set with some penalties, computed afresh."""
        columns = self.columns[members]
        root = linalg.cholesky(columns @ columns.T + np.diag(penalties[members]), lower=True)
        half = linalg.solve_triangular(root, columns, lower=True)
        seen = half @ self.inner
        squares = self.inner.diagonal() + np.einsum("ij,ij->j", half, (seen @ half.T) @ half - 2 * seen)
        leverage = np.einsum("ij,ij->j", half, half) + self.weights / self.weights.sum()
        return float(np.sum(squares / freedom(leverage / self.weights)))

    def is_heavy_tailed(self) -> bool:
        """Whether a few rows hold more of the variance than they do in any normal data.

        Such rows decide both the covariances and the error on rows left out; one tells little of the next.
        """
        n_rows = self.weights.sum()
        fourth = n_rows * np.sum(np.square(self.squares) / self.weights)
        excess = STANDARD_ERRORS * np.sqrt(SPREAD_OF_NORMAL / n_rows)
        return bool(fourth > (MOST_NORMAL + excess) * np.square(self.squares.sum()))

    def error(self) -> float:
        """Return the error of the set."""
        return float(np.sum(self.squares / freedom(self.leverage / self.weights)))

    def errors_with(self, columns: NDArray, variance: NDArray) -> NDArray:
        """Return the error if one of the columns joined, of which the set leaves this variance."""
        directions, overlaps, lengths = self._joining(columns, variance)
        shares = np.square(directions)
        squares = shares * lengths[:, None] - 2 * directions * overlaps + self.squares
        return np.sum(squares / freedom((shares + self.leverage) / self.weights), axis=1)

    def added(self, column: int, variance: float) -> LeaveOneOut:
        """Return the state after a column has joined."""
        (direction,), (overlap,), (length,) = self._joining(np.array([column]), np.array([variance]))
        return self._moved(direction, overlap, length, -1.0)

    def released(self, members: NDArray, weights: NDArray) -> LeaveOneOut:
        """Return the state after a direction has gone that is the members' columns, weighted."""
        direction = (weights.T @ self.columns[members])[0]
        seen = self.inner @ direction
        return self._moved(direction, self.outside @ seen, float(direction @ seen), 1.0)

    def _joining(self, columns: NDArray, variance: NDArray) -> tuple[NDArray, NDArray, NDArray]:
        """Return the directions of columns outside, a row each, what is left of the rows along them, and how
        long the rows are along them."""
        own, roots = self.columns[columns], np.sqrt(variance)[:, None]
        overlaps = own @ self.products / roots
        return own @ self.outside / roots, overlaps, np.einsum("ij,ij->i", own / roots, overlaps)

    def _moved(self, direction: NDArray, overlap: NDArray, length: float, sign: float) -> LeaveOneOut:
        """Return the state with a direction d more or less: with H, d dᵀ; with the products, d and (I − H) A
        Aᵀ d in turn, and d dᵀ times dᵀ A Aᵀ d."""
        both = direction[:, None] * (sign * overlap + length / 2 * direction)
        outside = self.outside + direction[:, None] * (sign * direction)
        products = self.products + (both + both.T)
        return LeaveOneOut(self.columns, self.weights, self.inner, outside, products)


def freedom(leverage: NDArray) -> NDArray:
    """Return the square by which the squared error of a row is divided as it is left out."""
    return np.square(np.maximum(1 - leverage, LEAST_FREEDOM))
