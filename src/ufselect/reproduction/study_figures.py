"""The figures of a reproduction, each with what it shows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ufselect.evaluation.choice import METRICS, best, choose
from ufselect.evaluation.methods import ALL_FEATURES
from ufselect.evaluation.rows import Row
from ufselect.evaluation.tables import method_labels
from ufselect.plotting import ConvergenceDisplay, PixelsDisplay
from ufselect.plotting.style import line_styles, matplotlib, tidy
from ufselect.registry import all_selectors
from ufselect.reproduction.ablation import PAPER_ROWS_ONLY, ROWS_ONLY
from ufselect.reproduction.findings import Study
from ufselect.reproduction.panels import (
    SHOWN_ROWS,
    plot_boxes,
    plot_critical_difference,
    plot_curves,
    plot_plane,
    plot_sensitivity,
    plot_sparsity,
    plot_time,
)
from ufselect.reproduction.paper import DISCUSSED_SETS, HEAT_MAP_SETS, TITLES
from ufselect.reproduction.paper_grid import PAPER_GRID
from ufselect.reproduction.rivals import AS_RUN
from ufselect.reproduction.synthetic import KINDS, TRUE_FEATURES, is_published, shape_draw

# A baseline, and three that the paper compares; a row of four fits a page.
PIXEL_METHODS = ("PCALeverage", "SPCAFS", "FSPCA", "DSCOFS")
# Tables of their own have them.
ASIDE = (ROWS_ONLY, PAPER_ROWS_ONLY, *AS_RUN.values())


@dataclass(frozen=True)
class StudyFigure:
    """A figure, its name as a file, its heading and two sentences of what it shows."""

    name: str
    title: str
    caption: str
    figure: Any


def study_figures(study: Study) -> Iterator[StudyFigure]:
    """Draw the figures of a study one after the other."""
    for metric in METRICS:
        yield curves_figure(study, metric)
    if study.test is not None:
        yield ranks_figure(study)
    for metric in METRICS:
        yield boxes_figure(study, metric)
    yield time_figure(study)
    yield loadings_figure(study)
    yield convergence_figure(study)
    if any(PAPER_GRID in methods for methods in study.methods.values()):
        for metric in METRICS:
            yield sensitivity_figure(study, metric)
    yield shapes_figure(study)
    if study.images:
        yield pixels_figure(study)


def _panels(n_panels: int, n_columns: int, width: float, height: float) -> tuple[Any, list[Any]]:
    """Return a figure with a grid of axes, the unused ones hidden."""
    n_columns = min(n_columns, n_panels)
    n_rows = -(-n_panels // n_columns)
    figure = matplotlib("figure").Figure(figsize=(width * n_columns, height * n_rows), layout="constrained")
    axes = list(np.ravel(figure.subplots(n_rows, n_columns, squeeze=False)))
    for ax in axes[n_panels:]:
        ax.set_axis_off()
    return figure, axes[:n_panels]


def _rows(study: Study, name: str) -> list[Row]:
    return [row for row in study.outcomes["oracle"][name].rows if row.method not in ASIDE]


def _shown(study: Study, names: Sequence[str]) -> list[str]:
    """Return the data sets that the paper's figure shows, or all that were looked into if none is there."""
    return [name for name in study.dissections if name in names] or list(study.dissections)


def _title(name: str) -> str:
    return TITLES.get(name, name)


def curves_figure(study: Study, metric: str) -> StudyFigure:
    """Draw quality against the number of features, one panel per data set."""
    names = list(study.problems)
    figure, axes = _panels(len(names), 3, 3.7, 3.0)
    labels = method_labels(row for name in names for row in _rows(study, name))
    styles = line_styles([label for key, label in labels.items() if key != ALL_FEATURES])
    for ax, name in zip(axes, names, strict=True):
        plot_curves(_rows(study, name), metric, ax, styles)
        ax.set_title(_title(name), fontsize=10)
    handles = {label: h for ax in axes for h, label in zip(*ax.get_legend_handles_labels(), strict=True)}
    figure.legend(
        list(handles.values()), list(handles), loc="outside lower center", ncols=5, fontsize=8, frameon=False
    )
    chosen = choose([row for name in names for row in _rows(study, name)], "oracle", metric)
    own = PAPER_GRID if any((name, PAPER_GRID) in chosen for name in names) else "DSCOFS"
    known = [name for name in names if (name, own) in chosen]
    above = sum(
        getattr(chosen[name, own], f"{metric}_mean") > getattr(chosen[name, ALL_FEATURES], f"{metric}_mean")
        for name in known
    )
    caption = (
        f"Best mean {metric.upper()} of each method at each number of features, parameters chosen by the "
        f"labels (oracle); the level line is all features. {labels.get(own, 'DSCOFS')}: the best point lies "
        f"above all features on {above} of {len(known)} data sets."
    )
    return StudyFigure(
        f"curves_{metric}", f"{metric.upper()} against the number of features", caption, figure
    )


