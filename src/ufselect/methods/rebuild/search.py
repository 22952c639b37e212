"""The search for columns that reconstruct all others: greedy steps, exchanges, and the penalty of noise."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from ufselect.gram import FactoredGram, GramOperator, SparseGram
from ufselect.gram.operator import FORM_RATIO
from ufselect.methods._columns import UnitRequest, Units
from ufselect.methods.greedy import (
    AllFeatures,
    block_gains,
    choose_in_rounds,
    crossed,
    gram_blocks,
    outer,
    squared_blocks,
)
from ufselect.methods.rebuild.placement import Placement
from ufselect.methods.rebuild.ridge import CenteredRows, shrinkage_weight

# Products of sparse data with a vector cost more than those with an array of this many columns of S, and it
# is enough for counts up to about a thousand; the targets of fewer than these are not sampled.
MOST_TARGETS = 2000
# A swap has to lower the error by this share: what is less is not worth a product with S.
MIN_RELATIVE_GAIN = 1e-4
# Columns of largest gain among which the leave-one-out error decides; in greedy steps more where rows are
# few, which makes them both cheap and misleading.
SHORTLIST = 30
SHORTLIST_ENTRIES = 6_000
# A row that fits itself but for rounding cannot be left out; this keeps the quotient finite. What rounding
# has left of a squared error, 1e-16 of it, stays small beside the square of this.
LEAST_FREEDOM = 1e-6


class Problem:
    """S of the centred data A, the rules, and what is known before any column is selected.

    ``placement`` says how many units to select, and which columns together where each is its own unit;
    ``start`` has the units that are selected from the beginning and stay, and ``rows`` the rows behind S,
    where some may be held out.

    Attributes
    ----------
    factor, products : ndarray or None
        A and its row products, where S is known through wide rows.
    weights : ndarray or None
        The weights of the rows, where these are so few that each is left out at every step.
    is_heavy_tailed : bool
        Whether rows are as few and some of them hold more of the variance than in any normal data. Such rows
        decide both the covariances and the error on held-out rows; one tells little of the next.
    targets : ndarray of shape (n_features, n_targets) or None
        Weighted columns of S that stand for all of them, where there are many sparse ones.
    norms : ndarray of shape (n_features,)
        Each column's sum of squared products with the targets, or with all columns.
    """

    def __init__(
        self,
        gram: GramOperator,
        placement: Placement,
        units: Units | None = None,
        start: Sequence[int] = (),
        rows: CenteredRows | None = None,
    ) -> None:
        self.gram, self.placement, self.start, self.rows = gram, placement, list(start), rows
        self.units = Units.single(gram.shape[0]) if units is None else units
        self.variances = np.asarray(gram.diag(), dtype=np.float64)
        self.total = gram.trace()
        self.factor: Any = None
        self.products: Any = None
        self.weights: Any = None
        self.targets: Any = None
        self.is_heavy_tailed = False
        if type(gram) is FactoredGram:  # the diagonal of a subclass is not that of its rows
            self.factor = np.asarray(gram.factor, dtype=np.float64)
            if rows is not None and rows.values is self.factor:
                self.products = rows.products
            else:
                self.products = self.factor @ self.factor.T
            self._look_at_rows(gram)
        elif isinstance(gram, SparseGram) and gram.shape[0] > MOST_TARGETS:
            # Columns are drawn with a chance proportional to their variance and divided by its root, so that
            # sums of squares over them estimate those over all columns. Nothing in it is random.
            expected = MOST_TARGETS * self.variances / self.variances.sum()
            places = np.searchsorted(np.cumsum(expected), np.arange(MOST_TARGETS) + 0.5, side="right")
            drawn, times = np.unique(np.minimum(places, expected.size - 1), return_counts=True)
            self.targets = gram.columns(drawn)
            self.targets *= np.sqrt(times / expected[drawn]).astype(self.targets.dtype)
        if self.targets is not None:
            self.norms = np.einsum("ij,ij->i", self.targets, self.targets, dtype=np.float64)
        elif self.factor is not None and gram.dtype == np.float64:  # to the last digit as the operator does
            self.norms = np.einsum("ij,ij->j", self.factor, self.products @ self.factor)
        else:
            self.norms = gram.squared_column_norms()

    def _look_at_rows(self, gram: FactoredGram) -> None:
        """Find out whether rows are few, fewer than columns, and whether some of them hold the variance."""
        weights = np.ones(len(gram.factor)) if gram.row_weights is None else gram.row_weights
        n_rows = gram.n_samples
        is_wide = gram.shape[0] > FORM_RATIO * n_rows  # so that weighted rows fare as repeated ones do
        are_rows = gram.row_weights is not None or len(gram.factor) == n_rows
        # with more than 200 rows the leave-one-out error selects as the error itself does, and takes longer
        if not (is_wide and are_rows and n_rows <= 200 and self.units.is_single):
            return
        # The mean fourth power of the lengths of rows, in units of their squared mean square, is at most 3
        # for normal data, whatever their covariances. Over n rows of one component it varies by the root of
        # 24 / n; three times that is seldom an accident.
        squares = self.products.diagonal()
        fourth = weights.sum() * np.sum(np.square(squares) / weights)
        most = 3 + 3 * np.sqrt(24 / weights.sum())
        self.is_heavy_tailed = bool(fourth > most * np.square(squares.sum()))
        self.weights = None if self.is_heavy_tailed else weights

    def greedy(self) -> tuple[NDArray, NDArray, NDArray]:
        """Return the units that ``GreedyProjection(target="features")`` takes, their columns, and gains."""
        if self.targets is not None:
            search = Search(self, 0.0)
            search.grow()
            return np.array(search.chosen, dtype=np.intp), np.array(search.members), search.gains_outside()
        request = UnitRequest(self.placement.size, self.units, np.array(self.start, dtype=np.intp))
        rules = self.placement if self.units.is_single else None
        order, gains = choose_in_rounds(
            self.gram, lambda: AllFeatures(self.gram, self.units, self.norms), request, rules
        )
        gains[order] = 0.0
        return order, np.flatnonzero(np.isin(self.units.codes, order)), gains

    def share_left(self, columns: NDArray) -> Callable[[float], float]:
        """Return the share of the variance that columns leave as a function of the weight of penalties.

        Components that only rounding tells from nothing explain nothing.
        """
        if columns.size == 0:
            return lambda weight: 1.0
        if self.factor is not None:
            own = self.factor[:, columns]
            inner, products = own.T @ own, own.T @ self.products @ own
        else:
            own = np.asarray(self.gram.columns(columns), dtype=np.float64)
            through = own if self.targets is None else self.targets[columns].T.astype(np.float64)
            inner, products = own[columns], through.T @ through
        roots = np.sqrt(inner.diagonal())
        values, vectors = np.linalg.eigh(inner / np.outer(roots, roots))
        vectors /= roots[:, None]
        explained = np.einsum("ij,ij->j", vectors, products @ vectors)
        known = values > values.size * np.finfo(np.float64).eps * values[-1]
        values, explained = values[known], explained[known] / self.total
        return lambda weight: max(1 - float(np.sum(explained / (values + weight))), 0.0)

    def share_left_out(self, columns: NDArray) -> Callable[[float], float]:
        """Return the same for the leave-one-out error, in units of that of the mean."""
        own = self.factor[:, columns].T
        squares, n_rows = self.products.diagonal(), self.weights.sum()

        def share(weight: float) -> float:
            root = linalg.cholesky(own @ own.T + weight * np.diag(self.variances[columns]), lower=True)
            half = linalg.solve_triangular(root, own, lower=True)
            seen = half @ self.products
            errors = squares + np.einsum("ij,ij->j", half, (seen @ half.T) @ half - 2 * seen)
            leverage = np.square(half).sum(axis=0) / self.weights
            free = np.maximum(1 - 1 / n_rows - leverage, LEAST_FREEDOM)
            return min(float(np.sum(errors / free**2) / np.sum(squares / (1 - 1 / n_rows) ** 2)), 1.0)

        return share

    def penalty(self, greedy: NDArray) -> float:
        """Return the weight of the penalties that suits the noise in columns, given those of greedy steps.

        What is noise in a column cannot be more than what others leave of it. So the weight is that of the
        best shrinkage times the share of the variance that greedy steps leave, which in turn depends on the
        weight, and is a half to begin with. The best shrinkage of a covariance matrix is not the best for
        columns selected by it, which prefer correlations that chance has made large: four times the weight
        did best on the development sets.
        """
        share = self.share_left(greedy) if self.weights is None else self.share_left_out(greedy)
        unit = 4 * shrinkage_weight(self.gram, float(self.norms.sum()))
        weight = unit / 2
        for _ in range(3):
            weight = unit * max(share(weight), np.finfo(np.float64).eps)
        return weight


class Remainders(NamedTuple):
    """What a set leaves of each column: its variance, and its squared inner products with the targets.

    ``blocks`` has both for each batch of units of several columns: covariances and products among them.
    """

    variance: NDArray
    explained: NDArray
    blocks: list[tuple[NDArray, NDArray]]


class Directions(NamedTuple):
    """Directions that join or leave the span of a set, a column each, in the space of `Search`'s stores.

    ``along`` and ``across`` are the products of every column of A with the direction u and with the image
    :math:`M A A^\\top u`, and ``squared`` has :math:`u^\\top A A^\\top u`.
    """

    weights: NDArray
    direction: NDArray
    image: NDArray
    along: NDArray
    across: NDArray
    squared: NDArray


class Search:
    r"""A set C of columns, grown and exchanged by the regularised error of reconstructing all from it.

    .. math:: f(C) = \min_W \|A - A_C W\|_F^2 + \sum_{i \in C} \pi_i \|w_i\|^2
              = \operatorname{tr} S - \operatorname{tr}\, S_{C:}^\top (S_{CC} + \Pi_C)^{-1} S_{C:}

    With :math:`M = I - A_C (S_{CC} + \Pi_C)^{-1} A_C^\top` every column a outside has what C leaves of its
    variance, :math:`a^\top M a + \pi`, and its squared products with what is left of all,
    :math:`a^\top M A A^\top M a`; the error falls by their quotient if it joins [1]_. When a column joins or
    leaves, M changes by the outer product of a direction with itself, and both numbers follow from products
    of all columns with two vectors. Directions are in the space of the rows where S is known through wide
    rows, which takes two products with A, however many columns are in the set; else in that of the columns,
    by stored columns of S and S², which takes three products with an n_features × k array. A unit G of
    several columns has its blocks R and N of both numbers, and the error falls by
    :math:`\mathrm{Tr}(R_{GG}^{+} N_{GG})`.

    Where rows are few, the leave-one-out error [2]_ decides among the columns of largest gain:

    .. math:: \sum_i \frac{\|e_i\|^2}{(1 - h_i)^2}, \qquad E = M A, \quad h_i = 1 - M_{ii} + 1/n,

    which is exact for the linear map and very near for the mean. Columns that a single outlying row
    recommends lose by it.

    ``penalty`` is the weight of the penalties π in units of the variances; greedy steps weigh gains by what
    columns cost if ``per_price``, and rows are left out where they are few if ``leaves_out``.

    References
    ----------
    .. [1] A. K. Farahat, A. Ghodsi and M. S. Kamel (2013), "Efficient greedy feature selection for
       unsupervised learning", Knowledge and Information Systems 35.
    .. [2] D. M. Allen (1974), "The relationship between variable selection and data augmentation and a method
       for prediction", Technometrics 16(1).
    """

    def __init__(
        self, problem: Problem, penalty: float, *, per_price: bool = True, leaves_out: bool = True
    ) -> None:
        self.problem = problem
        self.units, self.placement = problem.units, problem.placement
        self.penalties = penalty * problem.variances
        self.chosen: list[int] = []
        self.members: list[int] = []
        self.inverse = np.empty((0, 0))  # of the members' covariances, penalties included
        start = problem.variances + self.penalties
        self.remainders = Remainders(start, problem.norms, self._first_blocks())
        # A column of which the members leave no more than this share of its variance, or so many roundings,
        # lies in their span: the inverse would lose the digits that tell them apart.
        self._floor = start * max(1e-10, 1e3 * np.finfo(problem.gram.dtype).eps)
        size = start.size if problem.factor is None else len(problem.factor)
        capacity = self.units.most_rows(self.placement.size)
        self._own = np.empty((size, capacity), order="F")  # the members' columns of A, or of S
        self._images = np.empty((size, capacity), order="F")  # A Aᵀ times them, or S
        prices = self.placement.prices
        self._prices = prices if prices is not None and per_price else np.ones(self.units.count)
        self._leaves_out = leaves_out and problem.weights is not None
        if self._leaves_out:
            self._squares = problem.products.diagonal().copy()  # the squared errors of the rows
            self._free = np.full(size, 1 - 1 / problem.weights.sum())  # one less their leverages
        for unit in problem.start:
            self.add(unit)

    def _first_blocks(self) -> list[tuple[NDArray, NDArray]]:
        """Return the blocks of units of several columns before any column has joined."""
        if self.units.is_single:
            return []
        covariances = gram_blocks(self.problem.gram, self.units)
        for blocks, (_, members) in zip(covariances, self.units.batches, strict=True):
            blocks[:, np.arange(members.shape[1]), np.arange(members.shape[1])] += self.penalties[members]
        if self.problem.targets is None:
            return list(zip(covariances, squared_blocks(self.problem.gram, self.units), strict=True))
        rows = [self.problem.targets[members].astype(np.float64) for _, members in self.units.batches]
        return [(own, row @ row.transpose(0, 2, 1)) for own, row in zip(covariances, rows, strict=True)]

    def grow(self) -> None:
        """Add the best unit until there are as many as asked for, or none may join."""
        while len(self.chosen) < self.placement.size:
            worth = self._gains(self.remainders, self.chosen) / self._prices
            best = int(np.argmax(worth))
            if worth[best] == -np.inf:
                return
            if self._leaves_out:
                short = largest(worth, max(SHORTLIST, SHORTLIST_ENTRIES // self._free.size))
                short = short[worth[short] > -np.inf]
                gained = self._error_left_out() - self._left_out_with(short)
                best = int(short[np.argmax(gained / self._prices[short])])
            self.add(best)

    def add(self, unit: int) -> None:
        """Let the columns of a unit join, those that lie in the span without effect."""
        self.chosen.append(unit)
        # after others have left, also what had joined without effect may no longer lie in the span
        columns = [unit] if self.units.is_single else np.flatnonzero(np.isin(self.units.codes, self.chosen))
        for column in columns:
            if column not in self.members and self.remainders.variance[column] > self._floor[column]:
                self._join(int(column))

    def sweep(self) -> int:
        """Let each unit that need not stay make way for a better one; return how many did.

        Single columns for which there was none better when the sweep began are passed over.
        """
        worth, n_swaps = MIN_RELATIVE_GAIN * max(self.error(), 0.0), 0
        units = [unit for unit in self.chosen if unit not in self.problem.start]
        is_single = self.units.is_single
        if is_single:
            units = [unit for unit in units if unit in self.members]
            found = self._successors(units, worth)
            units = [unit for unit, successor in zip(units, found, strict=True) if successor >= 0]
        for unit in units:
            successor = (
                self._successors([unit], worth)[0] if is_single else self._group_successor(unit, worth)
            )
            if successor >= 0:
                self._leave(unit)
                self.add(successor)
                n_swaps += 1
        return n_swaps

    def error(self) -> float:
        """Return the regularised error of the set, computed afresh."""
        return self.problem.total - float(np.sum(self.inverse * self._at_members(self._images)))

    def gains_outside(self) -> NDArray:
        """Return by how much each unit would lower the error, whatever the rules; 0 for those selected."""
        is_open = self.placement.allowed & (self.remainders.variance > self._floor)
        gains = np.where(self.units.sums(is_open) > 0, self._unit_gains(self.remainders), 0.0)
        gains[self.chosen] = 0.0
        return gains

    def order(self) -> NDArray:
        """Return the units in the order in which greedy steps among them alone would take them.

        Units that lie in the span of earlier ones come last.
        """
        variances = self._at_members(self._own) + np.diag(self.penalties[self.members])
        products, floor = self._at_members(self._images), 1e-10 * variances.diagonal()
        chosen = np.array(self.chosen, dtype=np.intp)
        owners = (self.units.codes[self.members][:, None] == chosen).astype(np.float64)
        parts = [np.flatnonzero(owner) for owner in owners.T]
        several = [unit for unit, part in enumerate(parts) if part.size > 1]
        order: list[int] = []
        for _ in parts:
            gains = _open_gains(variances.diagonal(), products.diagonal(), floor) @ owners
            for unit in several:
                block, limit = np.ix_(parts[unit], parts[unit]), floor[parts[unit]].max(keepdims=True)
                gains[unit] = block_gains(variances[block][None], products[block][None], limit)[0]
            gains[order] = -1.0
            order.append(int(np.argmax(gains)))
            for place in parts[order[-1]]:
                if variances[place, place] > floor[place]:
                    share = variances[:, place] / variances[place, place]
                    both = share[:, None] * (products[:, place] - products[place, place] / 2 * share)
                    products -= both
                    products -= both.T
                    variances -= share[:, None] * variances[place].copy()
        return chosen[order]

    def _gains(self, remainders: Remainders, chosen: Sequence[int]) -> NDArray:
        """Return what each unit adds to some units; −∞ for these, and where rules or the span forbid it."""
        is_open = self.placement.open_to(chosen) & (remainders.variance > self._floor)
        gains = np.where(self.units.sums(is_open) > 0, self._unit_gains(remainders), -np.inf)
        gains[list(chosen)] = -np.inf
        return gains

    def _unit_gains(self, remainders: Remainders) -> NDArray:
        gains = self.units.sums(_open_gains(remainders.variance, remainders.explained, self._floor))
        for (batch, members), (variances, products) in zip(
            self.units.batches, remainders.blocks, strict=True
        ):
            gains[batch] = block_gains(variances, products, self._floor[members].max(axis=1))
        return gains

    def _join(self, column: int) -> None:
        """Let a column join, unless it turns out to lie in the span."""
        problem, size = self.problem, len(self.members)
        if problem.factor is not None:
            own = problem.factor[:, column]
            image = problem.products @ own
            overlap = self._own[:, :size].T @ own
        else:
            own = np.asarray(problem.gram.columns(np.array([column]))[:, 0], dtype=np.float64)
            if problem.targets is None:
                image = problem.gram.matmat(own.astype(problem.gram.dtype)[:, None])[:, 0]
            else:
                image = problem.targets @ problem.targets[column]
            overlap = own[self.members]
        weights = self.inverse @ overlap
        left = problem.variances[column] + self.penalties[column] - float(overlap @ weights)
        variance = self.remainders.variance
        if left <= self._floor[column]:  # its variance, kept up from step to step, has gathered rounding
            variance[column] = 0.0
            return
        self._own[:, size], self._images[:, size] = own, image
        self.members.append(column)
        inverse = np.zeros((size + 1, size + 1))
        inverse[:size, :size] = self.inverse
        self.inverse = inverse
        self._move(self._directions(np.append(-weights, 1.0)[:, None] / np.sqrt(left)), -1.0)

    def _directions(self, weights: NDArray) -> Directions:
        """Return combinations of the members' columns, and what of their images M leaves."""
        members = np.array(self.members)
        own, images = self._own[:, : members.size], self._images[:, : members.size]
        direction, image = (weights.T @ own.T).T, (weights.T @ images.T).T  # columns are contiguous
        inner = image[members] if self.problem.factor is None else own.T @ image
        seen = self.inverse @ inner
        image -= (seen.T @ own.T).T
        along, across = direction, image
        if self.problem.factor is not None:
            along, across = (direction.T @ self.problem.factor).T, (image.T @ self.problem.factor).T
        penalties = self.penalties[members, None]
        along[members] += penalties * weights
        across[members] -= penalties * seen
        return Directions(weights, direction, image, along, across, inner.T @ weights)

    def _moved(self, directions: Directions, sign: float) -> Remainders:
        """Return the remainders after directions have been taken out, or given back for a positive sign."""
        along = directions.along
        half = 2 * sign * directions.across + along @ directions.squared
        variance = self.remainders.variance + sign * np.einsum("ij,ij->i", along, along)
        explained = self.remainders.explained + np.einsum("ij,ij->i", along, half)
        blocks = []
        for (_, members), (variances, products) in zip(
            self.units.batches, self.remainders.blocks, strict=True
        ):
            variances, products = variances.copy(), products.copy()
            for own, other in zip(along.T, half.T, strict=True):
                variances += sign * outer(own[members])
                products += crossed(own[members], other[members]) / 2
            blocks.append((variances, products))
        return Remainders(variance, explained, blocks)

    def _move(self, directions: Directions, sign: float) -> None:
        self.remainders = self._moved(directions, sign)
        self.inverse = self.inverse - sign * (directions.weights @ directions.weights.T)
        if self._leaves_out:
            self._squares, self._free = self._rows_after(directions, sign)

    def _departing(self, unit: int) -> NDArray:
        """Return the weights of the directions that leave with a unit, a column each."""
        places = np.flatnonzero(self.units.codes[self.members] == unit)
        if places.size == 1:
            return self.inverse[:, places] / np.sqrt(self.inverse[places, places])
        root = np.linalg.cholesky(self.inverse[np.ix_(places, places)])
        return np.linalg.solve(root, self.inverse[places]).T

    def _leave(self, unit: int) -> None:
        """Let the columns of a unit go."""
        directions = self._directions(self._departing(unit))
        self._move(directions, 1.0)
        self.chosen.remove(unit)
        keep = np.flatnonzero(self.units.codes[self.members] != unit)
        self.members = [self.members[place] for place in keep]
        self.inverse = self.inverse[np.ix_(keep, keep)]
        for stored in (self._own, self._images):
            stored[:, : keep.size] = stored[:, keep]

    def _successors(self, columns: list[int], worth: float) -> list[int]:
        """Return for each of some members the best column for its place, −1 where none is better enough."""
        found: list[int] = []
        closed = ~self.placement.allowed
        closed[self.chosen] = True
        for first in range(0, len(columns), 64):  # arrays of so many columns stay small beside the stores
            block = columns[first : first + 64]
            places = [self.members.index(column) for column in block]
            pivots = self.inverse[places, places]
            directions = self._directions(self.inverse[:, places] / np.sqrt(pivots))
            along, lengths = directions.along, directions.squared.diagonal()
            variance = self.remainders.variance[:, None] + np.square(along)
            explained = self.remainders.explained[:, None] + along * (2 * directions.across + along * lengths)
            gains = _open_gains(variance, explained, self._floor[:, None]) - lengths
            gains[closed] = -np.inf
            gains[:, pivots * self._floor[block] >= 1] = -np.inf  # only rounding tells them from the others
            if not self.placement.is_plain:
                for gain, column in zip(gains.T, block, strict=True):
                    gain[
                        ~self.placement.open_to([other for other in self.chosen if other != column])
                    ] = -np.inf
            best = np.where(gains.max(axis=0) > worth, gains.argmax(axis=0), -1)
            if self._leaves_out:
                best = self._least_left_out(directions, gains, best, worth)
            found += best.tolist()
        return found

    def _least_left_out(self, directions: Directions, gains: NDArray, best: NDArray, worth: float) -> NDArray:
        """Return the column of least error on rows left out in place of each best one, −1 if it is higher."""
        shorts = {place: np.flatnonzero(gains[:, place] > worth) for place in np.flatnonzero(best >= 0)}
        for place, short in shorts.items():
            shorts[place] = short[largest(gains[short, place], SHORTLIST)]
        tried = np.unique(np.concatenate([best[:0], *shorts.values()]))
        seen, images = self._outside(tried)
        limit = (1 - MIN_RELATIVE_GAIN) * self._error_left_out()
        for place, short in shorts.items():
            one, at = slice(place, place + 1), np.searchsorted(tried, short)
            gone = Directions._make(part[:, one] for part in directions)
            gone = gone._replace(squared=directions.squared[one, one])
            errors = self._left_out_with(short, gone, (seen[:, at], images[:, at]))
            best[place] = short[np.argmin(errors)] if errors.min() < limit else -1
        return best

    def _group_successor(self, unit: int, worth: float) -> int:
        """Return the best unit for the place of one of several columns, −1 where none is better enough."""
        columns = [column for column in self.units.members(unit) if column in self.members]
        if not columns:  # it lies in the span of the others
            return -1
        directions = self._directions(self._departing(unit))
        remainders = self._moved(directions, 1.0)
        gains = self._gains(remainders, [other for other in self.chosen if other != unit])
        gains[unit] = -np.inf
        is_better = gains.max() > float(directions.squared.trace()) + worth
        is_apart = np.all(remainders.variance[columns] > self._floor[columns])  # by more than rounding
        return int(np.argmax(gains)) if is_better and is_apart else -1

    def _error_left_out(self) -> float:
        return float(np.sum(self._squares / np.square(np.maximum(self._free, LEAST_FREEDOM))))

    def _rows_after(self, directions: Directions, sign: float) -> tuple[NDArray, NDArray]:
        """Return the squared errors of the rows, and one less their leverages, once directions have moved."""
        moved = directions.direction
        half = 2 * sign * directions.image + moved @ directions.squared
        squares = self._squares + np.einsum("ij,ij->i", moved, half)
        return squares, self._free + sign * np.einsum("ij,ij->i", moved, moved) / self.problem.weights

    def _outside(self, columns: NDArray) -> tuple[NDArray, NDArray]:
        """Return M times columns of A, and M A Aᵀ M times them."""
        own, factor = self._own[:, : len(self.members)], self.problem.factor[:, columns]
        seen = factor - own @ (self.inverse @ (own.T @ factor))
        images = self.problem.products @ seen
        return seen, images - own @ (self.inverse @ (own.T @ images))

    def _left_out_with(
        self,
        columns: NDArray,
        gone: Directions | None = None,
        outside: tuple[NDArray, NDArray] | None = None,
    ) -> NDArray:
        """Return the error on rows left out if one of some columns joined, perhaps after a direction went."""
        problem = self.problem
        seen, images = self._outside(columns) if outside is None else outside
        squares, free = self._squares, self._free
        variance, explained = self.remainders.variance[columns], self.remainders.explained[columns]
        if gone is not None:
            along, across, length = gone.along[columns, 0], gone.across[columns, 0], gone.squared[0, 0]
            seen = seen + gone.direction * along
            images = images + gone.image * along + gone.direction * (across + length * along)
            squares, free = self._rows_after(gone, 1.0)
            variance = variance + np.square(along)
            explained = explained + along * (2 * across + length * along)
        roots = np.sqrt(variance)  # the square of a small variance would be no number
        seen /= roots
        errors = seen * (explained / variance)
        images *= 2 / roots
        errors -= images
        errors *= seen
        errors += squares[:, None]
        left = np.square(seen, out=seen)
        left /= -problem.weights[:, None]
        left += free[:, None]
        np.maximum(left, LEAST_FREEDOM, out=left)
        errors /= left
        errors /= left
        return errors.sum(axis=0)

    def _at_members(self, stored: NDArray) -> NDArray:
        """Return the members' entries of their stored columns of S, or of their images."""
        part = stored[:, : len(self.members)]
        if self.problem.factor is None:
            return part[self.members]
        return self._own[:, : len(self.members)].T @ part


