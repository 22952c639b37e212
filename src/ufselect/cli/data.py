"""The table that a command works on: a file, or a data set by name."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from ufselect.cli.console import errors, note, working
from ufselect.datasets import list_datasets, load_dataset
from ufselect.datasets.loading import content_sha256
from ufselect.io import ReadOptions, Table, TableError, read_table
from ufselect.io.cleaning import clean

PROGRESS_FROM = 50 << 20  # bytes; smaller files are read in about a second


def open_data(
    name: str, options: ReadOptions, image: tuple[int, int] | None = None, quiet: bool = False
) -> Table:
    """Read a file or load a data set, and say what was decided on the way."""
    path = Path(name)
    if not path.exists() and name in list_datasets():
        table = _named(name)
    elif path.is_file() and path.stat().st_size > PROGRESS_FROM and not quiet:
        table = _read_with_bar(path, options)
    else:
        with working(f"Reading {name} …"):
            table = read_table(path, options)
    if image is not None:
        table = _as_image(table, image)
    if not quiet:
        note([*table.notes, *table.left_out_sentences()])
    return table


def _as_image(table: Table, image: tuple[int, int]) -> Table:
    if image[0] * image[1] != table.shape[1]:
        raise TableError(
            f"--image {image[0]}x{image[1]} has {image[0] * image[1]} pixels, but {table.shape[1]} columns "
            "can be chosen; give the true size."
        )
    return replace(table, image_shape=image)


def _named(name: str) -> Table:
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


def _read_with_bar(path: Path, options: ReadOptions) -> Table:
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=errors(), transient=True) as bar:
        task = bar.add_task(f"Reading {path.name}", total=None)
        return read_table(path, options, lambda done, total: bar.update(task, completed=done, total=total))
