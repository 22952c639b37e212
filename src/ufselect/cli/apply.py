"""``ufselect apply``: take the columns of an earlier run from another table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ufselect.cli import options as opt

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ufselect.io import Table


def apply(
    record: opt.Record,
    data: opt.Data,
    output_table: Annotated[
        Path,
        typer.Option("-o", "--output", help="Write the columns here, as select does; - for standard output."),
    ],
    scaled: Annotated[
        bool, typer.Option("--scaled", help="Standardize with the means and deviations of the first table.")
    ] = False,
    id_column: opt.IdColumn = None,
    label_columns: opt.LabelColumns = None,
    guess: opt.Guess = True,
    separator: opt.Separator = None,
    decimal: opt.Decimal = None,
    header: opt.Header = None,
    skip_rows: opt.SkipRows = None,
    missing: opt.Missing = None,
    transpose: opt.Transpose = False,
    sheet: opt.Sheet = None,
    layer: opt.Layer = None,
    drop_text: opt.DropText = False,
    quiet: opt.Quiet = False,
    force: opt.Force = False,
    debug: opt.Debug = False,
) -> None:
    """Take the columns of an earlier run from another table.

    Example: ufselect apply picked.json cohort.csv -o cohort-picked.csv
    """
    found, table = opened_by(record, data, {"-o": output_table}, dict(locals()))
    import numpy as np

    from ufselect.cli.record import pipe_columns
    from ufselect.cli.text import note, say
    from ufselect.exceptions import TableError
    from ufselect.io.table import dense, kept_missing_note
    from ufselect.io.write import separator_notes, write_selection

    features = sorted(found["result"]["features"], key=lambda feature: feature["index"])
    selected = find_columns([feature["name"] for feature in features], table)
    remarks = [*table.notes]
    if np.any(np.diff(selected) < 0):
        remarks.append(
            "The columns are in another order than in the first table; they are written in the first order."
        )
    n_missing = np.isnan(dense(table.data[:, selected])).sum(axis=0)
    remarks += [kept_missing_note(n_missing)] if n_missing.any() else []
    if scaled:
        if found["request"]["normalize"] != "none":
            raise TableError(
                "The record was made with --normalize, so --scaled cannot be used; leave it out."
            )
        is_sparse = hasattr(table.data, "toarray")
        values = dense(table.data) if is_sparse else np.array(table.data, dtype=np.float64)
        for place, feature in zip(selected, features, strict=True):
            values[:, place] = (values[:, place] - feature["mean"]) / feature["deviation"]
        whole = np.zeros(values.shape[1], dtype=bool)
        table = replace(table, data=values, dialect=None, whole=whole)
    remarks += separator_notes(table, output_table)
    if str(output_table) == "-":
        pipe_columns(table, selected, drop_text)
    else:
        write_selection(table, selected, output_table, force, drop_text)
    if not quiet:
        note(remarks)
        if str(output_table) != "-":
            say(f"Wrote {selected.size} columns to {output_table}")


def opened_by(
    record: Path, data: str, files: Mapping[str, Path | None], typed: Mapping[str, Any]
) -> tuple[dict[str, Any], Table]:
    """Return a record, and another table read with its options; typed options take precedence.

    Separator, decimal mark and header are detected again.
    """
    opt.check_data(data)
    opt.check_files(files, typed["force"], data)
    from ufselect.cli.record import read_record, request_of
    from ufselect.cli.table import local_file
    from ufselect.cli.text import working
    from ufselect.io import ReadOptions
    from ufselect.io.read import has_rows, open_rows, read_uncleaned
    from ufselect.io.write import written_as

    found = read_record(record)
    if str(files["-o"]) != "-":
        written_as(files["-o"])  # type: ignore[arg-type]
    now, default = asdict(opt.read_options(typed)), asdict(ReadOptions())
    given = {name: value for name, value in now.items() if value != default[name]}
    found_anew = ("separator", "decimal", "header", "skip_rows", "impute", "batch_column", "weight_column")
    recorded = {**asdict(request_of(found)[1]), **dict.fromkeys(found_anew)}
    path = local_file(data)
    with working(f"Reading {path.name} …"):
        named = [role for role in ("id_column", "label_column") if recorded[role] is not None]
        carried = recorded["carried_columns"]
        if (named or carried) and has_rows(
            path
        ):  # new rows often come without the classes, or under other ids
            there = {name.lower() for name in open_rows(path, ReadOptions(**{**recorded, **given})).names}
            recorded |= {role: None for role in named if recorded[role].lower() not in there}
            recorded["carried_columns"] = tuple(name for name in carried if name.lower() in there)
        return found, read_uncleaned(path, ReadOptions(**{**recorded, **given}))


def find_columns(names: list[str], table: Table) -> NDArray[np.intp]:
    """Return the positions of the named columns in a table."""
    import numpy as np

    from ufselect._utils.messages import listed
    from ufselect.exceptions import TableError

    places = {name: place for place, name in enumerate(table.feature_names)}
    absent = [name for name in names if name not in places]
    reasons = {column.name: column.reason for column in table.left_out}
    wordy = [name for name in absent if name in reasons]
    if wordy:
        raise TableError(
            f"{table.source} has no usable numbers in {listed(wordy)} ({reasons[wordy[0]]}), but the record "
            "needs them."
        )
    if absent:
        close = get_close_matches(absent[0], table.feature_names, n=1)
        hint = f"; did you mean {close[0]}?" if close else "; give a table with the same columns."
        raise TableError(
            f"{table.source} lacks {len(absent)} of {len(names)} columns: {listed(absent)}{hint}"
        )
    return np.array([places[name] for name in names], dtype=np.intp)
