"""The one measure of reconstruction: the share of a table's variance that is known on held-out rows.

And by it, what to measure instead of a selected column.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ufselect.gram import gram_operator
from ufselect.gram.rows import power_of_two_near
from ufselect.reconstruct.placement import Placement
from ufselect.reconstruct.ridge import (
    N_FOLDS,
    RIDGES,
    dense,
    errors_by_ridge,
    fold_moments,
    in_row_space,
    ridge_units,
    ridge_weights,
    value_folds,
)
from ufselect.reconstruct.search import Problem, Search

# Signs of the targets; products of design columns with each other and with targets over training rows; both
# for held-out rows; and, for stacked folds of the training rows, the products over the others and over their
# own rows, and the squares of the targets.
Moments = tuple[NDArray, NDArray, tuple[NDArray, NDArray], tuple[NDArray, NDArray, NDArray]]


class KnownShare:
    r"""The share of the variance of all columns that some of them make known on held-out rows.

    Selected columns are known; all others are reconstructed by the linear map of :class:`Reconstructor`,
    fitted to the training rows. With rows less the means of the training rows it is

    .. math:: 1 - \frac{\|X' - \hat X'\|_F^2}{\|X'\|_F^2}

    over all columns of the held-out rows :math:`X'`: 1 if everything is known, 0 if no more than the means,
    and below 0 if less. Columns count in the units that they are given in.

    Parameters
    ----------
    train, test : array or sparse matrix of shape (n_samples, n_features)
        Rows of one table, without missing values. Sparse ones are not made dense.

    Notes
    -----
    A sum of squares over all columns does not change if the rows are rotated, so that more columns than rows
    are replaced by as many coordinates as rows: the cost of a set does not grow with the number of columns.
    """

    def __init__(self, train: Any, test: Any) -> None:
        self.n_train = train.shape[0]
        stack = sparse.vstack if sparse.issparse(train) else np.vstack
        rows: Any = stack([train, test]).astype(np.float64)
        values = rows.data if sparse.issparse(rows) else rows
        rows = rows / power_of_two_near(float(np.abs(values).max(initial=0.0)))
        self._mean = np.asarray(rows[: self.n_train].mean(axis=0)).ravel()
        if sparse.issparse(rows):
            beside = rows @ self._mean
            products = (rows @ rows.T).toarray() + self._mean @ self._mean - beside[:, None] - beside
            self._rows: Any = sparse.csc_array(rows)
        else:
            self._rows, self._mean = rows - self._mean, np.zeros(rows.shape[1])
            products = self._rows @ self._rows.T if rows.shape[1] > len(rows) else None
        if products is None:
            self._coordinates = self._rows
        else:
            values, vectors = np.linalg.eigh(products)
            self._coordinates = vectors * np.sqrt(np.maximum(values, 0.0))
        self.total = float(np.square(self._coordinates[self.n_train :]).sum())
        self._folds = [np.arange(fold, self.n_train, N_FOLDS) for fold in range(min(N_FOLDS, self.n_train))]

    def of(self, columns: Sequence[int] | NDArray, ridge: float | None = None) -> float:
        """Return the share that some columns make known; 1 if the held-out rows do not vary.

        Parameters
        ----------
        columns : sequence of int
            Distinct columns.
        ridge : float, optional
            The weight of the ridge; by default that of least error in five folds of the training rows.
        """
        return 1 - self.errors(columns, ridge).sum() / self.total if self.total > 0 else 1.0

    def errors(self, columns: Sequence[int] | NDArray, ridge: float | None = None) -> NDArray:
        """Return the squared error of each held-out row over all columns, in the unit of ``total``."""
        columns = np.asarray(columns, dtype=np.intp)
        small = self._of_all if self._of_all is not None and columns.size <= self.n_train else None
        signs, whole, seen, folds = self._moments(columns) if small is None else _part_of(small, columns)
        if ridge is None:
            errors = errors_by_ridge(*folds, RIDGES, signs).sum(axis=0)
            by_mean = (folds[2] @ signs).sum()
            ridge = float(RIDGES[np.argmin(errors)]) if errors.min() < by_mean else np.inf
        design, targets = seen
        left = np.square(targets - design @ ridge_weights(whole, ridge)) @ signs
        return np.maximum(left, 0.0)

    @cached_property
    def _of_all(self) -> Moments | None:
        """The products of all columns with each other, of which those of a set are a part; None if many."""
        n_train, d = self.n_train, self._rows.shape[1]
        if self._coordinates is not self._rows:
            return None
        train, test = self._rows[:n_train], self._rows[n_train:]
        whole, _, pairs = fold_moments(train, train, self._folds, train.mean(axis=0), in_units=True)
        kept, out, squares = map(np.array, zip(*pairs, strict=True))
        return np.ones(d), whole[:, d:], (test, test), (kept[..., d:], out[..., d:], squares)

    def _moments(self, columns: NDArray) -> Moments:
        """Return the products that the error of a map needs, with coordinates of rows as its targets.

        Selected columns are known, so their share of the error is subtracted.
        """
        n_train = self.n_train
        design = dense(self._rows[:, columns]) - self._mean[columns]
        targets = np.hstack([self._coordinates, design])
        signs = np.repeat([1.0, -1.0], [self._coordinates.shape[1], columns.size])
        is_wide = columns.size > n_train
        fitted, roots, turn = in_row_space(design[:n_train])
        seen = design[n_train:] / roots @ turn
        shift = targets[:n_train].mean(axis=0)
        whole, _, folds = fold_moments(
            targets[:n_train], fitted if is_wide else design[:n_train], self._folds, shift, in_units=is_wide
        )
        if not is_wide:
            whole = np.hstack([fitted.T @ fitted, whole[:, columns.size :] / roots[:, None]])
        kept, out, squares = map(np.array, zip(*folds, strict=True))
        return signs, whole, (seen, targets[n_train:]), (kept, out, squares)

    def of_components(self, count: int) -> float:
        """Return the share explained by so many principal components of all columns of the training rows."""
        shares = self._component_shares
        return float(shares[min(count, shares.size) - 1])

    @cached_property
    def _component_shares(self) -> NDArray:
        if self.total == 0:
            return np.ones(1)
        train, test = self._coordinates[: self.n_train], self._coordinates[self.n_train :]
        vectors = np.linalg.eigh(train.T @ train)[1][:, : -self.n_train : -1]  # rank at most n_train - 1
        return np.cumsum(np.square(test @ vectors).sum(axis=0)) / self.total


def _part_of(moments: Moments, columns: NDArray) -> Moments:
    """Return the products for some columns of those of all, in the units of the ridge."""
    signs, whole, (test, _), (kept, out, squares) = moments
    signs = signs.copy()
    signs[columns] = 0.0

    def part(products: NDArray, roots: NDArray) -> NDArray:
        cross = products[..., columns, :] / roots[..., None]
        return np.concatenate([cross[..., columns] / roots[..., None, :], cross], axis=-1)

    roots, fold_roots = (
        np.sqrt(ridge_units(products.diagonal(axis1=-2, axis2=-1)[..., columns]))
        for products in (whole, kept)
    )
    folds = part(kept, fold_roots), part(out, fold_roots), squares
    return signs, part(whole, roots), (test[:, columns] / roots, test), folds


def substitutes(X: Any, columns: NDArray, allowed: NDArray) -> list[tuple[int, float]]:
    """Return for each of some columns the best one to take its place, and what that costs.

    The best one is that of least error over all rows, among those ``allowed``. The cost is the share of the
    variance of all columns that is then no longer known on two fifths of the rows, held out from the map. A
    column that the others determine can be left out: its substitute is −1.
    """
    gram = gram_operator(X)
    placement = Placement(allowed & np.asarray(gram.diag() > 0), columns.size)
    search = Search(Problem(gram, placement), 1e-3, leaves_out=False)
    for column in columns:
        search.add(int(column))
    best: dict[int, int] = {}
    for block, gains in search.exchange_gains(search.members):
        others = np.where(np.isfinite(gains.max(axis=0)), gains.argmax(axis=0), -1)
        best |= dict(zip(block, others.tolist(), strict=True))
    is_out = np.isin(np.arange(X.shape[0]), np.concatenate(value_folds(X)[:2]))
    measure = KnownShare(X[~is_out], X[is_out])
    share, found = measure.of(columns), []
    for column in columns.tolist():
        other = best.get(column, -1)
        changed = np.append(columns[columns != column], [other] * (other >= 0)).astype(np.intp)
        found.append((other, share - measure.of(changed) if changed.size else share))
    return found
