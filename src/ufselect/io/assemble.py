"""From blocks of rows to one array, with bounded overhead."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ufselect.common.wording import Sentence, Setting, listed
from ufselect.exceptions import TableError
from ufselect.io.cleaning import READ_AS_MISSING
from ufselect.io.numbers import NumberReader
from ufselect.io.roles import MOSTLY, ColumnPlan, ColumnRoles
from ufselect.io.row_columns import batch_labels, row_weights
from ufselect.io.table import NOT_NUMBERS, LeftOut, SourceColumns, Table
from ufselect.io.text import NO_ROWS, Progress

# Beyond 3 GiB, seven digits in half the memory serve better than sixteen that may not fit.
SINGLE_PRECISION_BYTES = 3 << 30
# Growing by a quarter copies each row four times at most on average and wastes a fifth of the memory at most.
GROWTH = 1.25
COMPACTED_CELLS = 1 << 24  # 128 MiB of float64 are copied at a time
CODES = "whole numbers too large to be told apart"
MARKS = {
    "currency": "Currency signs were",
    "%": "Percent signs were",
    "a space": "Spaces between thousands were",
}


@dataclass
class _Growing:
    """A row-major array that grows without a second copy being held."""

    array: NDArray
    used: int = 0

    def append(self, block: NDArray) -> None:
        end = self.used + block.shape[0]
        if end > self.array.shape[0]:
            rows = max(end, int(GROWTH * self.array.shape[0]))
            self.array.resize((rows, self.array.shape[1]), refcheck=False)
        self.array[self.used : end] = block
        self.used = end

    def finished(self) -> NDArray:
        self.array.resize((self.used, self.array.shape[1]), refcheck=False)
        return self.array


def assemble(rows: Any, roles: ColumnRoles, progress: Progress | None = None) -> Table:
    """Read all rows of a text or Parquet file into a table.

    Columns that hold anything but numbers are left out and carried along. Data of more than 3 GiB are kept
    in single precision.

    Raises
    ------
    TableError
        If there are no rows.
    """
    plan = rows.plan(roles)
    reader = rows.number_reader(plan)
    many = 8 * len(plan.features) * rows.n_rows > SINGLE_PRECISION_BYTES
    dtype = np.float32 if many else np.float64
    data = _Growing(np.empty((rows.n_rows, len(plan.features)), dtype=dtype))
    sides: dict[int, list[NDArray]] = {position: [] for position in _side_positions(plan)}
    for block in rows.blocks(plan, progress):
        data.append(reader.read(block, dtype))
        for position, parts in sides.items():
            parts.append(_values(block.iloc[:, position]))
    if data.used == 0:
        raise TableError(NO_ROWS)
    beside = {position: np.concatenate(parts) for position, parts in sides.items()}
    return _table(rows, plan, reader, data.finished(), beside)


def _side_positions(plan: ColumnPlan) -> set[int]:
    """Return the positions of columns that are no features but whose values are needed."""
    named = (plan.id_position, plan.label_position, plan.batch_position, plan.weight_position)
    return {position for position in named if position is not None}


def _values(series: Any) -> NDArray:
    return series.to_numpy(dtype=object) if series.dtype.kind not in "iubf" else series.to_numpy()


def _table(
    rows: Any,
    plan: ColumnPlan,
    reader: NumberReader,
    data: NDArray,
    beside: Mapping[int, NDArray],
) -> Table:
    texts = texts_of(plan, reader)
    keep = np.array([position not in texts for position in plan.features], dtype=bool)
    features = [position for position in plan.features if position not in texts]
    if not keep.all():
        data = _compact(data, keep)
    notes = [*rows.notes, *reading_notes(plan.names, reader), *rows.ending_notes()]
    if data.dtype == np.float32:
        notes.append("The table is large and is kept in single precision, about seven digits.")
    return Table(
        data=data,
        feature_names=[plan.names[j] for j in features],
        whole=np.array([reader.whole.get(j, False) for j in features], dtype=bool),
        ids=_of(beside, plan.id_position),
        labels=_of(beside, plan.label_position),
        batches=batch_labels(_of(beside, plan.batch_position), _name(plan.names, plan.batch_position)),
        weights=row_weights(
            _of(beside, plan.weight_position), _name(plan.names, plan.weight_position), rows.decimal
        ),
        id_name=_name(plan.names, plan.id_position),
        label_name=_name(plan.names, plan.label_position),
        left_out=tuple(LeftOut(plan.names[j], reason) for j, reason in sorted(texts.items())),
        notes=tuple(notes),
        dialect=rows.dialect,
        columns=SourceColumns(
            rows, tuple(features), tuple(sorted(texts)), plan.id_position, plan.label_position
        ),
    )


def _of(beside: Mapping[int, NDArray], position: int | None) -> NDArray | None:
    return None if position is None else beside[position]


def _name(names: list[str], position: int | None) -> str | None:
    return None if position is None else names[position]


def texts_of(plan: ColumnPlan, reader: NumberReader) -> Mapping[int, str]:
    """Return the columns that are carried along, with the reason, after all rows have been read."""
    return {
        **plan.texts,
        **dict.fromkeys(reader.obstacles, NOT_NUMBERS),
        **dict.fromkeys(reader.codes, CODES),
    }


def reading_notes(names: list[str], reader: NumberReader) -> list[str]:
    """Return, in sentences, what was met on the way from cells to numbers."""
    notes: list[str] = []
    for position, obstacle in sorted(reader.obstacles.items()):
        if reader.share_of_numbers(position) >= MOSTLY:
            notes.append(_mostly_numbers(names[position], obstacle.example, obstacle.cells))
    for mark, positions in reader.marks.items():
        words = MARKS.get(mark, f'"{mark}" was')
        if mark in "−–":
            notes.append(f'"{mark}" was read as a minus sign in {listed(_names(names, positions))}.')
        else:
            notes.append(f"{words} left off the numbers of {listed(_names(names, positions))}.")
    if reader.tokens:
        counts = listed([f"{token} ({count})" for token, count in reader.tokens.most_common()])
        notes.append(f"{READ_AS_MISSING} values: {counts}.")
    return notes


def _names(names: list[str], positions: set[int]) -> list[str]:
    return [names[position] for position in sorted(positions)]


def _mostly_numbers(name: str, example: str, cells: int) -> Sentence:
    count = "a cell" if cells == 1 else f"{cells} cells"
    return Sentence(
        f"{name} is mostly numbers but was left out: {count} such as {example!r}; correct them, or use ",
        Setting("missing", example),
        " to read them as missing.",
    )


def _compact(data: NDArray, keep: NDArray[np.bool_]) -> NDArray:
    """Drop columns in place, a few rows at a time: a row's new place never lies behind its old one."""
    n_rows, width = data.shape[0], int(keep.sum())
    flat = data.reshape(-1)
    step = max(1, COMPACTED_CELLS // max(1, data.shape[1]))
    for start in range(0, n_rows, step):
        part = data[start : start + step][:, keep]
        flat[start * width : start * width + part.size] = part.ravel()
    return flat[: n_rows * width].reshape(n_rows, width)
