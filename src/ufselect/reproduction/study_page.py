"""The page of a reproduction: one HTML file that reads top to bottom and needs no other."""

from __future__ import annotations

import base64
import html
from collections.abc import Mapping, Sequence
from pathlib import Path

from ufselect.evaluation.choice import HOW
from ufselect.evaluation.identity import software_versions
from ufselect.evaluation.tables import Table
from ufselect.reproduction.record import Study
from ufselect.reproduction.study_figures import StudyFigure, study_figures, write_figures

STYLE = """
body{font:16px/1.5 system-ui,sans-serif;max-width:68rem;margin:2rem auto;padding:0 1rem;color:#1a1a1a}
h1,h2,h3{line-height:1.2}h2{margin-top:2.5rem;border-bottom:1px solid #ccc;padding-bottom:.2rem}
.scroll{overflow-x:auto}table{border-collapse:collapse;font-size:.82rem;margin:.5rem 0 1.5rem}
caption{text-align:left;font-weight:600;padding:.3rem 0}
th,td{padding:.25rem .6rem;border-bottom:1px solid #e3e3e3;text-align:right;white-space:nowrap}
th:first-child,td:first-child{text-align:left;position:sticky;left:0;background:#fff}td.below{background:#fde0d2}td.good{background:#d9f0e3}
figure{margin:1.5rem 0}figure img{max-width:100%;height:auto}figcaption{max-width:50rem;color:#333}
nav a{margin-right:1rem}.note{background:#f4f4f4;padding:.6rem 1rem;border-left:4px solid #0072b2}
"""
MARKS = {"below": "below", "at or above": "good"}


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
        If matplotlib or scikit-posthocs is not installed.
    """
    figures = write_figures(study_figures(study), folder / "figures")
    pictures = {item.name: (folder / "figures" / f"{item.name}.png").read_bytes() for item in figures}
    (folder / "index.html").write_text(render_page(study, figures, pictures), encoding="utf-8")


def render_page(study: Study, figures: Sequence[StudyFigure], pictures: Mapping[str, bytes]) -> str:
    """Return the page as HTML without outside references; ``pictures`` are the figures as PNG, by name."""
    tables = {table.name: table for table in study.tables}
    parts = [
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>",
        "<meta name='viewport' content='width=device-width, initial-scale=1'>",
        f"<title>Reproduction of the DSCOFS experiments</title><style>{STYLE}</style></head><body>",
        "<h1>Unsupervised feature selection: the DSCOFS experiments reproduced</h1>",
        "<nav><a href='#run'>What was run</a><a href='#main'>Main tables</a>",
        "<a href='#paper'>Against the paper</a><a href='#more'>Further experiments</a>",
        "<a href='#figures'>Figures</a></nav>",
        "<h2 id='run'>What was run</h2>",
        _what_was_run(study),
        "<h2 id='main'>Main tables</h2>",
        *(_table(tables[name]) for name in ("means",) if name in tables),
        *(_modes(study, tables)),
    ]
    against = [tables[name] for name in ("acc_against_paper", "nmi_against_paper") if name in tables]
    parts.append("<h2 id='paper'>Against the paper</h2>")
    parts += [_table(table) for table in against] or [
        "<p>None of these data sets is in the paper, so there is nothing to set beside it.</p>"
    ]
    parts.append("<h2 id='more'>Further experiments</h2>")
    parts += [
        _table(tables[name]) for name in ("ablation", "ranks", "stability", "synthetic") if name in tables
    ]
    parts.append("<h2 id='figures'>Figures</h2>")
    parts += [_figure(item, pictures[item.name]) for item in figures]
    parts.append("</body></html>")
    return "\n".join(parts)


def _what_was_run(study: Study) -> str:
    protocol = study.protocol
    screening = (
        "every parameter point is scored with all runs"
        if protocol.is_exact
        else f"parameter points are screened with {protocol.screening_runs} runs, and for each method and "
        f"count the best {protocol.finalists} by either metric get all runs"
    )
    sets = ", ".join(
        f"{html.escape(name)} ({problem.X.shape[0]} × {problem.X.shape[1]}, {problem.n_classes} classes)"
        for name, problem in study.problems.items()
    )
    missing = "".join(
        f"<p class='note'>{html.escape(name)} is missing: {html.escape(reason)}</p>"
        for name, reason in study.unavailable.items()
    )
    quick = (
        "<p class='note'>This is the quick version: few runs and few parameter points. It shows the "
        "machinery; its numbers mean little.</p>"
        if study.quick
        else ""
    )
    points = {
        method.label: len(method.points) for methods in study.methods.values() for method in methods.values()
    }
    budget = ", ".join(f"{html.escape(label)} {count}" for label, count in points.items())
    return (
        f"{quick}<p>Data: {sets}.</p>{missing}"
        f"<p>Scores: K-means on the selected, unscaled features with as many clusters as classes, "
        f"{protocol.n_runs} runs, seeding {html.escape(protocol.seeding)}, seed {protocol.seed}; ACC under "
        f"the best matching, NMI with the geometric mean; {screening}. At most {protocol.max_points} "
        f"parameter points a method; tried: {budget}.</p><p>Software: {html.escape(software_versions())}.</p>"
    )


def _modes(study: Study, tables: dict[str, Table]) -> list[str]:
    parts = []
    for mode in study.outcomes:
        parts.append(f"<h3>{mode.capitalize()}: {html.escape(HOW[mode])}</h3>")
        parts += [_table(tables[f"{metric}_{mode}"]) for metric in ("acc", "nmi")]
    return parts


def _table(table: Table) -> str:
    head = "".join(f"<th scope='col'>{html.escape(name)}</th>" for name in table.columns)
    rows = "".join(f"<tr>{''.join(_cell(cell) for cell in row)}</tr>" for row in table.body)
    return (
        f"<div class='scroll'><table><caption>{html.escape(table.title)}</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _cell(words: str) -> str:
    mark = f" class='{MARKS[words]}'" if words in MARKS else ""
    return f"<td{mark}>{html.escape(words)}</td>"


def _figure(item: StudyFigure, png: bytes) -> str:
    picture = base64.b64encode(png).decode("ascii")
    return (
        f"<h3>{html.escape(item.title)}</h3><figure><img src='data:image/png;base64,{picture}' "
        f"alt='{html.escape(item.title, quote=True)}'>"
        f"<figcaption>{html.escape(item.caption)}</figcaption></figure>"
    )
