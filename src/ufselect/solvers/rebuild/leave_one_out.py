"""The error of rebuilding each row from weights fitted to all other rows."""

from __future__ import annotations

from dataclasses import dataclass, replace

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
    done with n × n matrices.

    References
    ----------
    .. [1] D. M. Allen (1974), "The relationship between variable selection and data augmentation and a method
       for prediction", Technometrics 16(1).
    """

    rows: NDArray
    weights: NDArray
    inner: NDArray
    outside: NDArray
    squares: NDArray
    leverage: NDArray

    @classmethod
    def of_nothing(cls, rows: NDArray, weights: NDArray | None = None) -> LeaveOneOut:
        """Return the state of the empty set for centred rows.

        A row of weight w is the root of w times one of w equal rows, of which one is left out.
        """
        weights = np.ones(len(rows)) if weights is None else weights
        inner = np.asarray(rows @ rows.T, dtype=np.float64)
        leverage = weights / weights.sum()
        return cls(rows, weights, inner, np.eye(len(rows)), inner.diagonal().copy(), leverage)

    def filled(self, members: NDArray, penalties: NDArray) -> LeaveOneOut:
        """Return the state of a set with some penalties, computed afresh from the state of the empty set."""
        columns = np.asarray(self.rows[:, members], dtype=np.float64)
        root = linalg.cholesky(columns.T @ columns + np.diag(penalties[members]), lower=True)
        half = linalg.solve_triangular(root, columns.T, lower=True)
        outside = self.outside - half.T @ half
        squares = np.einsum("ij,ij->i", outside @ self.inner, outside)
        return replace(
            self,
            outside=outside,
            squares=squares,
            leverage=self.leverage + np.einsum("ij,ij->j", half, half),
        )

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
        directions = self._directions(columns, variance)
        squares = self._squares_after(directions, -1.0)
        return np.sum(
            squares / freedom((self.leverage[:, None] + np.square(directions)) / self.weights[:, None]),
            axis=0,
        )

    def added(self, column: int, variance: float) -> LeaveOneOut:
        """Return the state after a column has joined."""
        return self._moved(self._directions(np.array([column]), np.array([variance])), -1.0)

    def released(self, members: NDArray, weights: NDArray) -> LeaveOneOut:
        """Return the state after a direction has gone that is the members' columns, weighted."""
        return self._moved(self.rows[:, members] @ weights, 1.0)

    def _directions(self, columns: NDArray, variance: NDArray) -> NDArray:
        return self.outside @ self.rows[:, columns] / np.sqrt(variance)

    def _squares_after(self, directions: NDArray, sign: float) -> NDArray:
        seen = self.inner @ directions
        lengths = np.einsum("ij,ij->j", directions, seen)
        cross = 2 * sign * directions * (self.outside @ seen)
        return self.squares[:, None] + cross + np.square(directions) * lengths

    def _moved(self, direction: NDArray, sign: float) -> LeaveOneOut:
        return replace(
            self,
            outside=self.outside + sign * (direction @ direction.T),
            squares=self._squares_after(direction, sign)[:, 0],
            leverage=self.leverage - sign * np.square(direction[:, 0]),
        )


def freedom(leverage: NDArray) -> NDArray:
    """Return the square by which the squared error of a row is divided as it is left out."""
    return np.square(np.maximum(1 - leverage, LEAST_FREEDOM))
