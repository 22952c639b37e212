"""``ufselect compare``."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table as Grid

from ufselect.cli import options as opt
from ufselect.cli.console import errors, note, output, working
from ufselect.cli.data import open_data
from ufselect.cli.methods import find_method
from ufselect.evaluation.tables import Table as Results
from ufselect.io import ReadOptions, TableError
from ufselect.io.cleaning import POLICIES
from ufselect.io.writing import check_outputs, write_text

MODES = ("fixed", "oracle", "auto")
ENDINGS = (".csv", ".md", ".tex")


def compare(
    data: Annotated[str, typer.Argument(help=opt.DATA_HELP)],
    labels: opt.LabelColumn = None,
    method: Annotated[
        list[str] | None,
        typer.Option("--method", "-m", help="A method to compare; may be repeated. All without it."),
    ] = None,
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
    runs: Annotated[int, typer.Option("--runs", min=1, help="K-means runs a selection.")] = 50,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer runs and parameters.")] = False,
    jobs: opt.Jobs = 1,
    output_table: Annotated[
        Path | None, typer.Option("-o", "--output", help="Write the accuracy table: .csv, .md or .tex.")
    ] = None,
    id_column: opt.IdColumn = None,
    impute: opt.Impute = None,
    separator: opt.Separator = None,
    decimal: opt.Decimal = None,
    as_json: opt.AsJson = False,
    force: opt.Force = False,
) -> None:
    """Compare methods on a table with known classes: how well does clustering find them?

    Example: ufselect compare cells.csv --labels type -k 20 -k 50
    """
    from ufselect import evaluation

    opt.choice(mode, MODES, "--mode")
    opt.choice(impute, POLICIES, "--impute")
    if output_table is not None and output_table.suffix not in ENDINGS:
        raise typer.BadParameter(f"{output_table} must end in {', '.join(ENDINGS)}.", param_hint="-o")
    check_outputs((output_table,), force, Path(data))
    methods = [find_method(name).__name__ for name in method] if method else None
    reading = ReadOptions(id_column, labels, impute, opt.mark(separator), decimal)
    table = open_data(data, reading, quiet=as_json)
    if table.labels is None:
        raise TableError("No label column was found; name the column of known classes with --labels.")
    with working("Comparing:"):
        found = evaluation.compare(
            table.data,
            table.labels,
            methods=methods,
            counts=k or None,
            mode=mode,
            n_runs=runs,
            quick=quick,
            n_jobs=jobs,
            name=Path(data).stem,
        )
    if as_json:
        output().print_json(json.dumps([asdict(row) for row in found.rows], default=str))
    else:
        for results in found.tables.values():
            output().print(grid(results), highlight=False)
        note(f"{name}: {why}" for (name, _), why in found.failures.items())
    if output_table is not None:
        write_text(output_table, _written(found.tables["acc"], output_table.suffix), force)
        errors().print(f"Wrote {output_table}", markup=False, highlight=False)


def grid(results: Results) -> Grid:
    """Return a table of results for the terminal."""
    shown = Grid(title=results.title, title_justify="left")
    for position, column in enumerate(results.columns):
        shown.add_column(column, justify="right" if position else "left")
    for row in results.body:
        shown.add_row(*row)
    return shown


def _written(results: Results, ending: str) -> str:
    forms = {".csv": results.to_csv, ".md": results.to_markdown, ".tex": results.to_latex}
    return forms[ending]()
