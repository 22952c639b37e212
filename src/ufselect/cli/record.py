"""The files that a run writes: table, report, ranking, names, map, and the record that repeats it."""

from __future__ import annotations

import hashlib
import io
import json
import math
import platform
import shlex
import sys
import warnings
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, fields, replace
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from ufselect.cli.text import output
from ufselect.datasets.catalogue import names as dataset_names
from ufselect.exceptions import DominatedByUnitsWarning, TableError
from ufselect.io import ReadOptions, Table
from ufselect.io.files import write_together
from ufselect.io.write import ranked_rows, write_columns, write_text
from ufselect.pipeline import Request, Run, row_metadata
from ufselect.reconstruct.kernel import ColumnMap
from ufselect.reconstruct.reconstructor import Reconstructor
from ufselect.report.explanation import entries, relative_scores

RECORD_FORMAT = 1
# The dimensions of each array: d columns, r of them selected, l landmark rows. If the map is linear, the last
# three of its arrays have no rows.
SHAPES = {
    "columns": "r", "mean": "d", "weights": "rd", "covariance": "rr", "ridge": "", "landmarks": "lr",
    "unit": "", "reach": "", "width": "", "offset": "bd", "slope": "kd", "coefficients": "md",
    "names": "d", "means": "d", "centre": "d", "scale": "d", "standard_deviations": "d", "column_errors": "d",
}  # fmt: skip
POSITIVE = {"unit", "reach", "width", "scale"}
NON_NEGATIVE = {"ridge", "standard_deviations", "column_errors"}


def record_of(
    run: Run, options: ReadOptions, command: Sequence[str] = (), is_written: bool = False
) -> dict[str, Any]:
    """Return the settings and the results of a run, ready for JSON; ``is_written`` as in ``assumptions``."""
    table, selector, scaler, e = run.table, run.selector, run.scaler, run.explanation
    scores = relative_scores(selector.scores_)
    record: dict[str, Any] = {
        "ufselect_record": RECORD_FORMAT,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": shlex.join(["ufselect", *command]) if command else None,
        "goal": run.request.goal,
        "beats_random": e.verdict,
        "message": e.message,
        "assumed": run.assumptions(is_written),
        "data": {
            "path": str(table.source) if table.source is not None else None,
            "sha256": table.sha256,
            "n_samples": table.shape[0],
            "n_features": table.shape[1],
            "id_column": table.id_name,
            "label_column": table.label_name,
            "batch_column": options.batch_column,
            "weight_column": options.weight_column,
            "image_shape": table.image_shape,
            "left_out": [asdict(column) for column in table.left_out],
        },
        "reading": asdict(options),
        "request": {**asdict(run.request), "parameters": dict(run.request.parameters)},
        "scaling": {"used": "standard" if scaler.is_scaled_ else "none", "reason": scaler.reason_},
        "method": type(run.method).__name__,
        "parameters": {name: each for name, each in run.method.get_params().items() if name != "verbose"},
        "assessment": None,
        "versions": {
            "python": platform.python_version(),
            "platform": platform.platform(),
            **{name: version(name) for name in ("ufselect", "numpy", "scipy", "scikit-learn", "pandas")},
        },
        "result": {
            "n_selected": run.selected.size,
            "converged": getattr(run.method, "converged_", None),
            "n_iter": getattr(run.method, "n_iter_", None),
            "fit_seconds": round(run.seconds, 4),
            "features": [
                {
                    "rank": place + 1,
                    "name": table.feature_names[j],
                    "index": j,
                    "score": scores[j],
                    "mean": scaler.mean_[j],
                    "deviation": scaler.scale_[j],
                    "represents": [
                        {"name": table.feature_names[i], "correlation": round(float(e.closest_r[i]), 4)}
                        for i in e.represents(place)
                    ],
                }
                for place, j in enumerate(e.ranked)
            ],
        },
    }
    if run.assessment is not None:
        kept = ("verdict", "beaten", "effect", "table", "stability", "n_clusters", "caveats", "notes")
        record["assessment"] = {name: getattr(run.assessment, name) for name in kept}
    missing = getattr(selector, "missing_", None)
    if missing is not None:
        record["missing"] = asdict(missing)
    if e.counts is not None:
        record["count"] = dict(zip(("chosen", "why"), e.enough, strict=True))
        curve = ("n_features", "score", "random", "components")
        record["count"]["curve"] = {name: e.counts[name] for name in curve}
    for feature, (other, cost) in zip(record["result"]["features"], e.substitutes, strict=False):
        name = table.feature_names[other] if other >= 0 else None
        feature["substitute"] = {"name": name, "cost": round(cost, 4)}
    if hasattr(selector, "report_"):
        record["candidates"] = entries(selector.report_)
    if run.request.goal == "clusters":
        record["clusters"] = e.clusters
    return plain_value(record)


