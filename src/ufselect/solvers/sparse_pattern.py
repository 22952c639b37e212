"""Orthonormal matrices whose non-zero entries lie in a given pattern."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy.sparse.linalg import LinearOperator, minres

ORTHONORMAL = 1e-13  # largest entry of XᵀX − I that counts as zero
MAX_RESTORE = 30
MAX_ASCENT = 200
RELATIVE_GAIN = 1e-8
MULTIPLIER_TOL = 1e-13


def restore(X: NDArray, pattern: NDArray) -> NDArray | None:
    r"""Return orthonormal columns near X with entries in the pattern only, or None if there seem to be none.

    Newton's method on :math:`X^\top X = I`: the smallest correction inside the pattern is
    :math:`-\Omega \circ (X\Lambda)` with a symmetric :math:`\Lambda` that solves a linear system of the
    size of the constraints.
    """
    X = X * pattern
    for _ in range(MAX_RESTORE):
        defect = X.T @ X - np.eye(X.shape[1])
        size = float(np.abs(defect).max())
        if size <= ORTHONORMAL:
            return X
        if not size < 1e3:
            return None
        X = X - pattern * (X @ _multiplier(X, pattern, defect))
    return None


def ascend(S: NDArray, X: NDArray, pattern: NDArray) -> NDArray:
    """Increase ``Tr(XᵀSX)`` over orthonormal matrices with the pattern, from a feasible X; never lose."""
    value = float(np.vdot(X, S @ X))
    step = 1 / float(np.abs(S).sum(axis=1).max())
    for _ in range(MAX_ASCENT):
        ascent = pattern * (S @ X)
        mixed = X.T @ ascent
        direction = ascent - pattern * (X @ _multiplier(X, pattern, mixed + mixed.T))
        moved, reached = X, value
        for _ in range(12):
            trial = restore(X + step * direction, pattern)
            if trial is not None:
                reached = float(np.vdot(trial, S @ trial))
                if reached > value:
                    moved = trial
                    break
            step *= 0.5
        if moved is X:
            return X
        gain, X, value = reached - value, moved, reached
        step *= 2
        if gain <= RELATIVE_GAIN * abs(value):
            return X
    return X


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
        _, vectors = linalg.eigh(S[np.ix_(members, members)], check_finite=False)
        result[members, column] = vectors[:, -1]
    return result


def _multiplier(X: NDArray, pattern: NDArray, right: NDArray) -> NDArray:
    r"""Solve :math:`X^\top D + D^\top X = right`, :math:`D = \Omega \circ (X\Lambda)`, for symmetric Λ."""
    m = X.shape[1]

    def apply(flat: NDArray) -> NDArray:
        square = flat.reshape(m, m)
        mixed = X.T @ (pattern * (X @ (0.5 * (square + square.T))))
        return (mixed + mixed.T).ravel()

    operator = LinearOperator((m * m, m * m), matvec=apply, dtype=np.float64)
    solution, _ = minres(operator, right.ravel(), rtol=MULTIPLIER_TOL, maxiter=4 * m * m)
    square = solution.reshape(m, m)
    return 0.5 * (square + square.T)
