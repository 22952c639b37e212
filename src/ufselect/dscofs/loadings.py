"""Loadings on given rows with few non-zero entries and much variance."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator, minres

from ufselect._solver.iterate import barzilai_borwein
from ufselect.gram.spectrum import leading_pairs, orthonormality_defect, polar_factor, rotate_towards

# Smaller relative gains do not show in the reported variance. Every loop here ends once it gains no more; the
# numbers of rounds are safeguards.
LEAST_GAIN = 1e-6


def sparse_loadings(S: NDArray, loadings: NDArray, n_entries: int) -> tuple[NDArray, list[float]]:
    r"""Return orthonormal X with few entries and a large ``Tr(XᵀSX)``, and the values of each improvement.

    Every rotation of the loadings carries the same variance, so the one whose largest entries hold most of
    its length comes first, as in SPCArt (Hu and others 2016, IEEE Trans. Neural Netw. Learn. Syst. 27). X is
    then moved to a nearby orthonormal matrix within the pattern of these entries and improved there, and the
    pattern is set again after a power step, as long as that helps. The other start is a matrix whose columns
    have no common rows, which always exists.

    S is that of the rows at hand; the loadings have orthonormal columns, at most ``n_entries`` of them.
    """
    apart = disjoint_columns(S, sparse_rotation(loadings, loadings.shape[0]), n_entries)
    X = ascend(S, apart, _widened(S, apart, n_entries))
    values = [variance(S, apart), variance(S, X)]
    for start in (sparse_rotation(loadings, n_entries), _power_step(S, X)):
        last = 0.0
        for _ in range(5):
            trial = _feasible(start, n_entries)
            if trial is None:
                break
            trial = ascend(S, trial, _widened(S, trial, n_entries))
            value = variance(S, trial)
            if value > values[-1]:
                X = trial
                values.append(value)
            if value <= last * (1 + LEAST_GAIN):
                break
            last = value
            start = _power_step(S, trial)
    return X, values


def variance(S: NDArray, X: NDArray) -> float:
    """Return ``Tr(XᵀSX)``."""
    return float(np.vdot(X, S @ X))


def _power_step(S: NDArray, X: NDArray) -> NDArray:
    """Return the power step, rotated to be as near to X as its span allows."""
    return rotate_towards(polar_factor(S @ X), X)


def largest_pattern(X: NDArray, n_entries: int) -> NDArray:
    """Mark the largest entries, first the largest of each column, so that no column is empty."""
    weights = np.abs(X)
    weights[weights.argmax(axis=0), np.arange(X.shape[1])] += weights.max() + 1
    flat = np.zeros(X.size, dtype=bool)
    flat[np.argsort(-weights.ravel(), kind="stable")[:n_entries]] = True
    return flat.reshape(X.shape)


def _widened(S: NDArray, X: NDArray, n_entries: int) -> NDArray:
    """Return X's pattern and, up to ``n_entries``, the entries in which ``SX`` is largest."""
    weights = np.abs(S @ X)
    weights[X != 0] += weights.max() + 1
    return largest_pattern(weights, n_entries)


def sparse_rotation(X: NDArray, n_entries: int) -> NDArray:
    """Return a rotation of X's columns whose ``n_entries`` largest entries hold much of its length."""
    rotation = np.eye(X.shape[1])
    kept = 0.0
    for _ in range(100):
        turned = X @ rotation
        cut = turned * largest_pattern(turned, n_entries)
        length = float(np.vdot(cut, cut))
        if length <= kept * (1 + LEAST_GAIN):
            break
        kept = length
        rotation = polar_factor(X.T @ cut)
    return turned


def disjoint_columns(S: NDArray, X: NDArray, n_entries: int) -> NDArray:
    """Return orthonormal columns without common rows; X says which column a row joins.

    Each column is the leading eigenvector of its rows.
    """
    n_rows, m = X.shape
    weights = np.abs(X)
    taken = np.full(n_rows, -1)
    for column in range(m):  # every column first gets the free row that weighs most in it
        free = np.flatnonzero(taken < 0)
        taken[free[weights[free, column].argmax()]] = column
    rows = np.argsort(-weights.max(axis=1), kind="stable")
    rows = rows[taken[rows] < 0][: max(min(n_entries, n_rows) - m, 0)]
    taken[rows] = weights.argmax(axis=1)[rows]
    result = np.zeros((n_rows, m))
    for column in range(m):
        members = np.flatnonzero(taken == column)
        # The whole decomposition: the climb that follows is sensitive to the last digits of a shorter one.
        result[members, column] = leading_pairs(S[np.ix_(members, members)], members.size).vectors[:, 0]
    return result


