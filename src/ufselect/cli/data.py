"""The table that a command works on: a file, standard input, or a data set by name."""

from __future__ import annotations

import shutil
import sys
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from ufselect.cli.console import errors, note, working
from ufselect.cli.early import check_data
from ufselect.cli.prepare import AllRows
from ufselect.cli.streaming import should_stream, stream_table
from ufselect.datasets import load_dataset
from ufselect.datasets.loading import content_sha256
from ufselect.io import ReadOptions, Table, TableError, read_table
from ufselect.io.cleaning import clean
from ufselect.io.compression import MAGIC
from ufselect.io.temporary import TemporaryFolder

PROGRESS_FROM = 50 << 20  # bytes; smaller files are read in about a second
FILE_KINDS = {b"PAR1": ".parquet", b"\x93NUMPY": ".npy", b"PK\x03\x04": ".npz", b"\x89HDF": ".h5ad"}
WIDE = 5  # times as many columns as rows, with words down the first: samples may stand in columns


class StandardInput:
    """What comes down a pipe, kept in a temporary file as long as this object lives."""

    def __init__(self) -> None:
        self._folder = TemporaryFolder()
        path = self._folder.path / "standard-input"
        with path.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        with path.open("rb") as file:
            start = file.read(max(map(len, FILE_KINDS)))
        packing = next((ending for magic, ending in MAGIC.items() if start.startswith(magic)), "")
        kind = next((ending for magic, ending in FILE_KINDS.items() if start.startswith(magic)), ".csv")
        if kind == ".npz" and _is_workbook(path):
            kind = ".xlsx"
        self.path = path.rename(path.with_name(f"standard-input{kind}{packing}"))


def _is_workbook(path: Path) -> bool:
    with zipfile.ZipFile(path) as archive:
        return "[Content_Types].xml" in archive.namelist()


@dataclass(frozen=True)
class Opened:
    """A table, and what is known of all its rows if it holds a sample of them.

    ``spooled`` is the temporary file behind it, to be kept until nothing is read from it any more.
    """

    table: Table
    all_rows: AllRows | None = None
    spooled: StandardInput | None = None


def open_data(
    name: str,
    options: ReadOptions,
    image: tuple[int, int] | None = None,
    quiet: bool = False,
    stream: bool | None = None,
    normalize: str = "none",
    carries: bool = True,
) -> Opened:
    """Read a file or load a data set, and say what was decided on the way, and what will be carried along."""
    opened = _opened(name, options, quiet, stream, normalize)
    if image is not None:
        opened = replace(opened, table=_as_image(opened.table, image))
    if not quiet:
        note([*opened.table.notes, *opened.table.left_out_sentences(carries), *_hints(opened.table)])
    return opened


def _opened(name: str, options: ReadOptions, quiet: bool, stream: bool | None, normalize: str) -> Opened:
    if name == "-":
        spooled = StandardInput()
        return replace(_opened(str(spooled.path), options, True, stream, normalize), spooled=spooled)
    path = Path(name)
    if not path.exists():
        return Opened(_named(name, options))
    if should_stream(path, options, stream):
        return Opened(
            *_with_bar(path, quiet, lambda progress: stream_table(path, options, normalize, progress))
        )
    if path.is_file() and path.stat().st_size > PROGRESS_FROM:
        return Opened(_with_bar(path, quiet, lambda progress: read_table(path, options, progress)))
    with working(f"Reading {path.name} …"):
        return Opened(read_table(path, options))


def _as_image(table: Table, image: tuple[int, int]) -> Table:
    if image[0] * image[1] != table.shape[1]:
        raise TableError(
            f"--image {image[0]}x{image[1]} has {image[0] * image[1]} pixels, but {table.shape[1]} columns "
            "can be chosen; give the true size."
        )
    return replace(table, image_shape=image)


def _hints(table: Table) -> list[str]:
    """Return a hint if the columns look like samples."""
    rows, columns = table.shape
    if table.ids is None or columns < WIDE * rows or rows < 2:
        return []
    letters = {name.rstrip("0123456789") for name in table.feature_names}
    if len(letters) > 1 or table.id_name is None or "gene" not in table.id_name.lower():
        return []
    return ["Columns look like samples and rows like features; --transpose turns the table."]


def _named(name: str, options: ReadOptions) -> Table:
    check_data(name)
    if options.batch_column is not None or options.weight_column is not None:
        raise TableError(f"The data set {name} has features alone; drop --batch and --weights.")
    with working(f"Loading {name} …"):
        loaded = load_dataset(name)
    table = Table(
        data=loaded.data,
        feature_names=[str(feature) for feature in loaded.feature_names],
        whole=np.all(loaded.data == np.rint(loaded.data), axis=0),
        labels=loaded.target,
        label_name="label",
        source=Path(name),
        sha256=content_sha256(loaded.data, loaded.target),
        image_shape=loaded.get("image_shape"),
        image_order=loaded.get("image_order", "C"),
    )
    return table if table.image_shape is not None else clean(table)


def _with_bar(path: Path, quiet: bool, read: Callable[[Any], Any]) -> Any:
    if quiet:
        return read(None)
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=errors(), transient=True) as bar:
        task = bar.add_task(f"Reading {path.name}", total=None)
        return read(lambda done, total: bar.update(task, completed=done, total=total))
