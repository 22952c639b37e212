"""Clusters of rows that a reference has not seen."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ufselect.auto.reference import Reference
from ufselect.common.row_blocks import row_blocks
from ufselect.graphs.score_graph import N_NEIGHBORS

BLOCK_BYTES = 2**25


def assigned(reference: Reference, X: Any) -> NDArray:
    """Return the cluster of each row of X: the one of its nearest neighbours among the reference's rows.

    Neighbours are looked for as the reference did, in each of its widths and weightings, and vote with one
    over their distance, so that a row of the reference keeps its own cluster.
    """
    labels = np.empty(X.shape[0], dtype=np.intp)
    for block in row_blocks(X.shape[0], 8 * (reference.rows.shape[0] + X.shape[1]), BLOCK_BYTES):
        scores = reference.rows.project_others(X[block], reference.scores.axes)
        labels[block] = _votes(reference, scores).argmax(axis=1)
    return labels


def _votes(reference: Reference, scores: NDArray) -> NDArray:
    """Return the votes for each cluster, one row per sample."""
    votes = np.zeros((len(scores), int(reference.labels.max()) + 1))
    for power in reference.powers:
        weights = reference.scores.spread**power
        known, new = reference.scores.values * weights, scores * weights
        for width in set(reference.widths):
            votes += _ballot(known[:, :width], new[:, :width], reference.labels, votes.shape[1])
    return votes


def _ballot(known: NDArray, new: NDArray, labels: NDArray, n_clusters: int) -> NDArray:
    squared = np.square(known).sum(axis=1) - 2 * new @ known.T + np.square(new).sum(axis=1)[:, None]
    k = min(N_NEIGHBORS, len(known))
    nearest = np.argpartition(squared, k - 1, axis=1)[:, :k]
    distances = np.sqrt(np.maximum(np.take_along_axis(squared, nearest, axis=1), 0))
    shares = 1 / np.maximum(distances, np.finfo(float).tiny ** 0.25)
    shares /= shares.sum(axis=1, keepdims=True)
    pointers = np.arange(0, nearest.size + 1, k)
    cells = sparse.csr_array((shares.ravel(), labels[nearest].ravel(), pointers), (len(new), n_clusters))
    return cells.toarray()
