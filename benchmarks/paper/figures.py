"""The figures of a study, each with what it shows, drawn from rows and records."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from benchmarks.paper.methods import PAPER_GRID, as_the_paper_ran
from benchmarks.paper.printed import DISCUSSED_SETS, HEAT_MAP_SETS, TITLES
from benchmarks.paper.rank_test import RankTest
from benchmarks.paper.shapes import KINDS, TRUE_FEATURES, is_published, shape_draw
from benchmarks.paper.study import Study
from numpy.typing import NDArray

from ufselect.evaluation.methods import ALL_FEATURES
from ufselect.evaluation.tables import METRICS, Row, best, choose, grouped, method_labels
from ufselect.plotting import PixelsDisplay
from ufselect.plotting.style import COLOURS, matplotlib
from ufselect.registry import all_selectors

# A line style and a marker go with each colour, so that grey print will do.
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
LINES = ("-", "--", "-.", ":")
STRONG = {"DSCOFS": "#000000", "DSCOFS, paper's grid": "#000000"}
# Lines of a loading matrix that a panel can show.
SHOWN_ROWS = 160


class StudyFigure(NamedTuple):
    """A figure, its name as a file, its heading and a few sentences of what it shows."""

    name: str
    title: str
    caption: str
    figure: Any


def study_figures(study: Study) -> Iterator[StudyFigure]:
    """Draw the figures of a study one after the other."""
    for metric in METRICS:
        yield curves_figure(study, metric)
    if study.test is not None:
        yield ranks_figure(study.test)
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


def _rows(study: Study, *names: str) -> list[Row]:
    """Return the oracle rows of some data sets, of methods as the paper ran them."""
    return as_the_paper_ran([row for name in names for row in study.outcomes["oracle"][name].rows])


def _shown(study: Study, names: Sequence[str]) -> list[str]:
    """Return the data sets that the paper's figure shows, or all that were looked into if none is there."""
    return [name for name in study.dissections if name in names] or list(study.dissections)


def _title(name: str) -> str:
    return TITLES.get(name, name)


def curves_figure(study: Study, metric: str) -> StudyFigure:
    """Draw quality against the number of features, one panel per data set."""
    names, rows = list(study.problems), _rows(study, *study.problems)
    figure, axes = _panels(len(names), 3, 3.7, 3.0)
    labels = method_labels(rows)
    styles = line_styles([label for key, label in labels.items() if key != ALL_FEATURES])
    for ax, name in zip(axes, names, strict=True):
        plot_curves(_rows(study, name), metric, ax, styles)
        ax.set_title(_title(name), fontsize=10)
    handles = {label: h for ax in axes for h, label in zip(*ax.get_legend_handles_labels(), strict=True)}
    figure.legend(
        list(handles.values()), list(handles), loc="outside lower center", ncols=5, fontsize=8, frameon=False
    )
    chosen = choose(rows, "oracle", metric)
    own = PAPER_GRID if any((name, PAPER_GRID) in chosen for name in names) else "DSCOFS"
    known = [name for name in names if (name, own) in chosen]
    above = sum(
        chosen[name, own][f"{metric}_mean"] > chosen[name, ALL_FEATURES][f"{metric}_mean"] for name in known
    )
    caption = (
        f"Best mean {metric.upper()} of each method at each number of features, parameters chosen by the "
        f"labels (oracle); the level line is all features. {labels.get(own, 'DSCOFS')}: the best point lies "
        f"above all features on {above} of {len(known)} data sets."
    )
    title = f"{metric.upper()} against the number of features"
    return StudyFigure(f"curves_{metric}", title, caption, figure)


def plot_curves(rows: Sequence[Row], metric: str, ax: Any, styles: Mapping[str, Mapping[str, Any]]) -> None:
    """Draw each method's best mean at each number of features, and all features as a level line.

    ``rows`` are of one data set; ``styles`` by label keep lines equal over several axes.
    """
    for (key, label), own in grouped(rows, "method", "label").items():
        by_count = {count: best(group, metric) for (count,), group in grouped(own, "n_features").items()}
        counts = sorted(by_count)
        means = [by_count[count][f"{metric}_mean"] for count in counts]
        if key == ALL_FEATURES:
            ax.axhline(means[0], color="0.35", linestyle=(0, (6, 3)), linewidth=1.2, label=label, zorder=1)
        else:
            ax.plot(counts, means, label=label, **styles[label])
    tidy(ax, rows[0]["dataset"], "Number of features", f"{metric.upper()} (%)")


