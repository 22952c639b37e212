"""The table that a command works on: a file, standard input or a data set by name, whole or in blocks.

Of a table beyond memory, passes over blocks of rows give facts, a sample of rows, and the Gram matrix.
"""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path
from tempfile import mkdtemp
from threading import Timer
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ufselect._utils.messages import listed
from ufselect.cli.text import say, working
from ufselect.datasets import load_dataset
from ufselect.datasets.loading import content_sha256
from ufselect.exceptions import TableError
from ufselect.gram.accumulate import GramAccumulator
from ufselect.gram.operator import FormedGram
from ufselect.io import ReadOptions, Table, read_table
from ufselect.io.files import MAGIC, readable
from ufselect.io.numbers import read_number
from ufselect.io.read import NumberBlocks, file_sha256, has_rows, open_rows
from ufselect.io.roles import role_notes
from ufselect.io.table import clean, column_facts
from ufselect.io.totals import without_summaries

FILE_KINDS = {b"PAR1": ".parquet", b"\x93NUMPY": ".npy", b"PK\x03\x04": ".npz", b"\x89HDF": ".h5ad"}
WAIT = 3.0  # seconds without data after which it is said what is waited for
SAMPLE_ROWS = 4000  # for units, clusters and the assessment
MEMORY_SHARE = 0.5  # of what is free; the other half is for copies that a fit makes


def open_data(
    name: str,
    options: ReadOptions,
    *,
    image: tuple[int, int] | None = None,
    stream: bool | None = None,
    normalize: str = "none",
    exclude: Sequence[str] = (),
) -> Table:
    """Read a file or load a data set, without the columns to exclude.

    ``stream`` says whether to read in blocks; None decides by the size.
    """
    path = local_file(name)
    if path.exists():
        with working(f"Reading {path.name} …"):
            if is_for_blocks(path, options, stream, normalize):
                with readable(path, "table"):
                    return stream_table(path, options, exclude)
            table = read_table(path, options)
            if options.guess and image is None:
                table = without_summaries(table)
    else:
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
        table = table if table.image_shape is not None else clean(table)
    if image is not None:
        if image[0] * image[1] != table.shape[1]:
            raise TableError(
                f"--image {image[0]}x{image[1]} has {image[0] * image[1]} pixels, but {table.shape[1]} "
                "columns can be selected; give the true size."
            )
        table = replace(table, image_shape=image)
    return without_named(table, exclude)