def plain_value(value: Any) -> Any:
    """Return a value as JSON can hold it, which knows no NaN."""
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(name): plain_value(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain_value(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if isinstance(value, bool | int | str | type(None)) else repr(value)


def _one_a_line(run: Run) -> str:
    chosen = [run.table.feature_names[j] for j in run.explanation.ranked]
    for name in chosen:
        if len(name.splitlines()) > 1:
            raise TableError(f"Column {name!r} has a line break in its name; use --ranking, not --names.")
    return "".join(f"{name}\n" for name in chosen)


def read_record(path: Path) -> dict[str, Any]:
    """Read a record that :func:`record_of` made."""
    if not path.is_file():
        raise TableError(f"There is no record {path}; give the .json file that ufselect select wrote.")
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise TableError(f"{path} is not JSON; give the .json file that ufselect select wrote.") from error
    if not isinstance(record, dict) or record.get("ufselect_record") != RECORD_FORMAT:
        raise TableError(
            f"{path} is not a record of this version; give the .json file that ufselect select wrote."
        )
    if record.pop("checksum", None) not in (None, checksum(record)):
        raise TableError(f"{path} was changed since ufselect select wrote it; run that again.")
    return record


def checksum(record: Mapping[str, Any]) -> str:
    """Return the SHA-256 of what a record says."""
    return hashlib.sha256(json.dumps(record, sort_keys=True).encode()).hexdigest()


def request_of(record: Mapping[str, Any]) -> tuple[Request, ReadOptions]:
    """Return the request and the reading options of a record."""
    reading: dict[str, Any] = {
        name: tuple(v) if isinstance(v, list) else v for name, v in record["reading"].items()
    }
    lists = {name: tuple(record["request"][name]) for name in ("keep", "exclude")}
    return Request(**{**record["request"], **lists}), ReadOptions(**reading)


def data_of(record: Mapping[str, Any], path: Path) -> str:
    """Return the data of a record: at the recorded path, or beside the record."""
    named = str(record["data"]["path"])
    for place in (named, str(path.parent / named)):
        if Path(place).exists() or place in dataset_names():
            return place
    raise TableError(
        f"The data of {path} are no longer at {named}; say where they are now: ufselect select DATA --from "
        f"{path}."
    )


def write_outputs(
    run: Run,
    record: dict[str, Any],
    outputs: Mapping[str, Path],
    drop_text: bool = False,
    force: bool = False,
    add_clusters: bool = False,
) -> None:
    """Write all files, together or not at all, and the table to standard output if asked."""
    table = run.table
    if add_clusters:
        table = replace(table, added={"cluster": np.array([row["cluster"] for row in row_clusters(run)])})
    files = {kind: path for kind, path in outputs.items() if str(path) != "-"}
    record["outputs"] = {kind: str(path) for kind, path in files.items()}
    stored = b""
    if "map" in files:
        stored, record["map"] = map_of(run, files["map"].name)
    writers: dict[str, Callable[[Path, Path], Any]] = {
        "table": lambda path, part: write_columns(table, run.selected, part, path, drop_text),
        "report": lambda path, part: part.write_text(
            page(run, record), encoding="utf-8", errors="backslashreplace"
        ),
        "ranking": lambda path, part: ranked_rows(ranking(run), path, part),
        "clusters": lambda path, part: ranked_rows(row_clusters(run), path, part),
        "names": lambda path, part: part.write_text(_one_a_line(run), encoding="utf-8"),
        "map": lambda path, part: part.write_bytes(stored),
        "record": lambda path, part: part.write_text(
            # file names that are no UTF-8 are escaped, which JSON reads back
            json.dumps({**record, "checksum": checksum(record)}, indent=2, ensure_ascii=False) + "\n",
            encoding="utf-8",
            errors="backslashreplace",
        ),
    }
    write_together({path: partial(writers[kind], path) for kind, path in files.items()}, force)
    if len(files) < len(outputs):
        pipe_columns(table, run.selected, drop_text)


def page(run: Run, record: Mapping[str, Any]) -> str:
    """Return the page that explains a run."""
    from ufselect.report import report_html

    title = "table" if run.table.source is None else run.table.source.name
    codes = [each for each in run.table.doubts[:1] if "add --na" in each]  # they may make all figures wrong
    message = " ".join([*codes, record["message"]])
    return report_html(run.explanation, title=title, record={**record, "message": message})


def pipe_columns(table: Table, selected: NDArray[np.intp], drop_text: bool) -> None:
    """Write columns to standard output as text, with the separator of the input."""
    write_text(table, selected, ".txt", sys.stdout.buffer, drop_text)
    sys.stdout.flush()


def print_json(value: Any) -> None:
    """Print JSON in ASCII, which every encoding can hold."""
    output().print(json.dumps(value, indent=2), markup=False, soft_wrap=True)


def row_clusters(run: Run) -> list[dict[str, Any]]:
    """Return the id, or number, and the cluster of each row."""
    labels = getattr(run.selector, "labels_", None)
    if labels is None or run.table.n_rows is not None:
        why = "reads a sample" if run.table.n_rows is not None else "finds no clusters of rows"
        advice = "--no-stream" if run.table.n_rows is not None else "--for clusters without --method"
        raise TableError(f"This run {why}, so rows have no cluster to write; use {advice}.")
    ids = range(1, len(labels) + 1) if run.table.ids is None else run.table.ids
    name = (run.table.id_name if run.table.ids is not None else None) or "row"
    return [{name: each, "cluster": int(label)} for each, label in zip(ids, labels, strict=True)]


def ranking(run: Run) -> list[dict[str, Any]]:
    """Return one row per column: rank, score, what represents it, and why it was left out."""
    names, selector, e = run.table.feature_names, run.selector, run.explanation
    scores = relative_scores(selector.scores_)
    rows: list[dict[str, Any]] = [
        {
            "rank": int(selector.ranking_[j]),
            "column": names[j],
            "selected": bool(selector.support_[j]),
            "score_0_to_100": float(scores[j]),
            "represented_by": names[e.ranked[e.closest[j]]],
            "correlation": round(float(e.closest_r[j]), 6),
            "left_out_because": "",
        }
        for j in np.argsort(selector.ranking_)
    ]
    return rows + [
        {"column": column.name, "selected": False, "left_out_because": column.reason}
        for column in run.table.left_out
    ]


def map_of(run: Run, name: str) -> tuple[bytes, dict[str, Any]]:
    """Return the map to all columns as an .npz file, and its entry in the record.

    The file holds only arrays of numbers and names, so that reading it runs no code: those of ``ColumnMap``;
    the means and deviations that convert the table's units to its; names; and, in the table's units, the
    standard deviation of each column's error.
    """
    request, scaler = run.request, run.scaler
    obstacles = {
        "--normalize needs all columns of a new row": request.normalize != "none",
        "--batch and --weights treat rows differently, but the map treats all alike": row_metadata(run.table),
        "--categorical makes columns that a new table does not have": run.table.groups is not None,
    }
    for reason, holds in obstacles.items():
        if holds:
            raise TableError(f"--save-map cannot be used here: {reason}; leave one option out.")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DominatedByUnitsWarning)  # said with what was assumed
        fitted = Reconstructor(run.selected).fit(run.data)
    n_features = run.table.shape[1]
    centre, scale = np.zeros(n_features), np.ones(n_features)
    if scaler.is_scaled_:
        centre, scale = scaler.mean_, scaler.scale_
    arrays = {
        **vars(fitted.column_map_),
        "names": np.array(run.table.feature_names, dtype=str),
        "means": scaler.mean_,
        "centre": centre,
        "scale": scale * fitted.unit_,
        "standard_deviations": fitted.standard_deviations_ * scale,
        "column_errors": fitted.column_errors_,
    }
    stored = io.BytesIO()
    np.savez_compressed(stored, **arrays)
    facts = {
        "file": name,
        "sha256": hashlib.sha256(stored.getvalue()).hexdigest(),
        "regressor": fitted.regressor_,
        "reason": fitted.reason_,
        "score": fitted.score_,
    }
    return stored.getvalue(), facts


def read_map(path: Path, record: Mapping[str, Any]) -> tuple[ColumnMap, dict[str, NDArray]]:
    """Return the map that a record names, and the arrays beside it, if all of them are sound."""
    if "map" not in record:
        raise TableError(f"{path} has no map; run ufselect select again with --save-map.")
    place = path.parent / record["map"]["file"]
    if not place.is_file():
        raise TableError(f"The map of {path} is not at {place}; put it there.")
    content = place.read_bytes()
    if hashlib.sha256(content).hexdigest() != record["map"]["sha256"]:
        raise TableError(f"{place} is not the map of {path}; run ufselect select again with --save-map.")
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
        fault = _fault(arrays)
    except (ValueError, KeyError, OSError, EOFError, BadZipFile, zlib.error) as error:
        fault = str(error)
    if fault:
        raise TableError(f"{place} is damaged: {fault}. Run ufselect select again with --save-map.")
    return ColumnMap(**{each.name: arrays.pop(each.name) for each in fields(ColumnMap)}), arrays


def _fault(arrays: Mapping[str, NDArray]) -> str:
    """Say what is wrong with the arrays of a map, or return an empty text."""
    sizes: dict[str, int] = {}
    for name, axes in SHAPES.items():
        values = arrays.get(name)
        kind = "U" if name == "names" else "iu" if name == "columns" else "f"
        if values is None or values.dtype.kind not in kind or values.ndim != len(axes):
            return f"{name} is not what a map has"
        for axis, size in zip(axes, values.shape, strict=True):
            if sizes.setdefault(axis, size) != size:
                return f"{name} has another size than the other arrays"
        if kind != "f":
            continue
        is_sound = ~np.isnan(values) & (np.abs(values) < 1e200) | (name in ("reach", "ridge")) & (values > 0)
        if name in POSITIVE:
            is_sound &= values > 0
        elif name in NON_NEGATIVE:
            is_sound &= values >= 0
        if not is_sound.all():
            return f"{name} has numbers that no map has"
    columns = arrays["columns"]
    if np.any(np.diff(columns) <= 0) or not (columns.size and 0 <= columns[0] <= columns[-1] < sizes["d"]):
        return "the selected columns are not among all"
    return "" if len({*arrays["names"]}) == sizes["d"] else "names repeat"
