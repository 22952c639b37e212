"""``ufselect reconstruct``: reconstruct all columns of a table from the selected ones."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from ufselect.cli import options as opt
from ufselect.cli.apply import find_columns, opened_by


def reconstruct(
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
    """Reconstruct all columns of a table that has the selected ones, with an error estimate for each.

    Example: ufselect reconstruct picked.json tomorrow.csv -o all.csv
    """
    found, table = opened_by(record, data, {"-o": output_table, "--errors": errors}, dict(locals()))
    import numpy as np

    from ufselect._utils.messages import listed
    from ufselect.cli.record import pipe_columns, read_map
    from ufselect.cli.text import grid, note, output, say, short_name
    from ufselect.io.files import write_together
    from ufselect.io.table import dense
    from ufselect.io.write import ranked_rows, write_columns

    column_map, arrays = read_map(record, found)
    to_pipe = str(output_table) == "-"
    names = [str(each) for each in arrays["names"]]
    centre, scale, deviations = arrays["centre"], arrays["scale"], arrays["standard_deviations"]
    selected = column_map.columns
    measured = dense(table.data[:, find_columns([names[j] for j in selected], table)])
    incomplete, remarks = np.flatnonzero(np.isnan(measured).any(axis=1)), [*table.notes]
    if incomplete.size:
        measured = np.where(np.isnan(measured), arrays["means"][selected], measured)
        rows = listed([str(row + 1) for row in incomplete], 5)
        remarks.append(
            f"{incomplete.size} of {len(measured)} rows lack a value of a selected column, which was filled "
            f"by the mean; their errors may be larger: {'row' if incomplete.size == 1 else 'rows'} {rows}."
        )
    scaled = (measured - centre[selected]) / scale[selected]
    reconstructed = column_map.predict(scaled) * scale + centre
    reconstructed[:, selected] = measured
    far = np.flatnonzero(column_map.is_far(scaled))
    replaced = [each for each in table.feature_names if each in names and names.index(each) not in selected]
    if replaced:
        words = "in the table, but written as reconstructed from the selected columns"
        remarks.append(f"{listed(replaced, 3)}: {words}.")
    if far.size:
        rows = listed([str(row + 1) for row in far], 5)
        remarks.append(
            f"{far.size} of {len(reconstructed)} rows lie far from all rows that the map was fitted to, and "
            f"their errors may be larger: {'row' if far.size == 1 else 'rows'} {rows}."
        )
    order, whole = np.arange(len(names)), np.zeros(len(names), dtype=bool)
    table = replace(
        table, data=reconstructed, feature_names=names, whole=whole, dialect=None, fills={}, n_missing=None
    )
    columns = (names, np.isin(order, selected), deviations, arrays["column_errors"])
    heads = ("column", "measured", "standard_deviation_of_error", "error_relative_to_mean")
    estimates = [dict(zip(heads, row, strict=True)) for row in zip(*columns, strict=True)]
    writers = {}
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
    unmeasured = np.delete(arrays["column_errors"], selected) if selected.size < len(names) else np.zeros(1)
    console.print(
        f"{len(names) - selected.size} columns are reconstructed from {selected.size} measured ones, with "
        f"a relative error of {np.sqrt(np.mean(np.square(unmeasured))):.2g} per column when single rows are "
        "held out (0 is perfect, 1 no better than the mean of the column).",
    )
    worst = sorted(zip(*columns, strict=True), key=lambda row: -row[3])[:5]
    cells = [
        (short_name(name), f"{deviation:.3g}", f"{error:.2f}")
        for name, is_measured, deviation, error in worst
        if not is_measured
    ]
    heading = ("column", "standard deviation of the error>", "relative error>")
    console.print(grid("Least certain columns; --errors FILE gives all", heading, cells))
    note(remarks)
    for path in writers:
        say(f"Wrote {path}")
