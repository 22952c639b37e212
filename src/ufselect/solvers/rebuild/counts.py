"""How many columns are enough: the held-out error of every count from one path a fold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, solve_triangular

from ufselect.gram import GramOperator
from ufselect.gram.rows import RowLayout
from ufselect.sets.units import Units
from ufselect.solvers.rebuild.folds import Fold, split_folds
from ufselect.solvers.rebuild.ridge import ridge_units

N_FOLDS = 5
# Ridges among which each count has its choice: none but for rounding, some, and much.
RIDGES = (1e-12, 1e-3, 0.1)
LEAST_ROWS = 2 * N_FOLDS
# The path of a fold ends here: a user who needs more columns than this will give their number.
MOST_COLUMNS = 100
# A knee is where the unexplained variance falls by a third or more over the last fifth of the columns, and at
# least two and a half times as fast as over the fifth that follows; a power law falls as fast in both.
KNEE_STEP = 1.25
KNEE_FALL = 0.4
KNEE_RATIO = 2.5
# Nor is it one while most of the fall, in powers of ten, is still to come.
KNEE_DEPTH = 2 / 3
# Nor if the error falls to less than four tenths after it. After a planted rank it still falls to about a
# half, as more columns are known and the noise of more is averaged.
KNEE_REST = 2.5
# Relative errors below this are rounding.
LEAST_ERROR = 1e-6


@dataclass(frozen=True)
class CountCurve:
    """Held-out relative errors of 1, 2, … columns and the count they suggest.

    Attributes
    ----------
    errors : ndarray
        Mean over folds of the error of rebuilding, in units of the error of the mean.
    standard_errors : ndarray
        Their standard errors over the folds.
    chosen : int
        The count suggested.
    note : str
        Why.
    """

    errors: NDArray
    standard_errors: NDArray
    chosen: int
    note: str

    def table(self) -> list[dict[str, Any]]:
        """Return one row a count."""
        return [
            {
                "count": count,
                "error": float(error),
                "standard_error": float(spread),
                "chosen": count == self.chosen,
                "note": self.note if count == self.chosen else "",
            }
            for count, (error, spread) in enumerate(
                zip(self.errors, self.standard_errors, strict=True), start=1
            )
        ]


def count_curve(
    X: Any,
    path: Callable[[GramOperator, int], NDArray],
    max_count: int | None = None,
    *,
    units: Units | None = None,
    layout: RowLayout | None = None,
) -> CountCurve:
    r"""Cross-validate the error of rebuilding the other columns from the first 1, 2, … of an order.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_samples, n_features)
        The data. Every fifth row is held out in turn.
    path : callable
        Given the Gram operator of the other rows and a number, returns that many units, best first.
    max_count : int, optional
        Largest count; by default half of the units, with at most 100 columns and fewer than the rows of a
        fold.
    units : Units, optional
        Which columns come together and count as one; by default each is its own unit.
    layout : RowLayout, optional
        Weights and batches of the rows.

    Raises
    ------
    ValueError
        If there are fewer than ten rows, or the rows held out have batches of their own.
    """
    n_samples, n_features = X.shape
    if n_samples < LEAST_ROWS:
        raise ValueError(
            f'n_features_to_select="auto" holds out rows and needs at least {LEAST_ROWS} of them, not '
            f"{n_samples}; give a number."
        )
    units = Units.single(n_features) if units is None else units
    most = max_count or _most_units(units, min(MOST_COLUMNS, n_samples - n_samples // N_FOLDS - 2))
    every = np.array([_fold_errors(fold, path, units, most) for fold in split_folds(X, N_FOLDS, layout)])
    ridges = np.argmin(every.mean(axis=0), axis=0)
    folds = np.take_along_axis(every, ridges[None, None, :], axis=1)[:, 0]
    errors = folds.mean(axis=0)
    standard_errors = folds.std(axis=0, ddof=1) / np.sqrt(N_FOLDS)
    chosen, note = suggest_count(errors, standard_errors)
    return CountCurve(errors, standard_errors, chosen, note)


def _most_units(units: Units, most_columns: int) -> int:
    """Return half of the units, or fewer if they could have too many columns."""
    largest_first = np.cumsum(np.sort(units.sizes)[::-1])
    return max(1, min(units.count // 2, int(np.sum(largest_first <= most_columns))))


def suggest_count(errors: NDArray, standard_errors: NDArray) -> tuple[int, str]:
    """Return a count and the reason for it: the knee where there is one, else the one-standard-error rule."""
    knee = find_knee(errors)
    if knee is not None:
        return knee, f"knee: the error falls much more slowly after {knee} columns"
    best = int(np.argmin(errors))
    enough = int(np.argmax(errors <= errors[best] + standard_errors[best])) + 1
    if best == errors.size - 1 and enough > errors.size // 2:
        return enough, f"no knee: the curve still falls at {errors.size} columns"
    return enough, f"fewest columns within one standard error of the best, {best + 1}"


def find_knee(errors: NDArray) -> int | None:
    """Return the count after which the error stops falling abruptly, or None."""
    logs = 2 * np.log(np.maximum(errors, LEAST_ERROR))
    logs = np.concatenate([[0.0], logs])  # no column: the error of the mean
    counts = np.arange(1, logs.size - 1)
    before = np.minimum(np.floor(counts / KNEE_STEP).astype(int), counts - 1)
    after = np.minimum(np.maximum(np.ceil(counts * KNEE_STEP).astype(int), counts + 1), logs.size - 1)
    fall = logs[before] - logs[counts]
    rest = np.maximum(logs[counts] - logs[after], 0.0)
    sharp = (fall >= KNEE_FALL) & (fall >= KNEE_RATIO * rest) & (counts * KNEE_STEP <= logs.size - 1)
    sharp &= logs[counts] <= min(KNEE_DEPTH * logs.min(), logs.min() + 2 * np.log(KNEE_REST))
    if not np.any(sharp):
        return None
    return int(counts[np.argmax(np.where(sharp, fall - KNEE_RATIO * rest, -np.inf))])


def _fold_errors(
    fold: Fold, path: Callable[[GramOperator, int], NDArray], units: Units, most: int
) -> NDArray:
    """Return the held-out relative errors of one fold: a row a ridge, a column a count up to ``most``."""
    parts = [units.members(int(unit)) for unit in path(fold.gram, most)]
    order = np.concatenate(parts)
    ends = np.cumsum([part.size for part in parts]) - 1
    columns = np.asarray(fold.gram.columns(order), dtype=np.float64).T
    errors = np.array([prefix_errors(columns, order, ridge, fold.held_out)[ends] for ridge in RIDGES])
    return np.pad(errors, ((0, 0), (0, most - ends.size)), mode="edge")


def prefix_errors(columns: NDArray, order: NDArray, ridge: float, rows: NDArray) -> NDArray:
    r"""Return the relative error of rebuilding rows from the first 1, 2, … columns of an order.

    The columns in use are known and count as rebuilt; the others follow from weights fitted to S.

    Parameters
    ----------
    columns : ndarray of shape (n_columns, n_features)
        The columns of S that the order names, one a row.
    order : ndarray
        Columns, first one first.
    ridge : float
        The ridge, in units of `ridge_units`.
    rows : ndarray of shape (n_rows, n_features)
        Rows less the mean of the fitted ones, in units of S.
    """
    inner = columns[:, order]
    root = cholesky(inner + np.diag(ridge * ridge_units(inner)), lower=True)
    maps = solve_triangular(root, columns, lower=True)
    scores = solve_triangular(root, rows[:, order].T, lower=True)
    linear = np.cumsum(np.einsum("ij,ij->i", scores, maps @ rows.T))
    inner_scores = scores @ scores.T
    products = inner_scores * (maps @ maps.T)
    quadratic = np.cumsum(np.cumsum(products, axis=0), axis=1).diagonal()
    total = float(np.vdot(rows, rows))
    known = _errors_of_known(rows[:, order], scores, maps[:, order], inner_scores)
    return np.sqrt(np.maximum(total - 2 * linear + quadratic - known, 0.0) / total)


def _errors_of_known(rows: NDArray, scores: NDArray, maps: NDArray, inner: NDArray) -> NDArray:
    """Return, for 1, 2, … columns, the squared error that the map makes in just these.

    Row t of each array below is for t columns: what each step changes in the squared error of every column.
    """
    linear = np.cumsum(maps * (scores @ rows), axis=0)
    steps = maps * (2 * np.tril(inner, -1) @ maps + inner.diagonal()[:, None] * maps)
    errors = np.einsum("ij,ij->j", rows, rows) - 2 * linear + np.cumsum(steps, axis=0)
    return np.tril(errors).sum(axis=1)
