"""Reads a table of any known format."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ufselect._utils.messages import Setting
from ufselect.exceptions import TableError
from ufselect.io.arrays import read_arrays
from ufselect.io.files import ENDINGS, check_unpacked, readable
from ufselect.io.h5ad import find_part, is_cell_store, read_cells, read_tenx
from ufselect.io.numbers import NumberReader
from ufselect.io.parquet import ParquetRows, parts_of
from ufselect.io.roles import ColumnPlan, batch_labels, role_notes, row_weights
from ufselect.io.table import LeftOut, ReadOptions, SourceColumns, Table, clean, with_categories
from ufselect.io.text import NO_ROWS, TextRows, turned, workbook_rows

TEXT = (".csv", ".tsv", ".txt", ".dat")
ARRAYS = (".npy", ".npz", ".mat")
CELLS = (".h5ad", ".h5", ".zarr")
FORMATS = (
    "csv, tsv, xlsx, parquet, npy, npz, mat, h5ad, h5 or a folder of 10x counts, AnnData zarr, "
    "or a directory of parquet parts"
)
SINGLE_PRECISION_BYTES = 3 << 30


def read_table(path: str | Path, options: ReadOptions | None = None) -> Table:
    """Read the numeric columns of a file.

    Text columns, constant columns and empty columns are left out and named in the result. Missing values
    are NaN, and counted in ``n_missing``, unless ``options.impute`` says what to do.

    Parameters
    ----------
    path : str or Path
        A file in csv, tsv, xlsx, parquet, npy, npz, mat or h5ad format, counts of 10x Genomics' programs (.h5
        or a folder), an AnnData zarr store, or a directory of parquet parts. Text may be compressed.
    options : ReadOptions, optional
        How to read it.

    Returns
    -------
    Table

    Raises
    ------
    TableError
        If it cannot be read, with the remedy.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from ufselect.io import read_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "table.csv"
    ...     _ = file.write_text("id;weight;note\\n1;2,5;a\\n2;3,5;b\\n", encoding="utf-8")
    ...     table = read_table(file)
    >>> table.feature_names, table.data.ravel().tolist(), table.left_out[0].name
    (['weight'], [2.5, 3.5], 'note')
    """
    options = options or ReadOptions()
    return clean(read_uncleaned(Path(path), options), options.impute, options.keep_constant)


def read_uncleaned(path: Path, options: ReadOptions) -> Table:
    """Read a table with its constant, empty and incomplete columns."""
    if not path.exists():
        raise TableError(f"There is no file {path}; check the name and the folder.")
    with readable(path, format_of(path)[1:]):
        if path.is_file():
            check_unpacked(path)
        table = _read(path, options)
        if options.categorical is not None:
            table = with_categories(table)
    table = replace(table, source=path, sha256=file_sha256(path))
    return table.with_notes(*role_notes(table, options))


def open_rows(path: Path, options: ReadOptions) -> TextRows | ParquetRows:
    """Open a text file, a workbook or Parquet, whose rows can be read block by block."""
    kind = format_of(path)
    if kind == ".parquet" and not options.transpose:
        return ParquetRows(path)
    if kind == ".xlsx":
        rows = workbook_rows(path, options)
    elif kind in TEXT:
        tab = "\t" if kind == ".tsv" else None
        rows = TextRows(path, replace(options, separator=options.separator or tab))
    else:
        raise TableError(f"{path} has no rows of named columns to ", Setting("transpose", True), ".")
    return turned(rows, options) if options.transpose else rows


def has_rows(path: Path) -> bool:
    """Whether a file is one that :func:`open_rows` opens."""
    return format_of(path) in (*TEXT, ".xlsx", ".parquet")


def _read(path: Path, options: ReadOptions) -> Table:
    kind = format_of(path)
    if has_rows(path):
        return assemble(open_rows(path, options), options)
    if kind in CELLS:
        return read_cells(path, options)
    for name in ("id_column", "batch_column", "weight_column"):
        if getattr(options, name) is not None:
            raise TableError(f"{path} holds arrays without named columns; drop ", Setting(name), ".")
    if kind == ".mtx":
        return read_tenx(path)
    return read_arrays(path, options.label_column, options.transpose)


def format_of(path: Path) -> str:
    """Return the suffix that tells a file's format."""
    if path.is_dir():
        if find_part(path, "matrix.mtx") is not None:
            return ".mtx"
        return ".zarr" if is_cell_store(path) else ".parquet"
    suffixes = [suffix.lower() for suffix in path.suffixes]
    packed = suffixes[-1:] and suffixes[-1] in ENDINGS and len(suffixes) > 1
    kind = suffixes[-2] if packed else (suffixes or [""])[-1]
    if kind == ".pq":
        return ".parquet"
    if kind in (*TEXT, *ARRAYS, ".parquet", ".h5ad", ".h5", ".xlsx"):
        return kind
    advice = "export it from the spreadsheet as csv" if kind in (".xls", ".ods") else f"give {FORMATS}"
    if kind in (".pkl", ".pickle", ".joblib"):
        advice = f"pickles are never loaded because they can run code; give {FORMATS}"
    raise TableError(f"{path} has a format that is not read here; {advice}.")


