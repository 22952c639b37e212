"""``ufselect compare``: methods on a table with known classes."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ufselect.cli import options as opt

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ufselect.io import Table

ENDINGS = (".csv", ".md", ".tex")


def compare(
    data: opt.Data,
    method: opt.Methods = None,
    k: Annotated[
        list[int] | None,
        typer.Option("-k", "--features", min=1, help="A number of columns; may be repeated."),
    ] = None,
    mode: Annotated[
        Literal["fixed", "oracle", "auto"],
        typer.Option(
            "--mode",
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
    scale: opt.Scale = "auto",
    normalize: opt.Normalize = "none",
    impute: opt.Impute = "median",
    id_column: opt.IdColumn = None,
    label_column: opt.LabelColumn = None,
    separator: opt.Separator = None,
    decimal: opt.Decimal = None,
    header: opt.Header = None,
    guess: opt.Guess = True,
    missing: opt.Missing = None,
    comment: opt.Comment = None,
    transpose: opt.Transpose = False,
    sheet: opt.Sheet = None,
    layer: opt.Layer = None,
    seed: opt.Seed = 0,
    as_json: opt.AsJson = False,
    quiet: opt.Quiet = False,
    force: opt.Force = False,
    debug: opt.Debug = False,
) -> None:
    """Compare methods on a table with known classes.

    K-means clusters the rows by the columns of each method; ACC and NMI say how well it finds the classes.

    Example: ufselect compare cells.csv --labels type -k 20 -k 50
    """
    typed = dict(locals())
    if jobs == 0 or jobs < -1:
        raise typer.BadParameter(f"{jobs} must be at least 1, or -1 for one a core.", param_hint="-j")
    if output_table is not None and output_table.suffix not in ENDINGS:
        raise typer.BadParameter(f"{output_table} must end in {', '.join(ENDINGS)}.", param_hint="-o")
    if impute == "keep":
        raise typer.BadParameter("not every method works around missing values.", param_hint="--impute")
    opt.check_data(data)
    record_path = record or (None if output_table is None else output_table.with_suffix(".json"))
    opt.check_files({"--output": output_table, "--record": record_path}, force, data)
    from ufselect.cli.record import json_text, print_json, versions
    from ufselect.cli.run import dense, find_method, prepare
    from ufselect.cli.table import open_data
    from ufselect.cli.text import grid, note, output, say, short_name, working
    from ufselect.evaluation.compare import compare as compare_methods
    from ufselect.evaluation.methods import ON_REQUEST
    from ufselect.exceptions import TableError
    from ufselect.io.files import Write, write_together
    from ufselect.registry import all_selectors

    methods = [find_method(name).__name__ for name in method or ()]
    left_out: list[str] = []
    if not methods:  # what select does for clusters is among them
        left_out = sorted(set(ON_REQUEST) - {"AutoSelector"})
        methods = [name for name in all_selectors() if name not in left_out]
        methods = [name for name in methods if not (mode == "auto" and name == "AutoSelector")]
    table = open_data(data, opt.read_options(typed), stream=False).table
    labels, rows = classes(table)
    too_many = [count for count in k or [] if count > table.shape[1]]
    if too_many:
        raise TableError(
            f"-k {too_many[0]} is more than the {table.shape[1]} columns that can be selected; give less."
        )
    ready = prepare(table, scale, normalize)
    with working("Comparing:"):
        found = compare_methods(
            dense(ready.data, "Comparing")[rows],
            labels,
            methods=methods,
            counts=list(k) if k else None,
            mode=mode,
            n_runs=runs,
            quick=quick,
            n_jobs=jobs,
            name=Path(data).stem,
            random_state=seed,
        )
    shown = found.by_count()
    rows_found = [{**row, "params": json.loads(row["params"])} for row in found.rows]
    outputs: dict[Path, Write] = {}
    if output_table is not None:
        kinds = {".csv": found.to_csv, ".md": shown.to_markdown, ".tex": shown.to_latex}
        text = kinds[output_table.suffix]()
        outputs[output_table] = lambda target: target.write_text(text, encoding="utf-8")
    if record_path is not None:
        content = {
            "ufselect_comparison": 1,
            "created": datetime.now(UTC).isoformat(timespec="seconds"),
            "data": {"path": data, "sha256": table.sha256, "label_column": table.label_name},
            "reading": asdict(opt.read_options(typed)),
            "preparing": {
                "scale": scale, "normalize": normalize, "seed": seed, "reason": ready.scaler.reason_,
            },
            "counts": list(k) if k else None,
            "mode": mode,
            "protocol": asdict(found.protocol),
            "versions": versions(),
            "rows": rows_found,
            "failures": {f"{name} {params}".strip(): why for (name, params), why in found.failures.items()},
        }  # fmt: skip
        outputs[record_path] = lambda target: target.write_text(json_text(content), encoding="utf-8")
    write_together(outputs, force)
    if as_json:
        print_json(rows_found)
        return
    if quiet:
        return
    titles = (shown.columns[0], *(f"{name}>" for name in shown.columns[1:]))
    lines = [tuple(short_name(cell) for cell in row) for row in shown.body]
    output().print(grid(shown.title, titles, lines), highlight=False)
    remarks = [*table.notes, *table.left_out_sentences(False), ready.scaler.reason_]
    absent = int((~rows).sum())
    if absent:
        remarks.append(f"{absent} row{'s' * (absent > 1)} without a value of {table.label_name} left out.")
    if left_out:
        remarks.append(f"Compared are all methods but {', '.join(left_out)}; name these with -m.")
    note([*remarks, *(f"{name}: {why}" for (name, _), why in found.failures.items())])
    for path in outputs:
        say(f"Wrote {path}")


def classes(table: Table) -> tuple[NDArray, NDArray]:
    """Return the classes of the rows that have one, and which rows these are."""
    from ufselect.exceptions import TableError
    from ufselect.io.numbers import MISSING, is_missing

    if table.labels is None:
        raise TableError("No label column was found; name the column of known classes with --labels.")
    rows = ~is_missing(table.labels, MISSING)
    labels = table.labels[rows]
    distinct = len(set(labels.tolist()))
    if distinct < 2:
        raise TableError(f"{table.label_name} holds one class only; name a column of several with --labels.")
    if 2 * distinct > labels.size:  # with so few rows each, every method finds the "classes"
        raise TableError(
            f"{table.label_name} has {distinct} different values in {labels.size} rows: these are ids or "
            "measurements, not classes; name another column with --labels."
        )
    return labels, rows
