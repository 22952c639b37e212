"""What ``fit`` is told of the rows beside their values, checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import column_or_1d

from ufselect.common.warn import warn_user
from ufselect.exceptions import ApproximationWarning
from ufselect.gram import MissingSummary
from ufselect.gram.rows import RowLayout, counted_rows, row_layout

# A round number: the smallest change that a user should hear of is a matter of judgement.
LARGE_REPAIR = 0.1
LONE_ROWS = "Every batch has one row, so that nothing varies within batches; give larger ones."


@dataclass(frozen=True)
class RowMetadata:
    """Weights and batch labels as a user gives them, None where there are none."""

    sample_weight: Any = None
    batch: Any = None

    @property
    def is_given(self) -> bool:
        return self.sample_weight is not None or self.batch is not None

    def refuse_unless_absent(self) -> None:
        """Raise a TypeError if there are any, for data that are not in memory."""
        given = {"sample_weight": self.sample_weight, "batch": self.batch}
        names = " and ".join(name for name, value in given.items() if value is not None)
        if names:
            raise TypeError(
                f"{names} cannot be given for data outside memory: pass X as an array, or for weights fill a "
                "ufselect.blocks.GramAccumulator with update(rows, sample_weight) and pass that."
            )

    def batches(self, n_rows: int) -> NDArray | None:
        """Return the batch of each row as a number from 0; None where there is only one.

        Raises
        ------
        ValueError
            If the labels are not one a row, or every row has another one.
        """
        if self.batch is None:
            return None
        codes = np.unique(batch_labels(self.batch, n_rows), return_inverse=True)[1]
        if codes.max() == n_rows - 1:
            raise ValueError(LONE_ROWS)
        return codes if codes.max() else None

    def laid_out(self, X: Any) -> tuple[Any, RowLayout | None]:
        """Return the rows that count and their layout; None where all count once and are of one batch.

        Raises
        ------
        ValueError
            If weights or labels are not one a row, or fewer than two rows count.
        """
        if not self.is_given:
            return X, None
        n_rows = X.shape[0]
        weights = np.ones(n_rows) if self.sample_weight is None else np.asarray(self.sample_weight)
        labels = np.zeros(n_rows) if self.batch is None else batch_labels(self.batch, n_rows)
        counted, positive = counted_rows(X, weights)
        layout = row_layout(positive, labels[weights > 0])
        if counted.shape[0] < 2:
            raise ValueError("Only one row has a sample_weight above 0; a minimum of 2 is required.")
        if layout.n_batches == counted.shape[0]:
            raise ValueError(LONE_ROWS)
        return counted, None if layout.is_plain else layout


def batch_labels(batch: Any, n_rows: int) -> NDArray:
    """Return the labels of the batches as an array, one a row.

    Raises
    ------
    ValueError
        If there are too many or too few, or some are missing.
    """
    labels = column_or_1d(np.asarray(batch))
    if labels.size != n_rows:
        raise ValueError(f"batch has {labels.size} labels, but X has {n_rows} rows; give one a row.")
    if any(label is None or label != label for label in labels.tolist()):
        raise ValueError("batch has missing labels; give every row one.")
    return labels.astype(str) if labels.dtype == object else labels


def refuse_row_metadata(selector: Any, given: Mapping[str, Any]) -> None:
    """Raise a TypeError for what the ``fit`` of a selector does not take."""
    for name, value in given.items():
        if name not in ("sample_weight", "batch"):
            raise TypeError(f"{type(selector).__name__}.fit() got an unexpected keyword argument {name!r}")
        if value is not None:
            raise TypeError(
                f"{type(selector).__name__} cannot take {name} into account; use a selector that works "
                "through the Gram matrix, such as DSCOFS."
            )


def missing_summary(gram: Any) -> MissingSummary | None:
    """Return what was done about missing values, warning where the repair of S is large."""
    summary = getattr(gram, "missing", None)
    if summary is not None and summary.route == "pairwise" and summary.correction > LARGE_REPAIR:
        warn_user(
            f"{summary.share:.0%} of X is missing, so that too few rows have both of two features: S "
            f"contradicts itself and was changed by {summary.correction:.0%}. Bring X into memory as an "
            "array, where gaps are filled in, or drop the features with the most gaps.",
            ApproximationWarning,
        )
    return summary
