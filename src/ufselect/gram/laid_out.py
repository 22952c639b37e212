"""The Gram matrix of dense rows that have weights, come in batches, or have gaps."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ufselect.gram.centring import power_of_two_near
from ufselect.gram.completion import complete
from ufselect.gram.dense import FORM_RATIO, FormedGram
from ufselect.gram.lowrank import FactoredGram, KnownDiagonalGram
from ufselect.gram.missing import MissingSummary
from ufselect.gram.rows import RowLayout


def laid_out_gram(X: NDArray, layout: RowLayout) -> FormedGram | FactoredGram:
    """Build the operator of a float array without infinities; NaN marks a missing entry.

    One centred copy of the data is made. Gaps in it are filled in, see :mod:`ufselect.gram.completion`.
    """
    deviations, scale = _deviations(X, layout)
    missing = np.isnan(deviations)
    if not missing.any():
        return _operator(layout.rooted(deviations), layout, scale)
    share = float(missing.mean())
    completed = complete(deviations, missing, layout)
    gram = _operator(layout.rooted(completed.deviations), layout, scale, completed.lacking)
    gram.missing = MissingSummary("completed", share, float(completed.lacking.sum()) / (gram.trace() or 1.0))
    return gram


def _operator(rows: NDArray, layout: RowLayout, scale: float, lacking: Any = 0.0) -> Any:
    n_rows, n_features = rows.shape
    if n_features <= FORM_RATIO * n_rows:
        matrix = rows.T @ rows
        matrix[np.diag_indices(n_features)] += lacking
        return FormedGram(matrix, layout.n_samples, scale)
    if not np.any(lacking):
        gram = FactoredGram(rows, layout.n_samples, scale)
        gram.row_weights = layout.weights
        return gram
    diagonal = np.einsum("ij,ij->j", rows, rows, dtype=np.float64) + lacking
    return KnownDiagonalGram(rows, layout.n_samples, scale, diagonal)


def _deviations(X: NDArray, layout: RowLayout) -> tuple[NDArray, float]:
    """Return a copy centred within batches and scaled, and the scale; NaN stays.

    The mean is taken twice: of the data, and of what is left, so that no digits are lost to a large mean.
    """
    unit = power_of_two_near(_largest(X), X.dtype)
    deviations = X * X.dtype.type(1 / unit)
    for _ in range(2):
        deviations -= layout.spread(observed_means(deviations, layout)).astype(X.dtype)
    scale = power_of_two_near(_largest(deviations) * float(np.sqrt(layout.weights.max())), X.dtype)
    deviations *= X.dtype.type(1 / scale)
    return deviations, unit * scale


def _largest(X: NDArray) -> float:
    """Return the largest magnitude among the entries that are not missing."""
    return float(max(np.fmax.reduce(X, axis=None), -np.fmin.reduce(X, axis=None), 0.0))


def observed_means(X: NDArray, layout: RowLayout) -> NDArray:
    """Return the means of the observed entries of each batch, 0 where there are none."""
    missing = np.isnan(X)
    if not missing.any():
        return layout.means(X)
    observed = layout.means((~missing).astype(np.float64))
    means = layout.means(np.where(missing, 0.0, X))
    return np.divide(means, observed, out=np.zeros_like(means), where=observed > 0)
