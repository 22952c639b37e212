"""The table that a command works on: a file, standard input or a data set by name, whole or in blocks."""

from __future__ import annotations

import shutil
import sys
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np

from ufselect.blocks.table import AllRows, is_for_blocks, stream_table
from ufselect.cli.options import check_data
from ufselect.cli.text import errors, working
from ufselect.datasets import load_dataset
from ufselect.datasets.loading import content_sha256
from ufselect.exceptions import TableError
from ufselect.io import ReadOptions, Table, read_table
from ufselect.io.files import MAGIC, TemporaryFolder
from ufselect.io.table import clean
from ufselect.preprocessing import LogCounts

FILE_KINDS = {b"PAR1": ".parquet", b"\x93NUMPY": ".npy", b"PK\x03\x04": ".npz", b"\x89HDF": ".h5ad"}


@dataclass(frozen=True)
class Opened:
    """A table, and what is known of all its rows if it holds a sample of them.

    ``spooled`` is the temporary folder behind it, to be kept until nothing is read from it any more.
    """

    table: Table
    all_rows: AllRows | None = None
    spooled: TemporaryFolder | None = None


def open_data(
    name: str,
    options: ReadOptions,
    *,
    image: tuple[int, int] | None = None,
    quiet: bool = False,
    stream: bool | None = None,
    normalize: str = "none",
) -> Opened:
    """Read a file or load a data set; ``stream`` decides whether in blocks, None by its size."""
    spooled = None
    if name == "-":
        spooled, name = spooled_input()
    path = Path(name)
    if not path.exists():
        opened = Opened(_named(name, options))
    elif is_for_blocks(path, options, stream):
        found = _with_bar(path, quiet, lambda progress: _in_blocks(path, options, normalize, progress))
        opened = Opened(*found)
    elif path.is_file() and path.stat().st_size > 50 << 20:  # smaller ones take about a second
        opened = Opened(_with_bar(path, quiet, lambda progress: read_table(path, options, progress)))
    else:
        with working(f"Reading {path.name} …"):
            opened = Opened(read_table(path, options))
    table = opened.table
    if image is not None:
        if image[0] * image[1] != table.shape[1]:
            raise TableError(
                f"--image {image[0]}x{image[1]} has {image[0] * image[1]} pixels, but {table.shape[1]} "
                "columns can be selected; give the true size."
            )
        table = replace(table, image_shape=image)
    return replace(opened, table=table, spooled=spooled)


def spooled_input() -> tuple[TemporaryFolder, str]:
    """Keep what comes down a pipe in a temporary file, named by what it is."""
    folder = TemporaryFolder()
    path = folder.path / "standard-input"
    with path.open("wb") as file:
        shutil.copyfileobj(sys.stdin.buffer, file)
    with path.open("rb") as file:
        start = file.read(8)
    packing = next((ending for magic, ending in MAGIC.items() if start.startswith(magic)), "")
    kind = next((ending for magic, ending in FILE_KINDS.items() if start.startswith(magic)), ".csv")
    if kind == ".npz":
        with zipfile.ZipFile(path) as archive:
            kind = ".xlsx" if "[Content_Types].xml" in archive.namelist() else kind
    return folder, str(path.rename(path.with_name(f"standard-input{kind}{packing}")))


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
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=errors(), transient=True) as bar:
        task = bar.add_task(f"Reading {path.name}", total=None)
        return read(lambda done, total: bar.update(task, completed=done, total=total))


def names_in(texts: Sequence[str] | None, flag: str) -> tuple[str, ...]:
    """Return what was typed after a flag, with the lines of a file in place of its name.

    A file is one that exists, or whose name stands after @; empty lines and those that begin with # are
    passed over.
    """
    found: list[str] = []
    for text in texts or ():
        path = Path(text.removeprefix("@"))
        if path.is_file():
            lines = (line.strip() for line in path.read_text(encoding="utf-8-sig").splitlines())
            found += [line for line in lines if line and not line.startswith("#")]
        elif text.startswith("@"):
            raise TableError(f"There is no file {path} for {flag}; it should have one column name a line.")
        else:
            found.append(text)
    return tuple(dict.fromkeys(found))


def columns_named(asked: Sequence[str], table: Table, flag: str) -> list[int]:
    """Return the positions of the columns that names and patterns such as ``MT-*`` mean, in order.

    Several names may stand in one text with commas between them. A name of a text column means the columns
    that its values have become. Excluding what was left out of the table anyway needs nothing.
    """
    places = {name: place for place, name in enumerate(table.feature_names)}
    left_out = {column.name: column.reason for column in table.left_out}
    known = {*places, *left_out, *(group for group in table.groups or () if group is not None)}
    found: set[int] = set()
    for text in asked:
        for name in [text] if text in known else [part.strip() for part in text.split(",")]:
            if name in places:
                matches = [places[name]]
            elif any(mark in name for mark in "*?["):
                matches = [place for known, place in places.items() if fnmatchcase(known, name)]
            else:
                matches = [place for place, group in enumerate(table.groups or ()) if group == name]
            if not matches and not (flag == "--exclude" and name in left_out):
                if name in left_out:
                    raise TableError(
                        f"{flag} {name} is not possible: that column was left out ({left_out[name]})."
                    )
                near = get_close_matches(name, table.feature_names, n=1)
                hint = f"did you mean {near[0]}?" if near else "check the spelling, capitals included."
                raise TableError(f"{flag} {name} matches no column of the table; {hint}")
            found.update(matches)
    return sorted(found)


def _in_blocks(path: Path, options: ReadOptions, normalize: str, progress: Any) -> tuple[Table, AllRows]:
    with counts_only():
        return stream_table(path, options, LogCounts() if normalize == "log" else None, progress)


@contextmanager
def counts_only() -> Iterator[None]:
    """Say of what is no count which option it is for."""
    try:
        yield
    except TableError:
        raise
    except ValueError as error:
        found = "there are negative values" if "egative" in str(error) else "values are missing"
        raise TableError(f"--normalize log is for counts, but {found}; leave it out.") from error
