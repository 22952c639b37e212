"""What a set of columns explains of few rows, fitted to all of them and with each left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from ufselect.sets.units import Units
from ufselect.solvers.rebuild.leave_one_out import LEAST_FREEDOM, FewRows
from ufselect.solvers.rebuild.span import Remainders, bordered, greedy_order, open_gains, spent_floor

# During exchanges, room for the products of M and P with columns that are tried, in units of those tried
# first: most are tried again, and a product with M takes much longer than its change by a direction.
KEPT_SHARE = 2
# So many products with a vector are faster than one with an array.
FEW_VECTORS = 2


@dataclass(frozen=True)
class Departures:
    """What would change if members went, each by itself: a row of every array for each.

    Attributes
    ----------
    places : ndarray
        The places of the members.
    directions, overlaps : ndarray of shape (n_members, n_rows)
        The direction u that goes with a member, and :math:`(I - H) A A^\\top u`.
    lengths : ndarray
        :math:`u^\\top A A^\\top u`, by which the error would rise.
    along, across : ndarray of shape (n_members, n_features)
        The products of every column with both.
    variance, explained : ndarray of shape (n_members, n_features)
        The remainders of every column that is no member.
    gains : ndarray of shape (n_members, n_features)
        By how much the error would fall again if a column joined that is no member.
    """

    places: NDArray
    directions: NDArray
    overlaps: NDArray
    lengths: NDArray
    along: NDArray
    across: NDArray
    variance: NDArray
    explained: NDArray
    gains: NDArray


class RowSpan:
    r"""A set C of columns over few rows: its regularised error, and the one on rows left out.

    With :math:`M = I - H`, H as in `FewRows`, and :math:`P = M A A^\top M`, both n_rows × n_rows, the
    remainder of a column a outside has the variance :math:`a^\top M a + \pi` and the squared inner products
    :math:`a^\top P a` with all columns; the squared errors of the rows are on the diagonal of P and their
    leverages on that of I − M. When a column joins or leaves, M changes by the outer product of
    a direction with itself, so that a step costs two products of the data with a vector, however many columns
    are in the set.

    Parameters
    ----------
    rows : FewRows
        The rows A.
    penalties : ndarray of shape (n_features,)
        The weight π of each column's penalty.
    variances : ndarray of shape (n_features,)
        The squared norm of each column of A.
    squared_norms : ndarray of shape (n_features,)
        The squared norm of each column of S.
    capacity : int
        Most columns that the set will hold.
    dtype : dtype
        The type of the data before they came into double precision.
    """

    def __init__(
        self,
        rows: FewRows,
        penalties: NDArray,
        variances: NDArray,
        squared_norms: NDArray,
        capacity: int,
        dtype: np.dtype,
    ) -> None:
        self.rows = rows
        self.penalties = penalties
        self.units = Units.single(penalties.size)
        self.total = float(rows.products.trace())
        start = variances + penalties
        self.remainders = Remainders(start, squared_norms.copy())
        self.members: list[int] = []
        self._inverse: NDArray | None = None  # of the members' covariances, once exchanges ask for it
        self._floor = spent_floor(start, dtype)
        self._n_rows = len(rows.values)
        self._own = np.empty((capacity, self._n_rows))  # the members' columns of A, one a row
        # M and P before the changes that follow; none to begin with, when M is the identity
        self._settled: tuple[NDArray, NDArray] | None = None
        limit = min(capacity, self._n_rows) + 2  # with more changes, M and P are faster at hand
        self._signs, self._n_changes = np.empty(limit), 0
        self._directions, self._halves = np.empty((2, limit, self._n_rows))
        self._along, self._across = np.empty((2, limit, penalties.size))
        self._squares = rows.products.diagonal().copy()  # of the errors: the diagonal of P
        self._share = 1 / rows.weights
        self._is_weighted = bool(np.any(rows.weights != 1))
        self._recent: tuple[NDArray, NDArray, NDArray] | None = None  # columns tried last, M and P times them
        # One less the leverage of each row, the part of the mean included.
        self._free = np.full(self._n_rows, 1 - 1 / rows.weights.sum())
        self._kept = np.empty((2, 0, self._n_rows))  # M a and P a of some columns, one a row
        self._kept_columns = np.empty(0, dtype=np.intp)
        self._place_kept = np.full(penalties.size, -1)

    def is_open(self) -> NDArray:
        """Mark the columns that do not lie in the span."""
        return self.remainders.variance > self._floor

    def open_gains(self) -> NDArray:
        """Return by how much the error falls when a column joins; nothing where it lies in the span."""
        return open_gains(self.remainders.variance, self.remainders.explained, self._floor)

    def error(self) -> float:
        """Return the regularised error of the set."""
        return float(np.vdot(self.rows.products, self._state()[0]))

    def error_left_out(self) -> float:
        """Return the error on rows left out."""
        free = np.maximum(self._free, LEAST_FREEDOM)
        return float(np.sum(self._squares / np.square(free)))

    def errors_with(self, columns: NDArray) -> NDArray:
        """Return the error on rows left out if one of some columns outside joined."""
        variance, explained = self.remainders.variance[columns], self.remainders.explained[columns]
        directions, overlaps = self._seen(columns)
        if self._inverse is None:
            self._recent = columns, directions, overlaps
        return self._summed(directions, overlaps, variance, explained, self._squares, self._free)

    def add(self, column: int) -> bool:
        """Let a column join, unless it turns out to lie in the span; tell whether it has joined."""
        own = self.rows.values[:, column]
        direction, overlap = self._seen_before(column)
        left = float(direction @ own) + float(self.penalties[column])
        remainders = self.remainders
        if left <= self._floor[column]:  # its variance, kept up from step to step, has gathered rounding
            remainders.variance[column] = 0.0
            return False
        if self._inverse is not None:
            weights = self._inverse @ (self._own[: len(self.members)] @ own)
            self._inverse = bordered(self._inverse, weights, left)
        self._own[len(self.members)] = own
        self.members.append(column)
        length = float(overlap @ own) / left
        direction, overlap = direction / np.sqrt(left), overlap / np.sqrt(left)
        along, across = direction @ self.rows.values, overlap @ self.rows.values
        self._move(direction, overlap, length, along, across, -1.0)
        remainders.variance[column] = remainders.explained[column] = 0.0
        return True

    def refresh(self) -> None:
        """Compute M, P and the inverse anew from the members, without the rounding of earlier steps."""
        own = self._own[: len(self.members)]
        covariances = own @ own.T
        covariances[np.diag_indices(len(own))] += self.penalties[self.members]
        root = linalg.cholesky(covariances, lower=True, check_finite=False)
        whole = np.hstack([own, np.eye(len(own))])
        half = linalg.solve_triangular(root, whole, lower=True, check_finite=False)
        known, inverse_root = half[:, : self._n_rows], half[:, self._n_rows :]
        self._inverse = inverse_root.T @ inverse_root
        outside = np.eye(self._n_rows) - known.T @ known
        self._settled, self._n_changes = (outside, outside @ self.rows.products @ outside), 0
        self._squares = self._settled[1].diagonal().copy()
        leverage = 1 - outside.diagonal()
        self._free = 1 - leverage * self._share - 1 / self.rows.weights.sum()
        self._forget()

    def departures(self, columns: Sequence[int]) -> Departures:
        """Return what would be left if some members went, each by itself."""
        places = np.array([self.members.index(column) for column in columns])
        inverse = self._known_inverse()[places]
        pivots = inverse[np.arange(places.size), places]
        inverse /= np.sqrt(pivots)[:, None]
        directions = inverse @ self._own[: len(self.members)]
        seen = directions @ self.rows.products
        lengths = np.einsum("ij,ij->i", directions, seen)
        overlaps = seen @ self._state()[0]
        along, across = self._products_with(directions), self._products_with(overlaps)
        variance = np.square(along)
        variance += self.remainders.variance
        explained = along * lengths[:, None]
        explained += 2 * across
        explained *= along
        explained += self.remainders.explained
        is_open = variance > self._floor
        is_open[pivots * self._floor[list(columns)] >= 1] = False  # only rounding tells them from the others
        gains = np.zeros_like(variance)
        np.divide(explained, variance, out=gains, where=is_open)
        return Departures(places, directions, overlaps, lengths, along, across, variance, explained, gains)

    def errors_after(self, departures: Departures, which: NDArray, columns: NDArray) -> NDArray:
        """Return the errors on rows left out if columns took the places of members.

        Parameters
        ----------
        departures : Departures
        which : ndarray of shape (n_tried,)
            For each exchange, which of the departures.
        columns : ndarray of shape (n_tried,)
            For each exchange the column that joins, no member.
        """
        gone, overlaps, lengths = departures.directions, departures.overlaps, departures.lengths
        along, across = departures.along[which, columns], departures.across[which, columns]
        variance, explained = departures.variance[which, columns], departures.explained[which, columns]
        # M and P without the member, times the column that joins
        directions, rest = self._seen(columns)
        leaving = gone[which]
        directions += leaving * along[:, None]
        rest += overlaps[which] * along[:, None]
        leaving *= (across + lengths[which] * along)[:, None]
        rest += leaving
        squares = gone * (gone * lengths[:, None] + 2 * overlaps) + self._squares
        free = np.square(gone) * self._share + self._free
        return self._summed(directions, rest, variance, explained, squares[which], free[which])

    def exchange(self, departures: Departures, which: int, column: int) -> None:
        """Let one of the members go, and a column join in its place."""
        place = int(departures.places[which])
        gone, last = self.members[place], len(self.members) - 1
        inverse, length = self._known_inverse(), float(departures.lengths[which])
        direction, overlap = departures.directions[which], departures.overlaps[which]
        self._move(direction, overlap, length, departures.along[which], departures.across[which], 1.0)
        variance, explained = self.remainders.variance, self.remainders.explained
        pivot = float(inverse[place, place])
        variance[self.members] = explained[self.members] = 0.0
        variance[gone], explained[gone] = 1 / pivot, length / pivot
        inverse = inverse - np.outer(inverse[place], inverse[place] / pivot)
        order = np.arange(last)
        if place < last:
            order[place] = last
            self.members[place] = self.members[last]
            self._own[place] = self._own[last]
        self.members.pop()
        self._inverse = inverse[np.ix_(order, order)]
        self.add(column)

    def order(self, units: Sequence[int]) -> NDArray:
        """Return members in the order in which greedy steps among them alone would take them."""
        own = self._own[: len(self.members)]
        variances = own @ own.T + np.diag(self.penalties[self.members])
        places = {member: place for place, member in enumerate(self.members)}
        parts = [np.array([places[unit]] if unit in places else [], dtype=np.intp) for unit in units]
        order = greedy_order(variances, own @ self.rows.products @ own.T, parts)
        return np.array(units, dtype=np.intp)[order]

    def _products_with(self, directions: NDArray) -> NDArray:
        """Return the products of directions, a row each, with the columns of A."""
        if len(directions) <= FEW_VECTORS:
            return np.array([direction @ self.rows.values for direction in directions])
        return directions @ self.rows.values

    def _known_inverse(self) -> NDArray:
        if self._inverse is None:
            self.refresh()
        return cast(NDArray, self._inverse)

    def _seen(self, columns: NDArray) -> tuple[NDArray, NDArray]:
        """Return M and P times columns of A, a row each, in arrays of their own."""
        if self._inverse is None:  # no exchanges yet: other columns are asked for in every step
            return self._fresh(columns)
        places = self._place_kept[columns]
        if places.min() < 0:
            self._keep(np.unique(columns[places < 0]), columns)
            places = self._place_kept[columns]
        return self._kept[0, places], self._kept[1, places]

    def _seen_before(self, column: int) -> tuple[NDArray, NDArray]:
        """Return M and P times a column, which a step has just tried with others."""
        if self._inverse is None and self._recent is not None:
            columns, directions, overlaps = self._recent
            for place in np.flatnonzero(columns == column):
                return directions[place], overlaps[place]
        (direction,), (overlap,) = self._seen(np.array([column]))
        return direction, overlap

    def _fresh(self, columns: NDArray) -> tuple[NDArray, NDArray]:
        """Compute M and P times columns of A, a row each."""
        outside = self.rows.values[:, columns]
        if self._settled is None:
            products = self.rows.images[:, columns]
        else:
            outside, products = self._settled[0] @ outside, self._settled[1] @ outside
        count = self._n_changes
        along = self._along[:count, columns]
        directions, halves = self._directions[:count].T, self._halves[:count].T
        products += halves @ along
        products += directions @ self._across[:count, columns]
        along *= self._signs[:count, None]
        outside += directions @ along
        return outside.T, products.T

    def _keep(self, unknown: NDArray, columns: NDArray) -> None:
        """Compute the products of M and P with unknown columns; if there is no room, with all of some."""
        start = self._kept_columns.size
        if start + unknown.size > self._kept.shape[1]:
            self._forget()
            start, unknown = 0, np.unique(columns)
            if KEPT_SHARE * unknown.size > self._kept.shape[1]:
                self._kept = np.empty((2, KEPT_SHARE * unknown.size, self._n_rows))
        end = start + unknown.size
        self._kept[0, start:end], self._kept[1, start:end] = self._fresh(unknown)
        self._place_kept[unknown] = np.arange(start, end)
        self._kept_columns = np.append(self._kept_columns, unknown)

    def _forget(self) -> None:
        self._place_kept[self._kept_columns] = -1
        self._kept_columns = np.empty(0, dtype=np.intp)

    def _state(self) -> tuple[NDArray, NDArray]:
        """Return M and P with all changes made."""
        if self._settled is None:
            self._settled = np.eye(self._n_rows), self.rows.products.copy()
        outside, products = self._settled
        if self._n_changes:
            directions, halves = self._directions[: self._n_changes], self._halves[: self._n_changes]
            outside += (directions.T * self._signs[: self._n_changes]) @ directions
            both = directions.T @ halves
            products += both
            products += both.T
            self._n_changes = 0
        return outside, products

    def _summed(
        self,
        seen: NDArray,
        overlaps: NDArray,
        variance: NDArray,
        explained: NDArray,
        squares: NDArray,
        free: NDArray,
    ) -> NDArray:
        """Return the errors on rows left out once columns a have joined, a row each, given M a and P a.

        The direction that joins is d = M a over the root of the variance. Squared errors change by
        d (dᵀ A Aᵀ d d − 2 M A Aᵀ d) and leverages by d².
        """
        roots = np.sqrt(variance)  # the square of a small variance would be no number
        directions = seen / roots[:, None]
        errors = directions * (explained / variance)[:, None]
        errors -= overlaps * (2 / roots)[:, None]
        errors *= directions
        errors += squares
        left = np.square(directions, out=directions)
        if self._is_weighted:
            left *= self._share
        np.subtract(free, left, out=left)
        np.maximum(left, LEAST_FREEDOM, out=left)
        errors /= left
        errors /= left
        return errors.sum(axis=1)

    def _move(
        self,
        direction: NDArray,
        overlap: NDArray,
        length: float,
        along: NDArray,
        across: NDArray,
        sign: float,
    ) -> None:
        """Take a direction d out, or give it back for a positive sign: with M, d dᵀ; with P, d and M A Aᵀ d
        in turn, and d dᵀ times dᵀ A Aᵀ d. The last arrays are the products of columns with the first two."""
        self._recent = None
        if self._n_changes == self._signs.size:
            self._state()
        place = self._n_changes
        self._signs[place], self._directions[place], self._along[place] = sign, direction, along
        half, crossed = self._halves[place], self._across[place]
        np.multiply(overlap, sign, out=half)
        half += length / 2 * direction
        np.multiply(across, sign, out=crossed)
        crossed += length / 2 * along
        self._n_changes += 1
        self._free += sign * np.square(direction) * self._share
        self._squares += 2 * direction * half
        count = self._kept_columns.size
        if count:
            own, other = along[self._kept_columns, None], crossed[self._kept_columns, None]
            self._kept[0, :count] += (sign * own) * direction
            self._kept[1, :count] += own * half
            self._kept[1, :count] += other * direction
        variance, explained = self.remainders.variance, self.remainders.explained
        variance += sign * np.square(along)
        explained += 2 * along * crossed
