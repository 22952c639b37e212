"""Means and standard deviations of columns, with gaps, weights and batches."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ufselect.gram.factory import has_missing


def moments(data: Any, weights: NDArray | None, batches: NDArray | None) -> tuple[NDArray, NDArray]:
    """Return the mean of each column and its deviation, about the mean of each row's batch if there are any.

    NaN are left out of dense data. A weight says how often a row counts.
    """
    if sparse.issparse(data):
        return _sparse_moments(data, weights, batches)
    if weights is None and batches is None and not has_missing(data):
        return data.mean(axis=0, dtype=np.float64), data.std(axis=0, dtype=np.float64)
    weights = np.ones(len(data)) if weights is None else weights
    mean = _weighted_mean(data, weights)
    centred = np.array(data, dtype=np.float64)
    for rows in _parts(len(data), batches):
        centred[rows] -= _weighted_mean(centred[rows], weights[rows])
    return mean, np.sqrt(_weighted_mean(centred**2, weights))


def _parts(n_rows: int, batches: NDArray | None) -> list[Any]:
    return [slice(0, n_rows)] if batches is None else [batches == batch for batch in np.unique(batches)]


def _weighted_mean(data: NDArray, weights: NDArray) -> NDArray:
    """Return the mean of what is there in each column; 0 where nothing counts."""
    there = ~np.isnan(data)
    counted = weights @ there
    return np.asarray(weights @ np.where(there, data, 0.0) / np.where(counted > 0, counted, 1.0))


def _sparse_moments(data: Any, weights: NDArray | None, batches: NDArray | None) -> tuple[NDArray, NDArray]:
    weights = np.ones(data.shape[0]) if weights is None else weights
    mean = _sparse_mean(data, weights)
    square = np.zeros(data.shape[1])
    for rows in _parts(data.shape[0], batches):
        part, share = data[rows], weights[rows].sum() / weights.sum()
        inner = _sparse_mean(part, weights[rows])
        square += share * np.maximum(_sparse_mean(part.multiply(part), weights[rows]) - inner**2, 0.0)
    return mean, np.sqrt(square)


def _sparse_mean(data: Any, weights: NDArray) -> NDArray:
    total = weights.sum()
    return np.asarray(weights @ data.astype(np.float64)).ravel() / (total if total > 0 else 1.0)
