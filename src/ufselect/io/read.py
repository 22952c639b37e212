"""Read a table of any known format."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ufselect.exceptions import TableError
from ufselect.io.arrays import read_arrays
from ufselect.io.categories import with_categories
from ufselect.io.files import ENDINGS, check_unpacked, readable
from ufselect.io.h5ad import find_part, read_cells, read_tenx
from ufselect.io.numbers import Missing, NumberReader, plain_numbers
from ufselect.io.parquet import ParquetRows, parts_of
from ufselect.io.roles import batch_labels, plan_columns, role_notes, row_weights
from ufselect.io.table import FLAGS, LeftOut, ReadOptions, SourceColumns, Table, clean
from ufselect.io.text import TextRows, turned, workbook_rows

TEXT = (".csv", ".tsv", ".txt", ".dat")
FORMATS = (
    "csv, tsv, xlsx, parquet, npy, npz, mat, h5ad, h5 or a folder of 10x counts, AnnData zarr, "
    "or a directory of parquet parts"
)
SINGLE_PRECISION_BYTES = 3 << 30


def read_table(path: str | Path, options: ReadOptions | None = None) -> Table:
    """Read the numeric columns of a file.

    Text columns, constant columns and empty columns are left out and named in ``left_out``. Missing values
    are NaN, unless ``options.impute`` says otherwise, and counted in ``n_missing``. A file that cannot be
    read raises ``TableError``, which says what to do.

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
    kind = format_of(path)
    with readable(path, kind[1:]):
        if path.is_file():
            check_unpacked(path)
        if has_rows(path):
            table = NumberBlocks(open_rows(path, options), options).table()
        elif kind in (".h5ad", ".h5", ".zarr"):
            table = read_cells(path, options)
        else:
            for role in ("id", "batch", "weight"):
                if getattr(options, f"{role}_column") is not None:
                    raise TableError(f"{path} holds arrays without named columns; drop {FLAGS[role]}.")
            table = read_tenx(path) if kind == ".mtx" else read_arrays(path, options)
        if not has_rows(path):
            table = replace(table, data=Missing.of(options.missing).removed_from(table.data))
        if options.categorical is not None:
            table = with_categories(table, options)
    table = replace(table, source=path, sha256=file_sha256(path))
    return table.with_notes(*role_notes(table, options))


def open_rows(path: Path, options: ReadOptions) -> TextRows | ParquetRows:
    """Open a text file, a workbook or Parquet, whose rows can be read block by block."""
    kind = format_of(path)
    if kind == ".parquet" and not options.transpose:
        return ParquetRows(path, options)
    if kind == ".xlsx":
        rows = workbook_rows(path, options)
    elif kind in TEXT:
        tab = "\t" if kind == ".tsv" else None
        rows = TextRows(path, replace(options, separator=options.separator or tab))
    else:
        raise TableError(f"{path} cannot be transposed: --transpose is for text files and workbooks.")
    return turned(rows, options) if options.transpose else rows


def has_rows(path: Path) -> bool:
    """Whether a file is one that :func:`open_rows` opens."""
    return format_of(path) in (*TEXT, ".xlsx", ".parquet")


def format_of(path: Path) -> str:
    """Return the format of a file as its suffix."""
    if path.is_dir():
        if find_part(path, "matrix.mtx") is not None:
            return ".mtx"
        is_anndata = all((path / part).is_dir() for part in ("X", "obs", "var"))
        return ".zarr" if is_anndata else ".parquet"
    suffixes = [f".{part}" for part in path.name.lower().split(".")[1:]]
    packed = suffixes[-1:] and suffixes[-1] in ENDINGS and len(suffixes) > 1
    kind = suffixes[-2] if packed else (suffixes or [""])[-1]
    if kind == ".pq":
        return ".parquet"
    if kind in (*TEXT, ".npy", ".npz", ".mat", ".parquet", ".h5ad", ".h5", ".xlsx"):
        return kind
    advice = "export it from the spreadsheet as csv" if kind in (".xls", ".ods") else f"give {FORMATS}"
    if kind in (".pkl", ".pickle", ".joblib"):
        advice = f"pickles are never loaded because they can run code; give {FORMATS}"
    raise TableError(f"{path} has a format that cannot be read; {advice}.")


