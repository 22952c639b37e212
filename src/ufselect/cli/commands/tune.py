"""``ufselect tune``."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table as Grid

from ufselect.cli import options as opt
from ufselect.cli.console import note, output, working
from ufselect.cli.data import open_data
from ufselect.cli.outputs import fit, planned_outputs, show, write
from ufselect.cli.run import SCALINGS, Request, request_for, scaled
from ufselect.cli.run_record import record_of
from ufselect.cli.show import shown_value
from ufselect.io import ReadOptions
from ufselect.io.cleaning import POLICIES

DEFAULT_COUNT = "0.1"
COLUMNS = ("candidate", "criterion", "seconds")


def tune(
    data: Annotated[str, typer.Argument(help=opt.DATA_HELP)],
    k: opt.Count = DEFAULT_COUNT,
    clusters: Annotated[
        str,
        typer.Option("--clusters", metavar="N|auto", help="How many groups the data have, if that is known."),
    ] = "auto",
    scale: opt.Scale = "none",
    output_table: opt.OutputTable = None,
    report: opt.ReportPage = None,
    record: Annotated[
        Path | None,
        typer.Option(
            "--record", help="Write the record here; without it beside the output, ending in .json."
        ),
    ] = None,
    id_column: opt.IdColumn = None,
    labels: opt.LabelColumn = None,
    impute: opt.Impute = None,
    separator: opt.Separator = None,
    decimal: opt.Decimal = None,
    guess: opt.Guess = True,
    resamples: opt.Resamples = 10,
    seed: opt.Seed = 0,
    as_json: opt.AsJson = False,
    force: opt.Force = False,
) -> None:
    """Choose method and parameters without labels, then the features.

    Example: ufselect tune cells.csv -k 50 -o picked.csv
    """
    opt.choice(impute, POLICIES, "--impute")
    opt.choice(scale, SCALINGS, "--scale")
    count = opt.count(k)
    groups = opt.whole_or_auto(clusters, "--clusters")
    reading = ReadOptions(id_column, labels, impute, opt.mark(separator), decimal, None, guess)
    outputs = planned_outputs(output_table, report, record, data, force)
    table = open_data(data, reading, quiet=as_json)
    tuned = _tuned(scaled(table.data, scale), count, groups, seed)
    request = request_for(tuned.best_estimator_, Request(n_features=count, seed=seed, scale=scale))
    run = fit(table, request, quiet=as_json)
    found = record_of(run, reading)
    found["tuning"] = [
        {name: shown_value(value) for name, value in row.items()} for row in _rows(tuned.report_)
    ]
    write(run, found, outputs, force, resamples)
    if as_json:
        output().print_json(json.dumps(found))
        return
    output().print(_candidates(found["tuning"]), highlight=False)
    settings = (
        ", ".join(f"{name}={value}" for name, value in request.parameters.items()) or "default parameters"
    )
    note(str(row["note"]) for row in found["tuning"] if row.get("selected") and row.get("note"))
    note([f"Chosen without labels: {request.method}, {settings}."])
    show(run, found, outputs)


def _tuned(data: Any, count: int | float, groups: int | str, seed: int) -> Any:
    from ufselect.auto import AutoSelector

    with working("Trying methods:"):
        return AutoSelector(count, n_clusters=groups, random_state=seed).fit(data)


def _rows(report: Any) -> list[Mapping[str, Any]]:
    """Return the report of the tuning as rows, be it a list or a data frame."""
    return report.to_dict("records") if hasattr(report, "to_dict") else list(report)


def _candidates(rows: Sequence[Mapping[str, Any]], most: int = 15) -> Grid:
    """Return the candidates with the judge's figures, the chosen one marked."""
    grid = Grid(title=f"{len(rows)} candidates", title_justify="left")
    for name in COLUMNS:
        grid.add_column(name, justify="left" if name == "candidate" else "right", overflow="fold")
    grid.add_column("")
    for row in rows[:most]:
        cells = [_figure(row.get(name)) for name in COLUMNS]
        grid.add_row(*cells, "chosen" if row.get("selected") else "")
    if len(rows) > most:
        grid.caption = f"and {len(rows) - most} more"
    return grid


def _figure(value: Any) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)
