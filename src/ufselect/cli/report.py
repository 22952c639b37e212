"""``ufselect report``: the page of an earlier run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ufselect.cli import options as opt


def report(
    run: Annotated[Path, typer.Argument(help="The record of a run, the .json file that select wrote.")],
    page: Annotated[
        Path | None, typer.Option("-o", "--output", help="The page to write; beside the record without it.")
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
    from ufselect.cli import record as records
    from ufselect.cli.run import run_selection
    from ufselect.cli.table import open_data
    from ufselect.cli.text import say, working

    record = records.read_record(run)
    request, reading = records.request_of(record)
    image = record["data"]["image_shape"]
    source = data or records.data_of(record, run, "say where they are now with --data.")
    shape = tuple(image) if image else None
    opened = open_data(source, reading, image=shape, normalize=request.normalize, exclude=request.exclude)
    records.check_same(opened.table, record)
    with working("Repeating the run:"):
        repeated = run_selection(opened, request, verbose=True)
        found = {**records.record_of(repeated, reading), "command": record["command"]}
        records.write_outputs(repeated, found, records.Outputs(report=target, force=force))
    say(f"Wrote {target}")
