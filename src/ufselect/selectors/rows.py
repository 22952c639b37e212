"""What ``fit`` is told of the rows beside their values, checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ufselect.blocks.dask import is_dask
from ufselect.common.warn import warn_user
from ufselect.exceptions import ApproximationWarning
from ufselect.gram import MissingSummary, RowLayout, row_details

# A round number: the smallest change that a user should hear of is a matter of judgement.
LARGE_REPAIR = 0.1


@dataclass(frozen=True)
class RowMetadata:
    """Weights and batch labels as a user gives them, None where there are none."""

    sample_weight: Any = None
    batch: Any = None

    @property
    def is_given(self) -> bool:
        return self.sample_weight is not None or self.batch is not None

    def refuse_unless_rows(self, X: Any) -> None:
        """Raise a TypeError if there are any and X is a summary of rows that are gone."""
        given = {"sample_weight": self.sample_weight, "batch": self.batch}
        names = " and ".join(name for name, value in given.items() if value is not None)
        if names and not (is_dask(X) or isinstance(X, np.memmap)):
            raise TypeError(
                f"{names} cannot be given for a {type(X).__name__}, whose rows are gone: give weights to "
                "GramAccumulator.update or to ufselect.blocks.reduce_data, where the rows still are."
            )

    def batches(self, n_rows: int) -> NDArray | None:
        """Return the batch of each row as a number from 0; None where there is only one.

        Raises
        ------
        ValueError
            If the labels are not one a row, or every row has another one.
        """
        details = row_details(None, self.batch, n_rows)
        if details is None or details.labels is None:
            return None
        return np.unique(details.labels, return_inverse=True)[1]

    def of(self, rows: NDArray, n_rows: int) -> RowMetadata:
        """Return the same for some of so many rows."""
        details = row_details(self.sample_weight, self.batch, n_rows)
        if details is None:
            return self
        some = details.of(rows)
        return RowMetadata(None if self.sample_weight is None else some.weights, some.labels)

    def laid_out(self, X: Any) -> tuple[Any, RowLayout | None]:
        """Return the rows that count and their layout; None where all count once and are of one batch.

        Raises
        ------
        ValueError
            If weights or labels are not one a row, or fewer than two rows count.
        """
        details = row_details(self.sample_weight, self.batch, X.shape[0])
        return (X, None) if details is None else details.laid_out(X)


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
