"""``ufselect compare``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ufselect.cli import options as opt
from ufselect.cli.early import check_data, check_files
from ufselect.cli.sharing import prepares_tables, reads_tables

MODES = ("fixed", "oracle", "auto")
ENDINGS = (".csv", ".md", ".tex")


@reads_tables
@prepares_tables
def compare(
    data: opt.Data,
    method: opt.Methods = None,
    k: Annotated[
        list[int] | None,
        typer.Option("-k", "--features", min=1, help="A number of features; may be repeated."),
    ] = None,
    mode: Annotated[
        str,
        typer.Option(
            "--mode",
            metavar="fixed|oracle|auto",
            help="fixed: default parameters. oracle: the best by the labels, which flatters every method. "
            "auto: chosen without labels.",
        ),
    ] = "fixed",
    runs: Annotated[int, typer.Option("--runs", min=1, help="K-means runs per selection.")] = 50,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer runs and parameters.")] = False,
    jobs: opt.Jobs = 1,
    output_table: Annotated[
        Path | None, typer.Option("-o", "--output", help="Write the results: .csv (numbers), .md or .tex.")
    ] = None,
    record: opt.RecordFile = None,
    as_json: opt.AsJson = False,
    quiet: opt.Quiet = False,
    force: opt.Force = False,
    *,
    reading: dict[str, Any],
    preparing: dict[str, Any],
) -> None:
    """Compare methods on a table with known classes: how well does clustering find them?

    Example: ufselect compare cells.csv --labels type -k 20 -k 50
    """
    opt.choice(mode, MODES, "--mode")
    opt.jobs(jobs)
    if output_table is not None and output_table.suffix not in ENDINGS:
        raise typer.BadParameter(f"{output_table} must end in {', '.join(ENDINGS)}.", param_hint="-o")
    check_data(data)
    check_files({"-o": output_table, "--record": record}, force, data)
    from ufselect.cli.comparing import CompareCall, run_compare
    from ufselect.io import ReadOptions

    run_compare(
        CompareCall(
            data,
            method,
            k,
            mode,
            runs,
            quick,
            jobs,
            output_table,
            record,
            ReadOptions(**reading),
            preparing,
            as_json,
            quiet,
            force,
        )
    )
