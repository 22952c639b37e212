"""Use a record: ``apply`` takes its columns from another table, ``reconstruct`` adds all others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ufselect.cli import options as opt
from ufselect.cli.text import grid, note, output, percent, say, short_name, working

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ufselect.io import Table


def apply(
    *,
    record: opt.Record,
    data: opt.Data,
    output_table: Annotated[
        Path,
        typer.Option("-o", "--output", help="Write the columns here, as select does; - for standard output."),
    ],
    scaled: Annotated[
        bool, typer.Option("--scaled", help="Standardize with the means and deviations of the first table.")
    ] = False,
    reading: opt.Reading,
    drop_text: opt.DropText = False,
    quiet: opt.Quiet = False,
    force: opt.Force = False,
) -> None:
    """Take the columns of an earlier run from another table.

    Example: ufselect apply selected.json cohort.csv -o cohort-selected.csv
    """
    earlier, table = opened_by(record, data, reading, {"-o": output_table}, force)
    import numpy as np

    from ufselect.cli.record import pipe_columns
    from ufselect.exceptions import TableError
    from ufselect.io.table import dense, kept_missing_note
    from ufselect.io.write import separator_notes, write_selection

    features = sorted(earlier["result"]["features"], key=lambda feature: feature["index"])
    selected = find_columns([feature["name"] for feature in features], table)
    remarks = [*table.doubts, *table.notes]
    if np.any(np.diff(selected) < 0):
        remarks.append(
            "The columns are in another order than in the first table; they are written in the first order."
        )
    n_missing = np.isnan(dense(table.data[:, selected])).sum(axis=0)
    remarks += [kept_missing_note(n_missing)] if n_missing.any() else []
    if scaled:
        if earlier["request"]["normalize"] != "none":
            raise TableError(
                "The record was made with --normalize, so --scaled cannot be used; leave it out."
            )
        values = np.array(dense(table.data), dtype=np.float64)
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


def reconstruct(
    *,
    record: opt.Record,
    data: opt.Data,
    output_table: Annotated[
        Path,
        typer.Option("-o", "--output", help="Write all columns here, as select does; - for standard output."),
    ],
    errors: Annotated[
        Path | None,
        typer.Option("--errors", help="Write each column with its error estimate here: .csv or .tsv."),
    ] = None,
    reading: opt.Reading,
    drop_text: opt.DropText = False,
    quiet: opt.Quiet = False,
    force: opt.Force = False,
) -> None:
    """Reconstruct all columns from the selected ones.

    The table needs the selected columns; the error of each other column is estimated.

    Example: ufselect reconstruct selected.json tomorrow.csv -o all.csv
    """
    files = {"-o": output_table, "--errors": errors}
    earlier, table = opened_by(record, data, reading, files, force)
    import numpy as np

    from ufselect._utils.validation import listed
    from ufselect.cli.record import pipe_columns, read_map
    from ufselect.exceptions import TableError
    from ufselect.io.files import write_together
    from ufselect.io.table import dense
    from ufselect.io.write import ranked_rows, write_columns

    column_map, arrays = read_map(record, earlier)
    names = [str(each) for each in arrays["names"]]
    centre, scale, deviations = arrays["centre"], arrays["scale"], arrays["standard_deviations"]
    selected = column_map.columns
    measured = dense(table.data[:, find_columns([names[j] for j in selected], table)])
    failed, remarks = np.isnan(measured), [*table.doubts, *table.notes]
    with np.errstate(over="ignore", invalid="ignore"):
        values, _, _ = column_map.complete((measured - centre[selected]) / scale[selected])
        reconstructed = column_map.predict(values) * scale + centre
    if not np.isfinite(reconstructed).all():
        raise TableError(f"{table.source} has values too large for the map; correct them.")
    reconstructed[:, selected] = np.where(failed, reconstructed[:, selected], measured)
    far = np.flatnonzero(column_map.is_far(values))
    all_far = far.size == len(measured) > 1
    if all_far:
        remarks.append("All rows lie far from those that the map was fitted to: check their units.")
    for rows, what in (
        (
            np.flatnonzero(failed.any(axis=1)),
            "lack a selected column, which was predicted from the other selected ones",
        ),
        (far[: 0 if all_far else None], "lie far from all rows that the map was fitted to"),
    ):
        if rows.size:
            those = f"{'row' if rows.size == 1 else 'rows'} {listed([str(row + 1) for row in rows], 5)}"
            told = f"{rows.size} of {len(measured)} rows {what}, and their errors may be larger: {those}."
            remarks.append(told)
    left_out = earlier["data"]["left_out"]
    constant = {each["name"]: each["value"] for each in left_out if each["reason"] == "constant"}
    if constant:
        remarks.append(f"{listed([*constant], 3)}: written with the constant value of the first table.")
    written = {*names, *constant} - {names[j] for j in selected}
    if replaced := [name for name in table.feature_names if name in written]:
        words = "in the table, but written as reconstructed from the selected columns"
        remarks.append(f"{listed(replaced, 3)}: {words}.")
    everything = np.hstack([reconstructed, np.tile([*constant.values()], (len(measured), 1))])
    order = np.arange(everything.shape[1])
    table = replace(
        table,
        data=everything,
        feature_names=[*names, *constant],
        whole=order < 0,
        dialect=None,
        fills={},
        n_missing=None,
    )
    columns = (names, np.isin(np.arange(len(names)), selected), deviations, arrays["column_errors"])
    heads = ("column", "measured", "standard_deviation_of_error", "error_relative_to_mean")
    estimates = [dict(zip(heads, row, strict=True)) for row in zip(*columns, strict=True)]
    to_pipe = str(output_table) == "-"
    writers: dict[Path, Any] = {}
    if not to_pipe:
        writers[output_table] = lambda part: write_columns(table, order, part, output_table, drop_text)
    if errors is not None:
        writers[errors] = lambda part: ranked_rows(estimates, errors, part)
    write_together(writers, force)
    if to_pipe:
        pipe_columns(table, order, drop_text)
    if quiet:
        return
    console = output(stderr=to_pipe)
    console.print(
        f"{order.size} columns from {selected.size} measured ones, which by this map explain "
        f"{percent(earlier['map']['score'])} of the variance on held-out rows.",
    )
    worst = sorted(zip(*columns, strict=True), key=lambda row: -row[3])[:5]
    cells = [
        (short_name(name), f"{deviation:.3g}", f"{error:.2f}")
        for name, is_measured, deviation, error in worst
        if not is_measured
    ]
    heading = ("column", "standard deviation of the error>", "in units of the column's own>")
    console.print(grid("Least certain columns; --errors FILE gives all", heading, cells))
    note(remarks)
    for path in writers:
        say(f"Wrote {path}")


def opened_by(
    path: Path, data: str, reading: opt.Reading, files: Mapping[str, Path | None], force: bool
) -> tuple[dict[str, Any], Table]:
    """Return a record, and another table read with its options; typed options take precedence.

    Separator, decimal mark and header are detected again.
    """
    opt.check_data(data)
    opt.check_files(files, force, data)
    from ufselect.cli.record import read_record, request_of
    from ufselect.io import ReadOptions
    from ufselect.io.files import written_as
    from ufselect.io.read import has_rows, open_rows, read_uncleaned
    from ufselect.io.roles import without_summaries

    record = read_record(path)
    if (output := files["-o"]) is not None and str(output) != "-":
        written_as(output)
    detected = ("separator", "decimal", "header", "skip_rows", "impute", "batch_column", "weight_column")
    recorded = {**asdict(request_of(record)[1]), **dict.fromkeys(detected)}
    usual, now = asdict(opt.Reading().options()), asdict(reading.options())
    typed = {name: value for name, value in now.items() if value != usual[name]}
    source = opt.local_file(data)
    with working(f"Reading {source.name} …"):
        if has_rows(source):  # new rows often come without the classes, or under other ids
            there = {name.lower() for name in open_rows(source, ReadOptions(**{**recorded, **typed})).names}
            for role in ("id_column", "label_column"):
                recorded[role] = recorded[role] if str(recorded[role]).lower() in there else None
            carried = recorded["carried_columns"]
            recorded["carried_columns"] = tuple(name for name in carried if name.lower() in there)
        options = ReadOptions(**{**recorded, **typed})
        table = read_uncleaned(source, options)
    return record, without_summaries(table) if options.guess else table


def find_columns(names: list[str], table: Table) -> NDArray[np.intp]:
    """Return the positions of the named columns in a table."""
    import numpy as np

    from ufselect._utils.validation import listed
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
        folded = {name.lower(): name for name in table.feature_names if name not in names}
        close = [folded[name] for name in get_close_matches(absent[0].lower(), folded, n=1)]
        hint = f"; did you mean {close[0]}?" if close else "; give a table with the same columns."
        raise TableError(
            f"{table.source} lacks {len(absent)} of {len(names)} columns: {listed(absent)}{hint}"
        )
    return np.array([places[name] for name in names], dtype=np.intp)
