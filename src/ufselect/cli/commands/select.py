"""``ufselect select``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from ufselect.cli import options as opt
from ufselect.cli.console import output
from ufselect.cli.data import open_data
from ufselect.cli.outputs import check_same, fit, planned_outputs, show, write
from ufselect.cli.run import SCALINGS, Request, make_selector
from ufselect.cli.run_record import data_of, read_record, record_of, request_of, same_features
from ufselect.io import ReadOptions
from ufselect.io.cleaning import POLICIES

DEFAULT_COUNT = "0.1"


def select(
    data: Annotated[str | None, typer.Argument(help=opt.DATA_HELP, show_default=False)] = None,
    k: opt.Count = DEFAULT_COUNT,
    method: Annotated[
        str, typer.Option("--method", "-m", help="DSCOFS, LaplacianScore, MaxVariance, …")
    ] = "DSCOFS",
    param: opt.Parameter = None,
    scale: opt.Scale = "none",
    output_table: opt.OutputTable = None,
    report: opt.ReportPage = None,
    record: Annotated[
        Path | None,
        typer.Option(
            "--record", help="Write the record here; without it beside the output, ending in .json."
        ),
    ] = None,
    repeat: Annotated[
        Path | None, typer.Option("--from", metavar="RECORD", help="Repeat the run of a record exactly.")
    ] = None,
    new_data: Annotated[
        bool, typer.Option("--new-data", help="With --from: apply the settings though the data have changed.")
    ] = False,
    id_column: opt.IdColumn = None,
    labels: opt.LabelColumn = None,
    impute: opt.Impute = None,
    separator: opt.Separator = None,
    decimal: opt.Decimal = None,
    header: opt.Header = None,
    guess: opt.Guess = True,
    image: Annotated[
        str | None,
        typer.Option("--image", metavar="ROWSxCOLUMNS", help="The columns are pixels of such images."),
    ] = None,
    resamples: opt.Resamples = 10,
    seed: opt.Seed = 0,
    as_json: opt.AsJson = False,
    force: opt.Force = False,
) -> None:
    """Choose the features of a table.

    Example: ufselect select cells.csv -k 50 -o picked.csv --report page.html
    """
    opt.choice(impute, POLICIES, "--impute")
    opt.choice(scale, SCALINGS, "--scale")
    opt.choice(decimal, (".", ","), "--decimal")
    picture = opt.image_shape(image)
    request = Request(method, opt.count(k), opt.parameters(param), seed, scale)
    reading = ReadOptions(
        id_column,
        labels,
        impute,
        opt.mark(separator),
        decimal,
        header,
        guess,
        keep_constant=picture is not None,
    )
    earlier = None
    if repeat is not None:
        if (request, reading) != (Request(), ReadOptions()):
            raise typer.BadParameter(
                "it repeats the settings of the record; give no others.", param_hint="--from"
            )
        earlier = read_record(repeat)
        request, reading = request_of(earlier)
        data = data or data_of(earlier, repeat)
        picture = tuple(earlier["data"]["image_shape"] or ()) or None
    if data is None:
        raise typer.BadParameter("name a table, as in: ufselect select cells.csv -k 50", param_hint="DATA")
    make_selector(request)
    outputs = planned_outputs(output_table, report, record, data, force)

    table = open_data(data, reading, picture, quiet=as_json)
    if earlier is not None:
        check_same(table, earlier, new_data)
    run = fit(table, request, quiet=as_json)
    found = record_of(run, reading)
    if earlier is not None:
        found["repeats"] = {"record": str(repeat), "same_features": same_features(found, earlier)}
    write(run, found, outputs, force, resamples)
    if as_json:
        output().print_json(json.dumps(found))
    else:
        show(run, found, outputs)
