"""What a set of chosen columns explains of all columns, and what each other column would add."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ufselect.gram import GramOperator
from ufselect.sets.units import Units
from ufselect.solvers.unit_blocks import block_gains, crossed, gram_blocks, outer, squared_blocks

# A column of which the chosen ones leave no more than this share of its variance, or than so many roundings,
# lies in their span: the inverse of their covariances would lose the digits that tell them apart.
SPENT_SHARE = 1e-10
SPENT_ROUNDINGS = 1e3
# Members whose departures are looked at together: arrays of so many columns stay small beside the stores.
DEPARTURE_BLOCK = 64


@dataclass(frozen=True)
class Remainders:
    """What a set leaves of each column: its variance, and its squared inner products with the targets.

    ``blocks`` has both for each batch of units of several columns: covariances and products among them.
    """

    variance: NDArray
    explained: NDArray
    blocks: tuple[tuple[NDArray, NDArray], ...] = ()

    def gains(self, columns: NDArray) -> NDArray:
        """Return by how much the error falls when one of the columns joins."""
        return np.maximum(self.explained[columns], 0) / self.variance[columns]


@dataclass(frozen=True)
class Departure:
    """What is left once members have gone, and the directions that went with them.

    A column of ``weights`` combines the members to a direction of unit length, penalties included.
    """

    columns: list[int]
    remainders: Remainders
    weights: NDArray


class RegularisedSpan:
    r"""A set C of columns and the regularised error of rebuilding all columns from it.

    .. math:: f(C) = \min_W \|A - A_C W\|_F^2 + \sum_{i \in C} \pi_i \|w_i\|^2
              = \operatorname{tr} S - \operatorname{tr}\, S_{C:}^\top (S_{CC} + \Pi_C)^{-1} S_{C:}

    For every column j two numbers are kept: :math:`R_j`, what C leaves of its variance, penalty included, and
    :math:`\|T_j\|^2`, the squared inner products of that remainder with the targets. The error falls by
    :math:`\|T_j\|^2 / R_j` if j joins [1]_. Both follow from rank-one updates when a column joins or leaves,
    at one product of S with a vector and three of an n_features × k array. A unit G of several columns has
    its blocks of the same, and the error falls by :math:`\mathrm{Tr}(R_{GG}^{+} (T T^\top)_{GG})`.

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
    squared : ndarray of shape (n_features, n_features), optional
        S², where it is at hand; else each column that joins costs a product with S.
    units : Units, optional
        Which columns join together; without it each is on its own.

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
        squared: NDArray | None = None,
        units: Units | None = None,
    ) -> None:
        self.gram = gram
        self.targets = targets
        self.squared = squared
        self.units = Units.single(penalties.size) if units is None else units
        self.penalties = penalties
        self.members: list[int] = []
        self.inverse = np.empty((0, 0))
        start = np.asarray(gram.diag(), dtype=np.float64) + penalties
        self.remainders = Remainders(start, squared_norms, self._first_blocks())
        self.total = gram.trace()
        self._floor = spent_floor(start, gram.dtype)
        self._columns = np.empty((start.size, capacity), order="F")
        self._images = np.empty((start.size, capacity), order="F")

    def spent(self, remainders: Remainders, columns: Any = slice(None)) -> NDArray:
        """Return the mask of the columns, or of some of them, that lie in the span."""
        return remainders.variance[columns] <= self._floor[columns]

    def unit_gains(self, remainders: Remainders, units: NDArray) -> NDArray:
        """Return by how much the error falls when one of some units joins."""
        if self.units.is_single:
            return remainders.gains(units)
        gains = self.units.sums(open_gains(remainders.variance, remainders.explained, self._floor))
        for (batch, members), (variances, products) in zip(
            self.units.batches, remainders.blocks, strict=True
        ):
            gains[batch] = block_gains(variances, products, self._floor[members].max(axis=1))
        return gains[units]

    def add(self, column: int) -> bool:
        """Let a column join, unless it turns out to lie in the span; tell whether it has joined."""
        own = np.asarray(self.gram.columns(np.array([column]))[:, 0], dtype=np.float64)
        image = self._image(column, own)
        weights = self.inverse @ self._stored(self._columns)[column]
        rest = own - self._combine(weights)
        rest[column] += self.penalties[column]
        left = float(rest[column])
        if left <= self._floor[column]:  # its variance, kept up from step to step, has gathered rounding
            self.remainders.variance[column] = 0.0
            return False
        overlap = self._unexplained(image - self._stored(self._images) @ weights)
        root = np.sqrt(left)
        squared = np.array([[overlap[column] / left]])
        self.remainders = self._moved(rest[:, None] / root, overlap[:, None] / root, squared, -1.0)
        self.inverse = bordered(self.inverse, weights, left)
        place = len(self.members)
        self._columns[:, place] = own
        self._images[:, place] = image
        self.members.append(column)
        return True

    def departure(self, columns: list[int]) -> Departure:
        """Return what would be left if members went."""
        places = [self.members.index(column) for column in columns]
        weights = _whitened(self.inverse, places)
        image = _product(self._stored(self._images), weights)
        squared = image[self.members].T @ weights
        moved = self._moved(self._combine(weights), self._unexplained(image), squared, 1.0)
        return Departure(columns, moved, weights)

    def best_exchanges(self, allowed: NDArray) -> NDArray:
        """Return by how much the error would fall if the best allowed column took each member's place.

        The same as asking for the departure of each, in products of arrays instead of vectors. It is negative
        where none is as good.
        """
        outside = np.flatnonzero(allowed)
        outside = outside[~np.isin(outside, self.members)]
        if outside.size == 0:
            return np.full(len(self.members), -np.inf)
        weights = self.inverse / np.sqrt(self.inverse.diagonal())
        best = np.empty(len(self.members))
        for first in range(0, len(self.members), DEPARTURE_BLOCK):
            part = slice(first, first + DEPARTURE_BLOCK)
            rest = self._combine(weights[:, part])
            image = self._stored(self._images) @ weights[:, part]
            squared = np.einsum("ij,ij->j", image[self.members], weights[:, part])
            half = 2 * self._unexplained(image) + rest * squared
            variance = self.remainders.variance[:, None] + np.square(rest)
            explained = self.remainders.explained[:, None] + rest * half
            gains = open_gains(variance, explained, self._floor[:, None])
            own = gains[self.members[part], np.arange(gains.shape[1])]
            best[part] = gains[outside].max(axis=0) - own
        return best

    def remove(self, departure: Departure) -> None:
        """Let members go; for each the last member takes its place in the stores."""
        self.remainders = departure.remainders
        self.inverse = self.inverse - departure.weights @ departure.weights.T
        for column in departure.columns:
            place, last = self.members.index(column), len(self.members) - 1
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

    def blocks_of_members(self) -> tuple[NDArray, NDArray]:
        """Return the covariances of the members and their inner products through the targets."""
        return self._stored(self._columns)[self.members], self._stored(self._images)[self.members]

    def order(self, units: Sequence[int]) -> NDArray:
        """Return units of members in the order in which greedy steps among them alone would take them."""
        variances = self._stored(self._columns)[self.members] + np.diag(self.penalties[self.members])
        owners = self.units.codes[self.members]
        parts = [np.flatnonzero(owners == unit) for unit in units]
        places = greedy_order(variances, self._stored(self._images)[self.members], parts)
        return np.array(units, dtype=np.intp)[places]

    def _stored(self, store: NDArray) -> NDArray:
        return store[:, : len(self.members)]

    def _image(self, column: int, own: NDArray) -> NDArray:
        """Return the products of every column's targets with those of one column."""
        if self.targets is not None:
            return self.targets @ self.targets[column]
        if self.squared is not None:
            return np.asarray(self.squared[column], dtype=np.float64)
        return np.asarray(self.gram.matmat(own.astype(self.gram.dtype)[:, None])[:, 0], dtype=np.float64)

    def _combine(self, weights: NDArray) -> NDArray:
        """Return the members' columns of S + Π, combined."""
        combined = _product(self._stored(self._columns), weights)
        combined[self.members] += (self.penalties[self.members] * weights.T).T
        return combined

    def _unexplained(self, products: NDArray) -> NDArray:
        """Take from products with the targets what the members explain of them."""
        return products - self._combine(self.inverse @ products[self.members])

    def _moved(self, rest: NDArray, overlap: NDArray, squared: NDArray, sign: float) -> Remainders:
        """Return the remainders after directions have been taken out, or given back for a positive sign.

        For each column of S its products with the directions are ``rest``, and those of what is left of it
        with them through the targets ``overlap``; ``squared`` are the directions' own.
        """
        before = self.remainders
        half = 2 * sign * overlap + _product(rest, squared)
        variance = before.variance + sign * np.square(rest).sum(axis=1)
        explained = before.explained + (rest * half).sum(axis=1)
        blocks = []
        for (_, members), (variances, products) in zip(self.units.batches, before.blocks, strict=True):
            variances, products = variances.copy(), products.copy()
            for own, other in zip(rest.T, half.T, strict=True):
                variances += sign * outer(own[members])
                products += crossed(own[members], other[members]) / 2
            blocks.append((variances, products))
        return Remainders(variance, explained, tuple(blocks))

    def _first_blocks(self) -> tuple[tuple[NDArray, NDArray], ...]:
        """Return the blocks of units of several columns before any column has joined."""
        if self.units.is_single:
            return ()
        covariances = gram_blocks(self.gram, self.units)
        for blocks, (_, members) in zip(covariances, self.units.batches, strict=True):
            blocks[:, np.arange(members.shape[1]), np.arange(members.shape[1])] += self.penalties[members]
        if self.targets is None:
            return tuple(zip(covariances, squared_blocks(self.gram, self.units), strict=True))
        rows = [self.targets[members].astype(np.float64) for _, members in self.units.batches]
        products = [block @ block.transpose(0, 2, 1) for block in rows]
        return tuple(zip(covariances, products, strict=True))


