"""The files that a run writes: together or not at all."""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ufselect.cli.row_facts import row_metadata
from ufselect.cli.run import Run
from ufselect.exceptions import TableError
from ufselect.io.files import Write, check_outputs, write_together
from ufselect.io.table import Table
from ufselect.io.writing import ranked_rows, write_columns, written_as

STANDARD_OUTPUT = Path("-")


@dataclass(frozen=True)
class Outputs:
    """Files to write by kind; None for those that are not wanted.

    Attributes
    ----------
    table, report, record, ranking, names : Path or None
        The reduced table, the page, the record, every column with its rank, and the chosen names.
    drop_text : bool
        Whether text columns are left out of the table.
    force : bool
        Whether existing files are replaced.
    """

    table: Path | None = None
    report: Path | None = None
    record: Path | None = None
    ranking: Path | None = None
    names: Path | None = None
    drop_text: bool = False
    force: bool = False

    def files(self) -> dict[str, Path]:
        """Return the files by kind, the record last because it names the others."""
        kinds = ("table", "report", "ranking", "names", "record")
        found = {kind: getattr(self, kind) for kind in kinds}
        if self.to_standard_output:
            del found["table"]
        return {kind: path for kind, path in found.items() if path is not None}

    @property
    def to_standard_output(self) -> bool:
        return self.table == STANDARD_OUTPUT


def planned(outputs: Outputs, data: str) -> Outputs:
    """Return the outputs with the record named, having made sure that all can be written."""
    if outputs.table is not None and not outputs.to_standard_output:
        written_as(outputs.table)
        outputs = replace(outputs, record=outputs.record or record_beside(outputs.table))
    for listing in (outputs.ranking,):
        if listing is not None and written_as(listing)[0] not in (".csv", ".tsv"):
            raise TableError(f"{listing} must end in .csv or .tsv, or these with a compression.")
    check_outputs(outputs.files().values(), outputs.force, Path(data))
    return outputs


def record_beside(path: Path) -> Path:
    """Return the record's name: x.json for x.csv, and for others with their ending, so that none collide."""
    return path.with_suffix(".json") if path.suffix.lower() == ".csv" else path.with_name(f"{path.name}.json")


def write_outputs(run: Run, found: dict[str, Any], explanation: Any, outputs: Outputs) -> None:
    """Write all files, and the table to standard output if it is to go there."""
    found["outputs"] = {kind: str(path) for kind, path in outputs.files().items()}
    writers: dict[str, Write] = {
        "table": lambda target: _write_table(run, outputs, target),
        "report": lambda target: target.write_text(page(run, found, explanation), encoding="utf-8"),
        "ranking": lambda target: ranked_rows(ranking(run, explanation), outputs.ranking or target, target),
        "names": lambda target: target.write_text(_names(run), encoding="utf-8"),
        "record": lambda target: target.write_text(_json(found), encoding="utf-8"),
    }
    write_together({path: writers[kind] for kind, path in outputs.files().items()}, outputs.force)
    if outputs.to_standard_output:
        pipe_columns(run.table, run.selected, outputs.drop_text)


def _write_table(run: Run, outputs: Outputs, target: Path) -> None:
    assert outputs.table is not None
    write_columns(run.table, run.selected, target, outputs.table, outputs.drop_text)


def pipe_columns(table: Table, selected: NDArray[np.intp], drop_text: bool) -> None:
    """Write the chosen columns to standard output as text, with the input's mark between fields."""
    with tempfile.TemporaryDirectory(prefix="ufselect-") as folder:
        path = Path(folder) / "table.txt"
        write_columns(table, selected, path, path, drop_text)
        with path.open("rb") as file:
            shutil.copyfileobj(file, sys.stdout.buffer)
    sys.stdout.flush()


def _json(found: dict[str, Any]) -> str:
    return json.dumps(found, indent=2, ensure_ascii=False) + "\n"


def _names(run: Run) -> str:
    return "".join(f"{run.table.feature_names[j]}\n" for j in run.ranked)


def ranking(run: Run, explanation: Any) -> list[dict[str, Any]]:
    """Return one row a column: rank, score, whether it is kept, which kept one stands for it, and why not."""
    names, selector = run.table.feature_names, run.selector
    rows = [
        {
            "rank": int(selector.ranking_[j]),
            "feature": names[j],
            "score": float(selector.scores_[j]),
            "kept": bool(selector.support_[j]),
            "stands_for_it": names[run.ranked[explanation.closest[j]]],
            "correlation": round(float(explanation.closest_r[j]), 6),
            "left_out_because": "",
        }
        for j in np.argsort(selector.ranking_)
    ]
    nothing = {"rank": "", "score": "", "kept": False, "stands_for_it": "", "correlation": ""}
    rows += [
        {**nothing, "feature": column.name, "left_out_because": column.reason}
        for column in run.table.left_out
    ]
    return rows


def explained(run: Run, resamples: int) -> Any:
    """Return what there is to say about a run, with values in the table's own units."""
    from ufselect.plotting.reconstruction_display import ReconstructionDisplay
    from ufselect.report import explain

    explanation = explain(
        run.chosen_method,
        run.prepared.data,
        feature_names=run.table.feature_names,
        image_shape=run.table.image_shape,
        image_order=run.table.image_order,
        n_resamples=resamples,
        random_state=run.request.seed,
        **row_metadata(run.table),
    )
    means, deviations = run.prepared.means[run.ranked], run.prepared.deviations[run.ranked]
    if explanation.counts is None and hasattr(run.chooser, "count_curve_"):
        # the count was chosen before the method, which was given it
        explanation = replace(explanation, counts=ReconstructionDisplay.of_counts(run.chooser))
    return replace(explanation, means=means, deviations=deviations)


def page(run: Run, found: dict[str, Any], explanation: Any) -> str:
    """Return the page that explains a run."""
    from ufselect.report import report_html

    return report_html(explanation, title=_title(run.table), notes=found["notes"], record=found)


def _title(table: Table) -> str:
    return table.source.name if table.source is not None else "table"
