"""``ufselect compare``: compare methods on a table with known classes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ufselect.cli import options as opt
from ufselect.cli.text import doubt, grid, note, output, say, short_name, tell, working

if TYPE_CHECKING:
    from rich.console import Console

ENDINGS = (".csv", ".md", ".tex")


def compare(
    *,
    data: opt.Data,
    method: opt.Methods = None,
    k: Annotated[
        list[int] | None,
        typer.Option("-k", "--features", min=1, help="A number of columns; may be repeated."),
    ] = None,
    runs: Annotated[int, typer.Option("--runs", min=1, help="K-means runs per selection.")] = 50,
    output_table: Annotated[
        Path | None, typer.Option("-o", "--output", help="Write the results: .csv (numbers), .md or .tex.")
    ] = None,
    scale: opt.Scale = "auto",
    normalize: opt.Normalize = "none",
    impute: opt.Impute = "median",
    reading: opt.Reading,
    seed: opt.Seed = 0,
    as_json: opt.AsJson = False,
    quiet: opt.Quiet = False,
    force: opt.Force = False,
) -> None:
    """Compare methods on a table with known classes.

    K-means clusters the rows by the columns of each method; ACC and NMI say how well it finds the classes.

    Example: ufselect compare cells.csv --labels type -k 20 -k 50
    """
    if output_table is not None and output_table.suffix not in ENDINGS:
        raise typer.BadParameter(f"{output_table} must end in {', '.join(ENDINGS)}.", param_hint="-o")
    opt.check_data(data)
    opt.check_files({"--output": output_table}, force, data)
    from ufselect._registry import all_selectors
    from ufselect.cli.record import print_json
    from ufselect.compare.compare import compare as compare_methods
    from ufselect.compare.methods import ON_REQUEST
    from ufselect.exceptions import TableError
    from ufselect.io.files import write_together
    from ufselect.io.numbers import Missing
    from ufselect.pipeline import dense_if_small, find_method, prepare

    methods = [find_method(name.strip()).__name__ for names in method or () for name in names.split(",")]
    left_out: list[str] = []
    if not methods:  # what select does for clusters is among them
        left_out = sorted(set(ON_REQUEST) - {"AutoSelector"})
        methods = [name for name in all_selectors() if name not in left_out]
    options = reading.options(impute=impute)
    table = opt.open_data(data, options, stream=False)
    if table.labels is None:
        raise TableError("No label column was found; name the column of known classes with --labels.")
    rows = ~Missing.of(options.missing).where(table.labels)
    labels = table.labels[rows]
    classes = set(labels.tolist())
    if len(classes) < 2:
        raise TableError(f"{table.label_name} holds only one class; name another column with --labels.")
    # with so few rows in each, every method finds the classes
    if 2 * len(classes) > labels.size or are_measurements(classes, labels.size):
        raise TableError(
            f"{table.label_name} has {len(classes)} different values in {labels.size} rows: these are ids or "
            "measurements, not classes; name another column with --labels."
        )
    too_many = [count for count in k or [] if count > table.shape[1]]
    if too_many:
        raise TableError(
            f"-k {too_many[0]} is more than the {table.shape[1]} columns that can be selected; give fewer."
        )
    X, scaler, _ = prepare(table, scale, normalize)
    with working("Comparing:"):
        comparison = compare_methods(
            dense_if_small(X, "Comparing")[rows],
            labels,
            methods=methods,
            counts=list(k) if k else None,
            n_runs=runs,
            name=Path(data).stem,
            random_state=seed,
        )
    shown = comparison.table()
    if output_table is not None:
        kinds = {".csv": comparison.to_csv, ".md": shown.to_markdown, ".tex": shown.to_latex}
        text = kinds[output_table.suffix]()
        write_together({output_table: lambda target: target.write_text(text, encoding="utf-8")}, force)
    if as_json:
        print_json([{**row, "params": json.loads(row["params"])} for row in comparison.rows])
        return
    if quiet:
        return
    titles = (shown.columns[0], *(f"{name}>" for name in shown.columns[1:]))
    lines = [tuple(short_name(cell) for cell in row) for row in shown.body]
    doubt(table.doubts)
    console = output()
    console.print(grid(shown.title, titles, lines))
    remarks = [*table.notes, *table.left_out_sentences(), scaler.reason(table.feature_names)]
    absent = int((~rows).sum())
    if absent:
        rows_name, were = ("row", "was") if absent == 1 else ("rows", "were")
        remarks.append(f"{absent} {rows_name} without a value of {table.label_name} {were} left out.")
    if left_out:
        remarks.append(f"All methods but {', '.join(left_out)} were compared; name these with -m.")
    tell_winner(console, comparison.rows)
    note([*remarks, *(f"{name}: {why}" for (name, _), why in comparison.failures.items())])
    if output_table is not None:
        say(f"Wrote {output_table}")


def are_measurements(values: set[Any], n_rows: int) -> bool:
    """Whether the different values of a label column are numbers on a scale, not the codes of classes."""
    from ufselect.io.numbers import read_number

    read = [read_number(str(value), ".") or read_number(str(value), ",") for value in values]
    if None in read:
        return False
    numbers = sorted(number[0] for number in read if number is not None)
    if any(number % 1 for number in numbers):
        return len(numbers) > 20
    are_codes = numbers[-1] - numbers[0] == len(numbers) - 1 and numbers[0] in (0, 1)
    return not are_codes and n_rows < 5 * len(numbers)


def tell_winner(console: Console, rows: list[dict[str, Any]]) -> None:
    """Say which method finds the classes best, beside all and random columns."""
    baselines = {"AllFeatures": "all columns", "RandomSubset": "random columns"}
    methods = [row for row in rows if row["method"] not in baselines]
    if not methods:
        return
    best = max(row["acc_mean"] for row in methods)
    winners = [row for row in methods if row["acc_mean"] == best]
    counts = {row["n_features"] for row in winners}
    beside = [row for row in rows if row["method"] == "AllFeatures" or row["n_features"] == min(counts)]
    others = [
        f"{baselines[row['method']]} {row['acc_mean']:.0f} %" for row in beside if row["method"] in baselines
    ]
    *labels, last = sorted({row["label"] for row in winners})
    who = f"{', '.join(labels)} and {last}" if labels else last
    share = f"{best:.0f} %" + (f" with {min(counts)} columns" if len(counts) == 1 else "")
    is_beaten = best <= max((row["acc_mean"] for row in rows if row["method"] == "RandomSubset"), default=-1)
    start = "No method finds the classes better than random columns: the" if is_beaten else "The"
    tell(console, f"{start} highest accuracy is {share}, by {who} ({', '.join(others)}).")
