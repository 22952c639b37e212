"""Weights and batch labels as a user gives them, checked: one a row, for all rows of the data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ufselect.gram.rows import RowLayout, checked_weights, row_layout

LONE_ROWS = "Every batch has one row, so that nothing varies within batches; give larger ones."


@dataclass(frozen=True)
class RowDetails:
    """What is known of each row of the data, whether they are in memory or not.

    Attributes
    ----------
    weights : ndarray of shape (n_rows,)
        How often each row counts, 0 for not at all.
    labels : ndarray of shape (n_rows,) or None
        The batch of each row; None where all are of one.
    """

    weights: NDArray
    labels: NDArray | None

    def of(self, rows: Any) -> RowDetails:
        """Return the same for some of the rows: a slice, a mask or indices."""
        return RowDetails(self.weights[rows], None if self.labels is None else self.labels[rows])

    def counted(self, X: Any) -> tuple[Any, RowDetails]:
        """Return the rows that count, and what is known of them."""
        counts = self.weights > 0
        return (X, self) if np.all(counts) else (X[counts], self.of(counts))

    def laid_out(self, X: Any) -> tuple[Any, RowLayout | None]:
        """Return the rows that count and their layout; None where all count once and are of one batch."""
        X, details = self.counted(X)
        labels = np.zeros(X.shape[0]) if details.labels is None else details.labels
        layout = row_layout(details.weights, labels)
        return X, None if layout.is_plain else layout


def row_details(sample_weight: Any, batch: Any, n_rows: int) -> RowDetails | None:
    """Check weights and labels of so many rows; None where neither is given.

    Raises
    ------
    ValueError
        If there is not one a row, if labels are missing or weights no numbers of at least zero, or if too few
        rows count for anything to vary.
    """
    details = details_of_part(sample_weight, batch, n_rows)
    if details is None:
        return None
    counts = details.weights > 0
    if np.count_nonzero(counts) < 2:
        raise ValueError("Only one row has a sample_weight above 0; a minimum of 2 is required.")
    if details.labels is not None:
        n_batches = np.unique(details.labels[counts]).size
        if n_batches == np.count_nonzero(counts):
            raise ValueError(LONE_ROWS)
        if n_batches == 1:
            return RowDetails(details.weights, None)
    return details


def details_of_part(sample_weight: Any, batch: Any, n_rows: int) -> RowDetails | None:
    """Check weights and labels of rows that are a part of the data, of which there may be one."""
    if sample_weight is None and batch is None:
        return None
    weights = np.ones(n_rows) if sample_weight is None else checked_weights(sample_weight, n_rows)
    return RowDetails(weights, None if batch is None else batch_labels(batch, n_rows))


def batch_labels(batch: Any, n_rows: int) -> NDArray:
    """Return the labels of the batches as an array, one a row.

    Raises
    ------
    ValueError
        If there are too many or too few, or some are missing.
    """
    labels = np.asarray(batch)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim != 1:
        raise ValueError(f"batch has the shape {labels.shape}; give one label a row.")
    if labels.size != n_rows:
        raise ValueError(f"batch has {labels.size} labels, but X has {n_rows} rows; give one a row.")
    if np.ma.is_masked(batch) or any(_is_missing(label) for label in labels.tolist()):
        raise ValueError("batch has missing labels; give every row one.")
    return labels.astype(str) if labels.dtype == object else labels


def _is_missing(label: Any) -> bool:
    """Whether a label is None, NaN, or pandas' NA, which does not say whether it differs from itself."""
    try:
        return label is None or bool(label != label)
    except TypeError:
        return True