def local_file(name: str) -> Path:
    """Return the path of a file; store standard input or a named pipe in a temporary one."""
    if name != "-" and not Path(name).is_fifo():
        return Path(name)
    waiting = Timer(WAIT, say, [f"Waiting for data from {'standard input' if name == '-' else name} …"])
    waiting.daemon = True
    with working("Reading …"):
        folder = mkdtemp(prefix="ufselect-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        path = Path(folder) / ("standard-input" if name == "-" else "pipe")
        waiting.start()
        with sys.stdin.buffer if name == "-" else open(name, "rb") as stream, path.open("wb") as file:
            file.write(stream.read(1))
            waiting.cancel()
            shutil.copyfileobj(stream, file)
    with path.open("rb") as file:
        start = file.read(8)
    packing = next((ending for magic, ending in MAGIC.items() if start.startswith(magic)), "")
    kind = next((ending for magic, ending in FILE_KINDS.items() if start.startswith(magic)), ".csv")
    if kind == ".npz":
        with zipfile.ZipFile(path) as archive:
            kind = ".xlsx" if "[Content_Types].xml" in archive.namelist() else kind
    return path.rename(path.with_name(f"{path.name}{kind}{packing}"))


def names_in(texts: Sequence[str] | None, flag: str) -> tuple[str, ...]:
    """Return the values of a flag, with the lines of a file in place of its name.

    A value is a file if such a file exists or if it begins with @. Empty lines and those that begin with #
    are ignored.
    """
    found: list[str] = []
    for text in texts or ():
        path = Path(text.removeprefix("@"))
        if path.is_file():
            lines = (line.strip() for line in path.read_text(encoding="utf-8-sig").splitlines())
            found += [line for line in lines if line and not line.startswith("#")]
        elif text.startswith("@"):
            raise TableError(f"There is no file {path} for {flag}; it should have one column name per line.")
        else:
            found.append(text)
    return tuple(dict.fromkeys(found))


def by_name(path: Path) -> dict[str, Any]:
    """Return the lines of a file with the names of columns and what is known of each."""
    rows = open_rows(path, ReadOptions(header=False, guess=False, skip_rows=0))
    lines = [line for block in rows.blocks() for line in block.to_numpy(dtype=object).tolist()]
    if not lines or len(lines[0]) < 2:
        raise TableError(f"{path} must have a column's name and a value on each line, as in s1,250.")
    values = {
        line[0].strip(): [cell.strip().replace(rows.decimal, ".") for cell in line[1:]] for line in lines
    }
    if len(values) < len(lines):
        raise TableError(f"{path} names a column more than once; give one line for each.")
    return values


def in_order(values: Mapping[str, Sequence[str]], table: Table, flag: str, are_numbers: bool) -> list[Any]:
    """Return what a file says of each column in the order of the table; only regions may lack columns."""
    others = {column.name for column in table.left_out} | {table.id_name, table.label_name}
    unknown = [name for name in values if name not in table.feature_names and name not in others]
    if unknown and unknown[0] == next(iter(values)):
        del unknown[0]  # a header
    if unknown:
        near = get_close_matches(unknown[0], table.feature_names, n=1)
        hint = f"did you mean {near[0]}?" if near else "correct the names."
        raise TableError(f"{flag} names {listed(unknown)}, which the table does not have; {hint}")
    absent = [name for name in table.feature_names if name not in values]
    if absent and are_numbers:
        raise TableError(f"{flag} says nothing of {listed(absent)}; add a line for each.")
    if not are_numbers:
        return [values[name][0] or None if name in values else None for name in table.feature_names]
    ordered = []
    for name in table.feature_names:
        numbers = [number[0] for cell in values[name] if (number := read_number(cell, ".")) is not None]
        if len(numbers) < len(values[name]):
            raise TableError(f"{flag} has {', '.join(values[name])!r} for {name}, which is not a number.")
        ordered.append(numbers[0] if len(numbers) == 1 else numbers)
    return ordered


def columns_named(asked: Sequence[str], table: Table, flag: str) -> list[int]:
    """Return the sorted positions of the columns that match names and patterns such as ``MT-*``.

    A text may hold several names separated by commas. The name of a text column matches its one-hot columns.
    Excluding a column that was left out of the table anyway is no error.
    """
    places = {name: place for place, name in enumerate(table.feature_names)}
    left_out = {column.name: column.reason for column in table.left_out}
    left_out |= {table.id_name or "": "the row id", table.label_name or "": "the labels"}
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
                hint = (
                    f"did you mean {near[0]}?"
                    if near
                    else "check the spelling, capitals included, or the name of the file."
                )
                raise TableError(f"{flag} {name} matches no column of the table; {hint}")
            found.update(matches)
    return sorted(found)


def without_named(table: Table, exclude: Sequence[str]) -> Table:
    """Return the table without the columns that ``--exclude`` names."""
    columns = columns_named(exclude, table, "--exclude")
    if len(columns) == table.shape[1]:
        raise TableError("--exclude names every column of the table; leave some to select from.")
    return table.without(np.isin(np.arange(table.shape[1]), columns), ["excluded"] * len(columns))


def is_for_blocks(path: Path, options: ReadOptions, asked: bool | None, normalize: str = "none") -> bool:
    """Whether to read a file in blocks: as asked, else if its numbers would take half the free memory."""
    whole = {
        "--normalize": normalize != "none",
        "--categorical": options.categorical is not None,
        "--transpose": options.transpose,
        "--batch": options.batch_column is not None,
        "--weights": options.weight_column is not None,
    }
    flag = next((flag for flag, is_asked in whole.items() if is_asked), None)
    if asked and flag is not None:
        raise TableError(f"{flag} needs the whole table in memory; drop --stream.")
    if asked is not None:
        return asked and has_rows(path)
    if not has_rows(path) or flag is not None or path.suffix.lower() == ".xlsx":
        return False
    free = free_memory()
    if path.is_file() and path.stat().st_size < MEMORY_SHARE * free / 8:
        return False  # no compression packs numbers so tightly that these could fill the memory
    rows = open_rows(path, options)
    width = len(rows.names)
    return gram_bytes(width) <= free and 8 * width * rows.n_rows > MEMORY_SHARE * free


def gram_bytes(n_columns: int, copies: int = 5) -> int:
    """Return an estimate of the memory that reading so many columns in blocks takes.

    Measured on 4000 and 6000 columns: five copies of the Gram matrix exist while blocks are merged, with
    missing values fifteen, and four of the sample.
    """
    return 8 * n_columns * (copies * n_columns + 4 * SAMPLE_ROWS)


def check_memory(n_columns: int, copies: int, advice: str) -> None:
    """Stop if reading so many columns in blocks would take more memory than is free."""
    needed, free = gram_bytes(n_columns, copies), free_memory()
    if needed > free:
        raise TableError(
            f"Reading {n_columns} columns in blocks would take about {needed / 2**30:.1f} GB of memory, but "
            f"only {free / 2**30:.1f} GB are free; {advice}"
        )


def free_memory() -> int:
    """Return the bytes of memory that are free, as far as the system tells."""
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            fields = dict(line.split(":", 1) for line in file)
        return int(fields["MemAvailable"].split()[0]) << 10
    except (OSError, KeyError):
        if not hasattr(os, "sysconf"):
            return 8 << 30
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def stream_table(path: Path, options: ReadOptions, exclude: Sequence[str] = ()) -> Table:
    """Read a text or Parquet file in blocks: once, and again if values are missing."""
    blocks = NumberBlocks(open_rows(path, options), options)
    width = len(blocks.features)
    check_memory(width, 5, "use fewer columns, or --no-stream if there are few rows.")
    facts: NDArray | None = None
    accumulator = GramAccumulator()

    def see(values: NDArray) -> None:
        nonlocal facts
        facts = column_facts(values, facts)
        accumulator.update(np.nan_to_num(values, nan=0.0, posinf=0.0, neginf=0.0))

    def columns(table: Table) -> NDArray[np.intp]:
        """Return where the columns of the table are in a block."""
        return np.searchsorted(blocks.features, table.columns.features)  # type: ignore[union-attr]

    table = blocks.table(max(1, blocks.rows.n_rows // SAMPLE_ROWS), see)
    assert facts is not None
    table = replace(table, source=path, sha256=file_sha256(path))
    words = f"The table is large: it was read in blocks, and a sample of {len(table.data)} rows is kept."
    table = table.with_notes(*role_notes(table, options), words)
    table = clean(table, options.impute, options.keep_constant, facts[:, columns(table)])
    table = without_named(table, exclude)
    kept = columns(table)
    if not np.any(table.n_missing):
        gram = accumulator.gram()
        gram = FormedGram(gram.subgram(kept), gram.n_samples, gram.scale) if kept.size < width else gram
        return replace(table, gram=gram, means=accumulator.mean[kept])
    if options.impute == "keep":
        check_memory(kept.size, 15, "use --impute median or fewer columns.")
    fills = np.array([table.fills.get(name, np.nan) for name in table.feature_names])
    accumulator = GramAccumulator()
    for values in blocks:
        accumulator.update(np.where(np.isnan(values[:, kept]), fills, values[:, kept]))
    return replace(table, gram=accumulator.gram(), means=accumulator.mean)
