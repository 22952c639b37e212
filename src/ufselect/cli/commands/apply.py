"""``ufselect apply``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ufselect.cli import options as opt
from ufselect.cli.early import check_data, check_files
from ufselect.cli.sharing import reads_as_written


@reads_as_written
def apply(
    record: Annotated[Path, typer.Argument(help="The record of a run, the .json file that select wrote.")],
    data: opt.Data,
    output_table: Annotated[
        Path, typer.Option("-o", "--output", help="Write the columns here, as select does; - for a pipe.")
    ],
    scaled: Annotated[
        bool, typer.Option("--scaled", help="Subtract the first table's means and divide by its deviations.")
    ] = False,
    drop_text: opt.DropText = False,
    quiet: opt.Quiet = False,
    force: opt.Force = False,
    *,
    reading: dict[str, Any],
) -> None:
    """Take the columns of an earlier run from another table, such as a validation cohort, as they are there.

    Example: ufselect apply picked.json cohort.csv -o cohort-picked.csv
    """
    check_data(data)
    check_files({"-o": output_table}, force, data, piped="-o")
    from ufselect.cli.applying import run_apply

    run_apply(record, data, output_table, scaled, drop_text, quiet, force, reading)
