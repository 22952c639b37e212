"""The linear map from selected columns back to all columns, and its error on held-out rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from ufselect._columns import Units
from ufselect.gram import GramOperator, RowInfo, gram_operator
from ufselect.gram.centring import mean_and_scale
from ufselect.gram.sparse import column_means

N_FOLDS = 5
LEAST_ROWS = 2 * N_FOLDS
# From a ridge that does nothing beyond rounding to one that leaves a hundredth of the weights.
RIDGES = np.geomspace(1e-8, 1e2, 21)


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
    Targets of sign −1 are subtracted.
    """
    size = len(train)
    values, vectors = np.linalg.eigh(train[:, :size])
    # rotated before they are squared: directions without variance vanish before they are divided by λ
    fitted, seen = vectors.T @ train[:, size:], vectors.T @ test[:, size:]
    shrunk = 1 / (np.maximum(values, 0.0)[:, None] + ridges)
    signed = fitted * signs
    quadratic = (signed @ fitted.T) * (vectors.T @ test[:, :size] @ vectors)
    linear = np.einsum("ij,ij->i", signed, seen)
    return squares @ signs - 2 * linear @ shrunk + np.einsum("ik,ik->k", shrunk, quadratic @ shrunk)


def ridge_units(variances: NDArray) -> NDArray:
    """Return the units D of the ridge: the mean of each variance and of all; 1 where all are 0.

    With a penalty in units of each column's own variance, a column that hardly varies in the rows of the fit
    could have large weights, and dominate a row in which it does vary. An equal penalty would hardly affect
    the column that varies most. On the development sets halfway did better than either.
    """
    variances = np.maximum(variances, 0.0)  # a difference of products of a constant column may be below 0
    return (variances + np.mean(variances)) / 2 if np.any(variances > 0) else np.ones(len(variances))


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
) -> tuple[NDArray, list[tuple[NDArray, NDArray, NDArray]]]:
    """Return products of design columns with each other and then with targets, over all rows and for folds.

    For each fold these are the products over the other rows and over its own rows, less the mean of the
    others, and the sums of squares of the targets over its own rows. A shift, the mean of all rows, is
    subtracted from targets, which are never made dense. ``noise`` has the variances of the noise with which
    the design columns will be measured. Unless design columns are already ``in_units`` of the ridge, each
    fold uses those of its other rows. Weighted rows come multiplied by the roots of their weights.
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
    return whole[1:, 1:], pairs


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

    Names are those of ``Reconstructor``; ``cross`` is :math:`S_{C:}` and ``noise_sums`` n N, zero if
    ``noise`` is None and columns C are exact. Errors and squares are sums over rows for each column, less the
    mean. Setting columns to their mean that held-out rows reconstruct worse did not pay: over 97 tables the
    share of the variance known was lower by .001 on average and by up to .10.
    """

    def __init__(
        self,
        mean: NDArray,
        squares: NDArray,
        errors: NDArray,
        cross: NDArray,
        weights: NDArray,
        columns: NDArray,
        ridge: float,
        n_samples: int,
        noise: NDArray | None,
    ) -> None:
        self.mean, self.cross, self.ridge = mean, cross, ridge
        errors = np.maximum(errors, 0.0)
        self.reconstructable = errors < squares
        self.weights = weights
        self.noise_sums = np.zeros(columns.size) if noise is None else n_samples * noise[columns]
        if noise is None:
            self.weights[:, columns] = np.eye(columns.size)
            self.reconstructable[columns] = True
            errors[columns] = 0.0
        total = float(squares.sum())
        shares = np.divide(errors, squares, out=np.zeros_like(errors), where=squares > 0)
        self.column_errors = np.sqrt(shares)
        self.standard_deviations = np.sqrt(errors / n_samples)
        self.error = float(np.sqrt(errors.sum() / total)) if total > 0 else 0.0

    @classmethod
    def from_rows(
        cls, X: Any, columns: NDArray, ridge: float | None = None, noise: NDArray | None = None
    ) -> LinearMap:
        """Fit to dense or sparse rows, of which every fifth is held out in turn.

        Errors are those of held-out rows, and so is the choice of the ridge, unless it is given: one of
        `RIDGES`, or the mean alone.
        """
        n_samples, n_features = X.shape
        shift = column_means(X) if sparse.issparse(X) else mean_and_scale(X)[0]
        design = dense(X[:, columns]) - shift[columns]
        noises = np.zeros(columns.size) if noise is None else noise[columns]
        is_wide = noise is None and columns.size > n_samples
        if is_wide:
            design, roots, turn = in_row_space(design)
        n_folds = min(N_FOLDS, n_samples)
        folds = [np.arange(fold, n_samples, n_folds) for fold in range(n_folds)]
        size = design.shape[1]
        whole, pairs = fold_moments(X, design, folds, shift, 0.0 if is_wide else noises, in_units=is_wide)
        squares = np.sum([square for _, _, square in pairs], axis=0)
        if ridge is None:
            wanted = np.ones(n_features)
            wanted[columns] = float(noise is not None)
            totals = np.sum([errors_by_ridge(*pair, RIDGES, wanted) for pair in pairs], axis=0)
            ridge = float(RIDGES[np.argmin(totals)]) if totals.min() < squares @ wanted else np.inf
        errors = squares.copy()
        for train, test, _ in pairs:
            weights = ridge_weights(train, ridge)
            errors += np.sum(weights * (test[:, :size] @ weights - 2 * test[:, size:]), axis=0)
        cross = whole[:, size:]
        if is_wide:
            cross = roots[:, None] * (turn @ cross)
            weights = (turn @ ridge_weights(whole, ridge)) / roots[:, None]
        else:
            weights = map_weights(cross, columns, ridge, n_samples * noises)
        return cls(shift, squares, errors, cross, weights, columns, ridge, n_samples, noise)

    @classmethod
    def from_gram(
        cls, gram: GramOperator, columns: NDArray, ridge: float | None = None, noise: NDArray | None = None
    ) -> LinearMap:
        """Fit to the Gram matrix alone.

        The default ridge is the shrinkage of least expected squared error of the correlations. Errors are
        those of the fit, times (n − 1) / (n − 1 − p) for p columns.
        """
        n_samples = gram.n_samples
        if ridge is None:
            ridge = shrinkage_weight(gram, float(gram.squared_column_norms().sum()))
        cross = np.asarray(gram.columns(columns), dtype=np.float64).T * gram.scale**2
        squares = np.asarray(gram.diag(), dtype=np.float64) * gram.scale**2
        noises = np.zeros(columns.size) if noise is None else n_samples * noise[columns]
        weights = map_weights(cross, columns, ridge, noises)
        inner = cross[:, columns] + np.diag(noises)
        errors = squares + np.sum(weights * (inner @ weights - 2 * cross), axis=0)
        errors *= (n_samples - 1) / max(n_samples - 1 - columns.size, 1)
        mean = np.asarray(gram.mean, dtype=np.float64)
        return cls(mean, squares, errors, cross, weights, columns, ridge, n_samples, noise)


