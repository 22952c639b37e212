"""The page of a study: one HTML file that reads top to bottom and needs no other."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import numpy as np
import scipy
import sklearn
from benchmarks.paper.figures import StudyFigure, study_figures
from benchmarks.paper.study import Study

import ufselect
from ufselect.evaluation.tables import HOW, METRICS
from ufselect.report.page import render


def publish(study: Study, folder: Path) -> None:
    """Write ``figures/`` and ``index.html`` of a study into a folder.

    Pass this as ``publish`` to :func:`benchmarks.paper.study.reproduce`.
    """
    figures, pictures = list(study_figures(study)), {}
    (folder / "figures").mkdir(parents=True, exist_ok=True)
    for item in figures:
        target = folder / "figures" / f"{item.name}.png"
        item.figure.savefig(target, dpi=130)
        item.figure.set_layout_engine("none")  # the first drawing has settled the layout
        item.figure.savefig(target.with_suffix(".pdf"), dpi=130)
        pictures[item.name] = base64.b64encode(target.read_bytes()).decode("ascii")
    captions = {item.name: {"title": item.title, "caption": item.caption} for item in figures}
    (folder / "figures" / "captions.json").write_text(
        json.dumps(captions, indent=1, ensure_ascii=False), encoding="utf-8"
    )
    (folder / "index.html").write_text(render_page(study, figures, pictures), encoding="utf-8")


def render_page(study: Study, figures: list[StudyFigure], pictures: dict[str, str]) -> str:
    """Return the page as HTML without outside references; ``pictures`` are PNG in base 64, by name."""
    tables = {table.name: table for table in study.tables}
    against, further = (
        [tables[name] for name in names.split() if name in tables]
        for names in (
            "paper_grid acc_against_paper nmi_against_paper tsfs",
            "optimism ablation ablation_paper_grid ranks_paper ranks stability synthetic",
        )
    )
    beside = ", beside those that the paper prints" if against else ""
    quick = (
        "This is the quick version: few runs and few parameter points. It shows the machinery; its numbers "
        "mean little."
    )
    return render(
        "benchmarks.paper",
        "study.html",
        title="Unsupervised feature selection: the DSCOFS experiments reproduced",
        tab_title="Reproduction of the DSCOFS experiments",
        summary=f"Tables and figures of {len(study.problems)} data sets{beside}.",
        links=(
            ("run", "What was run"),
            ("main-tables", "Main tables"),
            ("paper", "Against the paper"),
            ("more", "Further experiments"),
            ("figures", "Figures"),
        ),
        created=None,
        warnings=[
            *([quick] if study.quick else []),
            *(f"{name} is missing: {reason}" for name, reason in study.unavailable.items()),
        ],
        settings=_settings(study),
        marks={"below": "below", "at or above": "good"},
        means=[tables["means"]] if "means" in tables else [],
        modes=[
            (f"{mode.capitalize()}: {HOW[mode]}", [tables[f"{metric}_{mode}"] for metric in METRICS])
            for mode in study.outcomes
        ],
        against=against,
        further=further,
        figures=figures,
        pictures=pictures,
    )


def _settings(study: Study) -> list[str]:
    """Return how the numbers came about, in paragraphs."""
    protocol = study.protocol
    screening = (
        f"parameter points are screened with {study.screening_runs} runs; those that may still win, "
        "within two standard errors of what they would need, get more and at last all runs, as does the best "
        "by either metric at each count"
        if study.screening_runs is not None
        else "every parameter point is scored with all runs"
    )
    sets = ", ".join(
        f"{name} ({problem.X.shape[0]} × {problem.X.shape[1]}, {problem.n_classes} classes)"
        for name, problem in study.problems.items()
    )
    points = {
        method.label: len(method.points) for methods in study.methods.values() for method in methods.values()
    }
    return [
        f"Data: {sets}.",
        "Scores: K-means on the selected, unscaled features with as many clusters as classes, "
        f"{protocol.n_runs} runs, seeding {protocol.seeding}, seed {protocol.seed}; ACC under the best "
        f"matching, NMI with the geometric mean; {screening}. Parameter points "
        f"tried: {', '.join(f'{label} {count}' for label, count in points.items())}.",
        f"Software: ufselect {ufselect.__version__}, numpy {np.__version__}, scipy {scipy.__version__}, "
        f"scikit-learn {sklearn.__version__}.",
    ]
