"""Whether some columns rebuild rows left out better than others do, beyond the accidents of the rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from ufselect.gram import GramOperator, RowLayout
from ufselect.gram.factory import has_missing
from ufselect.gram.rows import plain_layout
from ufselect.solvers.rebuild.leave_one_out import freedom
from ufselect.solvers.rebuild.ridge import RIDGES, ridge_units

# Every fourth ridge of those that the map will choose from: the errors of neighbours hardly differ.
RIDGE_STEP = 4
# What is gained has to exceed its own standard error, as in the choice of a count. What a single row gains is
# equal to it, so that there have to be several; rounding in so many digits does not make up for that.
STANDARD_ERRORS = 1.0 + 1e-9
# With more rows of equal length than this, or as many unequal ones as amount to it, what lowers the error of
# the fit lowers that of new rows: on the sets of the benchmark nothing was lost there by more than .002.
MOST_EFFECTIVE = 400
# The rows are copied, and made dense where they are sparse: 160 megabytes at most.
MOST_ENTRIES = 20_000_000


@dataclass(frozen=True)
class Rows:
    """Centred rows in units of S, each multiplied by the root of its weight, and the weights."""

    values: NDArray
    weights: NDArray

    @classmethod
    def of(cls, X: Any, gram: GramOperator, layout: RowLayout | None = None) -> Rows | None:
        """Return the rows of dense or sparse data, unless they have gaps or too many entries.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n_rows, n_features)
            The data.
        gram : GramOperator
            Their S.
        layout : RowLayout, optional
            Weights and batches of the rows.
        """
        if X.shape[0] * X.shape[1] > MOST_ENTRIES:
            return None
        data = np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)
        if has_missing(data):
            return None
        layout = plain_layout(len(data)) if layout is None else layout
        data = data / gram.scale  # before sums, which could overflow in the user's units
        return cls(layout.rooted(data - layout.spread(layout.means(data))), layout.weights)

    def are_few(self) -> bool:
        """Whether the rows, by the share of the variance that each holds, amount to few."""
        squares = self._squares
        return bool(np.square(squares.sum()) <= MOST_EFFECTIVE * np.sum(np.square(squares) / self.weights))

    def errors(self, columns: NDArray) -> NDArray:
        r"""Return the squared error of rebuilding each row from columns by a map fitted to the other rows.

        With :math:`D^{-1/2} S_{CC} D^{-1/2} = Q \Lambda Q^\top` and :math:`P = A_C D^{-1/2} Q` the rows are
        rebuilt as :math:`P (\Lambda + \lambda)^{-1} P^\top A`, and leaving one out divides its error by
        :math:`1 - h_i`, with :math:`h_i` its part in its own rebuilding. The ridge λ is the one of least
        error. The columns themselves are known and have none.
        """
        part = self.values[:, columns]
        inner = part.T @ part
        roots = np.sqrt(ridge_units(inner))
        values, vectors = linalg.eigh(inner / np.outer(roots, roots), check_finite=False)
        scores = part @ (vectors / roots[:, None])
        seen = self._through_others(part, scores)
        linear = scores * seen
        products = scores.T @ seen
        rest = self._squares - np.einsum("ij,ij->i", part, part)
        shrunk = 1 / (np.maximum(values, 0.0) + RIDGES[::RIDGE_STEP, None])
        leverage = np.square(scores) @ shrunk.T / self.weights[:, None] + 1 / self.weights.sum()
        squares = rest[:, None] - 2 * linear @ shrunk.T
        for weights, column in zip(shrunk, squares.T, strict=True):
            weighted = scores * weights
            column += np.einsum("ij,ij->i", weighted @ products, weighted)
        tried = np.maximum(squares, 0.0) / freedom(leverage)
        return tried[:, np.argmin(tried.sum(axis=0))]

    def _through_others(self, part: NDArray, scores: NDArray) -> NDArray:
        """Return the products of rows with each other, some columns left out, times scores."""
        if self._products is not None:
            return self._products @ scores - part @ (part.T @ scores)
        return self.values @ (self.values.T @ scores) - part @ (part.T @ scores)

    @cached_property
    def _squares(self) -> NDArray:
        """The squared length of each row."""
        return np.einsum("ij,ij->i", self.values, self.values)

    @cached_property
    def _products(self) -> NDArray | None:
        """The inner products of the rows, where these are fewer than columns."""
        n_rows, n_features = self.values.shape
        return self.values @ self.values.T if 2 * n_rows <= n_features else None

    def favour(self, columns: NDArray, others: NDArray) -> bool:
        """Tell whether columns rebuild rows left out better than others by more than the standard error."""
        gains = (self.errors(others) - self.errors(columns)) / self.weights
        count = self.weights.sum()
        mean = float(self.weights @ gains) / count
        variance = float(self.weights @ np.square(gains - mean)) / (count - 1)
        return mean > STANDARD_ERRORS * np.sqrt(variance / count)