def held_out_error(
    train: Any, test: Any, columns: Sequence[int] | NDArray, ridge: float | None = None
) -> float:
    """Return the error of reconstructing test rows from columns, in units of the error of the mean.

    By default the ridge is chosen by five folds of the train rows.
    """
    columns = np.sort(np.asarray(columns, dtype=np.intp))
    found = LinearMap.from_rows(train, columns, ridge)
    rows = dense(test) - found.mean
    total = float(np.linalg.norm(rows))
    return float(np.linalg.norm(rows - rows[:, columns] @ found.weights)) / total if total > 0 else 0.0


def component_errors(train: Any, test: NDArray, counts: Sequence[int]) -> NDArray:
    """Return the held-out errors of so many principal components of the train rows."""
    gram = gram_operator(train)
    vectors = np.asarray(gram.eigenpairs(max(counts)).vectors, dtype=np.float64)
    rows = test - np.asarray(gram.mean, dtype=np.float64)
    total = float(np.vdot(rows, rows))
    if total == 0:
        return np.zeros(len(counts))
    left = total - np.cumsum(np.square(rows @ vectors).sum(axis=0))
    return np.sqrt(np.maximum(left[np.minimum(counts, left.size) - 1], 0.0) / total)


def count_curve(
    X: Any,
    path: Callable[[GramOperator, int], NDArray],
    *,
    units: Units | None = None,
    rows: RowInfo | None = None,
) -> tuple[int, list[dict[str, Any]]]:
    r"""Return how many columns are enough, and the cross-validated error of reconstructing the others.

    The count is the smallest whose error is within one standard error of the least one. Errors are over the
    columns that are not selected, in units of the error of the mean; standard errors are over five folds.

    Every fifth row of X is held out in turn; given the Gram operator of the others and a number, ``path``
    returns that many units, best first: up to half of them, with at most 100 columns and fewer than the rows
    of a fold.
    """
    n_samples, n_features = X.shape
    if n_samples < LEAST_ROWS:
        raise ValueError(
            f'n_features_to_select="auto" holds out rows and needs at least {LEAST_ROWS} of them, not '
            f"{n_samples}; give a number."
        )
    units = Units.single(n_features) if units is None else units
    most_columns = min(100, n_samples - n_samples // N_FOLDS - 2)
    fits = np.cumsum(np.sort(units.sizes)[::-1]) <= most_columns
    max_count = max(1, min(units.count // 2, int(fits.sum())))
    # every count up to 20, then steps of 10 %
    steps = np.append(np.arange(1, 20), np.ceil(20 * 1.1 ** np.arange(100)))
    counts = np.unique(np.minimum(steps, max_count)).astype(int)
    every = []
    for gram, held_out in fold_data(X, rows):
        parts = [units.members(int(unit)) for unit in path(gram, max_count)]
        every.append(_errors_by_count(gram, held_out, parts, counts))
    shares = np.array(every)  # folds × counts × ridges
    ridges = np.argmin(shares.mean(axis=0), axis=1)
    shares = shares[:, np.arange(counts.size), ridges]
    errors, spread = shares.mean(axis=0), shares.std(axis=0, ddof=1) / np.sqrt(N_FOLDS)
    best = int(np.argmin(errors))
    chosen = int(counts[np.argmax(errors <= errors[best] + spread[best])])
    note = f"fewest columns within one standard error of the best count, {counts[best]}"
    if counts[best] == max_count:
        note += ", the largest tried"
    table = [
        {
            "count": int(count),
            "error": float(error),
            "standard_error": float(deviation),
            "chosen": bool(count == chosen),
            "note": note if count == chosen else "",
        }
        for count, error, deviation in zip(counts, errors, spread, strict=True)
    ]
    return chosen, table


def fold_data(X: Any, rows: RowInfo | None) -> Iterator[tuple[GramOperator, NDArray]]:
    """Yield S of the other rows, and held-out rows less the mean of the others, in units of S.

    A held-out row of weight w is multiplied by the root of w; the mean is that of its own batch.
    """
    info = RowInfo(np.ones(X.shape[0])) if rows is None else rows
    for fold in range(N_FOLDS):
        is_out = np.arange(X.shape[0]) % N_FOLDS == fold
        stay, known = info.of(~is_out), np.unique(info.batches[~is_out])
        # 500 held-out rows are enough for an error known to a few per cent
        out = np.flatnonzero(is_out & np.isin(info.batches, known))[:500]
        if out.size == 0:
            raise ValueError(
                'n_features_to_select="auto" holds out rows, but all rows of some batches are held out at '
                "once; give a number."
            )
        kept = X[~is_out]
        gram = gram_operator(kept, rows=stay.scaled())
        if rows is None:
            centres = np.asarray(gram.mean, dtype=np.float64)
        else:
            centres = stay.means(kept)[np.searchsorted(known, info.batches[out])]
        yield gram, info.of(out).rooted((dense(X[out]) - centres) / gram.scale)


def _errors_by_count(gram: GramOperator, held_out: NDArray, parts: list[NDArray], counts: NDArray) -> NDArray:
    """Return the relative held-out errors of the other columns, one row per count, one column per ridge.

    The maps from the first column, the first two and so on follow from one Cholesky factor, each by one more
    term.
    """
    columns, ends = np.concatenate(parts), np.cumsum([part.size for part in parts])
    ends = ends[np.minimum(counts, ends.size) - 1]
    cross = np.asarray(gram.columns(columns), dtype=np.float64).T
    units = np.diag(ridge_units(cross[:, columns].diagonal()))
    squares = np.einsum("ij,ij->j", held_out, held_out)
    totals = squares.sum() - np.cumsum(squares[columns])[ends - 1]
    errors = []
    # little more than rounding, some, and much
    for ridge in (max(1e-10, 100 * np.finfo(gram.dtype).eps), 1e-3, 0.1):
        root = linalg.cholesky(cross[:, columns] + ridge * units, lower=True, check_finite=False)
        fitted = linalg.solve_triangular(root, cross, lower=True, check_finite=False)
        seen = linalg.solve_triangular(root, held_out[:, columns].T, lower=True, check_finite=False)
        overlaps = np.tril(2 * (seen @ seen.T))
        overlaps[np.diag_indices(columns.size)] /= 2
        left = squares + np.cumsum(fitted * (overlaps @ fitted - 2 * (seen @ held_out)), axis=0)
        others = left.sum(axis=1) - np.tril(left[:, columns]).sum(axis=1)
        # errors below 1e-5 come from rounding and from the least ridge
        shares = np.where(totals > 1e-10 * squares.sum(), others[ends - 1], 0.0) / np.maximum(totals, 1e-300)
        errors.append(np.sqrt(np.maximum(shares, 1e-10)))
    return np.array(errors).T


def dense(rows: Any) -> NDArray:
    """Return dense or sparse rows as a dense array of doubles."""
    return np.asarray(rows.toarray() if sparse.issparse(rows) else rows, dtype=np.float64)
