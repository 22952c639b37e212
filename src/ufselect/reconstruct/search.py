"""The search for columns that reconstruct all others: greedy steps, exchanges, and a penalty for noise."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from ufselect._columns import Units
from ufselect._utils.validation import has_missing
from ufselect.gram import FactoredGram, GramOperator, RowInfo, SparseGram, gram_operator
from ufselect.gram.operator import FORM_RATIO
from ufselect.gram.rows import row_blocks
from ufselect.reconstruct.placement import Placement
from ufselect.reconstruct.ridge import (
    RIDGES,
    dense,
    errors_by_ridge,
    fold_moments,
    in_row_space,
    shrinkage_weight,
    value_folds,
)

MIN_RELATIVE_GAIN = 1e-4  # of the error, by an exchange; less is not worth a product with S
MOST_TARGETS = 2000  # sparse columns that represent all; enough to select up to about a thousand
# With more rows the leave-one-out error selects the same columns as the error, but slower.
MOST_LEFT_OUT = 200
# A row that is fitted exactly by itself cannot be left out; this bound keeps the quotient finite. The
# rounding of a squared error, 1e-16 of it, stays small compared with the square of this.
LEAST_FREEDOM = 1e-6


def centred_rows(X: Any, gram: GramOperator, rows: RowInfo | None) -> tuple[NDArray, NDArray] | None:
    """Return the rows behind S, times the roots of their weights, and the weights.

    None if entries are missing, or too many for a dense copy of 160 megabytes.
    """
    if X is None or np.prod(X.shape) > 20_000_000 or has_missing(X.data if sparse.issparse(X) else X):
        return None
    rows = RowInfo(np.ones(X.shape[0])) if rows is None else rows
    if type(gram) is FactoredGram and gram.dtype == np.float64:
        return gram.factor, rows.weights
    data = dense(X) / gram.scale  # before sums, which could overflow in the user's units
    return rows.rooted(data - rows.expand(rows.means(data))), rows.weights


def block_gains(variances: NDArray, products: NDArray, floors: NDArray) -> NDArray:
    r"""Return :math:`\mathrm{Tr}(R_{GG}^{+} N_{GG})` of each unit G: what it adds to the explained target.

    For each unit, ``variances`` has a block of R, the residual of S, and ``products`` one of N, its inner
    products through the target. An eigenvalue of R up to the unit's floor counts as spanned.
    """
    values, vectors = np.linalg.eigh(variances)
    seen = np.sum(vectors * (products @ vectors), axis=1)
    outside = values > floors[:, None]
    return np.sum(np.where(outside, np.maximum(seen, 0) / np.where(outside, values, 1.0), 0.0), axis=1)


class DenseRows:
    """The rows of A, if S is given by few of them, and their products ``A Aᵀ``."""

    def __init__(self, factor: NDArray) -> None:
        self.factor = np.asarray(factor, dtype=np.float64)
        self.products = self.factor @ self.factor.T

    def columns(self, indices: Any) -> NDArray:
        """Return columns of A."""
        return self.factor[:, indices]

    def combine(self, *vectors: NDArray) -> list[NDArray]:
        """Return ``Aᵀ`` times each of some arrays."""
        return [(each.T @ self.factor).T for each in vectors]

    def squared_norms(self) -> NDArray:
        """Return the squared norms of the columns of S."""
        return np.einsum("ij,ij->j", self.factor, self.products @ self.factor)


class SparseRows(DenseRows):
    """The same of sparse data, of which only blocks of columns are ever dense."""

    def __init__(self, gram: SparseGram) -> None:
        self._gram, self._by_column = gram, gram.data.tocsc().astype(np.float64)
        self._blocks = list(row_blocks(gram.shape[0], 8 * gram.data.shape[0], 2**26))
        self.products = np.zeros((gram.data.shape[0],) * 2)
        for block in self._blocks:
            columns = self.columns(block)
            self.products += columns @ columns.T

    def columns(self, indices: Any) -> NDArray:
        rows = self._gram.rows
        values = self._by_column[:, indices].toarray() - rows.expand(self._gram.means[:, indices])
        return rows.rooted(values / self._gram.inner_scale)

    def combine(self, *vectors: NDArray) -> list[NDArray]:
        # they lie in the span of the centred columns, so that the products with the means vanish
        scaled = (self._gram.rows.rooted(each) / self._gram.inner_scale for each in vectors)
        # a single vector takes a fifth of the time in which SciPy multiplies an array of one column
        return [
            (self._by_column.T @ (each.ravel() if each.shape[1] == 1 else each)).reshape(-1, each.shape[1])
            for each in scaled
        ]

    def squared_norms(self) -> NDArray:
        blocks = (self.columns(block) for block in self._blocks)
        return np.concatenate([np.einsum("ij,ij->j", block, self.products @ block) for block in blocks])


class Problem:
    """S of the centred data A, the rules, and what is known before any column is selected.

    ``placement`` has the number of units to select and, for single columns, which may be selected together;
    ``start`` has the units that are always selected. ``rows`` are those of `centred_rows`. ``targets`` are
    products of all columns with orthonormal ones that are to be explained instead.
    """

    def __init__(
        self,
        gram: GramOperator,
        placement: Placement,
        units: Units | None = None,
        start: Sequence[int] = (),
        rows: tuple[NDArray, NDArray] | None = None,
        targets: NDArray | None = None,
    ) -> None:
        if isinstance(gram, SparseGram) and gram.data.shape[0] <= min(
            MOST_LEFT_OUT, gram.shape[0] / FORM_RATIO
        ):  # treated as dense rows of the same values
            gram = gram_operator(gram.data.toarray(), rows=None if gram.rows.is_plain else gram.rows)
        self.noise: NDArray | float = 0.0  # n times the variances of the noise of columns, if they have any
        self.gram, self.placement, self.start, self.rows = gram, placement, list(start), rows
        self.units = Units.single(gram.shape[0]) if units is None else units
        self.variances = np.asarray(gram.diag(), dtype=np.float64)
        self.total = gram.trace()
        self.wide: Any = None  # A, if it has few rows
        self.weights: Any = None  # of the rows, if these are so few that the leave-one-out error is used
        self.targets: Any = targets  # else weighted columns of S that represent all, if many are sparse
        # Whether rows are as few and some have more of the variance than in any normal data. They dominate
        # both the covariances and the held-out error, and say little about new rows.
        self.is_heavy_tailed = False
        if targets is not None:
            self.total = float(targets.shape[1])
        elif type(gram) is FactoredGram:  # the diagonal of a subclass is not that of its rows
            self.wide = DenseRows(gram.factor)
            self._look_at_rows(gram)
        elif isinstance(gram, SparseGram) and MOST_TARGETS < gram.shape[0] > gram.data.shape[0] <= 5000:
            self.wide = SparseRows(gram)
        elif isinstance(gram, SparseGram) and gram.shape[0] > MOST_TARGETS:
            # A product of S with a vector would cost more than one with so many columns of S. They are
            # sampled systematically, without randomness, in proportion to their variance and divided by its
            # root, so that sums of squares over them estimate those over all columns.
            expected = MOST_TARGETS * self.variances / self.variances.sum()
            places = np.searchsorted(np.cumsum(expected), np.arange(MOST_TARGETS) + 0.5, side="right")
            drawn, times = np.unique(np.minimum(places, expected.size - 1), return_counts=True)
            self.targets = gram.columns(drawn)
            self.targets *= np.sqrt(times / expected[drawn]).astype(self.targets.dtype)
        # each column's sum of squared products with the targets, or with all columns
        if self.targets is not None:
            self.norms = np.einsum("ij,ij->i", self.targets, self.targets, dtype=np.float64)
        elif isinstance(self.wide, SparseRows) or (self.wide is not None and gram.dtype == np.float64):
            self.norms = self.wide.squared_norms()  # to the last digit as the operator does
        else:
            self.norms = gram.squared_column_norms()

    def _look_at_rows(self, gram: FactoredGram) -> None:
        """Set ``weights`` or ``is_heavy_tailed`` if rows are few, and fewer than columns."""
        weights = np.ones(len(gram.factor)) if gram.row_weights is None else gram.row_weights
        n_rows = gram.n_samples
        is_wide = gram.shape[0] > FORM_RATIO * n_rows  # so that weighted rows are treated as repeated ones
        are_rows = gram.row_weights is not None or len(gram.factor) == n_rows
        if not (is_wide and are_rows and n_rows <= MOST_LEFT_OUT and self.units.is_single):
            return
        # The mean fourth power of the lengths of rows, in units of their squared mean square, is at most 3
        # for normal data, whatever their covariances. Over n rows of one component it varies by the root of
        # 24 / n; three times that is seldom chance.
        squares = self.wide.products.diagonal()
        fourth = weights.sum() * np.sum(np.square(squares) / weights)
        most = 3 + 3 * np.sqrt(24 / weights.sum())
        self.is_heavy_tailed = bool(fourth > most * np.square(squares.sum()))
        if not self.is_heavy_tailed:
            self.weights, self.rows = weights, (self.wide.factor, weights)

    def grown(self) -> tuple[NDArray, NDArray]:
        """Return units by greedy steps without penalty, best first, and what each other one would add.

        Once the selected units span all others, a new round begins among the rest.
        """
        search = Search(self, 0.0, leaves_out=False).grow()
        while len(search.chosen) < self.placement.size:
            last = search
            search = Search(self, 0.0, leaves_out=False, earlier=last.chosen).grow()
            if len(search.chosen) == len(last.chosen):
                return np.array(last.chosen, dtype=np.intp), last.gains_outside()
        return np.array(search.chosen, dtype=np.intp), search.gains_outside()

    def share_left(self, columns: NDArray) -> Callable[[float], float]:
        """Return the unexplained share of the variance as a function of the weight of penalties."""
        if self.wide is not None:
            own = self.wide.columns(columns)
            inner, products = own.T @ own, own.T @ self.wide.products @ own
        else:
            own = np.asarray(self.gram.columns(columns), dtype=np.float64)
            through = own if self.targets is None else self.targets[columns].T.astype(np.float64)
            inner, products = own[columns], through.T @ through
        values, vectors = _turned(inner)
        explained = np.einsum("ij,ij->j", vectors, products @ vectors) / self.total
        return lambda weight: max(1 - float(np.sum(explained / (values + weight))), 0.0)

    def errors_left_out(self, columns: NDArray) -> Callable[[float], NDArray]:
        """Return the squared error of each row by the map of all others as a function of the same weight.

        The mean is refitted too, up to terms of the order 1/n².
        """
        rows, weights = self.rows  # type: ignore[misc]
        own = rows[:, columns]
        values, vectors = _turned(own.T @ own)
        own = own @ vectors
        fitted = own.T @ self._row_targets

        def errors(weight: float) -> NDArray:
            shrunk = own / (values + weight)
            left = self._row_targets - shrunk @ fitted
            free = 1 - 1 / weights.sum() - np.einsum("ij,ij->i", shrunk, own) / weights
            return np.einsum("ij,ij->i", left, left) / np.maximum(free, LEAST_FREEDOM) ** 2

        return errors

    def fold_errors(self, columns: NDArray) -> NDArray:
        """Return the squared errors of the other columns in five folds, at the ridge of least error."""
        rows, weights = self.rows  # type: ignore[misc]
        folds = value_folds(rows / np.sqrt(weights)[:, None])
        design, _, _ = in_row_space(rows[:, columns])
        # the selected columns among the targets are subtracted again
        targets = np.hstack([self._row_targets, rows[:, columns]])
        signs = np.repeat([1.0, -1.0], [targets.shape[1] - columns.size, columns.size])
        *_, pairs = fold_moments(targets, design, folds, np.zeros(len(signs)), weights=weights, in_units=True)
        # every fourth ridge: the errors of neighbours hardly differ
        errors = [errors_by_ridge(train, test, square, RIDGES[::4], signs) for train, test, square in pairs]
        return np.array(errors)[:, np.argmin(np.sum(errors, axis=0))]

    @cached_property
    def _row_targets(self) -> NDArray:
        """A, or if it is wide as many columns as rows with the same row products, which give equal errors."""
        rows = self.rows[0]  # type: ignore[index]
        if rows.shape[1] <= rows.shape[0]:
            return rows
        products = rows @ rows.T if self.wide is None else self.wide.products.copy()
        products[np.diag_indices(len(products))] += 1e-12 * products.trace()  # more than its rounding
        return linalg.cholesky(products, lower=True, check_finite=False)

    def penalty(self, greedy: NDArray) -> float:
        """Return the weight of the penalties for the noise in columns, given those of greedy steps.

        The noise in a column is at most what the others leave unexplained. So the weight is that of the best
        shrinkage times the share of the variance that greedy steps leave, which in turn depends on the
        weight; the share starts at a half. The best shrinkage of a covariance matrix is not the best for
        columns selected by it, because selection prefers correlations that are large by chance: four times
        the weight did best on the development sets.
        """
        share = self.share_left(greedy)
        if self.weights is not None:
            errors, total = self.errors_left_out(greedy), self.errors_left_out(greedy[:0])(0.0).sum()

            def share(weight: float) -> float:
                return min(float(errors(weight).sum() / total), 1.0)

        unit = 4 * shrinkage_weight(self.gram, float(self.norms.sum()))
        weight = unit / 2
        for _ in range(3):
            weight = unit * max(share(weight), np.finfo(np.float64).eps)
        return weight

    def favours(self, columns: NDArray, others: NDArray) -> bool:
        """Return whether columns are better than others by more than one standard error over five folds.

        Also true with more than 400 effective rows, in which each row weighs by its share of the variance: a
        lower error of the fit is then a lower error on new rows. On the benchmark sets no error rose by more
        than .002.
        """
        if self.rows is None:
            return True
        rows, weights = self.rows
        squares = np.einsum("ij,ij->i", rows, rows)
        if np.square(squares.sum()) > 400 * np.sum(np.square(squares) / weights):
            return True
        gains = self.fold_errors(others) - self.fold_errors(columns)
        # a gain in a single fold equals the standard error up to rounding
        return bool(gains.mean() > (1 + 1e-9) * gains.std(ddof=1) / np.sqrt(gains.size))


def _turned(inner: NDArray) -> tuple[NDArray, NDArray]:
    """Return the eigenvalues of correlations and, in the units of columns, their vectors.

    Components with eigenvalues of the size of rounding are dropped.
    """
    roots = np.sqrt(inner.diagonal())
    roots[roots == 0] = 1.0  # constant columns, which keep or groups may name
    values, vectors = np.linalg.eigh(inner / np.outer(roots, roots))
    known = values > values.size * np.finfo(np.float64).eps * values.max(initial=0.0)
    return values[known], vectors[:, known] / roots[:, None]


class Search:
    r"""A set C of columns, grown and exchanged by the regularised error of reconstructing all from it.

    .. math:: f(C) = \min_W \|A - A_C W\|_F^2 + \sum_{i \in C} \pi_i \|w_i\|^2
              = \operatorname{tr} S - \operatorname{tr}\, S_{C:}^\top (S_{CC} + \Pi_C)^{-1} S_{C:}

    With :math:`M = I - A_C (S_{CC} + \Pi_C)^{-1} A_C^\top` every column a outside C has a residual variance,
    :math:`a^\top M a + \pi`, and a sum of squared products with the residuals of all columns,
    :math:`a^\top M A A^\top M a`. If the column joins, the error falls by the second over the first. When a
    column joins or leaves, M changes by the outer product of a direction with itself, and both numbers follow
    from products of all columns with two vectors. If S is given by wide rows, directions are in the space of
    the rows, which takes two products with A, however many columns are in the set; else in that of the
    columns, by stored columns of S and S², which takes three products with an n_features × k array. A unit G
    of several columns has blocks R and N of both numbers, and the error falls by
    :math:`\mathrm{Tr}(R_{GG}^{+} N_{GG})`.

    With few rows, the leave-one-out error decides among the columns of largest gain:

    .. math:: \sum_i \frac{\|e_i\|^2}{(1 - h_i)^2}, \qquad E = M A, \quad h_i = 1 - M_{ii} + 1/n,

    which is exact for the linear map and very accurate for the mean. It disfavours columns that gain by a
    single outlying row.

    ``penalty`` is the weight of the penalties π in units of the variances. With ``compares_prices``, greedy
    steps compare gains with the prices of columns; with ``leaves_out``, few rows are left out one at a time.
    Units of ``earlier`` rounds count for the rules, but explain nothing.
    """

    def __init__(
        self,
        problem: Problem,
        penalty: float,
        *,
        compares_prices: bool = True,
        leaves_out: bool = True,
        earlier: Sequence[int] = (),
    ) -> None:
        self.problem = problem
        self.units, self.placement = problem.units, problem.placement
        self.penalties = penalty * problem.variances + problem.noise
        self.chosen, self._n_earlier = list(earlier), len(earlier)
        self.members: list[int] = []
        self.inverse = np.empty((0, 0))  # of the members' covariances, penalties included
        self.variance = problem.variances + self.penalties
        self.explained = problem.norms
        self.blocks = [] if self.units.is_single else self._first_blocks()
        # A column whose residual variance is at most this share of its variance, or the size of rounding,
        # lies in the span of the members: with it the inverse would be inaccurate.
        self._floor = self.variance * max(1e-10, 1e3 * np.finfo(problem.gram.dtype).eps)
        size = self.variance.size if problem.wide is None else len(problem.wide.products)
        capacity = self.units.most_rows(self.placement.size)
        self._own = np.empty((size, capacity), order="F")  # the members' columns of A, or of S
        self._images = np.empty((size, capacity), order="F")  # A Aᵀ times them, or S
        self.compares_prices = compares_prices
        self.n_exchanged = 0
        weight = (self.placement.price_weight or 0.0) * problem.total
        self._fees = weight * self.placement.prices if weight else np.zeros(self.units.count)
        self.leaves_out = leaves_out and problem.weights is not None
        if self.leaves_out:
            self._squares = problem.wide.products.diagonal().copy()  # the squared errors of the rows
            self._free = np.full(size, 1 - 1 / problem.weights.sum())  # one less their leverages
        for unit in problem.start:
            if unit not in earlier:
                self.add(unit)

    def _first_blocks(self) -> list[tuple[NDArray, NDArray]]:
        """Return the blocks of units of several columns before any column has joined."""
        found, gram, targets = [], self.problem.gram, self.problem.targets
        for _, members in self.units.batches:
            covariances = np.array([gram.subgram(rows) for rows in members], dtype=np.float64)
            diagonal = np.arange(members.shape[1])
            covariances[:, diagonal, diagonal] += self.penalties[members]
            through = [gram.columns(rows).T if targets is None else targets[rows] for rows in members]
            rows = np.array(through, dtype=np.float64)
            found.append((covariances, rows @ rows.transpose(0, 2, 1)))
        return found

    def grow(self) -> Search:
        """Return a search with the best units added until there are as many as requested, or none may join.

        If that leaves a rule unmet, steps begin anew, each within a set that meets all rules.
        """
        grown = copy(self)
        grown._grow()
        if not self.placement.is_plain and not self.placement.is_met_by(grown.chosen):
            guided = copy(self)
            guided._grow(is_guided=True)
            grown = guided if guided.placement.is_met_by(guided.chosen) else grown
        return grown

    def _grow(self, *, is_guided: bool = False) -> None:
        placement, plan = self.placement, None
        while len(self.chosen) < placement.size:
            may_join = placement.open_to(self.chosen)
            gains, is_met = self._gains(may_join), placement.is_met_by(self.chosen)
            if is_guided and not is_met:
                limit = 10_000 if plan is None else 100  # nodes
                found = placement.completion(self.chosen, np.maximum(gains, 0.0), limit)
                plan = plan if found is None else found
                if plan is None:
                    return
                may_join = np.isin(np.arange(may_join.size), plan)
                gains[~may_join] = -np.inf
            unit = self._best(gains, self.compares_prices)
            if unit < 0:
                may_join[self.chosen] = False
                if placement.is_plain or is_met or not may_join.any():
                    return
                unit = int(np.argmax(may_join))  # all lie in the span, and a rule asks for more
            self.add(unit)

    def add(self, unit: int) -> None:
        """Add the columns of a unit; those that lie in the span have no effect."""
        self.chosen = [*self.chosen, unit]
        # columns that lay in the span before others left may no longer do so
        chosen = self.chosen[self._n_earlier :]
        columns = [unit] if self.units.is_single else np.flatnonzero(np.isin(self.units.codes, chosen))
        for column in columns:
            if column not in self.members and self.variance[column] > self._floor[column]:
                self._join(int(column))

    def sweep(self) -> Search:
        """Return a search with units, except kept ones, exchanged for better ones.

        Single columns for which none was better when the sweep began are skipped.
        """
        search, worth = self, MIN_RELATIVE_GAIN * max(self.error(), 0.0)
        units = [unit for unit in self.chosen if unit not in self.problem.start]
        for unit in self._exchangeable(units, worth) if self.units.is_single else units:
            columns = [column for column in self.units.members(unit) if column in search.members]
            if not columns:  # the unit lies in the span of the others
                continue
            limit = (1 - MIN_RELATIVE_GAIN) * search.error_left_out() if search.leaves_out else 0.0
            saved = self._fees[unit] - self._fees
            search._put_last(columns)
            without = copy(search)
            lost = without._leave(unit, len(columns))
            gains = without._gains(without.placement.open_to(without.chosen, is_last=True)) + saved
            gains[unit] = -np.inf
            gains[gains <= lost + worth] = -np.inf
            best = without._best(gains, saved=saved, limit=limit)
            # a column that lies in the span of the others up to rounding is not exchanged
            if best >= 0 and np.all(without.variance[columns] > self._floor[columns]):
                without.add(best)
                without.n_exchanged += 1
                search = without
        return search

    def error(self) -> float:
        """Return the regularised error of the set."""
        return self.problem.total - float(np.sum(self.inverse * self._at_members(self._images)))

    @property
    def price(self) -> float:
        """The price of the set, in shares of the variance, if prices are weighed against gains."""
        return float(self._fees[self.chosen].sum()) / self.problem.total

    def gains_outside(self) -> NDArray:
        """Return by how much each unit would lower the error, whatever the rules; 0 for those selected."""
        return self._gains(self.placement.allowed, 0.0)

    def order(self) -> NDArray:
        """Return the units in the order in which greedy steps among them alone would select them.

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

    def error_left_out(self) -> float:
        """Return the leave-one-out error; for few rows only."""
        return float(np.sum(self._squares / np.square(np.maximum(self._free, LEAST_FREEDOM))))

    def _gains(self, allowed: NDArray, closed: float = -np.inf) -> NDArray:
        """Return what each unit adds; ``closed`` for those selected, in the span or not allowed."""
        gains = self.units.sums(_open_gains(self.variance, self.explained, self._floor))
        for (batch, members), (variances, products) in zip(self.units.batches, self.blocks, strict=True):
            gains[batch] = block_gains(variances, products, self._floor[members].max(axis=1))
        gains[self.units.sums(allowed & (self.variance > self._floor)) <= 0] = closed
        gains[self.chosen] = closed
        return gains

    def _best(
        self,
        gains: NDArray,
        compares_prices: bool = False,
        saved: NDArray | None = None,
        limit: float = np.inf,
    ) -> int:
        """Return the unit of largest gain, or gain for its price, −1 if there is none.

        With few rows it is the unit of least leave-one-out error, below a limit, among the 30 of largest
        gain; among more with fewer than 200 rows, which make gains less reliable and the error cheaper.
        """
        if compares_prices:
            gains = self.placement.worth(gains, self.problem.total)
        short = np.flatnonzero(gains > -np.inf)
        if short.size == 0 or not self.leaves_out:
            return int(np.argmax(gains)) if short.size else -1
        surplus = short.size - max(30, 6000 // self._free.size)
        if surplus > 0:
            short = short[np.argpartition(gains[short], surplus)[surplus:]]
        errors = self._left_out_with(short) - (0.0 if saved is None else saved[short])
        falls = self.error_left_out() - errors
        if compares_prices:
            falls = self.placement.worth(falls, self.problem.total, short)
        best = int(np.argmax(falls))
        return int(short[best]) if errors[best] < limit else -1

    def _join(self, column: int) -> None:
        """Add a column, unless it turns out to lie in the span."""
        problem, size = self.problem, len(self.members)
        if problem.wide is not None:
            own = problem.wide.columns([column])[:, 0]
            image = problem.wide.products @ own
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
        if left <= self._floor[column]:  # its updated variance had accumulated rounding
            self.variance = np.where(np.arange(self.variance.size) == column, 0.0, self.variance)
            return
        self._own[:, size], self._images[:, size] = own, image
        self.members = [*self.members, column]
        inverse, self.inverse = self.inverse, np.zeros((size + 1, size + 1))
        self.inverse[:size, :size] = inverse
        self._move(self._directions(np.append(-weights, 1.0)[:, None] / np.sqrt(left)), -1.0)

    def _put_last(self, columns: list[int]) -> None:
        """Exchange the places of some members and the last ones."""
        self.members, self.inverse = self.members.copy(), self.inverse.copy()
        for last in range(len(self.members) - len(columns), len(self.members)):
            place = next(place for place, member in enumerate(self.members) if member in columns)
            if place < last:
                there, back = [place, last], [last, place]
                self.members[place], self.members[last] = self.members[last], self.members[place]
                self.inverse[there] = self.inverse[back]
                self.inverse[:, there] = self.inverse[:, back]
                for stored in (self._own, self._images):
                    stored[:, there] = stored[:, back]

    def _leave(self, unit: int, n_last: int) -> float:
        """Remove the columns of a unit, the last members; return by how much the error rises."""
        root = np.linalg.cholesky(self.inverse[-n_last:, -n_last:])
        directions = self._directions(np.linalg.solve(root, self.inverse[-n_last:]).T)
        self._move(directions, 1.0)
        self.chosen = [other for other in self.chosen if other != unit]
        self.members = self.members[:-n_last]
        self.inverse = self.inverse[:-n_last, :-n_last]
        return float(directions[-1].trace())

    def _directions(self, weights: NDArray) -> tuple[NDArray, ...]:
        r"""Return weights, combinations u of the members' columns by them, and images :math:`M A A^\top u`.

        Then follow the products of every column of A with both, and :math:`u^\top A A^\top u`.
        """
        members = np.array(self.members)
        own, images = self._own[:, : members.size], self._images[:, : members.size]
        direction, image = (weights.T @ own.T).T, (weights.T @ images.T).T  # columns are contiguous
        inner = image[members] if self.problem.wide is None else own.T @ image
        seen = self.inverse @ inner
        image -= (seen.T @ own.T).T
        along, across = direction, image
        if self.problem.wide is not None:
            along, across = self.problem.wide.combine(direction, image)
        penalties = self.penalties[members, None]
        along[members] += penalties * weights
        across[members] -= penalties * seen
        return weights, direction, image, along, across, inner.T @ weights

    def _move(self, directions: tuple[NDArray, ...], sign: float) -> None:
        """Remove directions from the residuals, or add them back for a positive sign."""
        weights, moved, image, along, across, squared = directions
        half = 2 * sign * across + along @ squared
        self.variance = self.variance + sign * np.einsum("ij,ij->i", along, along)
        self.explained = self.explained + np.einsum("ij,ij->i", along, half)
        blocks = []
        for (_, members), (variances, products) in zip(self.units.batches, self.blocks, strict=True):
            own = along[members]
            crossed = own @ half[members].mT
            blocks.append((variances + sign * own @ own.mT, products + (crossed + crossed.mT) / 2))
        self.blocks = blocks
        self.inverse = self.inverse - sign * (weights @ weights.T)
        if self.leaves_out:
            half = 2 * sign * image + moved @ squared
            self._squares = self._squares + np.einsum("ij,ij->i", moved, half)
            self._free = self._free + sign * np.einsum("ij,ij->i", moved, moved) / self.problem.weights

    def exchange_gains(self, columns: list[int]) -> Iterator[tuple[list[int], NDArray]]:
        """Yield blocks of members, and by how much the error falls if each is exchanged for each column.

        −∞ for columns that no rule allows in their place.
        """
        closed = ~self.placement.allowed
        closed[self.chosen] = True
        for first in range(0, len(columns), 64):  # arrays of so many columns stay small
            block = columns[first : first + 64]
            places = [self.members.index(column) for column in block]
            *_, along, across, squared = self._directions(
                self.inverse[:, places] / np.sqrt(self.inverse[places, places])
            )
            lengths = squared.diagonal()
            variance = self.variance[:, None] + np.square(along)
            explained = self.explained[:, None] + along * (2 * across + along * lengths)
            gains = _open_gains(variance, explained, self._floor[:, None]) - lengths
            gains += self._fees[block] - self._fees[:, None]
            gains[closed] = -np.inf
            if not self.placement.is_plain:
                for gain, column in zip(gains.T, block, strict=True):
                    others = [other for other in self.chosen if other != column]
                    gain[~self.placement.open_to(others, is_last=True)] = -np.inf
            yield block, gains

    def _exchangeable(self, columns: list[int], worth: float) -> list[int]:
        """Return those of some members for which another column would lower the error by so much.

        None of more than a hundred if all together would lower it by less than a hundredth.
        """
        columns, found, could_gain = [column for column in columns if column in self.members], [], 0.0
        for block, gains in self.exchange_gains(columns):
            best = gains.max(axis=0)
            found += np.array(block)[best > worth].tolist()
            could_gain += float(best[best > worth].sum())
        return found if len(columns) <= 100 or could_gain > 0.01 * self.error() else []

    def _left_out_with(self, columns: NDArray) -> NDArray:
        """Return the leave-one-out error if one of some columns joined."""
        own, factor = self._own[:, : len(self.members)], self.problem.wide.columns(columns)
        roots = np.sqrt(self.variance[columns])  # the square of a small variance would underflow
        seen = (factor - own @ (self.inverse @ (own.T @ factor))) / roots
        images = self.problem.wide.products @ seen
        images -= own @ (self.inverse @ (own.T @ images))
        errors = self._squares[:, None] + seen * (
            seen * (self.explained[columns] / self.variance[columns]) - 2 * images
        )
        free = self._free[:, None] - np.square(seen) / self.problem.weights[:, None]
        return np.sum(errors / np.square(np.maximum(free, LEAST_FREEDOM)), axis=0)

    def _at_members(self, stored: NDArray) -> NDArray:
        """Return the members' entries of their stored columns of S, or of their images."""
        part = stored[:, : len(self.members)]
        if self.problem.wide is None:
            return part[self.members]
        return self._own[:, : len(self.members)].T @ part


def _open_gains(variance: NDArray, explained: NDArray, floor: NDArray) -> NDArray:
    """Return what each column adds; 0 if it lies in the span."""
    return np.maximum(explained, 0) / np.where(variance > floor, variance, np.inf)