def ranks_figure(study: Study) -> StudyFigure:
    """Draw the critical-difference diagram."""
    test = study.test
    assert test is not None
    figure, (ax,) = _panels(1, 1, 8.5, 1.6 + 0.22 * len(test.labels))
    plot_critical_difference(test, ax)
    first = test.labels[int(np.argmin(test.average_ranks))]
    verdict = "differ" if test.p_value < test.level else "are not told apart"
    caption = (
        f"Average ranks by ACC (oracle), joined where Nemenyi's test at level {test.level:g} sees no "
        f"difference; {first} has the best average rank. By Friedman's test the methods {verdict} "
        f"(p = {test.p_value:.2g}, {test.n_datasets} data sets)."
    )
    return StudyFigure("critical_difference", "Ranks over the data sets", caption, figure)


def boxes_figure(study: Study, metric: str) -> StudyFigure:
    """Draw the runs behind each mean."""
    names = _shown(study, DISCUSSED_SETS)
    chosen = choose([row for name in names for row in _rows(study, name)], "oracle", metric)
    n_methods = len({method for _, method in chosen})
    figure, axes = _panels(len(names), 2, 5.4, 0.8 + 0.27 * n_methods)
    for ax, name in zip(axes, names, strict=True):
        plot_boxes([row for (dataset, _), row in chosen.items() if dataset == name], metric, ax)
        ax.set_title(_title(name), fontsize=10)
    spread = np.mean([getattr(row, f"{metric}_std") for row in chosen.values()])
    caption = (
        f"{metric.upper()} of all K-means runs at each method's best point (oracle), number of features in "
        "brackets; the box spans the middle half of the runs, the line is the median and the diamond the "
        "mean. For DSCOFS by the paper's grid the runs of all starts are in one box. The runs of one "
        f"selection spread by {spread:.1f} points (std) on average: methods closer than that overlap in most "
        "of their runs."
    )
    return StudyFigure(f"boxes_{metric}", f"The runs behind the means of {metric.upper()}", caption, figure)


def time_figure(study: Study) -> StudyFigure:
    """Draw quality against the time of one fit, on the data set of the paper's figure."""
    name = study.timed
    problem = study.problems[name]
    chosen = choose(_rows(study, name), "oracle", "acc")
    points = [
        (chosen[name, key].label, seconds, chosen[name, key].acc_mean)
        for key, seconds in study.seconds.items()
    ]
    figure, (ax,) = _panels(1, 1, 7.0, 4.0)
    plot_time(points, "acc", ax)
    ax.set_title(_title(name), fontsize=10)
    fastest, slowest = min(points, key=lambda p: p[1]), max(points, key=lambda p: p[1])
    caption = (
        f"Best ACC (oracle) against the CPU time of the one fit that gave it, on {_title(name)} "
        f"({problem.X.shape[0]} × {problem.X.shape[1]}). {fastest[0]} takes {fastest[1]:.3g} s, {slowest[0]} "
        f"{slowest[1]:.3g} s."
    )
    return StudyFigure("time", "Accuracy against time", caption, figure)


def loadings_figure(study: Study) -> StudyFigure:
    """Draw loading matrices without sparsity, with either kind and with both."""
    kinds = {
        "none": "No sparsity",
        "row": "Row sparsity",
        "entry": "Entry sparsity",
        "double": "Double sparsity",
    }
    names = _shown(study, HEAT_MAP_SETS)
    figure, axes = _panels(len(names) * len(kinds), len(kinds), 2.6, 2.6)
    cells = [(name, kind) for name in names for kind in kinds]
    for ax, (name, kind) in zip(axes, cells, strict=True):
        matrix = study.dissections[name].matrices[kind]
        plot_sparsity(matrix, f"{_title(name)}\n{kinds[kind].lower()}", ax)
    caption = (
        "Magnitudes of loadings at default penalties from the PCA start; white is exactly zero, and the "
        "titles say which share of the entries is not. X itself is dense, so what is drawn is: X without any "
        "constraint; the row-sparse copy Z of a fit with row sparsity alone; the entry-sparse copy Y of a "
        "fit with entry sparsity alone; X masked by Y and Z, zero where either is, of a fit with both. "
        f"Where a set has more features than {SHOWN_ROWS}, each line is the largest of a few neighbours."
    )
    return StudyFigure("loadings", "What the two kinds of sparsity do", caption, figure)


