"""``ufselect score``: say how good a given list of columns is, and what to add to it."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

import typer

from ufselect.cli import options as opt
from ufselect.cli.text import doubt, figure, grid, note, output, percent, tell, working


def score(
    *,
    data: opt.Data,
    columns: Annotated[
        list[str],
        typer.Option("--columns", metavar="FILE", help="Your columns: names, or a file with one per line."),
    ],
    add: Annotated[int, typer.Option("--add", metavar="N", min=0, help="Suggest N columns to add.")] = 0,
    purpose: opt.ScoredPurpose,
    reading: opt.Reading,
    as_json: opt.AsJson = False,
) -> None:
    """Say how good your own list of columns is.

    Compares it with random columns and with those that ufselect selects, and names the columns that it does
    not represent.

    Example: ufselect score cells.csv --columns panel.txt --add 10
    """
    opt.check_data(data)
    import numpy as np

    from ufselect.assessment.held_out import assess
    from ufselect.cli.record import plain_value, print_json
    from ufselect.exceptions import TableError
    from ufselect.io.columns import columns_named, names_in
    from ufselect.pipeline import dense_if_small, make_selector, prepare, row_names
    from ufselect.report.explanation import centred_sample, explained_by

    request = purpose.request()
    options = reading.options(impute=purpose.imputing())
    table = opt.open_data(data, options, stream=False, exclude=request.exclude)
    names = table.feature_names
    listed_columns = columns_named(names_in(columns, "--columns"), table, "--columns")
    free = len(names) - len(listed_columns)
    if add > free:
        raise TableError(f"--add {add} is more than the {free} other columns; give fewer.")
    if not free:
        raise TableError(
            "The list has all columns of the table, so there is nothing to compare it with; give fewer."
        )
    X, scaler, _ = prepare(table, request.scale, request.normalize)
    X = dense_if_small(X, "Scoring")
    best = make_selector(request, len(names)).set_params(n_features_to_select=len(listed_columns))
    with working("Scoring:"):
        judge = partial(assess, goal=request.goal, random_state=request.seed)
        assessment = judge(listed_columns, X, n_clusters=request.n_clusters)
        n_clusters = assessment.n_clusters  # the same clusters for both
        rival = judge(best, X, n_clusters=request.n_clusters if n_clusters is None else max(n_clusters, 2))
        explained = explained_by(np.nan_to_num(centred_sample(X, request.seed)[0]), np.array(listed_columns))
        more: list[str] = []
        if add:
            best.set_params(n_features_to_select=len(listed_columns) + add, keep=listed_columns).fit(X)
            order = [j for j in best.ranking_.argsort() if best.support_[j] and j not in set(listed_columns)]
            more = [names[j] for j in order]
    others = np.setdiff1d(np.arange(len(names)), listed_columns)
    others = others[explained[others] < 0.5]
    lacking = [
        {"name": names[j], "explained": round(float(explained[j]), 3)}
        for j in others[np.argsort(explained[others])]
    ]
    called = {
        "selected": "your columns",
        "random columns": "as many random columns",
        "principal components": "as many principal components, each a mixture of all columns",
    }
    rows = [{**row, "columns": called.get(row["columns"], row["columns"])} for row in assessment.table]
    rows[1:1] = [{**row, "columns": "as many columns that ufselect selects"} for row in rival.table[:1]]
    result: dict[str, Any] = {
        "goal": request.goal,
        "message": " ".join([*assessment.caveats, assessment.finding]),
        "verdict": assessment.verdict,
        "columns": [names[j] for j in listed_columns],
        "table": plain_value(rows),
        "not_represented": lacking,
        "add": more,
    }
    if as_json:
        print_json(result)
        return
    doubt(table.doubts)
    console = output()
    tell(console, result["message"])
    if rows:
        is_share = request.goal == "reconstruct"
        what = "share of the variance>" if is_share else "agreement with the clusters, 1 is best>"
        lines = [(row["columns"], (percent if is_share else figure)(row["mean"])) for row in rows]
        console.print(grid("On held-out rows", ("columns", what), lines))
    if lacking:
        worst = [(each["name"], percent(max(each["explained"], 0))) for each in lacking[:10]]
        caption = f"and {len(lacking) - 10} more; --json gives them all" if len(lacking) > 10 else None
        heading = f"Columns that yours do not represent: {len(lacking)}"
        console.print(grid(heading, ("column", "explained by yours>"), worst, caption))
    else:
        tell(console, "Yours explain at least half of the variance of every other column.")
    if more:
        tell(console, f"Add next, in this order: {', '.join(more)}")
    scaling = [scaler.reason(names)] if scaler.is_scaled_ else []
    how_assessment = [*assessment.far_rows_notes(row_names(table)), *assessment.notes]
    note([*table.notes, *table.left_out_sentences(), *scaling, *how_assessment])
