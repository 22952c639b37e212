"""The linear map from chosen columns back to all columns, and the error of it on rows left out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from ufselect.gram import GramOperator
from ufselect.gram.centring import mean_and_scale
from ufselect.gram.sparse import column_means
from ufselect.solvers.rebuild.shrinkage import shrinkage_weight

N_FOLDS = 5
# From a ridge that does nothing beyond rounding to one that leaves a hundredth of the weights.
RIDGES = np.geomspace(1e-8, 1e2, 21)


@dataclass(frozen=True)
class Products:
    """Sums of products over some rows, less a common shift: of chosen with all columns, and of all squares.

    Attributes
    ----------
    n_rows : int
    sums : ndarray of shape (n_features,)
    squares : ndarray of shape (n_features,)
    cross : ndarray of shape (n_chosen, n_features)
    """

    n_rows: int
    sums: NDArray
    squares: NDArray
    cross: NDArray

    def minus(self, other: Products) -> Products:
        """Return the sums over the rows that the other does not have."""
        return Products(
            self.n_rows - other.n_rows,
            self.sums - other.sums,
            self.squares - other.squares,
            self.cross - other.cross,
        )

    def about(self, mean: NDArray, chosen: NDArray) -> Products:
        """Return the sums of the same rows less another mean."""
        part = mean[chosen]
        return Products(
            self.n_rows,
            self.sums - self.n_rows * mean,
            self.squares - 2 * mean * self.sums + self.n_rows * np.square(mean),
            self.cross
            - np.outer(self.sums[chosen], mean)
            - np.outer(part, self.sums)
            + self.n_rows * np.outer(part, mean),
        )


@dataclass(frozen=True)
class RidgeChoice:
    """A ridge and the squared errors that cross-validation found with it.

    Attributes
    ----------
    ridge : float
        In units of `ridge_units`; infinite where the mean does better than any map.
    errors : ndarray of shape (n_features,)
        Each column's sum of squared errors over all rows, each row left out once.
    squares : ndarray of shape (n_features,)
        The same for rebuilding by the mean.
    """

    ridge: float
    errors: NDArray
    squares: NDArray


@dataclass(frozen=True)
class LinearMap:
    """The map back to all columns and what is known of its errors; names as in ``Reconstructor``."""

    mean: NDArray
    weights: NDArray
    ridge: float
    column_errors: NDArray
    rebuildable: NDArray
    standard_deviations: NDArray
    error: float
    cross: NDArray
    noise_sums: NDArray


def map_from_rows(X: Any, chosen: NDArray, ridge: float | None, noise: NDArray | None) -> LinearMap:
    """Fit the map to dense or sparse rows; rows left out tell its errors and, unless given, its ridge.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_samples, n_features)
        The data.
    chosen : ndarray
        The columns C.
    ridge : float or None
        The ridge, or None to choose it.
    noise : ndarray of shape (n_features,) or None
        Variance of the noise with which columns will be measured; None where there is none and the chosen
        columns need not be rebuilt.
    """
    shift = column_means(X) if sparse.issparse(X) else mean_and_scale(X)[0]
    folds = list(fold_products(X, chosen, shift))
    variance = np.zeros(chosen.size) if noise is None else noise[chosen]
    known = np.zeros(X.shape[1], dtype=bool)
    known[chosen] = noise is None
    found = cross_validate(folds, chosen, RIDGES if ridge is None else np.array([ridge]), variance, known)
    total = pooled(folds)
    return _finished(shift, total.cross, chosen, found, X.shape[0], noise)


def map_from_gram(
    gram: GramOperator, chosen: NDArray, ridge: float | None, noise: NDArray | None
) -> LinearMap:
    """Fit the map to the Gram matrix alone; parameters as in `map_from_rows`.

    Without a ridge it takes the shrinkage of least expected squared error of the correlations. Errors are
    those of the fit, times (n − 1) / (n − 1 − p) for p columns.
    """
    weight = ridge
    if weight is None:
        weight = shrinkage_weight(gram, float(gram.squared_column_norms().sum()))
    cross = np.asarray(gram.columns(chosen), dtype=np.float64).T * gram.scale**2
    squares = np.asarray(gram.diag(), dtype=np.float64) * gram.scale**2
    variance = np.zeros(chosen.size) if noise is None else noise[chosen]
    rows = Products(gram.n_samples, np.zeros_like(squares), squares, cross)
    errors = _column_errors(rows, rows, chosen, weight, variance)
    free = max(gram.n_samples - 1 - chosen.size, 1)
    errors = np.maximum(errors, 0.0) * (gram.n_samples - 1) / free
    if noise is None:
        errors[chosen] = 0.0
    found = RidgeChoice(weight, errors, squares)
    mean = np.asarray(gram.mean, dtype=np.float64)
    return _finished(mean, cross, chosen, found, gram.n_samples, noise)


def _finished(
    mean: NDArray, cross: NDArray, chosen: NDArray, found: RidgeChoice, n_samples: int, noise: NDArray | None
) -> LinearMap:
    """Fit the map to all rows with the ridge found; what it rebuilds worse than the mean is left to that."""
    variance = np.zeros(chosen.size) if noise is None else noise[chosen]
    weights = ridge_weights(cross, chosen, found.ridge, n_samples * variance)
    rebuildable = found.errors < found.squares
    weights[:, ~rebuildable] = 0.0
    if noise is None:
        weights[:, chosen] = np.eye(chosen.size)
        rebuildable[chosen] = True
    errors = np.where(rebuildable, found.errors, found.squares)
    total = float(np.sum(found.squares))
    return LinearMap(
        mean,
        weights,
        found.ridge,
        np.sqrt(np.divide(errors, found.squares, out=np.zeros_like(errors), where=found.squares > 0)),
        rebuildable,
        np.sqrt(errors / n_samples),
        float(np.sqrt(np.sum(errors) / total)) if total > 0 else 0.0,
        cross,
        n_samples * variance,
    )


def fold_products(X: Any, chosen: NDArray, shift: NDArray) -> Iterator[Products]:
    """Yield the sums over every fifth row, in turn, of dense or sparse rows less a shift."""
    n_folds = min(N_FOLDS, X.shape[0])
    for fold in range(n_folds):
        rows = X[fold::n_folds]
        part = rows[:, chosen]
        part = (part.toarray() if sparse.issparse(part) else part) - shift[chosen]
        yield _sparse_products(rows, part, shift) if sparse.issparse(rows) else _products(rows - shift, part)


def _products(rows: NDArray, part: NDArray) -> Products:
    squares = np.einsum("ij,ij->j", rows, rows, dtype=np.float64)
    return Products(len(rows), rows.sum(axis=0, dtype=np.float64), squares, part.T @ rows)


def _sparse_products(rows: Any, part: NDArray, shift: NDArray) -> Products:
    """Return the products without making the rows dense."""
    n_rows = rows.shape[0]
    sums = np.asarray(rows.sum(axis=0)).ravel()
    squares = np.asarray(rows.multiply(rows).sum(axis=0)).ravel()
    cross = np.asarray(rows.T @ part).T - np.outer(part.sum(axis=0), shift)
    return Products(
        n_rows, sums - n_rows * shift, squares - 2 * shift * sums + n_rows * np.square(shift), cross
    )


def ridge_weights(cross: NDArray, chosen: NDArray, ridge: float, noise: NDArray) -> NDArray:
    r"""Return :math:`W = (S_{CC} + \lambda D + N)^{-1} S_{C:}`, D halfway from the variances to their mean.

    A penalty in units of each column's own variance would let a column that hardly varies in the rows of the
    fit have large weights, and with them the last word on a row where it does; one and the same for all would
    hardly touch a column that varies most. On the development sets halfway did better than either.

    Parameters
    ----------
    cross : ndarray of shape (n_chosen, n_features)
        :math:`S_{C:}`.
    chosen : ndarray
        The columns C.
    ridge : float
        The weight λ; weights are 0 where it is infinite.
    noise : ndarray of shape (n_chosen,)
        The diagonal N: sums of squares of the noise with which C will be measured.
    """
    if np.isinf(ridge):
        return np.zeros_like(cross)
    inner = cross[:, chosen] + np.diag(noise + ridge * ridge_units(cross[:, chosen]))
    return linalg.lstsq(inner, cross, check_finite=False)[0]


def ridge_units(inner: NDArray) -> NDArray:
    """Return the diagonal D: the mean of each variance and of all; 1 where all columns are constant."""
    variances = np.diagonal(inner)
    return (variances + np.mean(variances)) / 2 if np.any(variances > 0) else np.ones(len(inner))


def cross_validate(
    folds: list[Products], chosen: NDArray, ridges: NDArray, noise: NDArray, known: NDArray
) -> RidgeChoice:
    """Choose the ridge whose map, fitted to the other folds, rebuilds each fold best.

    Parameters
    ----------
    folds : list of Products
        Sums over the folds, less one common shift.
    chosen : ndarray
        The columns C.
    ridges : ndarray
        The ridges to choose from; the mean is tried too if there is more than one.
    noise : ndarray of shape (n_chosen,)
        Variance of the noise with which C will be measured.
    known : ndarray of bool of shape (n_features,)
        Columns that need not be rebuilt.
    """
    pairs = list(_train_and_test(folds, chosen))
    squares = np.sum([test.squares for _, test in pairs], axis=0)
    ridge = float(ridges[0])
    if ridges.size > 1:
        totals = np.sum([_errors_of(ridges, *pair, chosen, noise, ~known) for pair in pairs], axis=0)
        best = int(np.argmin(totals))
        ridge = float(ridges[best]) if totals[best] < float(np.sum(squares[~known])) else np.inf
    errors = np.sum([_column_errors(*pair, chosen, ridge, noise) for pair in pairs], axis=0)
    return RidgeChoice(ridge, np.where(known, 0.0, np.maximum(errors, 0.0)), squares)


def pooled(folds: list[Products]) -> Products:
    """Return the sums over all folds."""
    return Products(
        sum(fold.n_rows for fold in folds),
        np.sum([fold.sums for fold in folds], axis=0),
        np.sum([fold.squares for fold in folds], axis=0),
        np.sum([fold.cross for fold in folds], axis=0),
    )


def _train_and_test(folds: list[Products], chosen: NDArray) -> Iterator[tuple[Products, Products]]:
    """Yield, for each fold, the sums over the other rows and over its own, both less the others' mean."""
    total = pooled(folds)
    for fold in folds:
        others = total.minus(fold)
        mean = others.sums / others.n_rows
        yield others.about(mean, chosen), fold.about(mean, chosen)


