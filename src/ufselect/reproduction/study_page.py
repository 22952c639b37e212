"""The page of a reproduction: one HTML file that reads top to bottom and needs no other."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from ufselect.evaluation.choice import HOW, METRICS
from ufselect.evaluation.program import software_versions
from ufselect.evaluation.tables import Table
from ufselect.report.template import render
from ufselect.reproduction.findings import Study
from ufselect.reproduction.study_figures import StudyFigure, study_figures, write_figures

MARKS = {"below": "below", "at or above": "good"}
LINKS = (
    ("run", "What was run"),
    ("main-tables", "Main tables"),
    ("paper", "Against the paper"),
    ("more", "Further experiments"),
    ("figures", "Figures"),
)
MEANS, AGAINST = ("means",), ("paper_grid", "acc_against_paper", "nmi_against_paper", "tsfs")
FURTHER = (
    "optimism",
    "ablation",
    "ablation_paper_grid",
    "ranks_paper",
    "ranks",
    "stability",
    "synthetic",
)


def publish(study: Study, folder: Path) -> None:
    """Write ``figures/`` and ``index.html`` of a study into a folder.

    Pass this as ``publish`` to :func:`ufselect.reproduction.reproduce`.

    Parameters
    ----------
    study : Study
        What the reproduction found.
    folder : Path
        Where to write.

    Raises
    ------
    ImportError
        If Jinja2, matplotlib or scikit-posthocs is not installed.
    """
    figures = write_figures(study_figures(study), folder / "figures")
    captions = {item.name: {"title": item.title, "caption": item.caption} for item in figures}
    (folder / "figures" / "captions.json").write_text(
        json.dumps(captions, indent=1, ensure_ascii=False), encoding="utf-8"
    )
    pictures = {item.name: (folder / "figures" / f"{item.name}.png").read_bytes() for item in figures}
    (folder / "index.html").write_text(render_page(study, figures, pictures), encoding="utf-8")


def render_page(study: Study, figures: Sequence[StudyFigure], pictures: Mapping[str, bytes]) -> str:
    """Return the page as HTML without outside references; ``pictures`` are the figures as PNG, by name."""
    tables = {table.name: table for table in study.tables}
    return render(
        __package__ or "",
        "study.html",
        title="Unsupervised feature selection: the DSCOFS experiments reproduced",
        tab_title="Reproduction of the DSCOFS experiments",
        summary=_summary(study, tables),
        links=LINKS,
        created=None,
        warnings=_warnings(study),
        settings=_settings(study),
        marks=MARKS,
        means=_named(tables, MEANS),
        modes=_modes(study, tables),
        against=_named(tables, AGAINST),
        further=_named(tables, FURTHER),
        figures=figures,
        pictures={name: base64.b64encode(png).decode("ascii") for name, png in pictures.items()},
    )


def _summary(study: Study, tables: Mapping[str, Table]) -> str:
    beside = ", beside those that the paper prints" if _named(tables, AGAINST) else ""
    return f"Tables and figures of {len(study.problems)} data sets{beside}."


def _named(tables: Mapping[str, Table], names: Sequence[str]) -> list[Table]:
    return [tables[name] for name in names if name in tables]


def _modes(study: Study, tables: Mapping[str, Table]) -> list[tuple[str, list[Table]]]:
    return [
        (f"{mode.capitalize()}: {HOW[mode]}", [tables[f"{metric}_{mode}"] for metric in METRICS])
        for mode in study.outcomes
    ]


def _warnings(study: Study) -> list[str]:
    """Return what a reader must know before the numbers."""
    missing = [f"{name} is missing: {reason}" for name, reason in study.unavailable.items()]
    if not study.quick:
        return missing
    return [
        "This is the quick version: few runs and few parameter points. It shows the machinery; its numbers "
        "mean little.",
        *missing,
    ]


def _settings(study: Study) -> list[str]:
    """Return how the numbers came about, in paragraphs."""
    protocol = study.protocol
    screening = (
        "every parameter point is scored with all runs"
        if protocol.is_exact
        else f"parameter points are screened with {protocol.screening_runs} runs; those that may still win, "
        "within two standard errors of what they would need, get more and at last all runs, as does the best "
        "by either metric at each count"
    )
    sets = ", ".join(
        f"{name} ({problem.X.shape[0]} × {problem.X.shape[1]}, {problem.n_classes} classes)"
        for name, problem in study.problems.items()
    )
    points = {
        method.label: len(method.points) for methods in study.methods.values() for method in methods.values()
    }
    budget = ", ".join(f"{label} {count}" for label, count in points.items())
    return [
        f"Data: {sets}.",
        "Scores: K-means on the selected, unscaled features with as many clusters as classes, "
        f"{protocol.n_runs} runs, seeding {protocol.seeding}, seed {protocol.seed}; ACC under the best "
        f"matching, NMI with the geometric mean; {screening}. Parameter points "
        f"tried: {budget}.",
        f"Software: {software_versions()}.",
    ]
