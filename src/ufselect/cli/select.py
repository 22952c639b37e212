"""``ufselect select``: select columns, and say what each represents and how good they are."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ufselect.cli import options as opt
from ufselect.cli.text import (
    doubt,
    figure,
    grid,
    note,
    output,
    percent,
    pixel_map,
    say,
    short_name,
    tell,
    working,
)

if TYPE_CHECKING:
    from rich.console import Console

    from ufselect.pipeline import Run

MOST_ROWS = 30  # of a table on a terminal; files have all


def select(
    *,
    data: Annotated[str | None, opt.DATA_ARGUMENT] = None,
    k: opt.Count = None,
    purpose: opt.Purpose,
    keep: opt.Keep = None,
    max_correlation: opt.MaxCorrelation = None,
    costs: opt.Costs = None,
    regions: opt.Regions = None,
    positions: opt.Positions = None,
    method: opt.Method = None,
    param: opt.Parameter = None,
    outputs: opt.Outputs,
    repeat: Annotated[
        Path | None, typer.Option("--from", metavar="RECORD", help="Repeat the run of this record exactly.")
    ] = None,
    new_data: Annotated[
        bool, typer.Option("--new-data", help="With --from: apply the settings to changed data.")
    ] = False,
    image: opt.ImageShape = None,
    categorical: opt.Categorical = None,
    orders: opt.Orders = None,
    batch_column: opt.BatchColumn = None,
    weight_column: opt.WeightColumn = None,
    reading: opt.Reading,
    stream: opt.Stream = None,
    details: opt.Details = False,
    as_json: opt.AsJson = False,
    quiet: opt.Quiet = False,
) -> None:
    """Select columns of a table, without labels.

    Example: ufselect select cells.csv -k 50 -o selected.csv --report page.html
    """
    if data is not None:
        opt.check_data(data)
    files = outputs.files()
    flags = {"table": "-o", "map": "--save-map", "clusters": "--labels-out"}
    opt.check_files(
        {flags.get(kind, f"--{kind}"): files[kind] for kind in files}, outputs.force, data, as_json
    )
    placement = {"costs": costs, "regions": regions, "positions": positions}
    rules = {
        "costs": {"budget": "B", "cost_weight": "W"},
        "regions": {"quotas": "\"{'north': 2}\""},
        "positions": {"min_distance": "D"},
    }
    for what, path in placement.items():
        if path is not None and not rules[what].keys() & dict(param or ()).keys():
            rule, value = next(iter(rules[what].items()))
            words = f"it needs a rule; add --param {rule}={value}."
            raise typer.BadParameter(words, param_hint=f"--{what}")
    from ufselect.cli import record as records
    from ufselect.exceptions import TableError
    from ufselect.io.columns import by_name, names_in
    from ufselect.io.write import separator_notes
    from ufselect.pipeline import Request, run_selection

    request = purpose.request(
        method=None if method is not None and method.lower() == "auto" else method,
        n_features=k,
        parameters=dict(param or ()),
        keep=names_in(keep, "--keep"),
        max_correlation=max_correlation,
        **{what: by_name(path, what != "regions") for what, path in placement.items() if path is not None},
    )
    options = reading.options(
        impute=purpose.imputing(method is not None or k == "auto"),
        keep_constant=image is not None,
        categorical=categorical,
        orders=tuple(tuple(word.strip() for word in order.split(",")) for order in orders or ()),
        batch_column=batch_column,
        weight_column=weight_column,
    )
    earlier: Mapping[str, Any] | None = None
    if repeat is not None:
        usual = opt.Reading().options(impute="keep", keep_constant=options.keep_constant)
        if (request, options) != (Request(), usual):
            words = "it uses the settings of the record; give no others."
            raise typer.BadParameter(words, param_hint="--from")
        earlier = records.read_record(repeat)
        request, options = records.request_of(earlier)
        image = tuple(earlier["data"]["image_shape"] or ()) or None
        data = data or records.data_of(earlier, repeat)
    for flag, is_asked in (("--labels-out", "clusters" in files), ("--add-clusters", outputs.add_clusters)):
        if is_asked and request.goal != "clusters":
            words = "rows have a cluster only with --for clusters; add it."
            raise typer.BadParameter(words, param_hint=flag)
    if data is None:
        raise typer.BadParameter("name a table, as in: ufselect select cells.csv -k 50", param_hint="DATA")
    whole = ["--normalize"] if request.normalize != "none" else []
    table = opt.open_data(data, options, image=image, stream=stream, whole=whole, exclude=request.exclude)
    if earlier is not None and not new_data and table.sha256 != earlier["data"]["sha256"]:
        raise TableError(
            f"{table.source} is not the file that the record was made from: its SHA-256 differs; "
            "give that file, or add --new-data to apply the same settings to this one."
        )
    with working(f"{table.shape[0]} × {table.shape[1]}:"):
        run = run_selection(table, request, verbose=True)
        record = records.record_of(run, options, sys.argv[1:], is_written="table" in files)
    if "table" in files:
        record["assumed"] += separator_notes(run.table, files["table"])
        if run.table.fills:
            record["assumed"].append("The written table has these medians too, in place of missing values.")
    if earlier is not None:
        before, now = ([each["name"] for each in r["result"]["features"]] for r in (earlier, record))
        record["repeats"] = {"record": str(repeat), "same_features": before == now}
        record["command"] = record["command"] if files.keys() - {"report"} else earlier["command"]
    with working("Writing …"):
        records.write_outputs(run, record, files, outputs.drop_text, outputs.force, outputs.add_clusters)
    try:
        if as_json:
            records.print_json(record)
        elif not quiet:
            show(run, record, details, output(stderr=str(outputs.output_table) == "-"))
    except KeyboardInterrupt as stop:
        stop.written = list(record["outputs"].values())  # type: ignore[attr-defined]
        raise


def show(run: Run, record: Mapping[str, Any], details: bool, console: Console) -> None:
    """Print the selected columns, how good they are, what was assumed, and what was written."""
    doubt(run.table.doubts)
    shape = run.table.image_shape
    if shape is not None and shape[1] <= 40:  # of two characters on a terminal of 80
        console.print(title(run))
        console.print(pixel_map(run.selector.support_, shape, run.table.image_order))
    else:
        console.print(column_table(run))
    if record.get("clusters"):
        rows = []
        for row in record["clusters"][:MOST_ROWS]:
            columns = [f"{short_name(each['name'])} {each['distance']:+.1f}" for each in row["columns"][:3]]
            rows.append((row["cluster"], row["size"], ", ".join(columns)))
        header = ("cluster>", "rows>", "distinguished by (deviations from the rest)")
        console.print(grid(f"{len(record['clusters'])} clusters", header, rows))
    tell(console, record["message"])
    if record.get("count") and run.request.n_features == "auto":
        tell(console, record["count"]["why"])
    if details:
        show_details(run, record, console)
    note(line for line in record["assumed"] if line not in run.table.doubts)
    if "repeats" in record:
        same = record["repeats"]["same_features"]
        differs = "The columns differ from those of the record; compare the versions in both records."
        note(["The same columns in the same order as in the record." if same else differs])
    for kind, path in record["outputs"].items():
        say(f"Wrote the {kind} to {path}")


def title(run: Run) -> str:
    """Return how many columns were selected, and what for."""
    return f"{run.selected.size} of {run.table.shape[1]} columns {run.explanation.purpose}"


def column_table(run: Run) -> Any:
    """Return the selected columns with what each represents; for redundancy those that represent others."""
    import numpy as np

    from ufselect._utils.validation import listed

    e, names = run.explanation, run.table.feature_names
    places, caption = list(range(e.n_selected)), ""
    if run.request.goal == "redundancy":
        places = sorted(
            (place for place in places if e.represents(place).size), key=lambda p: -e.represents(p).size
        )
        alone = [names[j] for j in e.ranked[np.setdiff1d(np.arange(e.n_selected), places)]]
        more = "1 more represents" if len(alone) == 1 else f"{len(alone)} more represent"
        caption = f"{more} no other column: {listed(alone, MOST_ROWS)}" if places and alone else ""
    if run.table.groups is not None:  # one-hot columns by the text column that they stand for
        names = [group or name for group, name in zip(run.table.groups, names, strict=True)]
    represented: dict[str, dict[str, float]] = {}
    for place in places:
        others = represented.setdefault(names[e.ranked[place]], {})
        others |= {names[j]: e.closest_r[j] for j in e.represents(place)[::-1]}
    rows = []
    for name, others in list(represented.items())[:MOST_ROWS]:
        words = [
            f"{short_name(other, 32)} ({others[other]:.2f})" for other in list(others)[::-1] if other != name
        ]
        more = f" and {len(words) - 3} more" if len(words) > 3 else ""
        rows.append((short_name(name), ", ".join(words[:3]) + more or "itself"))
    if len(represented) > MOST_ROWS:
        caption = f"and {len(represented) - MOST_ROWS} more; -o, --names or --json give them all"
    header = ("column", "represents (correlation)")
    return grid(title(run), header, rows, caption or None) if rows else title(run)


def show_details(run: Run, record: Mapping[str, Any], console: Console) -> None:
    """Print the method, its scores, substitutes, figures on held-out rows, and the curve of counts."""
    changed = [
        f"{name}={value}"
        for name, value in run.method.get_params().items()
        if name not in ("verbose", "feature_groups", "keep", "exclude")
        and repr(value) != repr(type(run.method)().get_params()[name])
    ]
    e = run.explanation
    again = [""] * e.n_selected if e.frequencies is None else list(map(percent, e.frequencies[e.ranked]))
    rows: list[tuple[Any, ...]] = [
        (each["rank"], short_name(each["name"]), figure(each["score"], 1), share)
        for each, share in zip(record["result"]["features"][:MOST_ROWS], again, strict=False)
    ]
    heading = f"{type(run.method).__name__}({', '.join(changed)}), {run.seconds:.2f} s"
    header: tuple[str, ...] = ("rank>", "column", "score, 0 to 100>", "selected from other rows>")
    console.print(grid(heading, header, rows))
    assessed = record["assessment"]
    if assessed is not None and assessed["table"]:
        what = "share of the variance" if record["goal"] == "reconstruct" else "agreement with the clusters"
        rows = [(row["columns"], figure(row["mean"]), figure(row["spread"])) for row in assessed["table"]]
        console.print(grid("On held-out rows", ("columns", f"{what}>", "spread>"), rows))
    if e.substitutes:
        rows = [
            (
                short_name(each["name"]),
                short_name(each["substitute"]["name"] or "none needed"),
                percent(max(each["substitute"]["cost"], 0)),
            )
            for each in record["result"]["features"][: min(MOST_ROWS, len(e.substitutes))]
        ]
        header = ("column", "best substitute", "variance lost by it>")
        console.print(grid("What to measure instead", header, rows))
    if record.get("count"):
        curve, chosen = record["count"]["curve"], record["count"]["chosen"]
        marks = {chosen: "-k auto"} if chosen < curve["n_features"][-1] else {}
        marks[e.n_selected] = ", ".join(["selected", *marks.values()][: 1 + (chosen == e.n_selected)])
        rows = [
            (count, *map(percent, shares), marks.get(count, ""))
            for count, *shares in zip(*curve.values(), strict=True)
        ]
        header = ("columns>", "selected>", "random>", "components>", "")
        console.print(grid("Share of the variance of all columns on held-out rows", header, rows))
