"""``ufselect report``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ufselect.cli import options as opt
from ufselect.cli.early import check_files


def report(
    run: Annotated[
        Path,
        typer.Argument(
            help="The record of a run, the .json file that select wrote, or a folder of reproduce."
        ),
    ],
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
    from ufselect.cli.reporting import report_record, report_study

    if run.is_dir():
        report_study(run, page)
    else:
        target = page or run.with_suffix(".html")
        check_files({"-o": target}, force, data)
        report_record(run, target, data, resamples, force)
