"""Tables beyond memory: passes over blocks of rows give facts, a sample of rows, and the Gram matrix."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ufselect.blocks.accumulate import GramAccumulator
from ufselect.cli.prepare import AllRows, log_counts, median_total, row_totals
from ufselect.common.wording import Setting
from ufselect.exceptions import TableError
from ufselect.gram.dense import FormedGram
from ufselect.io.assemble import reading_notes, texts_of
from ufselect.io.cleaning import ColumnFacts, check_facts, gaps_note
from ufselect.io.reading import ReadOptions, file_sha256, has_rows, open_rows, role_notes
from ufselect.io.table import LeftOut, SourceColumns, Table
from ufselect.io.text import Progress

MEMORY_SHARE = 0.5  # of what is free; the other half is for copies that a fit makes
# Measured on 4000 and 6000 columns: copies of the Gram matrix that exist at once while blocks are merged,
# without and with gaps, and copies of the sample while it is looked at.
GRAM_COPIES, GAPPED_COPIES, SAMPLE_COPIES = 5, 15, 4
USUAL_MEMORY = 8 << 30  # where the system does not tell
SAMPLE_ROWS = 4000  # for units, the page's figures and the choice of a method


def should_stream(path: Path, options: ReadOptions, asked: bool | None) -> bool:
    """Whether to read a file in blocks: as asked, else when its numbers would take half the free memory."""
    needs_memory = _needs_memory(options)
    if asked and needs_memory is not None:
        raise TableError(f"{needs_memory} needs the whole table in memory; drop --stream.")
    if asked is not None:
        return asked and has_rows(path)
    if not has_rows(path) or needs_memory is not None or path.suffix.lower() == ".xlsx":
        return False
    if path.is_file() and path.stat().st_size < MEMORY_SHARE * free_memory() / 8:
        return False  # no compression packs numbers so tightly that these could fill the memory
    rows = open_rows(path, options)
    width, free = len(rows.names), free_memory()
    return gram_bytes(width, options.impute) <= free and 8 * width * rows.n_rows > MEMORY_SHARE * free


def _needs_memory(options: ReadOptions) -> str | None:
    """Return the first option that cannot be honoured block by block."""
    asked = {
        "--categorical": options.categorical is not None,
        "--transpose": options.transpose,
        "--batch": options.batch_column is not None,
        "--weights": options.weight_column is not None,
    }
    return next((flag for flag, is_asked in asked.items() if is_asked), None)


def gram_bytes(n_columns: int, impute: str | None) -> int:
    """Return an estimate of the memory that reading so many columns in blocks takes."""
    copies = GAPPED_COPIES if impute == "keep" else GRAM_COPIES
    return 8 * n_columns * (copies * n_columns + SAMPLE_COPIES * SAMPLE_ROWS)


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


class _Blocks:
    """The numbers of a file, block by block, as often as they are needed."""

    def __init__(self, path: Path, options: ReadOptions, progress: Progress | None) -> None:
        self.rows: Any = open_rows(path, options)
        self.plan = self.rows.plan(options.roles)
        self._progress = progress

    def __iter__(self) -> Any:
        self.reader = self.rows.number_reader(self.plan)
        for block in self.rows.blocks(self.plan, self._progress):
            yield self.reader.read(block)


def stream_table(
    path: Path, options: ReadOptions, normalize: str = "none", progress: Progress | None = None
) -> tuple[Table, AllRows]:
    """Read a text or Parquet file in blocks: once, or three times if rows are to be normalised or have gaps.

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
            "A median needs the whole column in memory; use ",
            Setting("impute", "drop"),
            " or ",
            Setting("impute", "keep"),
            ".",
        )
    blocks = _Blocks(path, options, progress)
    _check_width(len(blocks.plan.features), options.impute)
    at_once = normalize == "none" and options.impute != "keep"
    facts, accumulator = ColumnFacts(len(blocks.plan.features)), GramAccumulator()
    stride, sample = max(1, blocks.rows.n_rows // SAMPLE_ROWS), []
    for values in blocks:
        sample.append(values[-facts.n_rows % stride :: stride].copy())
        facts.update(values)
        if at_once:
            accumulator.update(np.nan_to_num(values, nan=0.0, posinf=0.0, neginf=0.0))
    table = _sampled(path, blocks, np.concatenate(sample), facts.n_rows, options)
    texts = texts_of(blocks.plan, blocks.reader)
    late = {place: texts[j] for place, j in enumerate(blocks.plan.features) if j in texts}
    gone, reasons = check_facts(table, facts, options.impute, options.keep_constant, late)
    table, kept = table.without(gone, reasons), np.flatnonzero(~gone)
    if facts.missing[kept].any():
        table = table.with_notes(gaps_note(facts.missing[kept]))
    if at_once:
        return table, _all_rows(accumulator, kept)
    total = _median_total(blocks, facts, kept) if normalize == "log" else None
    for values in blocks:
        ready = values[:, kept]
        accumulator.update(ready if total is None else log_counts(ready, total))
    return table, replace(_all_rows(accumulator, np.arange(kept.size)), total=total)


def _check_width(n_columns: int, impute: str | None) -> None:
    needed, free = gram_bytes(n_columns, impute), free_memory()
    if needed > free:
        raise TableError(
            f"The products of {n_columns} columns would take about {needed / 2**30:.1f} GB of memory, of "
            f"which {free / 2**30:.1f} GB are free; use fewer columns, or --no-stream if there are few rows."
        )


def _sampled(path: Path, blocks: _Blocks, sample: NDArray, n_rows: int, options: ReadOptions) -> Table:
    rows, plan, reader = blocks.rows, blocks.plan, blocks.reader
    table = Table(
        data=sample,
        feature_names=[plan.names[j] for j in plan.features],
        whole=np.array([reader.whole.get(j, False) for j in plan.features], dtype=bool),
        id_name=None if plan.id_position is None else plan.names[plan.id_position],
        label_name=None if plan.label_position is None else plan.names[plan.label_position],
        left_out=tuple(LeftOut(plan.names[j], reason) for j, reason in sorted(plan.texts.items())),
        notes=(*rows.notes, *reading_notes(plan.names, reader), *rows.ending_notes()),
        dialect=rows.dialect,
        columns=SourceColumns(
            rows,
            tuple(plan.features),
            tuple(sorted(texts_of(plan, reader))),
            plan.id_position,
            plan.label_position,
        ),
        source=path,
        sha256=file_sha256(path),
        n_rows=n_rows,
    )
    note = f"The table is large: it was read in blocks, and a sample of {len(sample)} rows is kept."
    return table.with_notes(*role_notes(table, options), note)


def _median_total(blocks: _Blocks, facts: ColumnFacts, kept: NDArray) -> float:
    """Return the median total of the rows, for which they are read once more.

    Raises
    ------
    TableError
        If values are negative or missing.
    """
    log_counts(np.where(facts.missing[kept] > 0, np.nan, facts.low[kept])[None])  # for what it refuses
    return median_total(np.concatenate([row_totals(values[:, kept]) for values in blocks]))


def _all_rows(accumulator: GramAccumulator, kept: NDArray) -> AllRows:
    """Return what is known of the kept columns."""
    gram, means = accumulator.gram(), accumulator.mean
    if kept.size < means.size:
        gram, means = FormedGram(gram.subgram(kept), gram.n_samples, gram.scale), means[kept]
    return AllRows(gram, means, np.sqrt(gram.diag() / gram.n_samples) * gram.scale)
