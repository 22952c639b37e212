"""Loadings with few non-zero entries that carry much variance."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ufselect.sets import stiefel
from ufselect.solvers.leading import leading_pairs
from ufselect.solvers.row_sparse.pattern import ascend, largest_pattern, restore, variance

# Safeguards against a run without end: each of the three ends by itself once it gains nothing.
MAX_ROTATIONS = 100
MAX_PATTERNS = 5
MAX_APPROACH = 200
SHARES = (1.0, 0.8, 0.6, 0.4, 0.2)  # of the allowed entries, tried in turn
RELATIVE_GAIN = 1e-6  # gains below this do not show in the variance that is reported


def sparse_loadings(S: NDArray, loadings: NDArray, n_entries: int) -> tuple[NDArray, list[float]]:
    r"""Return orthonormal X with few entries and a large ``Tr(XᵀSX)``, and the values on the way to it.

    Every rotation of the loadings carries the same variance, so the one whose largest entries hold most of
    its length comes first, as in SPCArt [1]_. X is then moved to a nearby orthonormal matrix within the
    pattern of these entries and uphill there, and the pattern chosen anew after a power step, as long as that
    helps. Columns without common rows, which always exist, are the other way to begin.

    Parameters
    ----------
    S : ndarray of shape (n_rows, n_rows)
        Scatter matrix of the rows at hand.
    loadings : ndarray of shape (n_rows, n_components)
        Orthonormal columns that carry much variance.
    n_entries : int
        Most non-zero entries; at least the number of columns.

    References
    ----------
    .. [1] Z. Hu, G. Pan, Y. Wang, Z. Wu (2016), "Sparse principal component analysis via rotation and
       truncation", IEEE Transactions on Neural Networks and Learning Systems 27(4).
    """
    apart = disjoint_columns(S, sparse_rotation(loadings, loadings.shape[0]), n_entries)
    X = ascend(S, apart, _widened(S, apart, n_entries))
    values = [variance(S, apart), variance(S, X)]
    for start in (sparse_rotation(loadings, n_entries), _power_step(S, X)):
        for trial, value in _climb(S, start, n_entries):
            if value > values[-1]:
                X = trial
                values.append(value)
    return X, values


def _climb(S: NDArray, X: NDArray, n_entries: int) -> Iterator[tuple[NDArray, float]]:
    """Yield feasible matrices and their variances, each uphill in a pattern that the one before led to."""
    last = 0.0
    for _ in range(MAX_PATTERNS):
        found = _feasible(X, n_entries)
        if found is None:
            return
        found = ascend(S, found, _widened(S, found, n_entries))
        value = variance(S, found)
        yield found, value
        if value <= last * (1 + RELATIVE_GAIN):
            return
        last = value
        X = _power_step(S, found)


def _power_step(S: NDArray, X: NDArray) -> NDArray:
    """Return the power step, turned to be as near to X as its span allows."""
    return stiefel.turned_towards(stiefel.project(S @ X), X)


def sparse_rotation(X: NDArray, n_entries: int) -> NDArray:
    """Return a rotation of X's columns whose ``n_entries`` largest entries hold much of its length."""
    rotation = np.eye(X.shape[1])
    kept = 0.0
    for _ in range(MAX_ROTATIONS):
        turned = X @ rotation
        cut = turned * largest_pattern(turned, n_entries)
        length = float(np.vdot(cut, cut))
        if length <= kept * (1 + RELATIVE_GAIN):
            break
        kept = length
        rotation = stiefel.project(X.T @ cut)
    return turned


def disjoint_columns(S: NDArray, X: NDArray, n_entries: int) -> NDArray:
    """Return orthonormal columns without common rows, which always exist; X says which column a row joins.

    S is the block of the rows at hand; each column is the leading eigenvector of its rows.
    """
    n_rows, m = X.shape
    weights = np.abs(X)
    owner = weights.argmax(axis=1)
    rows = np.argsort(-weights.max(axis=1), kind="stable")
    taken = np.full(n_rows, -1)
    for column in range(m):  # every column first gets the free row that weighs most in it
        free = np.flatnonzero(taken < 0)
        taken[free[weights[free, column].argmax()]] = column
    left = min(n_entries, n_rows) - m
    for row in rows:
        if left > 0 and taken[row] < 0:
            taken[row] = owner[row]
            left -= 1
    result = np.zeros((n_rows, m))
    for column in range(m):
        members = np.flatnonzero(taken == column)
        # The whole decomposition: the climb that follows is sensitive to the last digits of a shorter one.
        result[members, column] = leading_pairs(S[np.ix_(members, members)], members.size).vectors[:, 0]
    return result


def _widened(S: NDArray, X: NDArray, n_entries: int) -> NDArray:
    """Return X's pattern and, up to ``n_entries``, the entries in which ``SX`` is largest."""
    weights = np.abs(S @ X)
    weights[X != 0] += weights.max() + 1
    return largest_pattern(weights, n_entries)


def _feasible(X: NDArray, n_entries: int) -> NDArray | None:
    """Return orthonormal columns in the pattern of X's largest entries, or of fewer where these hold none."""
    for share in SHARES:
        pattern = largest_pattern(X, max(X.shape[1], int(share * n_entries)))
        found = restore(_approach(X, pattern), pattern)
        if found is not None:
            return found
    return None


def _approach(X: NDArray, pattern: NDArray) -> NDArray:
    """Return a matrix with the pattern near orthonormal ones, by projecting on the two sets in turn."""
    for _ in range(MAX_APPROACH):
        projected = stiefel.project(X * pattern)
        if float(np.abs(projected - X).max()) <= RELATIVE_GAIN:
            break
        X = projected
    return X * pattern
