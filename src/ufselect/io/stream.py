"""Tables beyond memory: passes over blocks of rows give facts, a sample of rows, and the Gram matrix."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ufselect.exceptions import TableError
from ufselect.gram.accumulate import GramAccumulator
from ufselect.gram.operator import FormedGram
from ufselect.io.columns import without_named
from ufselect.io.read import NumberBlocks, file_sha256, has_rows, open_rows
from ufselect.io.roles import role_notes
from ufselect.io.table import ReadOptions, Table, clean, column_facts

SAMPLE_ROWS = 4000  # for units, clusters and the assessment
MEMORY_SHARE = 0.5  # of what is free; the other half is for copies that a fit makes


def is_for_blocks(path: Path, options: ReadOptions, asked: bool | None, whole: Sequence[str] = ()) -> bool:
    """Whether to read a file in blocks: as asked, else if its numbers would take half the free memory.

    ``whole`` names what needs the whole table in memory, beside some options.
    """
    needs = {
        "--categorical": options.categorical,
        "--transpose": options.transpose or None,
        "--batch": options.batch_column,
        "--weights": options.weight_column,
    }
    flag = next(iter([*whole, *(flag for flag, value in needs.items() if value is not None)]), None)
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
