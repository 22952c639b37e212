"""Text columns as groups of columns of zeros and ones, one a value."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ufselect.common.wording import listed
from ufselect.exceptions import TableError
from ufselect.io.table import NOT_NUMBERS, Table

MOST_VALUES = 50  # more are names or remarks, and each would be a column
LEAST_ROWS = 2  # on average of a value; with fewer, values are names


def with_categories(table: Table) -> Table:
    """Return the table with a column of zeros and ones for each value of its text columns.

    Columns of one text column are a group. A text column with a single value, with more than 50, or with
    values that hardly repeat stays left out. A missing value is zero in all of them.

    Raises
    ------
    TableError
        If a column of such a name is there already.
    """
    texts = _categorical(table)
    if not texts:
        return table
    blocks = [_indicators(name, codes, values) for name, (codes, values) in texts.items()]
    names = [name for _, block_names in blocks for name in block_names]
    clash = set(names) & set(table.feature_names)
    if clash:
        raise TableError(f"The table has a column {min(clash)} already, a value of a text column; rename it.")
    indicators = np.hstack([block for block, _ in blocks]).astype(table.data.dtype)
    data = np.hstack([table.data, indicators])
    groups: list[str | None] = [None] * len(table.feature_names)
    groups += [name for name, (_, block_names) in zip(texts, blocks, strict=True) for _ in block_names]
    note = (
        f"{listed(list(texts))} became {len(names)} columns of zeros and ones, one for each value; "
        "those of one text column are chosen together and count as one."
    )
    return replace(
        table,
        data=data,
        feature_names=[*table.feature_names, *names],
        whole=np.append(table.whole, np.ones(len(names), dtype=bool)),
        groups=tuple(groups),
        left_out=tuple(column for column in table.left_out if column.name not in texts),
        columns=None,  # these columns do not stand in the file
    ).with_notes(note)


def _categorical(table: Table) -> dict[str, tuple[NDArray, NDArray]]:
    """Return the codes and values of each text column that has a few values; −1 for a missing one."""
    columns = table.columns
    if columns is None or not columns.texts or sparse.issparse(table.data):
        return {}
    reasons = {column.name: column.reason for column in table.left_out}
    names = columns.rows.names
    positions = [j for j in columns.texts if reasons.get(names[j]) == NOT_NUMBERS]
    frames = list(columns.rows.frames(positions)) if positions else []
    found = {}
    for j in positions:
        cells = np.concatenate([frame[j].to_numpy(dtype=object) for frame in frames])
        codes, values = _coded(cells, columns.rows.missing)
        if 1 < values.size <= min(MOST_VALUES, cells.size // LEAST_ROWS):
            found[names[j]] = (codes, values)
    return found


def _coded(cells: NDArray, missing: frozenset[str]) -> tuple[NDArray, NDArray]:
    gone = np.array([_is_missing(cell, missing) for cell in cells], dtype=bool)
    codes = np.full(cells.size, -1)
    values, codes[~gone] = np.unique(cells[~gone].astype(str), return_inverse=True)
    return codes, values


def _is_missing(cell: Any, missing: frozenset[str]) -> bool:
    return cell is None or cell != cell or str(cell).strip() == "" or str(cell).strip() in missing


def _indicators(name: str, codes: NDArray, values: NDArray) -> tuple[NDArray, list[str]]:
    return codes[:, None] == np.arange(values.size), [f"{name}={value}" for value in values]