def file_sha256(path: Path) -> str:
    """Return the checksum of a file, or of the files of a directory one after another."""
    digest = hashlib.sha256()
    if path.is_dir() and format_of(path) != ".parquet":
        parts = sorted(part for part in path.rglob("*") if part.is_file())
    else:
        parts = parts_of(path)
    for part in parts:
        with part.open("rb") as file:
            while block := file.read(1 << 22):
                digest.update(block)
    return digest.hexdigest()


def assemble(rows: Any, options: ReadOptions) -> Table:
    """Read all rows of a text or Parquet file into a table.

    Columns that hold anything but numbers are left out and carried along. Data of more than 3 GiB are kept
    in single precision, since half the memory serves better there than digits that may not fit.
    """
    plan = rows.plan(options)
    reader = NumberReader(plan.features, rows.decimal, rows.missing)
    large = 8 * len(plan.features) * rows.n_rows > SINGLE_PRECISION_BYTES
    data = np.empty((rows.n_rows, len(plan.features)), dtype=np.float32 if large else np.float64)
    named = (plan.id_position, plan.label_position, plan.batch_position, plan.weight_position)
    sides: dict[int, list[NDArray]] = {position: [] for position in named if position is not None}
    used = 0
    for block in rows.blocks(plan):
        end = used + len(block)
        if end > len(data):  # the estimate of rows was too small
            data.resize((end + end // 4, data.shape[1]), refcheck=False)
        data[used:end] = reader.read(block, data.dtype)
        used = end
        for position, parts in sides.items():
            parts.append(block.iloc[:, position].to_numpy())
    if used == 0:
        raise TableError(NO_ROWS)
    data.resize((used, data.shape[1]), refcheck=False)
    beside = {position: np.concatenate(parts) for position, parts in sides.items()}
    table = planned_table(rows, plan, reader, data)
    texts, places = reader.not_features(), {name: place for place, name in enumerate(plan.names)}
    gone = np.array([position in texts for position in plan.features], dtype=bool)
    table = table.without(gone, [texts[position] for position in plan.features if position in texts])
    ids, labels, batches, weights = (None if place is None else beside[place] for place in named)
    return replace(
        table,
        left_out=tuple(sorted(table.left_out, key=lambda column: places[column.name])),
        ids=ids,
        labels=labels,
        batches=batch_labels(batches, _name(plan, plan.batch_position)),
        weights=row_weights(weights, _name(plan, plan.weight_position), rows.decimal),
    )


def planned_table(rows: Any, plan: ColumnPlan, reader: NumberReader, data: NDArray) -> Table:
    """Return the table of all planned features after reading, also of those that turned out to be words."""
    notes = [*rows.notes, *reader.notes(plan.names), *rows.ending_notes()]
    if data.dtype == np.float32:
        notes.append("The table is large and is kept in single precision, about seven digits.")
    texts = sorted({**plan.texts, **reader.not_features()})
    return Table(
        data=data,
        feature_names=[plan.names[j] for j in plan.features],
        whole=reader.whole,
        id_name=_name(plan, plan.id_position),
        label_name=_name(plan, plan.label_position),
        left_out=tuple(LeftOut(plan.names[j], reason) for j, reason in sorted(plan.texts.items())),
        notes=tuple(notes),
        dialect=rows.dialect,
        columns=SourceColumns(
            rows, tuple(plan.features), tuple(texts), plan.id_position, plan.label_position
        ),
    )


def _name(plan: ColumnPlan, position: int | None) -> str | None:
    return None if position is None else plan.names[position]
