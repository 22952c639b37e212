"""Rows of a table that are sums or means of the others, such as a last row called Total."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ufselect._utils.validation import listed
from ufselect.io.roles import STATISTIC, TOTAL
from ufselect.io.table import Table


@dataclass(frozen=True)
class KeptRows:
    """The rows of a file without some of them."""

    rows: Any
    kept: NDArray[np.bool_]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.rows, name)

    def blocks(self, *arguments: Any) -> Any:
        """Yield the blocks of the file without these rows."""
        start = 0
        for frame in self.rows.blocks(*arguments):
            yield frame[self.kept[start : start + len(frame)]]
            start += len(frame)


def summary_rows(table: Table) -> NDArray:
    """Return rows that any column of text calls total, sum or mean, or that are the sum of all others.

    A row is the sum of all others if it agrees with it within a thousandth in most columns. Below the table,
    rows called minimum or deviation are meant too.
    """
    n_rows = table.shape[0]
    is_summary = np.zeros(n_rows, dtype=bool)
    columns = [table.ids, table.labels]
    if table.columns is not None and table.columns.texts:
        blocks = [block.to_numpy(dtype=object) for block in table.columns.rows.blocks(table.columns.texts)]
        columns += list(np.concatenate(blocks).T)
    for cells in columns:
        if cells is not None and np.asarray(cells).dtype.kind not in "iufb":
            names = [str(cell).strip(" :*.%") for cell in cells]
            is_called = np.array([TOTAL.fullmatch(name) is not None for name in names])
            below = list(takewhile(_is_statistic, reversed(names)))
            if len(below) > 1:  # as alone, SD may be South Dakota
                is_called[-len(below) :] = True
            is_summary |= is_called & (is_called.mean() < 0.2)  # else these are answers, or kinds of rows
    if isinstance(table.data, np.ndarray) and n_rows > 3:
        data = np.nan_to_num(np.where(is_summary[:, None], 0.0, table.data))
        others = data.sum(axis=0) - data
        size = np.abs(data).sum(axis=0)
        agrees = np.abs(others - data) <= 1e-3 * np.maximum(np.abs(data), 1e-9 * size)
        is_summary |= np.mean(agrees & (np.abs(data) > 0), axis=1) > 0.5
    # most rows called so are not summaries of the others
    return np.flatnonzero(is_summary) if is_summary.mean() < 0.2 else np.empty(0, dtype=np.intp)


def _is_statistic(name: str) -> bool:
    return TOTAL.fullmatch(name) is not None or STATISTIC.fullmatch(name) is not None


def without_summaries(table: Table) -> Table:
    """Return a table in memory without the rows that sum up others, which are named in its doubts."""
    rows = summary_rows(table) if table.n_rows is None else np.empty(0, dtype=np.intp)
    if not rows.size:
        return table
    kept = np.ones(table.shape[0], dtype=bool)
    kept[rows] = False
    names = [str(row + 1) if table.ids is None else str(table.ids[row]) for row in rows]
    is_one = rows.size == 1
    what = "a total or mean" if is_one else "totals or means"
    said = f"Left out row{'s' * (not is_one)} {listed(names)}, {what} of the others by name or by values; "
    said += f"--no-guess keeps {'it' if is_one else 'them'}."
    per_row = ("data", "ids", "labels", "batches", "weights", "filled")
    fewer = {name: getattr(table, name)[kept] for name in per_row if getattr(table, name) is not None}
    if table.columns is not None:
        fewer["columns"] = replace(table.columns, rows=KeptRows(table.columns.rows, kept))
    return replace(table, doubts=(said, *table.doubts), **fewer)