def file_sha256(path: Path) -> str:
    """Return the checksum of a file, or of all files of a directory in order."""
    digest = hashlib.sha256()
    parts = [path]
    if path.is_dir():
        is_parquet = format_of(path) == ".parquet"
        parts = parts_of(path) if is_parquet else sorted(p for p in path.rglob("*") if p.is_file())
    for part in parts:
        with part.open("rb") as file:
            while block := file.read(1 << 22):
                digest.update(block)
    return digest.hexdigest()


class NumberBlocks:
    """The numbers of a text or Parquet file, block by block, as often as they are needed."""

    def __init__(self, rows: TextRows | ParquetRows, options: ReadOptions) -> None:
        self.rows, first = rows, rows.first()
        # the numbers of the first block, which is often all of the file, are read once
        self._plain: Any = plain_numbers(first, rows.decimal, rows.missing)
        self.features, self.texts, self.roles, self.labels = plan_columns(rows, first, options, self._plain)

    def __iter__(self) -> Iterator[NDArray]:
        for _, values in self._numbers():
            yield values

    def _numbers(self) -> Iterator[tuple[Any, NDArray]]:
        """Yield the blocks as they are written, and as numbers."""
        self.reader = NumberReader(self.features, self.rows.decimal, self.rows.missing)
        for block in self.rows.blocks():
            yield block, self.reader.read(block, self._plain)
            self._plain = None

    def table(self, stride: int = 1, see: Callable[[NDArray], None] | None = None) -> Table:
        """Read all blocks and return a table of all rows, or of one in ``stride``.

        ``see`` is called with the numbers of each block. Columns that hold anything but numbers are left out
        and copied to the output. Data of more than 3 GiB are kept in single precision, which halves them.
        """
        rows, roles = self.rows, {role: j for role, j in self.roles.items() if j is not None}
        shape = (rows.n_rows // stride + 1, len(self.features))
        large = 8 * shape[0] * shape[1] > SINGLE_PRECISION_BYTES
        data = np.empty(shape, dtype=np.float32 if large else np.float64)
        cells: dict[str, list[NDArray]] = {role: [] for role in roles}
        n_rows = used = 0
        for block, values in self._numbers():
            kept = slice(-n_rows % stride, None, stride)
            if see is not None:
                see(values)
            n_rows += len(values)
            values = values[kept]
            end = used + len(values)
            if end > len(data):  # the estimate of rows was too small
                data.resize((end + end // 4, shape[1]), refcheck=False)
            data[used:end] = values
            used = end
            for role, parts in cells.items():
                parts.append(block.iloc[kept, roles[role]].to_numpy())
        data.resize((used, shape[1]), refcheck=False)
        beside = {role: np.concatenate(parts) for role, parts in cells.items()}
        named = {role: rows.names[j] for role, j in roles.items()}
        notes = [*rows.notes, *self.reader.notes(rows.names)]
        if large:
            notes.append("The table is large and is kept in single precision (about seven digits).")
        words = self.reader.not_features()
        texts = sorted({**self.texts, **words}.items())
        is_number = np.array([j not in words for j in self.features], dtype=bool)
        features = tuple(j for j in self.features if j not in words)
        return Table(
            data=data if is_number.all() else data[:, is_number],
            feature_names=[rows.names[j] for j in features],
            whole=self.reader.whole[is_number],
            ids=beside.get("id"),
            labels=beside.get("label"),
            id_name=named.get("id"),
            label_name=named.get("label"),
            left_out=tuple(LeftOut(rows.names[j], reason) for j, reason in texts),
            notes=tuple(notes),
            doubts=(*rows.doubts, *self.reader.doubts(rows.names)),
            dialect=rows.dialect,
            columns=SourceColumns(rows, features, tuple(j for j, _ in texts), roles.get("id"), self.labels),
            n_rows=None if stride == 1 else n_rows,
            batches=batch_labels(beside.get("batch")),
            weights=row_weights(beside.get("weight"), named.get("weight"), rows.decimal),
        )