def largest(values: NDArray, count: int) -> NDArray:
    """Return the positions of the largest values, in no particular order."""
    if values.size <= count:
        return np.arange(values.size)
    return np.argpartition(values, values.size - count)[values.size - count :]


def _open_gains(variance: NDArray, explained: NDArray, floor: NDArray) -> NDArray:
    """Return what each column adds; nothing where it lies in the span."""
    return np.maximum(explained, 0) / np.where(variance > floor, variance, np.inf)


def choose_columns(
    problem: Problem,
    *,
    max_sweeps: int,
    penalty: float | None = None,
    on_sweep: Callable[[int, float], None] = lambda sweep, error: None,
) -> tuple[NDArray, NDArray, dict[str, Any]]:
    r"""Choose columns C of small regularised error

    .. math:: \min_W \|A - A_C W\|_F^2 + \rho \sum_{i \in C} S_{ii} \|w_i\|^2.

    Where rows are few and the penalty comes from the data, the columns of greedy steps without a penalty stay
    unless others reconstruct held-out rows better, by more than the standard error.

    ``on_sweep`` is called with the number of each sweep and the error after it.

    Returns
    -------
    order, gains, attributes : ndarray, ndarray, dict
        The units, the one that explains most first; by how much each unit outside would lower the error, as a
        share of the variance; and the attributes of ``RebuildSelector``.
    """

    def exchanged(penalty: float, *, per_price: bool) -> tuple[Search, list[float]]:
        search = Search(problem, penalty, per_price=per_price)
        search.grow()
        errors = [max(search.error() / problem.total, 0.0)]  # below 0 by rounding alone
        for sweep in range(1, max_sweeps + 1):
            n_swaps = search.sweep()
            search.grow()
            errors.append(max(search.error() / problem.total, 0.0))
            if per_price:
                on_sweep(sweep, errors[-1])
            if n_swaps == 0 or errors[-1] > 0.99 * errors[-2]:  # the next would lower it by less
                break
        return search, errors

    def as_greedy(n_sweeps: int) -> tuple[NDArray, NDArray, dict[str, Any]]:
        errors = [problem.share_left(columns)(0.0)]
        attributes = {"penalty_": 0.0, "objective_history_": errors, "n_iter_": n_sweeps}
        return greedy, gains / problem.total, attributes

    is_given = penalty is not None
    if penalty is None:
        greedy, columns, gains = problem.greedy()
        if problem.is_heavy_tailed or greedy.size == 0:
            # Neither the shrinkage, which is that of normal data, nor held-out rows tell what new rows will
            # be like.
            return as_greedy(0)
        penalty = problem.penalty(columns)
    search, errors = exchanged(penalty, per_price=True)
    if problem.placement.prices is not None:
        # Gain per price alone can miss one expensive column that is worth all cheap ones.
        other, other_errors = exchanged(penalty, per_price=False)
        if other_errors[-1] < errors[-1]:
            search, errors = other, other_errors
    if not is_given and problem.rows is not None and problem.rows.are_few():
        chosen = np.flatnonzero(np.isin(problem.units.codes, search.chosen))
        if not problem.rows.favour(chosen, columns):
            return as_greedy(len(errors) - 1)
    attributes = {"penalty_": penalty, "objective_history_": errors, "n_iter_": len(errors) - 1}
    return search.order(), search.gains_outside() / problem.total, attributes


def first_columns(
    start: Sequence[int] = (),
    placement: Callable[[GramOperator, int], Placement] | None = None,
    penalty: float | None = None,
    units: Units | None = None,
) -> Callable[[GramOperator, int], NDArray]:
    """Return a function of a Gram operator and a count that gives so many units by greedy steps.

    ``placement`` gives the rules for an operator and a count; without it any column that varies may be taken.

    A penalty from the data is that of the first operator: in the folds of a cross-validation most rows of one
    are those of the next. Rows left out have a part in the penalty, not in the steps: a curve shows where the
    error stops falling, for which they are not worth their time.
    """

    def path(gram: GramOperator, count: int) -> NDArray:
        nonlocal penalty
        size = max(count, len(start))
        rules = Placement(np.asarray(gram.diag() > 0), size) if placement is None else placement(gram, size)
        problem = Problem(gram, rules, units, start)
        if penalty is None:
            penalty = 0.0 if problem.is_heavy_tailed else problem.penalty(problem.greedy()[1])
        search = Search(problem, penalty, leaves_out=False)
        search.grow()
        return np.array(search.chosen[:count], dtype=np.intp)

    return path
