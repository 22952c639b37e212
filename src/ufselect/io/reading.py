"""Reads a table of any known format."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from pathlib import Path

from ufselect.common.wording import Sentence, Setting
from ufselect.exceptions import TableError
from ufselect.io.arrays import read_arrays
from ufselect.io.assemble import assemble
from ufselect.io.categories import with_categories
from ufselect.io.cleaning import clean
from ufselect.io.compression import ENDINGS
from ufselect.io.h5ad import read_h5ad
from ufselect.io.parquet import ParquetRows, parts_of
from ufselect.io.roles import ColumnRoles
from ufselect.io.spreadsheet import as_text, turned
from ufselect.io.table import Table
from ufselect.io.tenx import is_tenx, read_tenx
from ufselect.io.text import Progress, TextOptions, TextRows

TEXT = (".csv", ".tsv", ".txt", ".dat")
ARRAYS = (".npy", ".npz", ".mat")
FORMATS = "csv, tsv, xlsx, parquet, npy, npz, mat, h5ad, a directory of parquet parts or a 10x folder"
HASH_BLOCK = 1 << 22  # 4 MiB: reads of that size run at full disk speed


@dataclass(frozen=True)
class ReadOptions:
    """How to read a table; None means to find out.

    Attributes
    ----------
    id_column, label_column : str or None
        Columns that hold row ids and classes.
    impute : {"median", "drop", "keep"} or None
        What to do about missing values: fill them by the column's median, leave such columns out, or leave
        them to a method that works around them; None refuses them.
    separator, decimal : str or None
        Marks of a text file.
    header : bool or None
        Whether a text file begins with names.
    guess : bool
        Whether to recognise id and label columns that were not named.
    keep_constant : bool
        Whether constant columns stay, as the pixels of images must.
    missing : tuple of str
        Further words of a text file that mean "no value".
    comment : str or None
        What begins a remark in a text file.
    transpose : bool
        Whether the rows of the file are the features.
    sheet : str or None
        Name of a sheet of a workbook; the first without it.
    layer : str or None
        Layer of an h5ad file; the main matrix without it.
    categorical : {"onehot"} or None
        Whether text columns with a few values become groups of columns of zeros and ones; else left out.
    batch_column, weight_column : str or None
        Columns with the batch of each row, and with how much it counts.
    """

    id_column: str | None = None
    label_column: str | None = None
    impute: str | None = None
    separator: str | None = None
    decimal: str | None = None
    header: bool | None = None
    guess: bool = True
    keep_constant: bool = False
    missing: tuple[str, ...] = ()
    comment: str | None = None
    transpose: bool = False
    sheet: str | None = None
    layer: str | None = None
    categorical: str | None = None
    batch_column: str | None = None
    weight_column: str | None = None

    @property
    def roles(self) -> ColumnRoles:
        return ColumnRoles(
            self.id_column, self.label_column, self.guess, self.batch_column, self.weight_column
        )

    @property
    def text(self) -> TextOptions:
        return TextOptions(self.separator, self.decimal, self.header, self.comment, self.missing)


def read_table(
    path: str | Path, options: ReadOptions | None = None, progress: Progress | None = None
) -> Table:
    """Read the numeric columns of a file.

    Text columns, constant columns and empty columns are left out and named in the result. Missing values
    are refused unless ``options.impute`` says what to do.

    Parameters
    ----------
    path : str or Path
        A file in csv, tsv, xlsx, parquet, npy, npz, mat or h5ad format, a directory of parquet parts, or a
        folder of 10x files. Text may be compressed.
    options : ReadOptions, optional
        How to read it.
    progress : callable, optional
        Called with the work done and its total.

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
    return clean(read_uncleaned(Path(path), options, progress), options.impute, options.keep_constant)


