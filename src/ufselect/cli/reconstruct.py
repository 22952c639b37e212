"""``ufselect reconstruct``: reconstruct all columns of a table from the selected ones."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ufselect.cli import options as opt
from ufselect.cli.apply import find_columns, opened_by

if TYPE_CHECKING:
    from numpy.typing import NDArray


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
    """Reconstruct all columns of a table that has the selected ones, with an error estimate for each.

    Example: ufselect reconstruct selected.json tomorrow.csv -o all.csv
    """
    files = {"-o": output_table, "--errors": errors}
    earlier, table = opened_by(record, data, reading, files, force)
    import numpy as np

    from ufselect._utils.validation import listed
    from ufselect.cli.record import pipe_columns
    from ufselect.cli.saved_map import read_map
    from ufselect.cli.text import grid, note, output, percent, say, short_name
    from ufselect.exceptions import TableError
    from ufselect.io.files import write_together
    from ufselect.io.table import dense
    from ufselect.io.write import ranked_rows, write_columns

    column_map, arrays = read_map(record, earlier)
    to_pipe = str(output_table) == "-"
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

    def told(rows: NDArray, what: str) -> str:
        listed_rows = listed([str(row + 1) for row in rows], 5)
        whose = f"errors may be larger: {'row' if rows.size == 1 else 'rows'} {listed_rows}."
        return f"{rows.size} of {len(measured)} rows {what}, and their {whose}"

    if failed.any():
        rows = np.flatnonzero(failed.any(axis=1))
        remarks.append(told(rows, "lack a selected column, which was predicted from the other selected ones"))
    constant = {
        each["name"]: each["value"] for each in earlier["data"]["left_out"] if each["reason"] == "constant"
    }
    if constant:
        remarks.append(f"{listed([*constant], 3)}: written with the constant value of the first table.")
    replaced = [
        each for each in table.feature_names if each in {*names, *constant} - {names[j] for j in selected}
    ]
    if replaced:
        words = "in the table, but written as reconstructed from the selected columns"
        remarks.append(f"{listed(replaced, 3)}: {words}.")
    far = np.flatnonzero(column_map.is_far(values))
    if far.size == len(measured) > 1:
        remarks.append("All rows lie far from those that the map was fitted to: check their units.")
    elif far.size:
        remarks.append(told(far, "lie far from all rows that the map was fitted to"))
    columns = (names, np.isin(np.arange(len(names)), selected), deviations, arrays["column_errors"])
    heads = ("column", "measured", "standard_deviation_of_error", "error_relative_to_mean")
    estimates = [dict(zip(heads, row, strict=True)) for row in zip(*columns, strict=True)]
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