class GrowingSpan(RegularisedSpan):
    r"""A set of single columns that only join, so that no inverse is needed: about half the time of a step.

    With :math:`R = S + \Pi` less what C explains of it and N the inner products of the remainders through the
    targets, a column p takes :math:`c c^\top` from R and :math:`c h^\top + h c^\top` from N, where
    :math:`c = R_p / \sqrt{R_{pp}}` and :math:`h = N_p / \sqrt{R_{pp}} - c\, N_{pp} / (2 R_{pp})`. The stores
    hold these instead of the columns.
    """

    def add(self, column: int) -> bool:
        """Let a column join, unless it turns out to lie in the span; tell whether it has joined."""
        own = np.asarray(self.gram.columns(np.array([column]))[:, 0], dtype=np.float64)
        image = self._image(column, own)
        taken, halves = self._stored(self._columns), self._stored(self._images)
        rest = own - taken @ taken[column]
        rest[column] += self.penalties[column]
        left = float(rest[column])
        if left <= self._floor[column]:  # its variance, kept up from step to step, has gathered rounding
            self.remainders.variance[column] = 0.0
            return False
        overlap = image - taken @ halves[column] - halves @ taken[column]
        overlap -= overlap[column] / (2 * left) * rest
        rest /= np.sqrt(left)
        overlap /= np.sqrt(left)
        before, place = self.remainders, len(self.members)
        self.remainders = Remainders(before.variance - np.square(rest), before.explained - 2 * rest * overlap)
        self._columns[:, place], self._images[:, place] = rest, overlap
        self.members.append(column)
        return True