def convergence_figure(study: Study) -> StudyFigure:
    """Draw the course of the objective."""
    names = _shown(study, DISCUSSED_SETS)
    histories = {_title(name): study.dissections[name].objective for name in names}
    figure, (ax,) = _panels(1, 1, 6.0, 3.6)
    for (title, history), style in zip(histories.items(), line_styles(histories).values(), strict=True):
        ConvergenceDisplay(history).plot_gap(ax, label=title, **{**style, "marker": ""})
    tidy(ax, "", "Iteration", "Share of the descent still to go")
    ax.legend(fontsize=8, frameon=False)
    steps = [int(np.argmax((h - h[-1]) <= 0.01 * (h[0] - h[-1]))) for h in histories.values()]
    caption = (
        "DSCOFS's objective at default penalties from a random start, run on to a tolerance of 1e-6, as the "
        "share of its whole descent that is still to go; it never rises. "
        f"99 % of the descent is done after {min(steps)} to {max(steps)} iterations."
    )
    return StudyFigure("convergence", "Convergence", caption, figure)


def sensitivity_figure(study: Study, metric: str) -> StudyFigure:
    """Draw DSCOFS's screening scores over the number of features and the paper's entry shares."""
    names = _shown(study, DISCUSSED_SETS)
    figure, axes = _panels(len(names), 2, 5.0, 3.4)
    ranges = []
    for ax, name in zip(axes, names, strict=True):
        rows = [row for row in study.outcomes["oracle"][name].screened if row.method == PAPER_GRID]
        image = plot_sensitivity(rows, metric, ax)
        ax.set_title(_title(name), fontsize=10)
        figure.colorbar(image, ax=ax, label=f"{metric.upper()} (%)")
        ranges.append(float(np.nanmax(image.get_array()) - np.nanmin(image.get_array())))
    runs = study.outcomes["oracle"][names[0]].screened[0].n_runs
    caption = (
        f"{metric.upper()} of DSCOFS by the paper's grid over r and α: in each cell the best of the 49 pairs "
        f"of penalties by the labels, mean over starts. Points are scored by {runs} K-means runs, so a cell "
        "is the best of 49 noisy means and lies above what 50 runs would give. Within a data set the cells "
        f"range over {min(ranges):.0f} to {max(ranges):.0f} points."
    )
    title = f"Sensitivity of {metric.upper()} to the number of features and of entries"
    return StudyFigure(f"sensitivity_{metric}", title, caption, figure)


def shapes_figure(study: Study) -> StudyFigure:
    """Draw the planes of the true features and of those that methods choose, one noise draw per shape."""
    labels = {key: all_selectors()[key].label for _, key in study.planes}
    figure, axes = _panels(len(KINDS) * (len(labels) + 1), len(labels) + 1, 2.2, 2.2)
    places = iter(axes)
    for kind, title in KINDS.items():
        X, y = shape_draw(kind, 0)
        plot_plane(X, y, TRUE_FEATURES, f"{title}: truth", next(places))
        for key, label in labels.items():
            plot_plane(X, y, study.planes[kind, key], label, next(places))
    found = sum(plane == TRUE_FEATURES for plane in study.planes.values())
    source = "500 points of each class of the published file" if is_published("banana") else "generated"
    caption = (
        "Three shapes among seven noise features of the same mean and variance, Banana "
        f"{source}: the true plane and the plane of each method's first two features at default parameters "
        f"with as many components as classes, one noise draw. {found} of "
        f"{len(study.planes)} choices are the true plane; the table counts many draws."
    )
    return StudyFigure("shapes", "Shapes among noise", caption, figure)


def pixels_figure(study: Study) -> StudyFigure:
    """Draw the pixels that methods choose on the image sets."""
    names = list(study.images)
    keys = [key for key in PIXEL_METHODS if all(key in study.methods[name] for name in names)]
    figure, axes = _panels(len(names) * len(keys), len(keys), 2.2, 2.4)
    places = iter(axes)
    for name in names:
        image, outcome = study.images[name], study.outcomes["oracle"][name]
        for key in keys:
            row = best([row for row in outcome.rows if row.method == key], "acc")
            features = outcome.subsets[key, row.params, row.n_features, 0]
            title = f"{_title(name)}: {row.label}\n{row.n_features} pixels, ACC {row.acc_mean:.1f}"
            X, ax = study.problems[name].X, next(places)
            support = np.isin(np.arange(X.shape[1]), features)
            PixelsDisplay(support, image.image_shape, image.image_order, X.mean(axis=0)).plot(ax=ax)
            ax.set_title(title, fontsize=10)
    caption = (
        "Pixels of each method's best point (oracle) over the mean image. Methods of similar accuracy can "
        "choose quite different pixels, because neighbouring pixels carry nearly the same information."
    )
    return StudyFigure("pixels", "Selected pixels", caption, figure)


def write_figures(figures: Iterable[StudyFigure], folder: Path) -> list[StudyFigure]:
    """Save each figure as PNG and PDF and return them."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for item in figures:
        item.figure.savefig(folder / f"{item.name}.png", dpi=130)
        item.figure.set_layout_engine("none")  # the first drawing has settled the layout
        item.figure.savefig(folder / f"{item.name}.pdf", dpi=130)
        written.append(item)
    return written
