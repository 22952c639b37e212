"""``ufselect select``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from ufselect.cli import options as opt
from ufselect.cli.early import check_data, check_goal, check_selection_files
from ufselect.cli.sharing import knows_rows, prepares_tables, reads_tables, wishes_columns


@reads_tables
@knows_rows
@prepares_tables
@wishes_columns
def select(
    data: opt.DataOrRecord = None,
    k: opt.Count = "0.1",
    method: opt.Method = "auto",
    goal: opt.Goal = None,
    param: opt.Parameter = None,
    output_table: opt.OutputTable = None,
    report: opt.ReportPage = None,
    record: opt.RecordFile = None,
    ranking: opt.RankingFile = None,
    names: opt.NamesFile = None,
    repeat: Annotated[
        Path | None, typer.Option("--from", metavar="RECORD", help="Repeat the run of a record exactly.")
    ] = None,
    new_data: Annotated[
        bool, typer.Option("--new-data", help="With --from: apply the settings though the data have changed.")
    ] = False,
    image: Annotated[
        str | None,
        typer.Option("--image", metavar="ROWSxCOLUMNS", help="The columns are pixels of such images."),
    ] = None,
    resamples: opt.Resamples = 10,
    drop_text: opt.DropText = False,
    stream: opt.Stream = None,
    as_json: opt.AsJson = False,
    quiet: opt.Quiet = False,
    force: opt.Force = False,
    *,
    reading: dict[str, Any],
    row_columns: dict[str, Any],
    preparing: dict[str, Any],
    wishing: dict[str, Any],
) -> None:
    """Choose the features of a table.

    Example: ufselect select cells.csv -k 50 -o picked.csv --report page.html
    """
    opt.choice(goal, opt.GOALS, "--for")
    picture, count, parameters = opt.image_shape(image), opt.count(k), opt.parameters(param)
    check_goal(method, count, goal, parameters, wishing["categorical"])
    if data is not None:
        check_data(data)
    check_selection_files(
        output_table, report, record, ranking, names, force=force, data=data, as_json=as_json
    )
    from ufselect.cli.outputs import Outputs
    from ufselect.cli.selecting import Call, request_from, run_select
    from ufselect.io import ReadOptions

    run_select(
        Call(
            data,
            request_from(method, count, parameters, goal, preparing, wishing),
            ReadOptions(
                **reading,
                **row_columns,
                categorical=wishing["categorical"],
                keep_constant=picture is not None,
            ),
            Outputs(output_table, report, record, ranking, names, drop_text, force),
            picture,
            resamples,
            repeat,
            new_data,
            stream,
            as_json,
            quiet,
            command=sys.argv[1:],
        )
    )
