"""``ufselect report``: write the page of an earlier run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ufselect.cli import options as opt
from ufselect.cli.select import select


def report(
    run: opt.Record,
    page: Annotated[
        Path | None, typer.Option("-o", "--output", help="The page to write; by default beside the record.")
    ] = None,
    data: Annotated[
        str | None, typer.Option("--data", help="Where the data are now, if they have been moved.")
    ] = None,
    force: opt.Force = False,
    debug: opt.Debug = False,
) -> None:
    """Write the page that explains an earlier run.

    Example: ufselect report picked.json -o page.html
    """
    target = page or run.parent / f"{run.stem}.html"
    opt.check_files({"--output": target}, force, data)
    select(data, repeat=run, report=target, quiet=True, force=force)
    from ufselect.cli.text import say

    say(f"Wrote {target}")