def _feasible(X: NDArray, n_entries: int) -> NDArray | None:
    """Return orthonormal columns in the pattern of X's largest entries, or of fewer if there are none."""
    for share in (1.0, 0.8, 0.6, 0.4, 0.2):
        pattern = largest_pattern(X, max(X.shape[1], int(share * n_entries)))
        near = X
        for _ in range(200):  # project on the matrices with the pattern and on the orthonormal ones in turn
            projected = polar_factor(near * pattern)
            if float(np.abs(projected - near).max()) <= LEAST_GAIN:
                break
            near = projected
        found = restore(near, pattern)
        if found is not None:
            return found
    return None


def restore(X: NDArray, pattern: NDArray) -> NDArray | None:
    r"""Return orthonormal columns near X with entries in the pattern only, or None if there seem to be none.

    Newton's method on :math:`X^\top X = I`: the smallest correction inside the pattern is
    :math:`-\Omega \circ (X\Lambda)` with a symmetric :math:`\Lambda` that solves a linear system of the
    size of the constraints.
    """
    X = X * pattern
    for _ in range(30):  # it converges quadratically or not at all
        defect = orthonormality_defect(X)
        size = float(np.abs(defect).max())
        if size <= 1e-13:
            return X
        if not size < 1e3:
            return None
        X = X - pattern * (X @ _multiplier(X, pattern, defect))
    return None


def ascend(S: NDArray, X: NDArray, pattern: NDArray) -> NDArray:
    """Increase ``Tr(XᵀSX)`` over orthonormal matrices with the pattern, from a feasible X.

    Projected gradient steps of Barzilai and Borwein's length, shortened until they gain.
    """
    value = variance(S, X)
    # The largest row sum bounds the largest eigenvalue, the curvature of the objective.
    step = 1 / max(float(np.abs(S).sum(axis=1).max()), float(np.finfo(np.float64).tiny))
    longest = 1e12 * step  # longer steps leave the neighbourhood of any X
    last: tuple[NDArray, NDArray] | None = None
    for _ in range(100):
        ascent = pattern * (S @ X)
        mixed = X.T @ ascent
        direction = ascent - pattern * (X @ _multiplier(X, pattern, mixed + mixed.T))
        if last is not None:
            step = barzilai_borwein(X - last[0], direction - last[1], longest)
        for shortening in range(12):  # to some 1e-7 of the step's length
            trial = restore(X + 0.25**shortening * step * direction, pattern)
            reached = -np.inf if trial is None else variance(S, trial)
            if reached > value:
                break
        if trial is None or not reached > value:
            break
        last = X, direction
        X, gain, value = trial, reached - value, reached
        if gain <= LEAST_GAIN * abs(value):
            break
    return X


def _multiplier(X: NDArray, pattern: NDArray, right: NDArray) -> NDArray:
    r"""Solve :math:`X^\top D + D^\top X = right`, :math:`D = \Omega \circ (X\Lambda)`, for symmetric Λ.

    Column j of :math:`X^\top D` is :math:`X^\top \mathrm{diag}(\Omega_j) X` times column j of Λ.
    """
    m = X.shape[1]
    blocks = (pattern.T[:, None, :] * X.T) @ X
    diagonal = np.diagonal(blocks, axis1=1, axis2=2)
    diagonal = (diagonal + diagonal.T).ravel()
    diagonal = np.where(diagonal > 0, diagonal, 1.0)  # two columns without common rows need no correction

    def apply(flat: NDArray) -> NDArray:
        mixed = np.matmul(blocks, flat.reshape(m, m, 1))[:, :, 0]
        return (mixed + mixed.T).ravel()

    shape = (m * m, m * m)
    solution, _ = minres(  # if no Λ solves the system, a least-squares one
        LinearOperator(shape, matvec=apply, dtype=np.float64),
        right.ravel(),
        rtol=1e-12,  # below the defect that counts as zero after one more Newton step
        maxiter=300,  # without rounding it needs at most m²
        M=LinearOperator(shape, matvec=lambda flat: flat / diagonal, dtype=np.float64),
    )
    square = solution.reshape(m, m)
    return 0.5 * (square + square.T)
