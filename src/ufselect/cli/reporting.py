"""What ``report`` does: repeat a run, or take up a study, and write its page."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ufselect.cli.console import errors, working
from ufselect.cli.data import open_data
from ufselect.cli.outputs import Outputs, explained, write_outputs
from ufselect.cli.run_record import data_of, read_record, record_of, request_of
from ufselect.cli.selecting import check_same, fit
from ufselect.cli.verdicts import verdicts
from ufselect.exceptions import TableError
from ufselect.io.files import check_outputs, write_text

SETTINGS = "settings.json"


def report_record(record_path: Path, target: Path, data: str | None, resamples: int, force: bool) -> None:
    """Repeat the run of a record and write its page."""
    record = read_record(record_path)
    check_outputs((target,), force)
    request, reading = request_of(record)
    image = record["data"].get("image_shape")
    source = data or data_of(record, record_path, "say where they are now with --data.")
    shape = tuple(image) if image else None
    opened = open_data(source, reading, shape, quiet=True, normalize=request.normalize)
    check_same(opened.table, record, new_data=False)
    run = fit(opened, request, silent=True)
    with working("Writing the report:"):
        explanation = explained(run, resamples)
        found = record_of(run, reading, verdicts(run, explanation))
        found["command"] = record.get("command")
        write_outputs(run, found, explanation, Outputs(report=target, force=force))
    errors().print(f"Wrote {target}", markup=False, highlight=False)


def run_study(folder: Path, settings: Mapping[str, Any], jobs: int, fresh: bool) -> Any:
    """Run or take up a study in a folder, which remembers its settings."""
    from ufselect import reproduction
    from ufselect.reproduction.study_page import publish

    folder.mkdir(parents=True, exist_ok=True)
    write_text(folder / SETTINGS, json.dumps(settings, indent=2) + "\n", force=True)
    with working("Reproducing:"):
        study = reproduction.reproduce(folder, **settings, n_jobs=jobs, resume=not fresh, publish=publish)
    errors().print(f"Wrote {folder / 'index.html'}; open it in a browser.", markup=False, highlight=False)
    return study


def study_settings(
    datasets: Sequence[str] | None, methods: Sequence[str] | None, quick: bool, exact: bool
) -> dict[str, Any]:
    """Return what a study was asked for."""
    return {
        "datasets": list(datasets) if datasets else None,
        "methods": list(methods) if methods else None,
        "quick": quick,
        "exact": exact,
    }


def report_study(folder: Path, page: Path | None) -> None:
    """Write the page of a study anew from its results.

    Raises
    ------
    TableError
        If the folder holds none.
    """
    settings = folder / SETTINGS
    if page is not None:
        raise TableError(f"The page of a study is index.html in its folder; leave -o {page} out.")
    if not settings.is_file():
        raise TableError(
            f"{folder} holds no study with its settings; make it with ufselect reproduce -o {folder}."
        )
    run_study(folder, json.loads(settings.read_text(encoding="utf-8")), jobs=1, fresh=False)
