"""The columns of an earlier run, from another table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ufselect.cli.console import errors, note, working
from ufselect.cli.data import StandardInput
from ufselect.cli.outputs import pipe_columns
from ufselect.cli.run_record import read_record, request_of
from ufselect.common.wording import listed
from ufselect.io import ReadOptions, Table, TableError
from ufselect.io.cleaning import gaps_note
from ufselect.io.files import check_outputs, write_atomically
from ufselect.io.reading import read_uncleaned
from ufselect.io.writing import separator_note, write_columns, written_as


def run_apply(
    record_path: Path,
    data: str,
    target: Path,
    scaled: bool,
    drop_text: bool,
    quiet: bool,
    force: bool,
    reading: Mapping[str, Any],
) -> None:
    """Read a table, find the columns of a record in it, and write them in the record's order."""
    record = read_record(record_path)
    to_pipe = str(target) == "-"
    if not to_pipe:
        written_as(target)
        check_outputs((target,), force, Path(data))
    spooled = StandardInput() if data == "-" else None
    path = Path(data) if spooled is None else spooled.path
    with working(f"Reading {path.name} …"):
        table = read_uncleaned(path, _options(record, reading))
    features = sorted(record["result"]["features"], key=lambda feature: feature["index"])
    chosen = find_features([feature["name"] for feature in features], table)
    if not quiet:
        note([*table.notes, *_order_note(chosen), *_gaps(table, chosen)])
    if scaled:
        table = _scaled(table, chosen, features, record)
    words = None if to_pipe or quiet else separator_note(table, target)
    note([] if words is None else [words])
    if to_pipe:
        pipe_columns(table, chosen, drop_text)
        return
    write_atomically(target, lambda part: write_columns(table, chosen, part, target, drop_text), force)
    if not quiet:
        errors().print(f"Wrote {chosen.size} columns to {target}", markup=False, highlight=False)


def _options(record: Mapping[str, Any], typed: Mapping[str, Any]) -> ReadOptions:
    """Return the record's way of reading, changed by what was typed; marks of text are found anew."""
    _, recorded = request_of(record)
    default = ReadOptions()
    given = {name: value for name, value in typed.items() if value != getattr(default, name)}
    found_anew = ("separator", "decimal", "header", "impute", "batch_column", "weight_column")
    kept = {**asdict(recorded), **dict.fromkeys(found_anew)}
    if typed["guess"]:
        # columns that the first table had as ids and labels are so here as well, where they exist
        kept["guess"] = recorded.guess
    return ReadOptions(**{**kept, **given})


def find_features(names: Sequence[str], table: Table) -> NDArray[np.intp]:
    """Return where the named columns are in a table.

    Raises
    ------
    TableError
        If some are absent, or hold words.
    """
    places = {name: place for place, name in enumerate(table.feature_names)}
    absent = [name for name in names if name not in places]
    reasons = {column.name: column.reason for column in table.left_out}
    wordy = [name for name in absent if name in reasons]
    if wordy:
        raise TableError(f"{listed(wordy)}: {reasons[wordy[0]]} in {table.source}; the record needs numbers.")
    if absent:
        close = get_close_matches(absent[0], table.feature_names, n=1)
        hint = f"; did you mean {close[0]}?" if close else "; give a table with the same columns."
        raise TableError(
            f"{table.source} lacks {len(absent)} of {len(names)} columns: {listed(absent)}{hint}"
        )
    return np.array([places[name] for name in names], dtype=np.intp)


def _order_note(chosen: NDArray[np.intp]) -> list[str]:
    if np.all(np.diff(chosen) > 0):
        return []
    return [
        "The columns stand in another order than in the first table; they are written in the first order."
    ]


def _gaps(table: Table, chosen: NDArray[np.intp]) -> list[str]:
    values = table.data[:, chosen]
    missing = np.isnan(values.toarray() if sparse.issparse(values) else values).sum(axis=0)
    return [gaps_note(missing)] if missing.any() else []


def _scaled(
    table: Table, chosen: NDArray[np.intp], features: Sequence[Mapping[str, Any]], record: Mapping[str, Any]
) -> Table:
    if "mean" not in features[0]:
        raise TableError("The record is of an earlier version and holds no scaling; make it again.")
    if record["request"].get("normalize", "none") != "none":
        raise TableError("The record was made with --normalize; take the columns without --scaled.")
    data = table.data.toarray() if sparse.issparse(table.data) else np.array(table.data, dtype=np.float64)
    for place, feature in zip(chosen, features, strict=True):
        data[:, place] = (data[:, place] - feature["mean"]) / (feature["deviation"] or 1.0)
    return replace(table, data=data, dialect=None, whole=np.zeros(data.shape[1], dtype=bool))
