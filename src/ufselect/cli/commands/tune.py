"""``ufselect tune``."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from ufselect.cli import options as opt
from ufselect.cli.early import check_data, check_goal, check_selection_files
from ufselect.cli.sharing import prepares_tables, reads_tables, wishes_columns


@reads_tables
@prepares_tables
@wishes_columns
def tune(
    data: opt.Data,
    k: opt.Count = "0.1",
    goal: opt.Goal = None,
    clusters: Annotated[
        str,
        typer.Option(
            "--clusters",
            metavar="N|auto",
            help="How many groups the data have, if that is known; not with --for rebuild.",
        ),
    ] = "auto",
    output_table: opt.OutputTable = None,
    report: opt.ReportPage = None,
    record: opt.RecordFile = None,
    ranking: opt.RankingFile = None,
    names: opt.NamesFile = None,
    resamples: opt.Resamples = 10,
    drop_text: opt.DropText = False,
    as_json: opt.AsJson = False,
    quiet: opt.Quiet = False,
    force: opt.Force = False,
    *,
    reading: dict[str, Any],
    preparing: dict[str, Any],
    wishing: dict[str, Any],
) -> None:
    """Choose method and parameters without labels, then the features: select --method auto, with its table.

    Example: ufselect tune cells.csv -k 50 -o picked.csv
    """
    opt.choice(goal, opt.GOALS, "--for")
    count, groups = opt.count(k), opt.whole_or_auto(clusters, "--clusters")
    parameters = {} if groups == "auto" else {"n_clusters": groups}
    check_goal("auto", count, goal, parameters, wishing["categorical"])
    check_data(data)
    check_selection_files(
        output_table, report, record, ranking, names, force=force, data=data, as_json=as_json
    )
    from ufselect.cli.outputs import Outputs
    from ufselect.cli.selecting import ALL_CANDIDATES, Call, request_from, run_select
    from ufselect.io import ReadOptions

    run_select(
        Call(
            data,
            request_from("auto", count, parameters, goal, preparing, wishing),
            ReadOptions(**reading, categorical=wishing["categorical"]),
            Outputs(output_table, report, record, ranking, names, drop_text, force),
            resamples=resamples,
            as_json=as_json,
            quiet=quiet,
            most_candidates=ALL_CANDIDATES,
            command=sys.argv[1:],
        )
    )
