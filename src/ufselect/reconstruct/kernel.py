"""The map from selected columns back to all columns: linear, or nonlinear near the rows of the fit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.utils import gen_batches

from ufselect.reconstruct.ridge import LinearMap, in_row_space, map_weights

# Landmark rows of the kernel: with as many rows or fewer it is kernel ridge regression without approximation.
# 500 lost a tenth of what 2,100 gained on the development sets, 1,000 a twentieth.
MOST_LANDMARKS = 1000
BLOCK_ROWS = 4000


@dataclass(frozen=True)
class ColumnMap:
    r"""A map from selected columns to all columns, held in plain arrays so that it can be stored.

    With x the selected columns less their mean, in one unit for all of them, :math:`l_i` the landmarks and
    :math:`k(x, l) = \exp(-\|x - l\|^2 / 2 w^2)` the nonlinear map is

    .. math:: b(x) = o + x S + \sum_i k(x, l_i)\, c_i.

    Beyond the reach of the landmarks, the distance within which 95 % of them have their nearest, it changes
    gradually to the linear map W: the weight of b is :math:`\min(1, e^{(r^2 - \|x - l\|^2) / 2 w^2})` for the
    nearest landmark l and the reach r. Missing values of x are predicted from the others by the covariance of
    x, with the ridge of the linear map.
    """

    columns: NDArray
    mean: NDArray
    weights: NDArray
    covariance: NDArray
    ridge: float
    landmarks: NDArray
    unit: float
    reach: float
    width: float
    offset: NDArray
    slope: NDArray
    coefficients: NDArray

    @classmethod
    def of(cls, linear: LinearMap, design: NDArray) -> ColumnMap:
        """Return a linear map, given the selected columns of the rows of the fit, less their mean."""
        unit = float(np.sqrt(linear.inner.trace() / linear.n_samples)) or 1.0
        landmarks, reach = design[some_rows(len(design), MOST_LANDMARKS)] / unit, np.inf
        if len(design) > 1:
            distances = euclidean_distances(landmarks)
            distances[np.diag_indices_from(distances)] = np.inf
            reach = float(np.quantile(distances.min(axis=1), 0.95))
        flat, covariance = np.zeros((0, linear.mean.size)), linear.inner / linear.n_samples / unit**2
        return cls(
            linear.columns, linear.mean, linear.weights, covariance, linear.ridge, landmarks, unit, reach,
            1.0, flat, flat, flat,
        )  # fmt: skip

    def complete(self, values: NDArray) -> tuple[NDArray, NDArray, NDArray]:
        """Return values with missing ones predicted, and what this adds to the variance of each column.

        The latter is a row for each pattern of missing values, and the number of the pattern of each row.
        """
        centred = np.array(values, dtype=np.float64) - self.mean[self.columns]
        patterns, codes = np.unique(np.isnan(centred), axis=0, return_inverse=True)
        codes = codes.ravel()
        added = np.zeros((len(patterns), self.mean.size))
        for pattern, gaps in enumerate(patterns):
            if not gaps.any():
                continue
            known, rows = np.flatnonzero(~gaps), np.flatnonzero(codes == pattern)
            cross = self.covariance[known]
            weights = map_weights(cross, known, self.ridge, np.zeros(known.size))[:, gaps]
            centred[np.ix_(rows, gaps)] = centred[np.ix_(rows, ~gaps)] @ weights
            left = self.covariance[np.ix_(gaps, gaps)] - 2 * weights.T @ cross[:, gaps]
            left = (left + left.T) / 2 + weights.T @ cross[:, known] @ weights
            own = self.weights[gaps]
            added[pattern] = np.maximum(np.einsum("ij,ij->j", own, left @ own), 0.0)
        return centred + self.mean[self.columns], self.unit**2 * added, codes

    def predict(self, values: NDArray) -> NDArray:
        """Return all columns from values of the selected ones."""
        centred = np.asarray(values, dtype=np.float64) - self.mean[self.columns]
        found = centred @ self.weights
        if self.coefficients.size:
            for rows in gen_batches(len(found), BLOCK_ROWS):
                part = centred[rows] / self.unit
                squares = euclidean_distances(part, self.landmarks, squared=True)
                bent = self.offset + part @ self.slope
                bent += np.exp(-squares / (2 * self.width**2)) @ self.coefficients
                beyond = np.maximum(squares.min(axis=1) - self.reach**2, 0.0)
                share = np.exp(-beyond / (2 * self.width**2))[:, None]
                found[rows] += share * (bent - found[rows])
            found[:, self.columns] = centred
        return found + self.mean

    def is_far(self, values: NDArray) -> NDArray:
        """Return a mask of the rows farther than 1.5 times the reach from every landmark."""
        if np.isinf(self.reach):
            return np.zeros(len(values), dtype=bool)
        part = (np.asarray(values, dtype=np.float64) - self.mean[self.columns]) / self.unit
        return euclidean_distances(part, self.landmarks).min(axis=1) > 1.5 * self.reach


def some_rows(n_rows: int, most: int) -> NDArray:
    """Return the places of all rows or, if there are more, of a random sample with a fixed seed."""
    return np.sort(np.random.default_rng(0).permutation(n_rows)[:most])


def fit_in_folds(
    laid_out: Callable[[NDArray], NDArray], penalties: NDArray, targets: NDArray, folds: NDArray
) -> tuple[NDArray, NDArray, NDArray]:
    """Fit ridge regression and return its coefficients, and errors of held-out folds by column and by row.

    ``laid_out`` returns the features of some rows, the first one of ones, and ``penalties`` has the weight
    of each. The errors are sums of squares.
    """
    parts = [np.flatnonzero(folds == fold) for fold in np.unique(folds)]
    gram, cross = np.diag(penalties), np.zeros((penalties.size, targets.shape[1]))
    for part in parts:
        features = laid_out(part)
        gram += features.T @ features
        cross += features.T @ targets[part]
    by_column, by_row = np.zeros(targets.shape[1]), np.zeros(len(targets))
    for part in parts:
        features, own = laid_out(part), targets[part]
        train = cross - features.T @ own
        found = linalg.solve(gram - features.T @ features, train, assume_a="pos", check_finite=False)
        left = np.square(own - features @ found)
        by_column += left.sum(axis=0)
        by_row[part] = left.sum(axis=1)
    return linalg.solve(gram, cross, assume_a="pos", check_finite=False), by_column, by_row


def linear_errors(linear: LinearMap, rows: NDArray, folds: NDArray) -> NDArray:
    """Return the squared error of each row, in its fold, by the linear map to all other columns."""
    part, _, _ = in_row_space(rows[:, linear.columns] - linear.mean[linear.columns])
    part = np.column_stack([np.ones(len(rows)), part[:, : part.shape[1] * int(np.isfinite(linear.ridge))]])
    penalties = np.append(0.0, np.full(part.shape[1] - 1, linear.ridge))
    return fit_in_folds(lambda places: part[places], penalties, other_columns(linear, rows), folds)[2]


def other_columns(map_: LinearMap | ColumnMap, rows: NDArray) -> NDArray:
    """Return rows less their mean, with zeros in the selected columns, which no map has to predict."""
    targets = rows - map_.mean
    targets[:, map_.columns] = 0.0
    return targets


def bend(
    flat: ColumnMap,
    rows: NDArray,
    folds: NDArray,
    widths: Any = (0.35, 0.5, 1.0),
    weights: Any = (0.1, 1.0, 10.0),
) -> tuple[ColumnMap, NDArray, NDArray]:
    """Fit kernel ridge regression to rows; return its map and the errors of held-out folds by column and row.

    The kernel is a linear one times a weight, plus a Gaussian whose width is in units of the median distance
    between rows. Width, weight and penalty are those of least error in a sample of 300 rows; the penalty does
    not depend on the number of rows. Errors are sums of squares.
    """
    columns, landmarks, targets = flat.columns, flat.landmarks, other_columns(flat, rows)
    sample = some_rows(len(rows), 300)
    part = (rows[:, columns] - flat.mean[columns]) / flat.unit
    weight, width, penalty = _search(part[sample], targets[sample], folds[sample], widths, weights)

    def kernel(part: NDArray) -> NDArray:
        return np.exp(-euclidean_distances(landmarks, part, squared=True) / (2 * width**2))

    inner = kernel(landmarks)
    inner[np.diag_indices_from(inner)] += 1e-8  # equal rows would make it singular
    lower = linalg.cholesky(inner, lower=True, check_finite=False)

    def laid_out(places: NDArray) -> NDArray:
        bent = linalg.solve_triangular(lower, kernel(part[places]), lower=True, check_finite=False).T
        return np.hstack([np.ones((places.size, 1)), np.sqrt(weight) * part[places], bent])

    penalties = np.append(0.0, np.full(columns.size + len(landmarks), penalty))
    found, errors, by_row = fit_in_folds(laid_out, penalties, targets, folds)
    coefficients = linalg.solve_triangular(
        lower, found[1 + columns.size :], lower=True, trans="T", check_finite=False
    )
    bent = replace(
        flat,
        width=width,
        offset=found[:1],
        slope=np.sqrt(weight) * found[1 : 1 + columns.size],
        coefficients=coefficients,
    )
    return bent, errors, by_row


def _search(
    part: NDArray, targets: NDArray, folds: NDArray, widths: Any, weights: Any
) -> tuple[float, float, float]:
    r"""Return weight, width and penalty λ of least error in held-out folds of a sample of rows.

    With the kernel matrix K of centred features, :math:`K = Q \Lambda Q^\top` and
    :math:`s = \lambda / (\Lambda + \lambda)`, the residuals of all rows are :math:`E = Q s Q^\top Y`, and
    those of a held-out fold F are :math:`(Q_F s Q_F^\top - 1/n)^{-1} E_F`. 32 random combinations of the
    columns represent all of them.
    """
    targets = targets @ np.random.default_rng(0).standard_normal((targets.shape[1], 32))
    targets -= targets.mean(axis=0)
    blocks = [np.flatnonzero(folds == fold) for fold in np.unique(folds)]
    squares = euclidean_distances(part, squared=True)
    apart = squares[np.triu_indices(len(part), 1)]
    typical = float(np.median(apart[apart > 0])) if np.any(apart > 0) else 1.0
    best, found = np.inf, (1.0, 1.0, 1.0)
    for factor in widths:
        width = factor * np.sqrt(typical)
        gaussian = np.exp(-squares / (2 * width**2))
        for weight in weights:
            matrix = gaussian + weight * (part @ part.T)
            matrix -= matrix.mean(axis=0)
            matrix -= matrix.mean(axis=1)[:, None]
            values, vectors = np.linalg.eigh(matrix)
            turned = vectors.T @ targets
            for penalty in np.geomspace(1e-4, 10, 11):
                shrunk = penalty / (np.maximum(values, 0.0) + penalty)
                error = 0.0
                for block in blocks:
                    own = vectors[block] * shrunk
                    left = np.linalg.solve(own @ vectors[block].T - 1 / len(part), own @ turned)
                    error += np.square(left).sum()
                if error < best:
                    best, found = error, (float(weight), float(width), float(penalty))
    return found
