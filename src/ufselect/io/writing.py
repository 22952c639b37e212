"""Writes files whole or not at all, and never over others unasked."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ufselect.io.errors import TableError, need
from ufselect.io.table import Table
from ufselect.io.wording import Sentence, Setting

WRITTEN = (".csv", ".tsv", ".parquet", ".npz")


def check_outputs(paths: Iterable[Path | None], force: bool, source: Path | None = None) -> None:
    """Refuse, before any long work, outputs that could not be written.

    Raises
    ------
    TableError
        If a folder is absent, a file exists and ``force`` is not given, or an output is the input.
    """
    seen: set[Path] = set()
    for path in paths:
        if path is None:
            continue
        if path.is_dir():
            raise TableError(f"{path} is a folder; name a file in it.")
        if not path.absolute().parent.is_dir():
            raise TableError(f"The folder {path.absolute().parent} does not exist; create it first.")
        if source is not None and path.exists() and source.exists() and path.samefile(source):
            raise TableError(f"{path} is the input; choose another name for the output.")
        if path.exists() and not force:
            raise TableError(_exists(path))
        if path.absolute() in seen:
            raise TableError(f"{path} is named for two outputs; give each a name of its own.")
        seen.add(path.absolute())


def _exists(path: Path) -> Sentence:
    return Sentence(
        f"{path} exists already; choose another name or add ", Setting("force", True), " to replace it."
    )


def check_table_format(path: Path | None) -> None:
    """Refuse a format that cannot be written.

    Raises
    ------
    TableError
        With the formats that can.
    """
    if path is not None and path.suffix.lower() not in WRITTEN:
        raise TableError(f"{path} must end in {', '.join(WRITTEN)}; the ending names the format to write.")


def write_atomically(path: Path, write: Callable[[Path], Any], force: bool = False) -> None:
    """Write to a file beside the target and move it there in one step.

    Raises
    ------
    TableError
        If the target has appeared and ``force`` is not given.
    """
    path = path.absolute()
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.stem}-", suffix=path.suffix)
    os.close(handle)
    temporary = Path(name)
    try:
        write(temporary)
        mask = os.umask(0)
        os.umask(mask)
        temporary.chmod(0o666 & ~mask)
        if path.exists() and not force:
            raise TableError(_exists(path))
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path: Path, text: str, force: bool = False) -> None:
    """Write text as UTF-8, atomically."""
    write_atomically(path, lambda target: target.write_text(text, encoding="utf-8"), force)


def write_selection(table: Table, selected: NDArray[np.intp], path: Path, force: bool = False) -> None:
    """Write the chosen columns with ids and labels: same names, same rows, in the order of the input.

    A text file keeps the separator and decimal mark of a text input.
    """
    check_table_format(path)
    if path.suffix.lower() == ".npz":
        write_atomically(path, lambda target: _write_npz(table, selected, target), force)
        return
    frame = _frame(table, selected)
    if path.suffix.lower() == ".parquet":
        need("pyarrow", "Writing Parquet", "tables")
        write_atomically(path, lambda target: frame.to_parquet(target, index=False), force)
        return
    write_atomically(path, lambda target: _write_csv(table, frame, path, target), force)


def _chosen(table: Table, selected: NDArray[np.intp]) -> NDArray:
    chosen = table.data[:, selected]
    return chosen.toarray() if sparse.issparse(chosen) else chosen


def _frame(table: Table, selected: NDArray[np.intp]) -> Any:
    pandas = need("pandas", "Writing tables", "cli")
    values = _chosen(table, selected)
    columns: dict[str, Any] = {}
    if table.ids is not None:
        columns[table.id_name or "id"] = table.ids
    for position, column in enumerate(selected):
        whole = table.whole[column] and np.all(values[:, position] == np.rint(values[:, position]))
        data = values[:, position].astype(np.int64) if whole else values[:, position]
        columns[table.feature_names[column]] = data
    if table.labels is not None:
        columns[table.label_name or "label"] = table.labels
    return pandas.DataFrame(columns)


def _write_csv(table: Table, frame: Any, path: Path, target: Path) -> None:
    separator = "\t" if path.suffix.lower() == ".tsv" else ","
    decimal, encoding = ".", "utf-8"
    if table.dialect is not None and path.suffix.lower() == ".csv":
        separator, decimal = table.dialect.separator, table.dialect.decimal
        encoding = "utf-8-sig" if table.dialect.encoding == "utf-8-sig" else "utf-8"
    frame.to_csv(target, index=False, sep=separator, decimal=decimal, encoding=encoding, lineterminator="\n")


def _write_npz(table: Table, selected: NDArray[np.intp], target: Path) -> None:
    arrays: dict[str, Any] = {
        "X": _chosen(table, selected),
        "feature_names": np.array([table.feature_names[j] for j in selected], dtype=str),
    }
    if table.labels is not None:
        arrays["y"] = _plain(table.labels)
    if table.ids is not None:
        arrays["ids"] = _plain(table.ids)
    with target.open("wb") as file:
        np.savez_compressed(file, **arrays)


def _plain(values: NDArray) -> NDArray:
    """Return an array that needs no pickle."""
    return values.astype(str) if values.dtype == object else values