def ranks_figure(test: RankTest) -> StudyFigure:
    """Draw the critical-difference diagram."""
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


def plot_critical_difference(test: RankTest, ax: Any) -> None:
    """Draw the average ranks on a line and join methods that Nemenyi's test does not tell apart."""
    import pandas as pd
    import scikit_posthocs

    labels = list(test.labels)
    scikit_posthocs.critical_difference_diagram(
        pd.Series(test.average_ranks, index=labels),
        pd.DataFrame(test.pairwise, index=labels, columns=labels),
        ax=ax,
        label_fmt_left="{label} ({rank:.2f})  ",
        label_fmt_right="  {label} ({rank:.2f})",
        label_props={"size": 9},
        color_palette=["black"] * len(labels),
        crossbar_props={"color": COLOURS[5], "linewidth": 3},
    )
    title = (
        f"Average rank over {test.n_datasets} data sets (1 is best); critical difference "
        f"{test.critical_difference:.2f}"
    )
    ax.set_title(title, fontsize=10, pad=18)


def boxes_figure(study: Study, metric: str) -> StudyFigure:
    """Draw the runs behind each mean."""
    names = _shown(study, DISCUSSED_SETS)
    chosen = choose(_rows(study, *names), "oracle", metric)
    n_methods = len({method for _, method in chosen})
    figure, axes = _panels(len(names), 2, 5.4, 0.8 + 0.27 * n_methods)
    for ax, name in zip(axes, names, strict=True):
        plot_boxes([row for (dataset, _), row in chosen.items() if dataset == name], metric, ax)
        ax.set_title(_title(name), fontsize=10)
    spread = np.mean([row[f"{metric}_std"] for row in chosen.values()])
    caption = (
        f"{metric.upper()} of all K-means runs at each method's best point (oracle), number of features in "
        "brackets; the box spans the middle half of the runs, the line is the median and the diamond the "
        "mean. For DSCOFS by the paper's grid the runs of all starts are in one box. The runs of one "
        f"selection spread by {spread:.1f} points (std) on average: methods closer than that overlap in most "
        "of their runs."
    )
    return StudyFigure(f"boxes_{metric}", f"The runs behind the means of {metric.upper()}", caption, figure)


def plot_boxes(rows: Sequence[Row], metric: str, ax: Any) -> None:
    """Draw a box for the K-means runs of each row, the mean as a diamond."""
    boxes = ax.boxplot(
        [row[f"{metric}_runs"] for row in rows],
        orientation="horizontal",
        patch_artist=True,
        showmeans=True,
        medianprops={"color": "black"},
        meanprops={"marker": "D", "markerfacecolor": "white", "markeredgecolor": "black", "markersize": 4},
        flierprops={"marker": ".", "markersize": 3, "markeredgecolor": "0.4"},
    )
    for box, row in zip(boxes["boxes"], rows, strict=True):
        box.set_facecolor(COLOURS[1] if row["label"] in STRONG else "#9ecae1")
    ax.set_yticks(np.arange(1, len(rows) + 1), [f"{row['label']} ({row['n_features']})" for row in rows])
    ax.invert_yaxis()
    tidy(ax, rows[0]["dataset"], f"{metric.upper()} (%)")


