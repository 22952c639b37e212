"""Columns that tell of the rows: which batch each belongs to, and how much it counts."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ufselect.exceptions import TableError
from ufselect.io.numbers import MISSING, is_missing, read_number


def batch_labels(values: Any, name: str | None) -> NDArray | None:
    """Return the batch of each row as text; None without such a column.

    Raises
    ------
    TableError
        If some rows have none.
    """
    if values is None:
        return None
    cells = np.asarray(values, dtype=object)
    gone = int(is_missing(cells, MISSING).sum())
    if gone:
        rows = "row has" if gone == 1 else "rows have"
        raise TableError(f"{gone} {rows} no batch in {name}; give every row one, or leave such rows out.")
    return np.array([str(cell).strip() for cell in cells])


def row_weights(values: Any, name: str | None, decimal: str = ".") -> NDArray | None:
    """Return the weight of each row as a number; None without such a column.

    Raises
    ------
    TableError
        If a weight is no number, negative or not finite, or fewer than two rows count.
    """
    if values is None:
        return None
    weights = np.array([_number(cell, decimal) for cell in values])
    bad = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if bad.size:
        raise TableError(
            f"{name} holds {str(values[bad[0]])!r} in row {bad[0] + 1}, which is no weight; weights are "
            "numbers from 0 on."
        )
    if np.sum(weights > 0) < 2:
        raise TableError(f"Fewer than two rows have a weight above 0 in {name}; name another column.")
    return weights


def _number(cell: Any, decimal: str) -> float:
    if not isinstance(cell, str):
        return float(cell) if isinstance(cell, int | float | np.number) else np.nan
    read = read_number(cell, decimal)
    return np.nan if read is None else read.value
