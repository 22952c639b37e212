"""Tables beyond memory: passes over blocks of rows give facts, a sample of rows, and the Gram matrix."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ufselect.blocks.accumulate import GramAccumulator
from ufselect.exceptions import TableError
from ufselect.gram.operator import FormedGram
from ufselect.io import ReadOptions, Table
from ufselect.io.numbers import NumberReader
from ufselect.io.read import file_sha256, has_rows, open_rows, planned_table
from ufselect.io.roles import role_notes
from ufselect.io.table import ColumnFacts, check_facts, gaps_note

SAMPLE_ROWS = 4000  # for units, clusters and the assessment
MEMORY_SHARE = 0.5  # of what is free; the other half is for copies that a fit makes


@dataclass(frozen=True)
class AllRows:
    """What is known of all rows of a table that is not in memory.

    Attributes
    ----------
    gram : FormedGram
        Of all rows, normalised if that was asked for.
    means, deviations : ndarray of shape (n_features,)
        Of the same.
    counts : LogCounts or None
        What normalised the rows, fitted.
    """

    gram: FormedGram
    means: NDArray
    deviations: NDArray
    counts: Any = None


def is_for_blocks(path: Path, options: ReadOptions, asked: bool | None) -> bool:
    """Whether to read a file in blocks: as asked, else when its numbers would take half the free memory."""
    whole = {
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
    return gram_bytes(width, options.impute) <= free and 8 * width * rows.n_rows > MEMORY_SHARE * free


def gram_bytes(n_columns: int, impute: str | None) -> int:
    """Return an estimate of the memory that reading so many columns in blocks takes.

    Measured on 4000 and 6000 columns: five copies of the Gram matrix exist while blocks are merged, with
    missing values fifteen, and four of the sample.
    """
    copies = 15 if impute == "keep" else 5
    return 8 * n_columns * (copies * n_columns + 4 * SAMPLE_ROWS)


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


class _Blocks:
    """The numbers of a file, block by block, as often as they are needed."""

    def __init__(self, path: Path, options: ReadOptions, progress: Any) -> None:
        self.rows: Any = open_rows(path, options)
        self.plan = self.rows.plan(options)
        self._progress = progress

    def __iter__(self) -> Iterator[NDArray]:
        self.reader = NumberReader(self.plan.features, self.rows.decimal, self.rows.missing)
        for block in self.rows.blocks(self.plan, self._progress):
            yield self.reader.read(block)


def stream_table(
    path: Path, options: ReadOptions, counts: Any = None, progress: Any = None
) -> tuple[Table, AllRows]:
    """Read a text or Parquet file in blocks: once, again if values are missing, twice again to normalise.

    Returns
    -------
    table : Table
        With a sample of the rows.
    all_rows : AllRows
        The Gram matrix, means and deviations of all rows.
    """
    blocks = _Blocks(path, options, progress)
    width = len(blocks.plan.features)
    needed, free = gram_bytes(width, options.impute), free_memory()
    if needed > free:
        raise TableError(
            f"The products of {width} columns would take about {needed / 2**30:.1f} GB of memory, of which "
            f"{free / 2**30:.1f} GB are free; use fewer columns, or --no-stream if there are few rows."
        )
    is_plain = counts is None and options.impute != "keep"
    facts, accumulator = ColumnFacts(width), GramAccumulator()
    stride, sample = max(1, blocks.rows.n_rows // SAMPLE_ROWS), []
    for values in blocks:
        sample.append(values[-facts.n_rows % stride :: stride].copy())
        facts.update(values)
        if is_plain:
            accumulator.update(np.nan_to_num(values, nan=0.0, posinf=0.0, neginf=0.0))
    table = planned_table(blocks.rows, blocks.plan, blocks.reader, np.concatenate(sample))
    table = replace(table, source=path, sha256=file_sha256(path), n_rows=facts.n_rows)
    words = f"The table is large: it was read in blocks, and a sample of {len(table.data)} rows is kept."
    table = table.with_notes(*role_notes(table, options), words)
    texts = blocks.reader.not_features()
    late = {place: texts[j] for place, j in enumerate(blocks.plan.features) if j in texts}
    refused = "keep" if options.impute == "median" else options.impute
    gone, reasons = check_facts(table, facts, refused, options.keep_constant, late)
    table, kept = table.without(gone, reasons), np.flatnonzero(~gone)
    fills = np.full(kept.size, np.nan)
    missing = facts.missing[kept]
    if missing.any() and options.impute == "median":
        fills = np.nanmedian(table.data, axis=0)
        named = {table.feature_names[j]: float(fills[j]) for j in np.flatnonzero(missing)}
        words = f"{missing.sum()} missing values in {len(named)} columns were filled by the column's median"
        data = np.where(np.isnan(table.data), fills, table.data)
        table = replace(table, data=data, fills=named).with_notes(f"{words} in the sample.")
    elif missing.any():
        table = table.with_notes(gaps_note(missing))
    if is_plain and not missing.any():
        return table, _all_rows(accumulator, kept)

    def passes() -> Iterator[NDArray]:
        for values in blocks:
            part = values[:, kept]
            yield np.where(np.isnan(part), fills, part)

    if counts is not None:
        # fitted to the least values for what it refuses, before its total is that of all rows
        counts.fit(np.where(missing > 0, fills, facts.low[kept])[None])
        sums = np.concatenate([part.sum(axis=1) for part in passes()])
        counts.total_ = float(np.median(sums[sums > 0])) if np.any(sums > 0) else 1.0
    accumulator = GramAccumulator()
    for part in passes():
        accumulator.update(part if counts is None else counts.transform(part))
    return table, replace(_all_rows(accumulator, np.arange(kept.size)), counts=counts)


def _all_rows(accumulator: GramAccumulator, kept: NDArray) -> AllRows:
    """Return what is known of the kept columns."""
    gram, means = accumulator.gram(), accumulator.mean
    if kept.size < means.size:
        gram, means = FormedGram(gram.subgram(kept), gram.n_samples, gram.scale), means[kept]
    return AllRows(gram, means, np.sqrt(gram.diag() / gram.n_samples) * gram.scale)
