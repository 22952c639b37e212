"""Tables beyond memory: one pass gives the Gram matrix, the facts of each column and a sample of rows."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ufselect.blocks.accumulate import GramAccumulator
from ufselect.cli.prepare import AllRows
from ufselect.common.wording import Setting
from ufselect.exceptions import TableError
from ufselect.gram.dense import FormedGram
from ufselect.io.assemble import reading_notes, texts_of
from ufselect.io.cleaning import ColumnFacts, check_facts
from ufselect.io.reading import ReadOptions, file_sha256, has_rows, open_rows, role_notes
from ufselect.io.table import LeftOut, SourceColumns, Table
from ufselect.io.text import Progress

MEMORY_SHARE = 0.5  # of what is free; the other half is for copies that a fit makes
MOST_COLUMNS = 10_000  # a Gram matrix of that order takes 800 MB
USUAL_MEMORY = 8 << 30  # where the system does not tell
SAMPLE_ROWS = 4000  # for units, the page's figures and the choice of a method


def should_stream(path: Path, options: ReadOptions, asked: bool | None) -> bool:
    """Whether to read a file in blocks: as asked, else when its numbers would take half the free memory."""
    if asked and options.categorical is not None:
        raise TableError("--categorical needs the whole table in memory; drop --stream.")
    if asked is not None:
        return asked and has_rows(path)
    if (
        not has_rows(path)
        or options.categorical is not None
        or options.transpose
        or path.suffix.lower() == ".xlsx"
    ):
        return False
    if path.is_file() and path.stat().st_size < MEMORY_SHARE * free_memory() / 8:
        return False  # no compression packs numbers so tightly that these could fill the memory
    rows = open_rows(path, options)
    width = len(rows.names)
    return width <= MOST_COLUMNS and 8 * width * rows.n_rows > MEMORY_SHARE * free_memory()


def free_memory() -> int:
    """Return the bytes of memory that are free, as far as the system tells."""
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            fields = dict(line.split(":", 1) for line in file)
        return int(fields["MemAvailable"].split()[0]) << 10
    except (OSError, KeyError):
        if not hasattr(os, "sysconf"):
            return USUAL_MEMORY
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


@dataclass
class _Pass:
    """What one pass over the rows collects."""

    facts: ColumnFacts
    stride: int
    accumulator: GramAccumulator
    sample: list[NDArray]
    seen: int = 0

    def take(self, values: NDArray) -> None:
        self.facts.update(values)
        self.accumulator.update(np.nan_to_num(values, nan=0.0, posinf=0.0, neginf=0.0))
        first = -self.seen % self.stride
        self.sample.append(values[first :: self.stride].copy())
        self.seen += len(values)


def stream_table(path: Path, options: ReadOptions, progress: Progress | None = None) -> tuple[Table, AllRows]:
    """Read a text or Parquet file once, in blocks.

    Returns
    -------
    table : Table
        With a sample of the rows.
    all_rows : AllRows
        The Gram matrix, means and deviations of all rows.

    Raises
    ------
    TableError
        If the table is too wide, or values are missing and not to be left out.
    """
    if options.impute == "median":
        raise TableError(
            "Filling by the median needs the table in memory; use ", Setting("impute", "drop"), "."
        )
    rows: Any = open_rows(path, options)
    plan = rows.plan(options.roles)
    if len(plan.features) > MOST_COLUMNS:
        raise TableError(f"Tables of more than {MOST_COLUMNS} columns are not read in blocks; use fewer.")
    reader = rows.number_reader(plan)
    stride = max(1, rows.n_rows // SAMPLE_ROWS)
    collected = _Pass(ColumnFacts(len(plan.features)), stride, GramAccumulator(), [])
    for block in rows.blocks(plan, progress):
        collected.take(reader.read(block))
    texts = texts_of(plan, reader)
    table = Table(
        data=np.concatenate(collected.sample),
        feature_names=[plan.names[j] for j in plan.features],
        whole=np.array([reader.whole.get(j, False) for j in plan.features], dtype=bool),
        id_name=None if plan.id_position is None else plan.names[plan.id_position],
        label_name=None if plan.label_position is None else plan.names[plan.label_position],
        left_out=tuple(LeftOut(plan.names[j], reason) for j, reason in sorted(plan.texts.items())),
        notes=(*rows.notes, *reading_notes(plan.names, reader), *rows.ending_notes()),
        dialect=rows.dialect,
        columns=SourceColumns(
            rows, tuple(plan.features), tuple(sorted(texts)), plan.id_position, plan.label_position
        ),
        source=path,
        sha256=file_sha256(path),
        n_rows=collected.seen,
    )
    note = f"The table is large: it was read in blocks, and a sample of {len(table.data)} rows is kept."
    table = table.with_notes(*role_notes(table, options), note)
    late = {place: texts[j] for place, j in enumerate(plan.features) if j in texts}
    gone, reasons = check_facts(table, collected.facts, options.impute, options.keep_constant, late)
    gram = collected.accumulator.gram()
    keep = np.flatnonzero(~gone)
    matrix = gram.subgram(keep)
    deviations = np.sqrt(matrix.diagonal() / collected.seen) * gram.scale
    all_rows = AllRows(
        FormedGram(matrix, collected.seen, gram.scale), collected.accumulator.mean[keep], deviations
    )
    table = table.without(gone, reasons)
    return replace(table, data=np.nan_to_num(table.data)), all_rows
