"""From blocks of rows to one array, with bounded overhead."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ufselect.io.errors import TableError
from ufselect.io.naming import find_column, looks_like_id, looks_like_labels, may_have_role
from ufselect.io.table import LeftOut, Table

# Beyond 3 GiB, seven digits in half the memory serve better than sixteen that may not fit.
SINGLE_PRECISION_BYTES = 3 << 30
# Growing by a quarter copies each row four times at most on average and wastes a fifth of the memory at most.
GROWTH = 1.25
MOSTLY = 0.5  # more numbers than words: then the words are the mistake
COMPACTED_CELLS = 1 << 24  # 128 MiB of float64 are copied at a time


@dataclass(frozen=True)
class ColumnRoles:
    """What the user said about columns: names of the id and the label column, and whether to guess."""

    id_column: str | None = None
    label_column: str | None = None
    guess: bool = True


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


@dataclass
class _Columns:
    """What is known of the columns after some blocks."""

    names: Sequence[str]
    features: NDArray[np.intp]
    numeric: NDArray[np.bool_]
    whole: NDArray[np.bool_]
    id_position: int | None
    label_position: int | None
    not_numbers: dict[int, tuple[str, float]] = field(default_factory=dict)


def assemble(
    blocks: Iterable[Any],
    names: Sequence[str],
    unnamed: Sequence[bool],
    roles: ColumnRoles,
    n_rows: int = 1000,
) -> Table:
    """Join blocks, data frames with columns 0, 1, …, into a table.

    Columns that hold anything but numbers in some block are left out. ``n_rows`` is an estimate; data of
    more than 3 GiB are kept in single precision.
    """
    columns: _Columns | None = None
    data: _Growing | None = None
    ids: list[NDArray] = []
    labels: list[NDArray] = []
    for block in blocks:
        if columns is None or data is None:
            columns = _first_look(block, names, unnamed, roles)
            many = 8 * columns.features.size * n_rows > SINGLE_PRECISION_BYTES
            dtype = np.float32 if many else np.float64
            data = _Growing(np.empty((max(n_rows, block.shape[0]), columns.features.size), dtype=dtype))
        data.append(_numbers(block, columns, data.array.dtype))
        if columns.id_position is not None:
            ids.append(_values(block.iloc[:, columns.id_position]))
        if columns.label_position is not None:
            labels.append(_values(block.iloc[:, columns.label_position]))
    if columns is None or data is None or data.used == 0:
        raise TableError("The table has names but no rows of data; check that the whole file was exported.")
    return _table(columns, data.finished(), ids, labels)


def _first_look(block: Any, names: Sequence[str], unnamed: Sequence[bool], roles: ColumnRoles) -> _Columns:
    id_position, label_position = _positions(block, names, unnamed, roles)
    numeric = np.array([dtype.kind in "biuf" for dtype in block.dtypes])
    features = numeric.copy()
    for position in (id_position, label_position):
        if position is not None:
            features[position] = False
    return _Columns(
        names=names,
        features=np.flatnonzero(features),
        numeric=numeric,
        whole=np.array([dtype.kind in "biu" for dtype in block.dtypes]),
        id_position=id_position,
        label_position=label_position,
        not_numbers={int(j): _example_and_share(block.iloc[:, j]) for j in np.flatnonzero(~numeric)},
    )


def _positions(
    block: Any, names: Sequence[str], unnamed: Sequence[bool], roles: ColumnRoles
) -> tuple[int | None, int | None]:
    id_position = label_position = None
    if roles.label_column is not None:
        label_position = find_column(roles.label_column, names, "label_column")
    if roles.id_column is not None:
        id_position = find_column(roles.id_column, names, "id_column")
    if not roles.guess:
        return id_position, label_position
    for position, (name, blank) in enumerate(zip(names, unnamed, strict=True)):
        if position in (id_position, label_position) or not may_have_role(position, name):
            continue
        values = block.iloc[:, position]
        if id_position is None and looks_like_id(position, name, blank, values):
            id_position = position
        elif label_position is None and looks_like_labels(name, values):
            label_position = position
    return id_position, label_position


def _numbers(block: Any, columns: _Columns, dtype: np.dtype) -> NDArray:
    """Return the features of a block; a column that is no longer numeric is noted and filled with NaN."""
    kinds = np.array([kind.kind for kind in block.dtypes])
    columns.whole &= np.isin(kinds, ["b", "i", "u"])
    lost = columns.features[
        ~np.isin(kinds[columns.features], list("biuf")) & columns.numeric[columns.features]
    ]
    for position in lost:
        columns.numeric[position] = False
        columns.not_numbers[int(position)] = _example_and_share(block.iloc[:, position])
    if columns.numeric[columns.features].all():
        if columns.features.size == block.shape[1]:
            return block.to_numpy(dtype=dtype)
        return block.iloc[:, columns.features].to_numpy(dtype=dtype)
    values = np.full((block.shape[0], columns.features.size), np.nan, dtype=dtype)
    good = columns.numeric[columns.features]
    values[:, good] = block.iloc[:, columns.features[good]].to_numpy(dtype=dtype)
    return values


def _example_and_share(values: Any) -> tuple[str, float]:
    """Return the first value that is no number, and the share of values that are."""
    import pandas as pd

    present = values.dropna()
    if values.dtype.kind not in "OUT" and not isinstance(values.dtype, pd.StringDtype):
        return str(values.dtype), 0.0
    if present.empty:
        return "", 0.0
    words = present.astype(str)
    parsed = pd.to_numeric(words, errors="coerce")
    if parsed.isna().mean() > MOSTLY:
        parsed = pd.to_numeric(words.str.replace(",", "."), errors="coerce")
    bad = present[parsed.isna()]
    return (str(bad.iloc[0]) if len(bad) else "", float(parsed.notna().mean()))


def _values(series: Any) -> NDArray:
    return series.to_numpy(dtype=object) if series.dtype.kind not in "iubf" else series.to_numpy()


def _joined(parts: list[NDArray]) -> NDArray | None:
    return np.concatenate(parts) if parts else None


def _table(columns: _Columns, data: NDArray, ids: list[NDArray], labels: list[NDArray]) -> Table:
    notes = []
    id_name = None if columns.id_position is None else columns.names[columns.id_position]
    label_name = None if columns.label_position is None else columns.names[columns.label_position]
    taken = {columns.id_position, columns.label_position}
    worded = [j for j in sorted(columns.not_numbers) if j not in taken]
    left_out = [LeftOut(columns.names[j], "not numbers") for j in worded]
    for position in worded:
        example, share = columns.not_numbers[position]
        if share >= MOSTLY:
            notes.append(
                f"{columns.names[position]} is mostly numbers but was left out: it holds {example!r}; "
                "empty that cell or correct it."
            )
    if data.dtype == np.float32:
        notes.append("The table is large and is kept in single precision, about seven digits.")
    keep = columns.numeric[columns.features]
    if not keep.all():
        data = _compact(data, keep)
    features = columns.features[keep]
    return Table(
        data=data,
        feature_names=[columns.names[j] for j in features],
        whole=columns.whole[features],
        ids=_joined(ids),
        labels=_joined(labels),
        id_name=id_name,
        label_name=label_name,
        left_out=tuple(left_out),
        notes=tuple(notes),
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
