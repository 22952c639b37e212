"""``ufselect report``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ufselect.cli import options as opt
from ufselect.cli.console import errors, working
from ufselect.cli.data import open_data
from ufselect.cli.outputs import check_same, write_report
from ufselect.cli.run import run_selection
from ufselect.cli.run_record import data_of, read_record, record_of, request_of
from ufselect.io.writing import check_outputs


def report(
    run: Annotated[Path, typer.Argument(help="The record of a run, the .json file that select wrote.")],
    page: Annotated[
        Path | None, typer.Option("-o", "--output", help="The page to write; beside the record without it.")
    ] = None,
    data: Annotated[
        str | None, typer.Option("--data", help="Where the data are now, if they have been moved.")
    ] = None,
    resamples: opt.Resamples = 10,
    force: opt.Force = False,
) -> None:
    """Write the page that explains an earlier run.

    Example: ufselect report picked.json -o page.html
    """
    record = read_record(run)
    target = page or run.with_suffix(".html")
    check_outputs((target,), force)
    request, reading = request_of(record)
    image = record["data"].get("image_shape")
    table = open_data(data or data_of(record, run), reading, tuple(image) if image else None, quiet=True)
    check_same(table, record, new_data=False)
    with working("Repeating the run:"):
        repeated = run_selection(table, request, verbose=True)
    write_report(repeated, record_of(repeated, reading), target, force, resamples)
    errors().print(f"Wrote {target}", markup=False, highlight=False)