def read_uncleaned(path: Path, options: ReadOptions, progress: Progress | None = None) -> Table:
    """Read a table with its constant, empty and incomplete columns.

    Raises
    ------
    TableError
        If it cannot be read, with the remedy.
    """
    if not path.exists():
        raise TableError(f"There is no file {path}; check the name and the folder.")
    table = _read(path, options, progress)
    if options.categorical is not None:
        table = with_categories(table)
    table = replace(table, source=path, sha256=file_sha256(path))
    return table.with_notes(*role_notes(table, options))


def open_rows(path: Path, options: ReadOptions) -> TextRows | ParquetRows:
    """Open a text file, a workbook or Parquet, whose rows can be read block by block.

    Raises
    ------
    TableError
        If the file is none of these.
    """
    kind = format_of(path)
    if kind == ".parquet" and not options.transpose:
        return ParquetRows(path)
    if kind == ".xlsx":
        rows = as_text(path, options.sheet, options.text)
    elif kind in TEXT:
        text = replace(options.text, separator=options.separator or ("\t" if kind == ".tsv" else None))
        rows = TextRows(path, text)
    else:
        raise TableError(f"{path} has no rows of named columns to ", Setting("transpose", True), ".")
    return turned(rows, options.text) if options.transpose else rows


def has_rows(path: Path) -> bool:
    """Whether a file is one that :func:`open_rows` opens."""
    return format_of(path) in (*TEXT, ".xlsx", ".parquet")


def _read(path: Path, options: ReadOptions, progress: Progress | None) -> Table:
    kind = format_of(path)
    if has_rows(path):
        return assemble(open_rows(path, options), options.roles, progress)
    if kind == ".h5ad":
        return read_h5ad(path, options.roles, options.layer)
    for name in ("id_column", "batch_column", "weight_column"):
        if getattr(options, name) is not None:
            raise TableError(f"{path} holds arrays without named columns; drop ", Setting(name), ".")
    if kind == ".mtx":
        return read_tenx(path)
    return read_arrays(path, options.label_column, options.transpose)


def format_of(path: Path) -> str:
    """Return the suffix that tells a file's format.

    Raises
    ------
    TableError
        If it is unknown, with the formats that are known.
    """
    if path.is_dir():
        return ".mtx" if is_tenx(path) else ".parquet"
    suffixes = [suffix.lower() for suffix in path.suffixes]
    packed = suffixes[-1:] and suffixes[-1] in ENDINGS and len(suffixes) > 1
    kind = suffixes[-2] if packed else (suffixes or [""])[-1]
    if kind == ".pq":
        return ".parquet"
    if kind in (*TEXT, *ARRAYS, ".parquet", ".h5ad", ".xlsx"):
        return kind
    advice = "export it from the spreadsheet as csv" if kind in (".xls", ".ods") else f"give {FORMATS}"
    if kind in (".pkl", ".pickle", ".joblib"):
        advice = f"pickles are never loaded because they can run code; give {FORMATS}"
    raise TableError(f"{path} has a format that is not read here; {advice}.")


def file_sha256(path: Path) -> str:
    """Return the checksum of a file, or of the files of a directory one after another."""
    digest = hashlib.sha256()
    parts = sorted(path.iterdir()) if path.is_dir() and is_tenx(path) else parts_of(path)
    for part in parts:
        with part.open("rb") as file:
            while block := file.read(HASH_BLOCK):
                digest.update(block)
    return digest.hexdigest()


def role_notes(table: Table, options: ReadOptions) -> list[Sentence]:
    notes = []
    if table.id_name is not None and options.id_column is None:
        notes.append(_taken(table.id_name, "the row id", "id_column"))
    if table.label_name is not None and options.label_column is None:
        words = "the labels and not used for the selection"
        notes.append(_taken(table.label_name, words, "label_column"))
    return notes


def _taken(name: str, role: str, parameter: str) -> Sentence:
    return Sentence(
        f"{name} is taken as {role} (",
        Setting(parameter),
        " to name another, ",
        Setting("guess", False),
        " for none).",
    )