def greedy_order(variances: NDArray, products: NDArray, parts: Sequence[NDArray]) -> list[int]:
    """Order few units of columns by what each adds, given covariances and products with the targets.

    ``parts`` has the places of each unit's columns; units that lie in the span of earlier ones come last.
    """
    variances, products = variances.copy(), products.copy()
    floor = SPENT_SHARE * variances.diagonal()
    alone = [unit for unit, part in enumerate(parts) if part.size == 1]
    places = np.array([parts[unit][0] for unit in alone], dtype=np.intp)
    several = [unit for unit, part in enumerate(parts) if part.size > 1]
    gains = np.zeros(len(parts))
    order: list[int] = []
    for _ in parts:
        gains[alone] = open_gains(variances.diagonal(), products.diagonal(), floor)[places]
        for unit in several:
            block, limit = np.ix_(parts[unit], parts[unit]), floor[parts[unit]].max(keepdims=True)
            gains[unit] = block_gains(variances[block][None], products[block][None], limit)[0]
        gains[order] = -1.0
        best = int(np.argmax(gains))
        for place in parts[best]:
            if variances[place, place] > floor[place]:
                share = variances[:, place] / variances[place, place]
                overlap = products[:, place] - products[place, place] / 2 * share
                both = share[:, None] * overlap
                products -= both + both.T
                variances -= share[:, None] * variances[place].copy()
        order.append(best)
    return order


def spent_floor(variances: NDArray, dtype: np.dtype) -> NDArray:
    """Return how much of each variance, or less, has to be left for a column to lie in the span."""
    return variances * max(SPENT_SHARE, np.finfo(dtype).eps * SPENT_ROUNDINGS)


def open_gains(variance: NDArray, explained: NDArray, floor: NDArray) -> NDArray:
    """Return what each column adds; nothing where it lies in the span."""
    is_open = variance > floor
    return np.where(is_open, np.maximum(explained, 0) / np.where(is_open, variance, 1.0), 0.0)


def _whitened(inverse: NDArray, places: list[int]) -> NDArray:
    """Return columns of an inverse, combined so that its block at their places becomes the identity."""
    if len(places) == 1:
        return inverse[:, places] / np.sqrt(inverse[places[0], places[0]])
    root = np.linalg.cholesky(inverse[np.ix_(places, places)])
    return np.linalg.solve(root, inverse[places]).T


def _product(store: NDArray, weights: NDArray) -> NDArray:
    """Return a product with few columns; BLAS is slower with one column than with a vector."""
    if weights.ndim == 2 and weights.shape[1] == 1:
        return (store @ weights[:, 0])[:, None]
    return store @ weights


def bordered(inverse: NDArray, weights: NDArray, left: float) -> NDArray:
    """Return the inverse of a matrix with one row and column more, by its Schur complement."""
    size = weights.size
    bordered = np.empty((size + 1, size + 1))
    bordered[:size, :size] = inverse + np.outer(weights, weights / left)
    bordered[:size, size] = bordered[size, :size] = -weights / left
    bordered[size, size] = 1 / left
    return bordered
