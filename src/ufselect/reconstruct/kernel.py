"""The map from selected columns back to all columns: linear, or nonlinear near the rows of the fit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.utils import gen_batches

from ufselect.reconstruct.ridge import LinearMap, in_row_space

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
    nearest landmark l and the reach r.
    """

    columns: NDArray
    mean: NDArray
    weights: NDArray
    landmarks: NDArray
    unit: float
    reach: float
    width: float
    offset: NDArray
    slope: NDArray
    coefficients: NDArray

    @classmethod
    def of(cls, linear: LinearMap, design: NDArray, columns: NDArray) -> ColumnMap:
        """Return a linear map, given the selected columns of the rows of the fit, less their mean."""
        n_rows, n_features = len(design), linear.mean.size
        unit = float(np.sqrt(np.einsum("ij,ij->", design, design) / max(n_rows, 1))) or 1.0
        landmarks = some_rows(design, MOST_LANDMARKS) / unit
        reach = np.inf
        if n_rows > 1:
            distances = euclidean_distances(landmarks)
            distances[np.diag_indices_from(distances)] = np.inf
            reach = float(np.quantile(distances.min(axis=1), 0.95))
        flat = np.zeros((0, n_features))
        return cls(columns, linear.mean, linear.weights, landmarks, unit, reach, 1.0, flat, flat, flat)

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


def some_rows(rows: NDArray, most: int) -> NDArray:
    """Return all rows or, if there are more, a random sample of them with a fixed seed."""
    if len(rows) <= most:
        return rows
    return rows[np.sort(np.random.default_rng(0).permutation(len(rows))[:most])]


def linear_errors(linear: LinearMap, rows: NDArray, columns: NDArray) -> NDArray:
    r"""Return the squared leave-one-out error of each row by the linear map.

    With P the design in units of the ridge λ it is the error of the fit over :math:`(1 - h_i)^2`, with
    :math:`h_i = 1/n + p_i^\top (P^\top P + \lambda I)^{-1} p_i`.
    """
    n_rows = len(rows)
    design = rows[:, columns] - linear.mean[columns]
    part, _, _ = in_row_space(design)
    h = np.full(n_rows, 1 / n_rows)
    if np.isfinite(linear.ridge):
        inner = part.T @ part + linear.ridge * np.eye(part.shape[1])
        h += np.einsum("ij,ji->i", part, linalg.lstsq(inner, part.T, check_finite=False)[0])
    others = np.setdiff1d(np.arange(rows.shape[1]), columns)
    errors, scale = np.zeros(n_rows), np.maximum(1 - h, 1e-12)[:, None]
    for block in gen_batches(n_rows, BLOCK_ROWS):
        left = rows[block][:, others] - linear.mean[others] - design[block] @ linear.weights[:, others]
        errors[block] = np.square(left / scale[block]).sum(axis=1)
    return errors


def bend(
    flat: ColumnMap, rows: NDArray, widths: Any = (0.35, 0.5, 1.0), weights: Any = (0.1, 1.0, 10.0)
) -> tuple[ColumnMap, NDArray, NDArray]:
    """Fit kernel ridge regression to rows; return its map and the leave-one-out errors by column and row.

    The kernel is a linear one times a weight, plus a Gaussian whose width is in units of the median distance
    between rows. Width, weight and penalty are those of least leave-one-out error in a sample of 300 rows;
    the penalty does not depend on the number of rows. Errors are sums of squares. A column that is not
    reconstructed better than by its mean has the error of the mean; errors by row do not include this step.
    """
    n_rows, n_features = rows.shape
    columns, landmarks = flat.columns, flat.landmarks
    others = np.setdiff1d(np.arange(n_features), columns)
    weight, width, penalty = _search(flat, rows, others, widths, weights)

    def kernel(part: NDArray) -> NDArray:
        return np.exp(-euclidean_distances(landmarks, part, squared=True) / (2 * width**2))

    inner = kernel(landmarks)
    inner[np.diag_indices_from(inner)] += 1e-8  # equal rows would make it singular
    lower = linalg.cholesky(inner, lower=True, check_finite=False)

    def laid_out(block: slice) -> tuple[NDArray, NDArray]:
        part = (rows[block][:, columns] - flat.mean[columns]) / flat.unit
        bent = linalg.solve_triangular(lower, kernel(part), lower=True, check_finite=False).T
        features = np.hstack([np.ones((len(part), 1)), np.sqrt(weight) * part, bent])
        return features, rows[block][:, others] - flat.mean[others]

    size = 1 + columns.size + len(landmarks)
    gram, cross = np.diag(np.append(0.0, np.full(size - 1, penalty))), np.zeros((size, others.size))
    blocks = list(gen_batches(n_rows, BLOCK_ROWS))
    for block in blocks:
        features, targets = laid_out(block)
        gram += features.T @ features
        cross += features.T @ targets
    upper = linalg.cholesky(gram, check_finite=False)
    found = linalg.cho_solve((upper, False), cross, check_finite=False)
    errors, squares, by_row = np.zeros(n_features), np.zeros(n_features), np.zeros(n_rows)
    for block in blocks:
        if len(blocks) > 1:
            features, targets = laid_out(block)
        h = linalg.solve_triangular(upper, features.T, trans="T", check_finite=False)
        left = np.square((targets - features @ found) / (1 - np.einsum("ij,ij->j", h, h))[:, None])
        errors[others] += left.sum(axis=0)
        by_row[block] = left.sum(axis=1)
        squares[others] += np.square(targets).sum(axis=0)
    squares *= (n_rows / (n_rows - 1)) ** 2
    found[:, errors[others] >= squares[others]] = 0.0
    offset, slope = np.zeros((1, n_features)), np.zeros((columns.size, n_features))
    coefficients = np.zeros((len(landmarks), n_features))
    offset[:, others], slope[:, others] = found[:1], np.sqrt(weight) * found[1 : 1 + columns.size]
    coefficients[:, others] = linalg.solve_triangular(
        lower, found[1 + columns.size :], lower=True, trans="T", check_finite=False
    )
    bent = replace(flat, width=width, offset=offset, slope=slope, coefficients=coefficients)
    return bent, np.minimum(errors, squares), by_row


def _search(
    flat: ColumnMap, rows: NDArray, others: NDArray, widths: Any, weights: Any
) -> tuple[float, float, float]:
    r"""Return weight, width and penalty λ of least leave-one-out error in a sample of rows.

    With the kernel matrix K of centred features and :math:`K = Q \Lambda Q^\top` the error of row i is that
    of the fit, :math:`\sum_j Q_{ij} s_j (Q^\top Y)_j` with :math:`s = \lambda / (\Lambda + \lambda)`, over
    :math:`\sum_j Q_{ij}^2 s_j - 1/n`. 32 random combinations of the columns represent all of them.
    """
    rng = np.random.default_rng(0)
    rows = some_rows(rows, 300)
    part = (rows[:, flat.columns] - flat.mean[flat.columns]) / flat.unit
    targets = (rows[:, others] - flat.mean[others]) @ rng.standard_normal((others.size, 32))
    targets -= targets.mean(axis=0)
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
            turned, squared = vectors.T @ targets, np.square(vectors)
            for penalty in np.geomspace(1e-4, 10, 11):
                shrunk = penalty / (np.maximum(values, 0.0) + penalty)
                left = vectors @ (shrunk[:, None] * turned)
                error = np.square(left / (squared @ shrunk - 1 / len(part))[:, None]).sum()
                if error < best:
                    best, found = error, (float(weight), float(width), float(penalty))
    return found
