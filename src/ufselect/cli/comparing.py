"""What ``compare`` does: read, prepare, compare, write, print."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.table import Table as Grid

from ufselect.cli.console import errors, note, output, working
from ufselect.cli.data import open_data
from ufselect.cli.methods import find_method, on_request
from ufselect.cli.names import short_name
from ufselect.cli.outputs import record_beside
from ufselect.cli.prepare import prepared
from ufselect.cli.run import AUTO, at_most, dense
from ufselect.cli.run_record import versions
from ufselect.cli.selecting import print_json
from ufselect.common.wording import listed
from ufselect.evaluation.compare import Comparison, compare
from ufselect.evaluation.rows import Row
from ufselect.evaluation.tables import Table as Results
from ufselect.exceptions import TableError
from ufselect.io import ReadOptions, Table
from ufselect.io.files import Write, check_outputs, write_together
from ufselect.io.numbers import MISSING, is_missing

FEWEST_ROWS_A_CLASS = 2.0  # on average; with fewer, every method finds the "classes"
FIGURES = ("acc_mean", "acc_std", "nmi_mean", "nmi_std", "n_runs", "seconds")


@dataclass(frozen=True)
class CompareCall:
    """What was typed."""

    data: str
    methods: Sequence[str] | None
    counts: Sequence[int] | None
    mode: str
    runs: int
    quick: bool
    jobs: int
    target: Path | None
    record: Path | None
    reading: ReadOptions
    preparing: Mapping[str, Any]
    as_json: bool
    quiet: bool
    force: bool


def run_compare(call: CompareCall) -> None:
    """Do what was asked."""
    record_path = call.record or (None if call.target is None else record_beside(call.target))
    check_outputs((call.target, record_path), call.force, Path(call.data))
    methods = [find_method(_method(name)).__name__ for name in call.methods] if call.methods else None
    if call.reading.impute == "keep":
        raise TableError("Not every method that is compared works around gaps; use --impute median or drop.")
    silent = call.as_json or call.quiet
    table = open_data(call.data, call.reading, quiet=silent, stream=False, carries=False).table
    labels, rows = classes(table)
    counts = _counts(call.counts, table.shape[1])
    ready = prepared(table, call.preparing["scale"], call.preparing["normalize"])
    if not silent:
        note([ready.reason, *_left_out(table, rows), *_on_request(call)])
    with working("Comparing:"):
        found = compare(
            dense(ready.data, "Comparing")[rows],
            labels,
            methods=methods,
            counts=counts,
            mode=call.mode,
            n_runs=call.runs,
            quick=call.quick,
            n_jobs=call.jobs,
            name=Path(call.data).stem,
            random_state=call.preparing["seed"],
        )
    shown = results_by_count(found)
    outputs: dict[Path, Write] = {}
    if call.target is not None:
        text = _written(found, shown, call.target.suffix)
        outputs[call.target] = lambda target: target.write_text(text, encoding="utf-8")
    if record_path is not None:
        record = _record(call, table, found, ready.reason, counts)
        outputs[record_path] = lambda target: target.write_text(json.dumps(record, indent=2) + "\n")
    write_together(outputs, call.force)
    if call.as_json:
        print_json([_plain(row) for row in found.rows])
    elif not call.quiet:
        output().print(grid(shown), highlight=False)
        note(f"{name}: {why}" for (name, _), why in found.failures.items())
        for path in outputs:
            errors().print(f"Wrote {path}", markup=False, highlight=False)


def _method(name: str) -> str:
    return AUTO if name.lower() == "auto" else name


def classes(table: Table) -> tuple[NDArray, NDArray[np.bool_]]:
    """Return the classes of the rows that have one, and which rows these are.

    Raises
    ------
    TableError
        If there are no labels, or they are no classes.
    """
    if table.labels is None:
        raise TableError("No label column was found; name the column of known classes with --labels.")
    rows = ~is_missing(table.labels, MISSING)
    labels = table.labels[rows]
    distinct = len(set(labels.tolist()))
    if distinct < 2:
        raise TableError(f"{table.label_name} holds one class only; name a column of several with --labels.")
    if distinct * FEWEST_ROWS_A_CLASS > labels.size:
        raise TableError(
            f"{table.label_name} has {distinct} different values in {labels.size} rows: these are ids or "
            "measurements, not classes; name another column with --labels."
        )
    return labels, rows


def _counts(asked: Sequence[int] | None, n_features: int) -> list[int] | None:
    too_many = [count for count in asked or [] if count > n_features]
    if too_many:
        raise TableError(
            f"-k {too_many[0]} is more than the {n_features} column{'s' * (n_features > 1)} that can be "
            f"chosen; use {at_most(n_features)}."
        )
    return list(asked) if asked else None


def _on_request(call: CompareCall) -> list[str]:
    """Return which methods are not among those that are compared when none is named."""
    names = [] if call.methods else on_request()
    names = [name for name in names if not (call.mode == "auto" and name == AUTO)]
    return [f"Compared are all methods but {listed(names)}; name these with -m."] if names else []


def _left_out(table: Table, rows: NDArray[np.bool_]) -> list[str]:
    count = int((~rows).sum())
    if not count:
        return []
    return [
        f"{count} row{'s' * (count > 1)} without a value of {table.label_name} left out of the comparison."
    ]


def results_by_count(found: Comparison) -> Results:
    """Return one line for each method and number of features; in other modes, for each method."""
    if found.mode != "fixed":
        accuracy, information = found.tables["acc"], found.tables["nmi"]
        body = [(*first, *second[1:]) for first, second in zip(accuracy.body, information.body, strict=True)]
        columns = (accuracy.columns[0], *(f"{name} ACC %" for name in accuracy.columns[1:]))
        columns += tuple(f"{name} NMI %" for name in information.columns[1:])
        return Results("compare", accuracy.title, columns, tuple(body))
    body = [
        (
            row.label,
            str(row.n_features),
            _spread(row.acc_mean, row.acc_std),
            _spread(row.nmi_mean, row.nmi_std),
        )
        for row in _in_order(found.rows)
    ]
    title = f"ACC and NMI in per cent, mean ± std of {found.protocol.n_runs} runs; parameters: defaults"
    return Results("compare", title, ("method", "features", "ACC", "NMI"), tuple(body))


def _in_order(rows: Sequence[Row]) -> list[Row]:
    order = list(dict.fromkeys(row.label for row in rows))
    return sorted(rows, key=lambda row: (order.index(row.label), row.n_features))


def _spread(mean: float, spread: float) -> str:
    return f"{mean:.2f} ± {spread:.2f}"


def _written(found: Comparison, shown: Results, ending: str) -> str:
    if ending == ".csv":
        return _numbers(_in_order(found.rows))
    return shown.to_markdown() if ending == ".md" else shown.to_latex()


def _numbers(rows: Sequence[Row]) -> str:
    """Return the results as numbers, one line for each method, parameters and count."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(("method", "parameters", "n_features", *FIGURES))
    for row in rows:
        figures = (getattr(row, name) for name in FIGURES)
        writer.writerow((row.label, row.params, row.n_features, *(f"{value:.6g}" for value in figures)))
    return out.getvalue()


def _record(
    call: CompareCall, table: Table, found: Comparison, reason: str, counts: list[int] | None
) -> dict[str, Any]:
    return {
        "ufselect_comparison": 1,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "data": {"path": call.data, "sha256": table.sha256, "label_column": table.label_name},
        "reading": asdict(call.reading),
        "preparing": {**call.preparing, "reason": reason},
        "counts": counts,
        "mode": call.mode,
        "protocol": asdict(found.protocol),
        "versions": versions(),
        "rows": [_plain(row) for row in found.rows],
        "failures": {f"{name} {params}".strip(): why for (name, params), why in found.failures.items()},
    }


def _plain(row: Row) -> dict[str, Any]:
    return {**{field: getattr(row, field) for field in row.__dataclass_fields__}, "params": dict(row.params)}


def grid(results: Results) -> Grid:
    """Return a table of results for the terminal."""
    shown = Grid(title=results.title, title_justify="left")
    for position, column in enumerate(results.columns):
        shown.add_column(column, justify="right" if position else "left")
    for row in results.body:
        shown.add_row(*map(short_name, row))
    return shown
