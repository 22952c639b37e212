"""Orthonormal matrices whose non-zero entries lie in a given pattern."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator, minres

from ufselect.sets import stiefel
from ufselect.solvers.step_length import barzilai_borwein

ORTHONORMAL = 1e-13  # largest entry of XᵀX − I that counts as zero
FAR = 1e3  # largest entry of XᵀX − I from which Newton's method is not tried
MAX_RESTORE = 30  # Newton steps; it converges quadratically or not at all
MAX_ASCENT = 100  # a safeguard: the ascent ends by itself once it gains too little
RELATIVE_GAIN = 1e-6  # gains below this do not show in the variance that is reported
LARGEST_STEP = 1e12  # in units of the first, safe one; longer steps leave the neighbourhood of any X
SHORTENING = 0.25  # of a step that does not gain
MAX_BACKTRACKS = 12  # shortenings, to some 1e-7 of the step's length
MULTIPLIER_TOL = 1e-12  # below ORTHONORMAL after one more Newton step
MAX_MULTIPLIER_STEPS = 300  # of MINRES, which needs at most m² without rounding


def largest_pattern(X: NDArray, n_entries: int) -> NDArray:
    """Mark the largest entries, the largest of each column first so that none is empty."""
    weights = np.abs(X)
    weights[weights.argmax(axis=0), np.arange(X.shape[1])] += weights.max() + 1
    flat = np.zeros(X.size, dtype=bool)
    flat[np.argsort(-weights.ravel(), kind="stable")[:n_entries]] = True
    return flat.reshape(X.shape)


def restore(X: NDArray, pattern: NDArray) -> NDArray | None:
    r"""Return orthonormal columns near X with entries in the pattern only, or None if there seem to be none.

    Newton's method on :math:`X^\top X = I`: the smallest correction inside the pattern is
    :math:`-\Omega \circ (X\Lambda)` with a symmetric :math:`\Lambda` that solves a linear system of the
    size of the constraints.
    """
    X = X * pattern
    for _ in range(MAX_RESTORE):
        defect = stiefel.defect(X)
        size = float(np.abs(defect).max())
        if size <= ORTHONORMAL:
            return X
        if not size < FAR:
            return None
        X = X - pattern * (X @ _multiplier(X, pattern, defect))
    return None


def ascend(S: NDArray, X: NDArray, pattern: NDArray) -> NDArray:
    """Increase ``Tr(XᵀSX)`` over orthonormal matrices with the pattern, from a feasible X; never lose.

    Projected gradient steps of Barzilai and Borwein's length, shortened until they gain.
    """
    value = variance(S, X)
    # The largest row sum bounds the largest eigenvalue, the curvature of the objective.
    step = first_step = 1 / max(float(np.abs(S).sum(axis=1).max()), float(np.finfo(np.float64).tiny))
    last: tuple[NDArray, NDArray] | None = None
    for _ in range(MAX_ASCENT):
        ascent = pattern * (S @ X)
        mixed = X.T @ ascent
        direction = ascent - pattern * (X @ _multiplier(X, pattern, mixed + mixed.T))
        if last is not None:
            step = barzilai_borwein(X - last[0], direction - last[1], LARGEST_STEP * first_step)
        moved = _gaining_step(S, X, pattern, step, direction, value)
        if moved is None:
            break
        last = X, direction
        X, reached = moved
        gain, value = reached - value, reached
        if gain <= RELATIVE_GAIN * abs(value):
            break
    return X


def _gaining_step(
    S: NDArray, X: NDArray, pattern: NDArray, step: float, direction: NDArray, value: float
) -> tuple[NDArray, float] | None:
    for _ in range(MAX_BACKTRACKS):
        trial = restore(X + step * direction, pattern)
        if trial is not None:
            reached = variance(S, trial)
            if reached > value:
                return trial, reached
        step *= SHORTENING
    return None


def variance(S: NDArray, X: NDArray) -> float:
    """Return ``Tr(XᵀSX)``."""
    return float(np.vdot(X, S @ X))


def _multiplier(X: NDArray, pattern: NDArray, right: NDArray) -> NDArray:
    r"""Solve :math:`X^\top D + D^\top X = right`, :math:`D = \Omega \circ (X\Lambda)`, for symmetric Λ.

    Column j of :math:`X^\top D` is :math:`X^\top \mathrm{diag}(\Omega_j) X` times column j of Λ.
    """
    m = X.shape[1]
    blocks = (pattern.T[:, None, :] * X.T) @ X
    diagonal = np.diagonal(blocks, axis1=1, axis2=2)
    diagonal = (diagonal + diagonal.T).ravel()
    diagonal = np.where(diagonal > 0, diagonal, 1.0)  # two columns without common rows: nothing to solve

    def apply(flat: NDArray) -> NDArray:
        mixed = np.matmul(blocks, flat.reshape(m, m, 1))[:, :, 0]
        return (mixed + mixed.T).ravel()

    shape = (m * m, m * m)
    solution, _ = minres(  # where no Λ solves the system it ends at a least-squares one
        LinearOperator(shape, matvec=apply, dtype=np.float64),
        right.ravel(),
        rtol=MULTIPLIER_TOL,
        maxiter=MAX_MULTIPLIER_STEPS,
        M=LinearOperator(shape, matvec=lambda flat: flat / diagonal, dtype=np.float64),
    )
    square = solution.reshape(m, m)
    return 0.5 * (square + square.T)