def time_figure(study: Study) -> StudyFigure:
    """Draw quality against the time of one fit, on the data set of the paper's figure."""
    name = study.timed
    chosen = choose(_rows(study, name), "oracle", "acc")
    points = {
        chosen[name, key]["label"]: (seconds, chosen[name, key]) for key, seconds in study.seconds.items()
    }
    ticker, styles = matplotlib("ticker"), line_styles(points)
    figure, (ax,) = _panels(1, 1, 7.0, 4.0)
    for label, (seconds, row) in points.items():
        style = {**styles[label], "linestyle": "", "markersize": 8}
        # The clock's resolution: no fit is shown as faster.
        ax.semilogx(max(seconds, 1e-4), row["acc_mean"], label=label, **style)
    ax.xaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
    ax.xaxis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:g}"))
    ax.xaxis.set_minor_locator(ticker.NullLocator())
    tidy(ax, _title(name), "CPU seconds of one fit (one thread)", "ACC (%)")
    ax.grid(alpha=0.25)
    ax.legend(fontsize=8, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    fastest, slowest = (extreme(points, key=lambda label: points[label][0]) for extreme in (min, max))
    n_samples, n_features = study.problems[name].X.shape
    caption = (
        f"Best ACC (oracle) against the CPU time of the one fit that gave it, on {_title(name)} "
        f"({n_samples} × {n_features}). {fastest} takes {points[fastest][0]:.3g} s, "
        f"{slowest} {points[slowest][0]:.3g} s."
    )
    return StudyFigure("time", "Accuracy against time", caption, figure)


def loadings_figure(study: Study) -> StudyFigure:
    """Draw loading matrices without sparsity, with either kind and with both."""
    kinds = {
        "none": "no sparsity",
        "row": "row sparsity",
        "entry": "entry sparsity",
        "double": "double sparsity",
    }
    names = _shown(study, HEAT_MAP_SETS)
    figure, axes = _panels(len(names) * len(kinds), len(kinds), 2.6, 2.6)
    cells = [(name, kind) for name in names for kind in kinds]
    for ax, (name, kind) in zip(axes, cells, strict=True):
        plot_sparsity(study.dissections[name][kind], f"{_title(name)}\n{kinds[kind]}", ax)
    caption = (
        "Magnitudes of loadings at default penalties from the PCA start; white is exactly zero, and the "
        "titles say which share of the entries is not. X itself is dense, so what is drawn is: X without any "
        "constraint; the row-sparse copy Z of a fit with row sparsity alone; the entry-sparse copy Y of a "
        "fit with entry sparsity alone; X masked by Y and Z, zero where either is, of a fit with both. "
        f"Where a set has more features than {SHOWN_ROWS}, each line is the largest of a few neighbours."
    )
    return StudyFigure("loadings", "What the two kinds of sparsity do", caption, figure)


def plot_sparsity(matrix: NDArray, title: str, ax: Any) -> None:
    """Draw where a loading matrix is not zero, features downwards; white is exactly zero.

    Where there are more features than a figure has lines, each line shows the largest of a few neighbours,
    so that no kept feature is lost.
    """
    block = -(-len(matrix) // SHOWN_ROWS)
    padded = np.pad(np.abs(matrix), ((0, -len(matrix) % block), (0, 0)))
    pooled = padded.reshape(-1, block, matrix.shape[1]).max(axis=1)
    ax.imshow(
        np.ma.masked_equal(pooled, 0.0),
        aspect="auto",
        interpolation="nearest",
        cmap="viridis_r",
        vmin=0.0,
        vmax=0.6 * (float(pooled.max()) or 1.0),  # the largest in full colour, so that the smaller ones show
        extent=(-0.5, matrix.shape[1] - 0.5, len(pooled) * block, 0),
    )
    ax.set_ylim(len(matrix), 0)
    shown = range(0, matrix.shape[1], 1 + matrix.shape[1] // 6)
    ax.set_xticks(shown, [component + 1 for component in shown])
    share = np.count_nonzero(matrix) / matrix.size
    tidy(ax, f"{title}, {share:.0%} kept", "Component", "Feature")
    ax.spines[["top", "right"]].set_visible(True)


def convergence_figure(study: Study) -> StudyFigure:
    """Draw the course of the objective."""
    histories = {_title(name): study.dissections[name]["objective"] for name in _shown(study, DISCUSSED_SETS)}
    styles = line_styles(histories)
    figure, (ax,) = _panels(1, 1, 6.0, 3.6)
    for title, history in histories.items():
        gap = (history - history[-1]) / ((history[0] - history[-1]) or 1.0)
        ax.semilogy(np.maximum(gap[:-1], 1e-12), label=title, **{**styles[title], "marker": ""})
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
        rows = [row for row in study.outcomes["oracle"][name].screened if row["method"] == PAPER_GRID]
        image = plot_sensitivity(rows, metric, ax)
        ax.set_title(_title(name), fontsize=10)
        figure.colorbar(image, ax=ax, label=f"{metric.upper()} (%)")
        ranges.append(float(np.nanmax(image.get_array()) - np.nanmin(image.get_array())))
    runs = study.outcomes["oracle"][names[0]].screened[0]["n_runs"]
    caption = (
        f"{metric.upper()} of DSCOFS by the paper's grid over r and α: in each cell the best of the 49 pairs "
        f"of penalties by the labels, mean over starts. Points are scored by {runs} K-means runs, so a cell "
        "is the best of 49 noisy means and lies above what 50 runs would give. Within a data set the cells "
        f"range over {min(ranges):.0f} to {max(ranges):.0f} points."
    )
    title = f"Sensitivity of {metric.upper()} to the number of features and of entries"
    return StudyFigure(f"sensitivity_{metric}", title, caption, figure)


def plot_sensitivity(rows: Sequence[Row], metric: str, ax: Any) -> Any:
    """Draw DSCOFS's best mean at each number of features and entry share, and return the image.

    ``rows`` are of one data set. Where starts are kept apart, a cell is the mean over them of the best of
    each.
    """
    cells: dict[tuple[int, float], list[Row]] = {}
    for row in rows:
        share = json.loads(row["params"])["entry_sparsity"]
        cells.setdefault((row["n_features"], share), []).append(row)
    values = {cell: best(own, metric)[f"{metric}_mean"] for cell, own in cells.items()}
    counts, shares = sorted({cell[0] for cell in values}), sorted({cell[1] for cell in values})
    grid = np.array([[values.get((count, share), np.nan) for count in counts] for share in shares])
    image = ax.imshow(grid, aspect="auto", origin="lower", cmap="cividis")
    ax.set_xticks(range(len(counts)), counts)
    ax.set_yticks(range(len(shares)), [f"{share:g}" for share in shares])
    middle = np.nanmean([np.nanmin(grid), np.nanmax(grid)])
    for (i, j), value in np.ndenumerate(grid):
        if np.isfinite(value):
            colour = "white" if value < middle else "black"
            ax.text(j, i, f"{value:.0f}", ha="center", va="center", fontsize=7, color=colour)
    tidy(ax, rows[0]["dataset"], "Number of features r", "Entry share α")
    return image


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


def plot_plane(X: NDArray, y: NDArray, features: Sequence[int], title: str, ax: Any) -> None:
    """Draw the samples in the plane of two features, a colour and a marker for each class."""
    first, second = features
    for place, label in enumerate(np.unique(y)):
        own, look = (
            y == label,
            {"color": COLOURS[place % len(COLOURS)], "marker": MARKERS[place % len(MARKERS)]},
        )
        ax.scatter(X[own, first], X[own, second], s=4, linewidths=0, rasterized=True, **look)
    tidy(ax, title, f"Feature {first + 1}", f"Feature {second + 1}")
    ax.set_xticks([])
    ax.set_yticks([])


def pixels_figure(study: Study) -> StudyFigure:
    """Draw the pixels that methods choose on the image sets."""
    names = list(study.images)
    # A baseline, and three that the paper compares; a row of four fits a page.
    methods = ("PCALeverage", "SPCAFS", "FSPCA", "DSCOFS")
    keys = [key for key in methods if all(key in study.methods[name] for name in names)]
    figure, axes = _panels(len(names) * len(keys), len(keys), 2.2, 2.4)
    places = iter(axes)
    for name in names:
        image, X = study.images[name], study.problems[name].X
        for key in keys:
            row = best([row for row in study.outcomes["oracle"][name].rows if row["method"] == key], "acc")
            support = np.isin(np.arange(X.shape[1]), row["features"][0])
            ax = next(places)
            PixelsDisplay(support, image.image_shape, image.image_order, X.mean(axis=0)).plot(ax=ax)
            title = f"{_title(name)}: {row['label']}\n{row['n_features']} pixels, ACC {row['acc_mean']:.1f}"
            ax.set_title(title, fontsize=10)
    caption = (
        "Pixels of each method's best point (oracle) over the mean image. Methods of similar accuracy can "
        "choose quite different pixels, because neighbouring pixels carry nearly the same information."
    )
    return StudyFigure("pixels", "Selected pixels", caption, figure)


def line_styles(labels: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Give each label its own colour, marker and line; DSCOFS is black and on top."""
    styles: dict[str, dict[str, Any]] = {}
    for position, label in enumerate(label for label in labels if label not in STRONG):
        colour, turn = COLOURS[position % len(COLOURS)], position // len(COLOURS)
        styles[label] = {
            "color": colour,
            "marker": MARKERS[position % len(MARKERS)],
            "markerfacecolor": colour if turn % 2 == 0 else "white",
            "linestyle": LINES[turn % len(LINES)],
            "linewidth": 1.3,
            "markersize": 4,
            "zorder": 2,
        }
    for label in labels:
        if label in STRONG:
            styles[label] = {
                "color": STRONG[label],
                "marker": "o",
                "markerfacecolor": STRONG[label],
                "linestyle": "-",
                "linewidth": 2.2,
                "markersize": 5,
                "zorder": 3,
            }
    return styles


def tidy(ax: Any, title: str = "", x: str = "", y: str = "") -> None:
    """Label axes and take away the frame's upper and right sides."""
    ax.set_title(title, fontsize=10)
    ax.set_xlabel(x, fontsize=9)
    ax.set_ylabel(y, fontsize=9)
    ax.tick_params(labelsize=8)
    ax.spines[["top", "right"]].set_visible(False)
