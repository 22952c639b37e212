"""``ufselect apply``: the columns of an earlier run, from another table."""

from __future__ import annotations

from dataclasses import asdict, replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ufselect.cli import options as opt

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ufselect.io import ReadOptions, Table


def apply(
    record: Annotated[Path, typer.Argument(help="The record of a run, the .json file that select wrote.")],
    data: opt.Data,
    output_table: Annotated[
        Path, typer.Option("-o", "--output", help="Write the columns here, as select does; - for a pipe.")
    ],
    scaled: Annotated[
        bool, typer.Option("--scaled", help="Subtract the first table's means and divide by its deviations.")
    ] = False,
    id_column: opt.IdColumn = None,
    label_column: opt.LabelColumn = None,
    separator: opt.Separator = None,
    decimal: opt.Decimal = None,
    header: opt.Header = None,
    guess: opt.Guess = True,
    missing: opt.Missing = None,
    comment: opt.Comment = None,
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
    typed = dict(locals())
    opt.check_data(data)
    opt.check_files({"-o": output_table}, force, data)
    import numpy as np

    from ufselect.cli.record import pipe_columns, read_record
    from ufselect.cli.table import spooled_input
    from ufselect.cli.text import note, say, working
    from ufselect.io.read import read_uncleaned
    from ufselect.io.table import gaps_note
    from ufselect.io.write import separator_note, write_selection, written_as

    found = read_record(record)
    to_pipe = str(output_table) == "-"
    if not to_pipe:
        written_as(output_table)
    path = spooled_input() if data == "-" else Path(data)
    with working(f"Reading {path.name} …"):
        table = read_uncleaned(path, reading_of(found, typed))
    features = sorted(found["result"]["features"], key=lambda feature: feature["index"])
    selected = find_columns([feature["name"] for feature in features], table)
    remarks = [*table.notes]
    if np.any(np.diff(selected) < 0):
        remarks.append(
            "The columns stand in another order than in the first table; they are written in the first."
        )
    values = table.data[:, selected]
    n_missing = np.isnan(values.toarray() if hasattr(values, "toarray") else values).sum(axis=0)
    remarks += [gaps_note(n_missing)] if n_missing.any() else []
    if scaled:
        table = _scaled(table, selected, found)
    words = None if to_pipe else separator_note(table, output_table)
    remarks += [] if words is None else [words]
    if to_pipe:
        pipe_columns(table, selected, drop_text)
    else:
        write_selection(table, selected, output_table, force, drop_text)
    if not quiet:
        note(remarks)
        if not to_pipe:
            say(f"Wrote {selected.size} columns to {output_table}")


def reading_of(record: dict[str, Any], typed: dict[str, Any]) -> ReadOptions:
    """Return the record's way of reading, changed by what was typed; marks of text are found anew."""
    from ufselect.cli.record import request_of
    from ufselect.io import ReadOptions

    _, recorded = request_of(record)
    now, default = asdict(opt.read_options(typed)), asdict(ReadOptions())
    given = {name: value for name, value in now.items() if value != default[name]}
    found_anew = ("separator", "decimal", "header", "impute", "batch_column", "weight_column")
    return ReadOptions(**{**asdict(recorded), **dict.fromkeys(found_anew), **given})


def find_columns(names: list[str], table: Table) -> NDArray[np.intp]:
    """Return where the named columns are in a table."""
    import numpy as np

    from ufselect._utils.messages import listed
    from ufselect.exceptions import TableError

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


def _scaled(table: Table, selected: NDArray[np.intp], record: dict[str, Any]) -> Table:
    import numpy as np

    from ufselect.exceptions import TableError

    if record["request"]["normalize"] != "none":
        raise TableError("The record was made with --normalize; take the columns without --scaled.")
    data = table.data.toarray() if hasattr(table.data, "toarray") else np.array(table.data, dtype=np.float64)
    features = sorted(record["result"]["features"], key=lambda feature: feature["index"])
    for place, feature in zip(selected, features, strict=True):
        data[:, place] = (data[:, place] - feature["mean"]) / feature["deviation"]
    return replace(table, data=data, dialect=None, whole=np.zeros(data.shape[1], dtype=bool))
