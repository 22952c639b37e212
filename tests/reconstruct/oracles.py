"""What a set of columns reconstructs, by solving its least-squares problem anew."""

from __future__ import annotations

import numpy as np


def table(seed: int, n_samples: int, n_features: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n_samples, n_features)) @ rng.standard_normal((n_features, n_features))


def brute_force_error(A: np.ndarray, penalties: np.ndarray, columns: list[int]) -> float:
    """Minimise ‖A − A_C W‖² + Σ π ‖w‖² by least squares on rows augmented with the roots of the penalties."""
    predictors = np.vstack([A[:, columns], np.diag(np.sqrt(penalties[columns]))])
    targets = np.vstack([A, np.zeros((len(columns), A.shape[1]))])
    weights = np.linalg.lstsq(predictors, targets, rcond=None)[0]
    return float(np.sum((targets - predictors @ weights) ** 2))


def brute_force_left_out(A: np.ndarray, penalties: np.ndarray, columns: list[int]) -> float:
    """Refit map and mean without each row in turn."""
    total = 0.0
    for row in range(len(A)):
        rest = np.delete(A, row, axis=0)
        mean = rest.mean(axis=0)
        inner = (rest - mean)[:, columns].T @ (rest - mean)
        weights = np.linalg.solve(inner[:, columns] + np.diag(penalties[columns]), inner)
        total += np.sum((A[row] - mean - (A[row] - mean)[columns] @ weights) ** 2)
    return total


def folds_by_value(X: np.ndarray) -> list[np.ndarray]:
    """Return every fifth row in the order of one random combination of the columns."""
    marks = (X - X.mean(axis=0)) @ np.random.default_rng(0).standard_normal(X.shape[1])
    order = np.argsort(marks if np.sum(marks**3) > 0 else -marks)
    return [np.sort(order[fold::5]) for fold in range(5)]


def shrinkage_weight(A: np.ndarray) -> float:
    """Return ρ = α / (1 − α) for the shrinkage α of correlations that is best for normal data."""
    S = A.T @ A
    S, outside = S / len(A), ~np.eye(len(S), dtype=bool)
    products = np.outer(S.diagonal(), S.diagonal())
    share = min(np.sum((products + S**2)[outside]) / len(A) / np.sum(S[outside] ** 2), 0.9)
    return float(share / (1 - share))


def fold_errors(X: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Return the squared error of the other columns in each fold, with the ridge of least error of five."""
    squares = np.square(X - X.mean(axis=0)).sum(axis=0)[columns]
    units, errors = (squares + squares.mean()) / 2, []
    for ridge in np.geomspace(1e-8, 1e2, 21)[::4]:
        parts = []
        for fold in folds_by_value(X):
            is_out = np.isin(np.arange(len(X)), fold)
            mean = X[~is_out].mean(axis=0)
            inner = (X[~is_out] - mean)[:, columns].T @ (X[~is_out] - mean)
            weights = np.linalg.solve(inner[:, columns] + np.diag(ridge * units), inner)
            left = ((X - mean) - (X - mean)[:, columns] @ weights)[is_out]
            parts.append(np.sum(np.delete(left, columns, axis=1) ** 2))
        errors.append(parts)
    return np.array(min(errors, key=sum))
