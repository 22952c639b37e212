"""Reads a table of any known format."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from pathlib import Path

from ufselect.io.arrays import read_arrays
from ufselect.io.assemble import ColumnRoles
from ufselect.io.cleaning import clean
from ufselect.io.errors import TableError
from ufselect.io.h5ad import read_h5ad
from ufselect.io.parquet import parts_of, read_parquet
from ufselect.io.table import Table
from ufselect.io.text import Progress, read_text
from ufselect.io.wording import Sentence, Setting

TEXT = (".csv", ".tsv", ".txt")
FORMATS = "csv, tsv, parquet, npy, npz, mat, h5ad or a directory of parquet parts"
HASH_BLOCK = 1 << 22  # 4 MiB: reads of that size run at full disk speed


@dataclass(frozen=True)
class ReadOptions:
    """How to read a table; None means to find out.

    Attributes
    ----------
    id_column, label_column : str or None
        Columns that hold row ids and classes.
    impute : {"median", "drop"} or None
        What to do about missing values; None refuses them.
    separator, decimal : str or None
        Marks of a text file.
    header : bool or None
        Whether a text file begins with names.
    guess : bool
        Whether to recognise id and label columns that were not named.
    keep_constant : bool
        Whether constant columns stay, as the pixels of images must.
    """

    id_column: str | None = None
    label_column: str | None = None
    impute: str | None = None
    separator: str | None = None
    decimal: str | None = None
    header: bool | None = None
    guess: bool = True
    keep_constant: bool = False


def read_table(
    path: str | Path, options: ReadOptions | None = None, progress: Progress | None = None
) -> Table:
    """Read the numeric columns of a file.

    Text columns, constant columns and empty columns are left out and named in the result. Missing values
    are refused unless ``options.impute`` says what to do.

    Parameters
    ----------
    path : str or Path
        A file in csv, tsv, parquet, npy, npz, mat or h5ad format, or a directory of parquet parts.
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
    path = Path(path)
    options = options or ReadOptions()
    if not path.exists():
        raise TableError(f"There is no file {path}; check the name and the folder.")
    table = _read(path, options, progress)
    table = replace(table, source=path, sha256=file_sha256(path))
    return clean(table.with_notes(*_role_notes(table, options)), options.impute, options.keep_constant)


def _read(path: Path, options: ReadOptions, progress: Progress | None) -> Table:
    roles = ColumnRoles(options.id_column, options.label_column, options.guess)
    kind = format_of(path)
    if kind in TEXT:
        separator = options.separator or ("\t" if kind == ".tsv" else None)
        return read_text(path, roles, separator, options.decimal, options.header, progress)
    if kind == ".parquet":
        return read_parquet(path, roles, progress)
    if kind == ".h5ad":
        return read_h5ad(path, roles)
    if options.id_column is not None:
        raise TableError(f"{path} holds arrays without named columns; drop ", Setting("id_column"), ".")
    return read_arrays(path, options.label_column)


def format_of(path: Path) -> str:
    """Return the suffix that tells a file's format.

    Raises
    ------
    TableError
        If it is unknown, with the formats that are known.
    """
    if path.is_dir():
        return ".parquet"
    suffixes = [suffix.lower() for suffix in path.suffixes]
    kind = suffixes[-2] if suffixes[-1:] == [".gz"] and len(suffixes) > 1 else (suffixes or [""])[-1]
    if kind in (".pq",):
        return ".parquet"
    if kind in (*TEXT, ".parquet", ".npy", ".npz", ".mat", ".h5ad"):
        return kind
    advice = (
        "export it from the spreadsheet as csv" if kind in (".xlsx", ".xls", ".ods") else f"give {FORMATS}"
    )
    if kind in (".pkl", ".pickle", ".joblib"):
        advice = f"pickles are never loaded because they can run code; give {FORMATS}"
    raise TableError(f"{path} has a format that is not read here; {advice}.")


def file_sha256(path: Path) -> str:
    """Return the checksum of a file, or of the parts of a directory one after another."""
    digest = hashlib.sha256()
    for part in parts_of(path):
        with part.open("rb") as file:
            while block := file.read(HASH_BLOCK):
                digest.update(block)
    return digest.hexdigest()


def _role_notes(table: Table, options: ReadOptions) -> list[Sentence]:
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
