"""The linear map from selected columns back to all columns, and its error on held-out rows."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse
from sklearn.model_selection import GroupKFold
from sklearn.utils.validation import column_or_1d

from ufselect._utils.validation import ColumnTable
from ufselect.gram import GramOperator, RowInfo
from ufselect.gram.operator import column_means
from ufselect.gram.rows import mean_and_scale, power_of_two_near

N_FOLDS = 5
LEAST_ROWS = 2 * N_FOLDS
# From a ridge that does nothing beyond rounding to one that leaves a hundredth of the weights.
RIDGES = np.geomspace(1e-8, 1e2, 21)


def row_folds(n_rows: int, groups: Any = None) -> tuple[NDArray, NDArray]:
    """Return the number of the group of each row, and of the fold, one of five, in which it is held out."""
    if groups is None:
        return np.arange(n_rows), np.arange(n_rows) % N_FOLDS
    if len(groups) != n_rows:
        raise ValueError(f"groups has {len(groups)} entries, but X has {n_rows} rows.")
    labels = np.unique(column_or_1d(np.asarray(groups)), return_inverse=True)[1]
    n_groups, folds = int(labels.max()) + 1, labels % N_FOLDS
    if n_groups < 2:
        raise ValueError("groups has a single group, so none can be held out; leave it out.")
    if n_groups < n_rows:
        for fold, (_, held_out) in enumerate(GroupKFold(min(N_FOLDS, n_groups)).split(labels, groups=labels)):
            folds[held_out] = fold
    return labels, folds


def value_folds(X: Any, rows: RowInfo | None = None) -> list[NDArray]:
    """Return five folds of rows, drawn from their values and not from their order; equal rows are in one."""
    unit = power_of_two_near(float(np.abs(X.data if sparse.issparse(X) else X).max()))
    marks = (X @ (np.random.default_rng(0).standard_normal(X.shape[1]) / unit)).reshape(-1, 1)
    rows = RowInfo(np.ones(len(marks))) if rows is None else rows
    marks = (marks - rows.expand(rows.means(marks))).ravel()
    marks = marks / (np.abs(marks).max() or 1.0)
    marks = np.round(np.copysign(marks, marks * (marks**3).sum()), 9)  # other signs of all change nothing
    codes = np.unique(marks, return_inverse=True)[1]
    return [np.flatnonzero(codes % N_FOLDS == fold) for fold in range(min(N_FOLDS, codes.max() + 1))]


def noise_variances(table: ColumnTable, given: Any) -> NDArray:
    """Return the variance of the noise of each column, given for all or for each, by name or in order."""
    values = [given] * table.n_columns if isinstance(given, Real) else given
    noise = table.numbers("noise_variance", values)
    if noise.ndim != 1 or not np.all(np.isfinite(noise) & (noise >= 0)):
        raise ValueError("noise_variance must be one number of at least 0, or one for each column.")
    return noise


def shrinkage_weight(gram: GramOperator, squared_norm: float) -> float:
    r"""Return the weight ρ of penalties :math:`\rho S_{jj}` that shrinks correlations best.

    Shrinking the off-diagonal entries of S by :math:`1 - \alpha` is the same as penalties with :math:`\rho =
    \alpha / (1 - \alpha)`. For normal data the variance of an entry is :math:`(S_{ii} S_{jj} + S_{ij}^2) /
    n`, so that the α of least expected squared error (Schäfer and Strimmer 2005; see
    `ReconstructionSelector`) is

    .. math:: \alpha = \frac1n \,
              \frac{\sum_{i \ne j} S_{ii} S_{jj} + S_{ij}^2}{\sum_{i \ne j} S_{ij}^2}.

    ``squared_norm`` is :math:`\|S\|_F^2`.
    """
    diagonal = np.asarray(gram.diag(), dtype=np.float64)
    squares = float(diagonal @ diagonal)
    off_diagonal = max(squared_norm - squares, 0.0)
    noise = (diagonal.sum() ** 2 - squares + off_diagonal) / gram.n_samples
    # a larger share would make columns indistinguishable
    share = min(noise / off_diagonal, 0.9) if off_diagonal > 0 else 0.9
    return share / (1 - share)


def errors_by_ridge(
    train: NDArray, test: NDArray, squares: NDArray, ridges: NDArray, signs: NDArray
) -> NDArray:
    r"""Return the squared error on held-out rows of the map of every ridge λ, from one eigendecomposition.

    With design columns P and targets T the map is :math:`(P^\top P + \lambda I)^{-1} P^\top T`; with
    :math:`P^\top P = Q \Lambda Q^\top`, :math:`B = Q^\top P^\top T` and primes for held-out rows its error
    over all targets is

    .. math:: \|T'\|^2 - 2 \sum_i \frac{(B\, T'^\top P' Q)_{ii}}{\Lambda_i + \lambda}
              + \sum_{ij} \frac{(B B^\top)_{ij} (Q^\top P'^\top P' Q)_{ij}}
                               {(\Lambda_i + \lambda)(\Lambda_j + \lambda)}.

    ``train`` and ``test`` have the products of the design columns with themselves and then with the targets,
    over the rows of the fit and held-out ones; ``squares`` are those of :math:`T'`, summed for each target.
    Targets of sign −1 are subtracted. Folds may be stacked in a first axis.
    """
    size = train.shape[-2]
    values, vectors = np.linalg.eigh(train[..., :size])
    # rotated before they are squared: directions without variance vanish before they are divided by λ
    fitted, seen = vectors.mT @ train[..., size:], vectors.mT @ test[..., size:]
    shrunk = 1 / (np.maximum(values, 0.0)[..., None] + ridges)
    signed = fitted * signs
    quadratic = (signed @ fitted.mT) * (vectors.mT @ test[..., :size] @ vectors)
    linear = np.einsum("...ij,...ij->...i", signed, seen)[..., None]
    return (squares @ signs)[..., None] + np.sum(shrunk * (quadratic @ shrunk - 2 * linear), axis=-2)


def ridge_units(variances: NDArray) -> NDArray:
    """Return the units D of the ridge: the mean of each variance and of all; 1 where all are 0.

    With a penalty in units of each column's own variance, a column that hardly varies in the rows of the fit
    could have large weights, and dominate a row in which it does vary. An equal penalty would hardly affect
    the column that varies most. On the development sets halfway did better than either.
    """
    variances = np.maximum(variances, 0.0)  # a difference of products of a constant column may be below 0
    units = (variances + variances.sum(axis=-1, keepdims=True) / max(1, variances.shape[-1])) / 2
    return np.where(units.max(axis=-1, keepdims=True, initial=0.0) > 0, units, 1.0)


def in_row_space(design: NDArray) -> tuple[NDArray, NDArray, NDArray]:
    """Return centred design columns in the ridge's units, at most as many as rows; roots of units; rotation.

    A ridge in equal units does not depend on the rotation, so that many columns cost no more than few rows.
    """
    roots = np.sqrt(ridge_units(np.einsum("ij,ij->j", design, design)))
    design, turn = design / roots, np.eye(design.shape[1])
    if len(turn) > len(design):
        turn = linalg.qr(design.T, mode="economic", check_finite=False)[0]
    return design @ turn, roots, turn


def fold_moments(
    targets: Any,
    design: NDArray,
    folds: Sequence[NDArray],
    shift: NDArray,
    noise: NDArray | float = 0.0,
    *,
    weights: NDArray | None = None,
    in_units: bool = False,
) -> tuple[NDArray, NDArray, list[tuple[NDArray, NDArray, NDArray]]]:
    """Return products of design columns with each other and with targets, squares of targets, and folds.

    Products and squares are over all rows. For each fold there are the products over the other rows and over
    its own rows, less the mean of the others, and the sums of squares of the targets over its own rows. A
    shift, the mean of all rows, is subtracted from targets, which are never made dense. ``noise`` has the
    variances of the noise with which the design columns will be measured. Unless design columns are already
    ``in_units`` of the ridge, each fold uses those of its other rows. Weighted rows come multiplied by
    the roots of their weights.
    """
    size, products, squares, pairs = design.shape[1], [], [], []
    ones = np.ones(len(design)) if weights is None else np.sqrt(weights)
    for fold in folds:
        left, part = np.column_stack([ones[fold], design[fold]]), targets[fold]
        if sparse.issparse(part):
            sums = np.asarray(part.sum(axis=0)).ravel()
            cross = np.asarray(part.T @ left).T - np.outer(left.sum(axis=0), shift)
            square = np.asarray(part.multiply(part).sum(axis=0)).ravel()
            square = square - shift * (2 * sums - len(left) * shift)
        else:
            part = part - shift
            cross, square = left.T @ part, np.einsum("ij,ij->j", part, part, dtype=np.float64)
        products.append(np.hstack([left.T @ left, cross]))
        squares.append(square)
    whole = np.sum(products, axis=0)
    for fold_products, square in zip(products, squares, strict=True):
        others = whole - fold_products
        mean = others[0] / others[0, 0]
        own, target = mean[: size + 1], mean[size + 1 :]
        test = fold_products - np.outer(fold_products[:, 0], mean)
        train, test = (others - np.outer(own, others[0]))[1:, 1:], (test - np.outer(own, test[0]))[1:, 1:]
        roots = np.ones(size) if in_units else np.sqrt(ridge_units(train.diagonal()))
        for moments, n_rows in ((train, others[0, 0]), (test, fold_products[0, 0])):
            moments[:, :size] = (moments[:, :size] + n_rows * np.diag(np.broadcast_to(noise, size))) / roots
            moments /= roots[:, None]
        square = square - target * (2 * fold_products[0, size + 1 :] - fold_products[0, 0] * target)
        pairs.append((train, test, square))
    return whole[1:, 1:], np.sum(squares, axis=0), pairs


def ridge_weights(moments: NDArray, ridge: float) -> NDArray:
    """Return the map of one ridge from products of design columns with themselves and then with targets."""
    size = len(moments)
    if np.isinf(ridge):
        return np.zeros((size, moments.shape[1] - size))
    return linalg.lstsq(moments[:, :size] + ridge * np.eye(size), moments[:, size:], check_finite=False)[0]


def map_weights(cross: NDArray, columns: NDArray, ridge: float, noise_sums: NDArray) -> NDArray:
    """Return the map from columns to all, given their products with all and the sums of their noise."""
    inner = cross[:, columns]
    roots = np.sqrt(ridge_units(inner.diagonal()))
    moments = np.hstack([(inner + np.diag(noise_sums)) / roots, cross]) / roots[:, None]
    return ridge_weights(moments, ridge) / roots[:, None]


class LinearMap:
    r"""The linear map :math:`W = (S_{CC} + \lambda D + n N)^{-1} S_{C:}`, and its errors.

    Names are those of ``Reconstructor``; ``cross`` is :math:`S_{C:}`, ``squares`` the diagonal of S and
    ``noise`` that of n N, None if the columns C are exact. Setting columns to their mean that held-out rows
    reconstruct worse did not pay: over 97 tables the share of the variance known was lower by .001 on average
    and by up to .10. By default the ridge is the shrinkage of least expected squared error of the
    correlations, and errors are those of the fit by generalised cross-validation, times ``inflation``.
    """

    def __init__(
        self,
        mean: NDArray,
        squares: NDArray,
        cross: NDArray,
        columns: NDArray,
        n_samples: int,
        ridge: float,
        noise: NDArray | None,
        *,
        weights: NDArray | None = None,
        held_out: tuple[NDArray, NDArray] | None = None,
        inflation: float = 1.0,
    ) -> None:
        self.mean, self.squares, self.cross, self.columns = mean, squares, cross, columns
        self.n_samples, self.ridge, self.noise = n_samples, ridge, noise
        added = np.zeros(columns.size) if noise is None else noise
        self.weights = map_weights(cross, columns, ridge, added) if weights is None else weights
        self.inner = cross[:, columns] + np.diag(added)
        left = squares + np.sum(self.weights * (self.inner @ self.weights - 2 * cross), axis=0)
        free = n_samples - 1 - np.trace(self.weights[:, columns])
        left *= np.square((n_samples - 1) / max(free, 1.0))
        if held_out is None:
            errors = inflation * left
        else:
            errors, squares = held_out
            # rows of other groups and selected ridges make it larger; as few rows as columns say nothing
            inflation = float(np.clip(errors.sum() / left.sum(), 1, 4)) if free > 1 and left.any() else 1.0
        self.inflation = inflation
        errors = np.maximum(errors, 0.0)
        if noise is None:
            self.weights[:, columns] = np.eye(columns.size)
            errors[columns] = 0.0
        self.errors, self.totals = errors, squares

    def fewer(self, places: NDArray) -> LinearMap:
        """Return the map from some of its columns, with the same ridge, by the moments of its fit."""
        noise = None if self.noise is None else self.noise[places]
        return LinearMap(
            self.mean, self.squares, self.cross[places], self.columns[places], self.n_samples, self.ridge,
            noise, inflation=self.inflation,
        )  # fmt: skip

    @classmethod
    def from_rows(
        cls,
        X: Any,
        columns: NDArray,
        ridge: float | None = None,
        noise: NDArray | None = None,
        folds: NDArray | None = None,
    ) -> LinearMap:
        """Fit to dense or sparse rows, of which each fold, by default every fifth row, is held out in turn.

        Errors are those of held-out rows, and so is the choice of the ridge, unless it is given: one of
        `RIDGES`, or the mean alone. ``noise`` has the variance of the noise of each column.
        """
        n_samples, n_features = X.shape
        shift = column_means(X) if sparse.issparse(X) else mean_and_scale(X)[0]
        design = dense(X[:, columns]) - shift[columns]
        noises = np.zeros(columns.size) if noise is None else noise[columns]
        is_wide = noise is None and columns.size > n_samples
        if is_wide:
            design, roots, turn = in_row_space(design)
        size = design.shape[1]
        codes = np.arange(n_samples) % N_FOLDS if folds is None else folds
        parts = [np.flatnonzero(codes == fold) for fold in np.unique(codes)]
        whole, squares, pairs = fold_moments(
            X, design, parts, shift, 0.0 if is_wide else noises, in_units=is_wide
        )
        totals = np.sum([square for _, _, square in pairs], axis=0)
        if ridge is None:
            wanted = np.ones(n_features)
            wanted[columns] = float(noise is not None)
            left = np.sum([errors_by_ridge(*pair, RIDGES, wanted) for pair in pairs], axis=0)
            ridge = float(RIDGES[np.argmin(left)]) if left.min() < totals @ wanted else np.inf
        errors = totals.copy()
        for train, test, _ in pairs:
            weights = ridge_weights(train, ridge)
            errors += np.sum(weights * (test[:, :size] @ weights - 2 * test[:, size:]), axis=0)
        cross, mapped = whole[:, size:], None
        if is_wide:
            cross = roots[:, None] * (turn @ cross)
            mapped = (turn @ ridge_weights(whole, ridge)) / roots[:, None]
        return cls(
            shift, squares, cross, columns, n_samples, ridge, None if noise is None else n_samples * noises,
            weights=mapped, held_out=(errors, totals),
        )  # fmt: skip

    @classmethod
    def from_gram(
        cls, gram: GramOperator, columns: NDArray, ridge: float | None = None, noise: NDArray | None = None
    ) -> LinearMap:
        """Fit to the Gram matrix alone, in its units."""
        n_samples = gram.n_samples
        if ridge is None:
            ridge = shrinkage_weight(gram, float(gram.squared_column_norms().sum()))
        cross = np.asarray(gram.columns(columns), dtype=np.float64).T
        squares = np.asarray(gram.diag(), dtype=np.float64)
        noises = None if noise is None else n_samples * noise[columns]
        mean = np.asarray(gram.mean, dtype=np.float64) / gram.scale
        return cls(mean, squares, cross, columns, n_samples, ridge, noises)


def dense(rows: Any) -> NDArray:
    """Return dense or sparse rows as a dense array of doubles."""
    return np.asarray(rows.toarray() if sparse.issparse(rows) else rows, dtype=np.float64)
