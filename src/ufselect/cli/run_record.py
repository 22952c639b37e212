"""The record of a run: what repeats it, and what came out."""

from __future__ import annotations

import json
import platform
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from ufselect.cli.choosing import candidates, clusters, count_choice, goal_of, standing
from ufselect.cli.flags import with_flags
from ufselect.cli.run import Request, Run, json_value
from ufselect.cli.show import shown_value
from ufselect.datasets.catalogue import names
from ufselect.exceptions import TableError
from ufselect.io.reading import ReadOptions

RECORD_FORMAT = 2
READ_FORMATS = (1, 2)  # 1 had neither scaling, verdicts nor the command
REPORTED_PACKAGES = ("ufselect", "numpy", "scipy", "scikit-learn", "pandas")


def record_of(
    run: Run, options: ReadOptions, verdicts: Sequence[str] = (), command: Sequence[str] = ()
) -> dict[str, Any]:
    """Return what is needed to repeat a run, and what came out, ready for JSON."""
    table, selector, ready = run.table, run.selector, run.prepared
    record = {
        "ufselect_record": RECORD_FORMAT,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": shlex.join(["ufselect", *command]) if command else None,
        "verdicts": list(verdicts),
        "data": {
            "path": str(table.source) if table.source is not None else None,
            "sha256": table.sha256,
            "n_samples": table.shape[0],
            "n_features": table.shape[1],
            "id_column": table.id_name,
            "label_column": table.label_name,
            "batch_column": options.batch_column,
            "weight_column": options.weight_column,
            "image_shape": list(table.image_shape) if table.image_shape is not None else None,
            "left_out": [asdict(column) for column in table.left_out],
        },
        "reading": asdict(options),
        "request": {**asdict(run.request), "parameters": dict(run.request.parameters)},
        "scaling": {"used": ready.scale, "reason": ready.reason, "units_differ": ready.units.differ},
        "method": type(run.chosen_method).__name__,
        "parameters": {
            name: json_value(value)
            for name, value in run.chosen_method.get_params().items()
            if name != "verbose"
        },
        "seed": run.request.seed,
        "versions": versions(),
        "notes": [with_flags(note) for note in (*table.notes, *table.left_out_sentences(), *run.messages)],
        "result": {
            "n_selected": int(run.selected.size),
            "converged": json_value(getattr(run.chosen_method, "converged_", None)),
            "n_iter": json_value(getattr(run.chosen_method, "n_iter_", None)),
            "fit_seconds": round(run.seconds, 4),
            "features": [
                {
                    "rank": rank,
                    "name": table.feature_names[j],
                    "index": int(j),
                    "score": float(selector.scores_[j]),
                    "mean": float(ready.means[j]),
                    "deviation": float(ready.deviations[j]),
                }
                for rank, j in enumerate(run.ranked, start=1)
            ],
        },
    }
    missing = getattr(selector, "missing_", None)
    if missing is not None:
        record["missing"] = asdict(missing)
    count = count_choice(run)
    if count is not None:
        record["count"] = count
    if run.chooser is not None:
        record["goal"] = goal_of(run)
        record["verdict"] = run.chooser.verdict_
        record["better_than_random"] = run.chooser.better_than_random_
        record["tuning"] = [
            {name: shown_value(value) for name, value in row.items()} | {"standing": standing(row)}
            for row in candidates(run)
        ]
        record["clusters"] = clusters(run)
    return record


def read_record(path: Path) -> dict[str, Any]:
    """Read a record that :func:`record_of` made.

    Raises
    ------
    TableError
        If the file is none.
    """
    if not path.is_file():
        raise TableError(f"There is no record {path}; give the .json file that ufselect select wrote.")
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise TableError(f"{path} is not JSON; give the .json file that ufselect select wrote.") from error
    if not isinstance(record, dict) or record.get("ufselect_record") not in READ_FORMATS:
        raise TableError(
            f"{path} is no record of this version; give the .json file that ufselect select wrote."
        )
    return record


def request_of(record: Mapping[str, Any]) -> tuple[Request, ReadOptions]:
    """Return the request and the reading options of a record."""
    reading = {**record["reading"]}
    reading["missing"] = tuple(reading.get("missing", ()))
    request = {**record["request"]}
    for name in ("keep", "exclude"):
        request[name] = tuple(request.get(name, ()))
    return Request(**request), ReadOptions(**reading)


def data_of(record: Mapping[str, Any], path: Path, remedy: str) -> str:
    """Return where a record's data are: as named then, or beside the record.

    Raises
    ------
    TableError
        If they are neither; ``remedy`` is what to do then.
    """
    named = str(record["data"]["path"])
    beside = path.parent / named
    for place in (named, str(beside)):
        if Path(place).exists() or place in names():
            return place
    raise TableError(f"The data of {path} are no longer at {named}; {remedy}")


def same_features(record: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether two records hold the same features in the same order."""
    first, second = ([f["name"] for f in r["result"]["features"]] for r in (record, other))
    return first == second


def versions() -> dict[str, str]:
    """Return the versions on which a result depends."""
    found = {"python": platform.python_version(), "platform": platform.platform()}
    for package in REPORTED_PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
