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
class FewRows:
    r"""Centred rows A, so few that each can be left out at every step.

    The leave-one-out error of a regularised set C of columns is

    .. math:: \sum_i \frac{\|e_i\|^2}{(1 - h_i)^2}, \qquad E = (I - H) A, \quad
              H = A_C (S_{CC} + \Pi_C)^{-1} A_C^\top, \quad h_i = H_{ii} + 1/n,

    which is exact for the linear map and very near for the mean [1]_. Columns that a single outlying row
    recommends lose by it.

    Attributes
    ----------
    values : ndarray of shape (n_rows, n_features)
        The rows in double precision. A row of weight w is the root of w times one of w equal rows, of which
        one is left out.
    products : ndarray of shape (n_rows, n_rows)
        Their inner products, :math:`A A^\top`.
    images : ndarray of shape (n_rows, n_features)
        :math:`A A^\top A`.
    weights : ndarray of shape (n_rows,)

    References
    ----------
    .. [1] D. M. Allen (1974), "The relationship between variable selection and data augmentation and a method
       for prediction", Technometrics 16(1).
    """

    values: NDArray
    products: NDArray
    images: NDArray
    weights: NDArray

    @classmethod
    def of(cls, values: NDArray, weights: NDArray | None = None) -> FewRows:
        """Form the products of centred rows."""
        weights = np.ones(len(values)) if weights is None else weights
        values = np.asarray(values, dtype=np.float64)
        products = values @ values.T
        return cls(values, products, products @ values, weights)

    def squared_column_norms(self) -> NDArray:
        """Return the squared norm of each column of S."""
        return np.einsum("ij,ij->j", self.values, self.images)

    def error_of(self, members: NDArray, penalties: NDArray) -> float:
        """Return the leave-one-out error of a set with some penalties."""
        columns = self.values[:, members].T
        root = linalg.cholesky(columns @ columns.T + np.diag(penalties[members]), lower=True)
        half = linalg.solve_triangular(root, columns, lower=True)
        seen = half @ self.products
        squares = self.products.diagonal() + np.einsum("ij,ij->j", half, (seen @ half.T) @ half - 2 * seen)
        return self.left_out(squares, np.einsum("ij,ij->j", half, half))

    def left_out(self, squares: NDArray, leverage: NDArray) -> float:
        """Return the error over all rows, given the squared error of each and its part in its own map."""
        leverage = leverage + self.weights / self.weights.sum()
        return float(np.sum(squares / freedom(leverage / self.weights)))

    def error_of_nothing(self) -> float:
        """Return the error of the empty set."""
        return self.left_out(self.products.diagonal(), np.zeros(len(self.weights)))

    def is_heavy_tailed(self) -> bool:
        """Whether a few rows hold more of the variance than they do in any normal data.

        Such rows decide both the covariances and the error on rows left out; one tells little of the next.
        """
        squares, n_rows = self.products.diagonal(), self.weights.sum()
        fourth = n_rows * np.sum(np.square(squares) / self.weights)
        excess = STANDARD_ERRORS * np.sqrt(SPREAD_OF_NORMAL / n_rows)
        return bool(fourth > (MOST_NORMAL + excess) * np.square(squares.sum()))


def freedom(leverage: NDArray) -> NDArray:
    """Return the square by which the squared error of a row is divided as it is left out."""
    return np.square(np.maximum(1 - leverage, LEAST_FREEDOM))
