"""What a set of chosen columns explains of all columns, and what each other column would add."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from ufselect.gram import GramOperator

# A column whose residual has fallen to this many roundings of its variance lies in the span of those chosen.
SPENT_SHARE = 1e3


@dataclass(frozen=True)
class Remainders:
    """What a set leaves of each column: its variance, and its squared inner products with the targets."""

    variance: NDArray
    explained: NDArray

    def gains(self, columns: NDArray) -> NDArray:
        """Return by how much the error falls when one of the columns joins."""
        return np.maximum(self.explained[columns], 0) / self.variance[columns]


@dataclass(frozen=True)
class Departure:
    """What is left once a member has gone, and the direction that went with it: weights over the members."""

    remainders: Remainders
    weights: NDArray
    pivot: float


class RegularisedSpan:
    r"""A set C of columns and the regularised error of rebuilding all columns from it.

    .. math:: f(C) = \min_W \|A - A_C W\|_F^2 + \sum_{i \in C} \pi_i \|w_i\|^2
              = \operatorname{tr} S - \operatorname{tr}\, S_{C:}^\top (S_{CC} + \Pi_C)^{-1} S_{C:}

    For every column j two numbers are kept: :math:`R_j`, what C leaves of its variance, penalty included, and
    :math:`\|T_j\|^2`, the squared inner products of that remainder with the targets. The error falls by
    :math:`\|T_j\|^2 / R_j` if j joins [1]_. Both follow from rank-one updates when a column joins or leaves,
    at one product of S with a vector and three of an n_features × k array.

    Parameters
    ----------
    gram : GramOperator
        S of the centred data A.
    penalties : ndarray of shape (n_features,)
        The weights π, in units of ``gram``.
    squared_norms : ndarray of shape (n_features,)
        Each column's sum of squared products with the targets.
    capacity : int
        Most columns that the set will hold.
    targets : ndarray of shape (n_features, n_targets), optional
        Weighted columns of S that stand for all of them; without it every column is a target.

    References
    ----------
    .. [1] A. K. Farahat, A. Ghodsi and M. S. Kamel (2013), "Efficient greedy feature selection for
       unsupervised learning", Knowledge and Information Systems 35.
    """

    def __init__(
        self,
        gram: GramOperator,
        penalties: NDArray,
        squared_norms: NDArray,
        capacity: int,
        targets: NDArray | None = None,
    ) -> None:
        self.gram = gram
        self.targets = targets
        self.penalties = penalties
        self.members: list[int] = []
        self.inverse = np.empty((0, 0))
        start = np.asarray(gram.diag(), dtype=np.float64) + penalties
        self.remainders = Remainders(start, squared_norms)
        self.total = gram.trace()
        self._floor = start * np.finfo(gram.dtype).eps * SPENT_SHARE
        self._columns = np.empty((start.size, capacity), order="F")
        self._images = np.empty((start.size, capacity), order="F")

    def spent(self, remainders: Remainders) -> NDArray:
        """Return the mask of the columns that lie in the span."""
        return remainders.variance <= self._floor

    def add(self, column: int) -> None:
        """Let a column join."""
        own = np.asarray(self.gram.columns(np.array([column]))[:, 0], dtype=np.float64)
        image = self._image(column, own)
        weights = self.inverse @ self._stored(self._columns)[column]
        rest = own - self._combine(weights)
        rest[column] += self.penalties[column]
        overlap = self._unexplained(image - self._stored(self._images) @ weights)
        left = float(rest[column])
        self.remainders = self._moved(rest, overlap, float(overlap[column]), -1 / left)
        self.inverse = _bordered(self.inverse, weights, left)
        place = len(self.members)
        self._columns[:, place] = own
        self._images[:, place] = image
        self.members.append(column)

    def departure(self, column: int) -> Departure:
        """Return what would be left if a member went."""
        place = self.members.index(column)
        weights = self.inverse[:, place]
        pivot = float(weights[place])
        image = self._stored(self._images) @ weights
        overlap = self._unexplained(image)
        squared = float(image[self.members] @ weights)
        return Departure(
            self._moved(self._combine(weights), overlap, squared, 1 / pivot), weights.copy(), pivot
        )

    def remove(self, column: int, departure: Departure) -> None:
        """Let a member go, given its departure; the last member takes its place in the stores."""
        place, last = self.members.index(column), len(self.members) - 1
        self.remainders = departure.remainders
        self.inverse = self.inverse - np.outer(departure.weights, departure.weights / departure.pivot)
        order = np.arange(last)
        if place < last:
            order[place] = last
            self.members[place] = self.members[last]
            for stored in (self._columns, self._images):
                stored[:, place] = stored[:, last]
        self.members.pop()
        self.inverse = self.inverse[np.ix_(order, order)]

    def error(self) -> float:
        """Return the regularised error of the set, computed afresh."""
        return self.total - float(np.sum(self.inverse * self._stored(self._images)[self.members]))

    def error_under(self, penalties: NDArray) -> float:
        """Return the error that the set would have with other penalties."""
        inner = self._stored(self._columns)[self.members] + np.diag(penalties[self.members])
        products = self._stored(self._images)[self.members]
        return self.total - float(np.trace(linalg.lstsq(inner, products, check_finite=False)[0]))

    def order(self) -> NDArray:
        """Return the members in the order in which greedy steps among them alone would take them."""
        variances = self._stored(self._columns)[self.members] + np.diag(self.penalties[self.members])
        places = greedy_order(variances, self._stored(self._images)[self.members])
        return np.array(self.members, dtype=np.intp)[places]

    def _stored(self, store: NDArray) -> NDArray:
        return store[:, : len(self.members)]

    def _image(self, column: int, own: NDArray) -> NDArray:
        """Return the products of every column's targets with those of one column."""
        if self.targets is not None:
            return self.targets @ self.targets[column]
        return np.asarray(self.gram.matmat(own.astype(self.gram.dtype)[:, None])[:, 0], dtype=np.float64)

    def _combine(self, weights: NDArray) -> NDArray:
        """Return the members' columns of S + Π, combined."""
        combined = self._stored(self._columns) @ weights
        combined[self.members] += self.penalties[self.members] * weights
        return combined

    def _unexplained(self, products: NDArray) -> NDArray:
        """Take from products with the targets what the members explain of them."""
        return products - self._combine(self.inverse @ products[self.members])

    def _moved(self, rest: NDArray, overlap: NDArray, squared: float, factor: float) -> Remainders:
        """Return the remainders after a direction has been taken out, or given back for a positive factor."""
        explained = self.remainders.explained + 2 * factor * rest * overlap
        explained += squared * np.square(factor * rest)
        return Remainders(self.remainders.variance + factor * np.square(rest), explained)


def greedy_order(variances: NDArray, products: NDArray) -> list[int]:
    """Order few columns by what each adds, given their covariances and their products with the targets."""
    variances, products = variances.copy(), products.copy()
    order: list[int] = []
    waiting = list(range(len(variances)))
    while waiting:
        left = np.maximum(variances.diagonal()[waiting], np.finfo(np.float64).tiny)
        best = waiting[int(np.argmax(products.diagonal()[waiting] / left))]
        share = variances[:, best] / max(variances[best, best], np.finfo(np.float64).tiny)
        overlap = products[:, best].copy()
        crossed = np.outer(share, overlap)
        products += np.outer(share, share) * overlap[best] - crossed - crossed.T
        variances = variances - np.outer(share, variances[best])
        order.append(best)
        waiting.remove(best)
    return order


def _bordered(inverse: NDArray, weights: NDArray, left: float) -> NDArray:
    """Return the inverse of a matrix with one row and column more, by its Schur complement."""
    size = weights.size
    bordered = np.empty((size + 1, size + 1))
    bordered[:size, :size] = inverse + np.outer(weights, weights / left)
    bordered[:size, size] = bordered[size, :size] = -weights / left
    bordered[size, size] = 1 / left
    return bordered
