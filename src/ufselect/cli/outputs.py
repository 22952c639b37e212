"""What follows the reading of a table: fit, write, print."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ufselect.cli.console import errors, note, output, working
from ufselect.cli.run import Request, Run, run_selection, unit_note
from ufselect.cli.show import feature_table, pixel_map
from ufselect.io import Table, TableError, write_selection
from ufselect.io.writing import check_outputs, check_table_format, write_text

WIDEST_PICTURE = 40  # pixels of two characters on a terminal of 80


def planned_outputs(
    table: Path | None, report: Path | None, record: Path | None, data: str, force: bool
) -> dict[str, Path]:
    """Return the files to write by kind, having made sure that they can be."""
    check_table_format(table)
    if record is None and table is not None:
        record = table.with_suffix(".json")
    check_outputs((table, report, record), force, Path(data))
    return {
        kind: path
        for kind, path in (("table", table), ("record", record), ("report", report))
        if path is not None
    }


def check_same(table: Table, earlier: dict[str, Any], new_data: bool) -> None:
    """Refuse other data than those of a record.

    Raises
    ------
    TableError
        If the checksums differ and ``new_data`` is not given.
    """
    if table.sha256 != earlier["data"]["sha256"] and not new_data:
        raise TableError(
            f"{table.source} is not the data that the record was made from, its SHA-256 differs; "
            "give that file, "
            "or add --new-data to apply the same settings to this one."
        )


def fit(table: Table, request: Request, quiet: bool) -> Run:
    """Fit with progress, and say what the fit warned of."""
    if not quiet:
        hint = unit_note(table, request)
        note([hint] if hint else [])
    with working(f"{table.shape[0]} × {table.shape[1]}:"):
        run = run_selection(table, request, verbose=True)
    if not quiet:
        note(run.messages)
    return run


def write(run: Run, found: dict[str, Any], outputs: dict[str, Path], force: bool, resamples: int) -> None:
    """Write the reduced table, the report and last the record, which names them."""
    if "table" in outputs:
        write_selection(run.table, run.selected, outputs["table"], force)
    if "report" in outputs:
        write_report(run, found, outputs["report"], force, resamples)
    found["outputs"] = {kind: str(path) for kind, path in outputs.items()}
    if "record" in outputs:
        write_text(outputs["record"], json.dumps(found, indent=2, ensure_ascii=False) + "\n", force)


def write_report(run: Run, found: dict[str, Any], path: Path, force: bool, resamples: int) -> None:
    """Write the page that explains a run."""
    from ufselect.report import explain, report_html

    with working("Writing the report:"):
        explanation = explain(
            run.selector,
            run.data,
            feature_names=run.table.feature_names,
            image_shape=run.table.image_shape,
            image_order=run.table.image_order,
            n_resamples=resamples,
            random_state=run.request.seed,
        )
        page = report_html(explanation, title=_title(run.table), notes=found["notes"], record=found)
    write_text(path, page, force)


def _title(table: Table) -> str:
    return table.source.name if table.source is not None else "table"


def show(run: Run, found: dict[str, Any], outputs: dict[str, Path]) -> None:
    """Print the chosen features and the files that were written."""
    output().print(feature_table(run), highlight=False)
    shape = run.table.image_shape
    if shape is not None and shape[1] <= WIDEST_PICTURE:
        output().print(pixel_map(run.selector.support_, shape, run.table.image_order))
    if "repeats" in found:
        same = found["repeats"]["same_features"]
        differs = "The features differ from the record's; compare the versions that both records name."
        note(["The same features in the same order as in the record." if same else differs])
    for kind, path in outputs.items():
        errors().print(f"Wrote the {kind} to {path}", markup=False, highlight=False, soft_wrap=True)