def _errors_of(
    ridges: NDArray, train: Products, test: Products, chosen: NDArray, noise: NDArray, wanted: NDArray
) -> NDArray:
    r"""Return the squared error on a fold of every ridge, from one eigendecomposition.

    With :math:`D^{-1/2} (S_{CC} + N) D^{-1/2} = Q \Lambda Q^\top` the map is
    :math:`D^{-1/2} Q (\Lambda + \lambda)^{-1} B` with :math:`B = Q^\top D^{-1/2} S_{C:}`, and the error over
    all columns needs no more of B than :math:`B B^\top` and its products with the fold.
    """
    inner = train.cross[:, chosen]
    roots = np.sqrt(ridge_units(inner))
    scaled = (inner + np.diag(train.n_rows * noise)) / np.outer(roots, roots)
    values, vectors = linalg.eigh(scaled, check_finite=False)
    turn = vectors.T / roots
    fitted, seen = turn @ train.cross[:, wanted], turn @ test.cross[:, wanted]
    outer = fitted @ fitted.T
    inner_test = turn @ (test.cross[:, chosen] + np.diag(test.n_rows * noise)) @ turn.T
    linear = np.einsum("ij,ij->i", fitted, seen)
    shrunk = 1 / (np.maximum(values, 0.0)[:, None] + ridges)
    quadratic = np.einsum("ik,jk,ij->k", shrunk, shrunk, inner_test * outer, optimize=True)
    return float(np.sum(test.squares[wanted])) - 2 * linear @ shrunk + quadratic


def _column_errors(train: Products, test: Products, chosen: NDArray, ridge: float, noise: NDArray) -> NDArray:
    """Return each column's squared error on a fold, noise in the chosen columns included."""
    weights = ridge_weights(train.cross, chosen, ridge, train.n_rows * noise)
    inner = test.cross[:, chosen] + np.diag(test.n_rows * noise)
    return (
        test.squares
        - 2 * np.einsum("ij,ij->j", weights, test.cross)
        + np.einsum("ij,ij->j", weights, inner @ weights)
    )
