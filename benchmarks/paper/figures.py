"""The figures of a study."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from benchmarks.paper.choice import best, choose
from benchmarks.paper.methods import PAPER_GRID, as_the_paper_ran
from benchmarks.paper.printed import DISCUSSED_SETS, HEAT_MAP_SETS, TIMED_SET, TITLES
from benchmarks.paper.rank_test import critical_difference
from benchmarks.paper.shapes import KINDS, TRUE_FEATURES, shape_draw
from benchmarks.paper.tables import ranked_sets
from numpy.typing import NDArray

from ufselect._registry import all_selectors
from ufselect.compare.compare import Table
from ufselect.compare.runner import METRICS, Row
from ufselect.plotting.style import COLOURS, matplotlib

if TYPE_CHECKING:
    from benchmarks.paper.study import Study

# A marker goes with each colour, so that grey print will do.
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
STRONG = {"DSCOFS": "#000000", "DSCOFS, paper's grid": "#000000"}
# Lines of a loading matrix that a panel can show.
SHOWN_ROWS = 160


def write_figures(study: Study, folder: Path) -> None:
    """Draw the figures of a study, each as PNG and PDF."""
    tables = {table.name: table for table in study.tables}
    figures = {
        **{f"boxes_{metric}": boxes_figure(study, metric) for metric in METRICS},
        **{f"curves_{metric}": curves_figure(tables[f"curves_{metric}"], metric) for metric in METRICS},
        "time": time_figure(tables["time"]),
        "loadings": loadings_figure(study),
        "convergence": convergence_figure(study),
        "shapes": shapes_figure(study),
    }
    if any(PAPER_GRID in methods for methods in study.methods.values()):
        figures |= {f"sensitivity_{metric}": sensitivity_figure(study, metric) for metric in METRICS}
    if "ranks_paper" in tables:
        figures["ranks"] = ranks_figure(tables["ranks_paper"], len(ranked_sets(study)))
    save_figures(figures, folder)


def save_figures(figures: dict[str, Any], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, figure in figures.items():
        figure.savefig(folder / f"{name}.png", dpi=130)
        figure.set_layout_engine("none")  # the first drawing has settled the layout
        figure.savefig(folder / f"{name}.pdf", dpi=130)


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


def boxes_figure(study: Study, metric: str) -> Any:
    """Draw the runs behind each mean."""
    names = _shown(study, DISCUSSED_SETS)
    chosen = choose(_rows(study, *names), "oracle", metric)
    n_methods = len({method for _, method in chosen})
    figure, axes = _panels(len(names), 2, 5.4, 0.8 + 0.27 * n_methods)
    for ax, name in zip(axes, names, strict=True):
        plot_boxes([row for (dataset, _), row in chosen.items() if dataset == name], metric, ax)
        ax.set_title(_title(name), fontsize=10)
    return figure


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


def loadings_figure(study: Study) -> Any:
    """Draw loading matrices without sparsity, with either kind and with both, at default penalties.

    X itself is dense, so these are: X without any constraint; the row-sparse copy Z of a fit with row
    sparsity alone; the entry-sparse copy Y of a fit with entry sparsity alone; X where neither Y nor Z of a
    fit with both is zero.
    """
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
    return figure


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


def convergence_figure(study: Study) -> Any:
    """Draw the course of the objective."""
    histories = {_title(name): study.dissections[name]["objective"] for name in _shown(study, DISCUSSED_SETS)}
    figure, (ax,) = _panels(1, 1, 6.0, 3.6)
    for (title, history), colour in zip(histories.items(), COLOURS, strict=False):
        gap = (history - history[-1]) / ((history[0] - history[-1]) or 1.0)
        ax.semilogy(np.maximum(gap[:-1], 1e-12), label=title, color=colour)
    tidy(ax, "", "Iteration", "Share of the descent still to go")
    ax.legend(fontsize=8, frameon=False)
    return figure


def sensitivity_figure(study: Study, metric: str) -> Any:
    """Draw DSCOFS's screening scores over the number of features and the paper's entry shares."""
    names = _shown(study, DISCUSSED_SETS)
    figure, axes = _panels(len(names), 2, 5.0, 3.4)
    for ax, name in zip(axes, names, strict=True):
        rows = [row for row in study.outcomes["oracle"][name].screened if row["method"] == PAPER_GRID]
        image = plot_sensitivity(rows, metric, ax)
        ax.set_title(_title(name), fontsize=10)
        figure.colorbar(image, ax=ax, label=f"{metric.upper()} (%)")
    return figure


def plot_sensitivity(rows: Sequence[Row], metric: str, ax: Any) -> Any:
    """Draw DSCOFS's best mean at each number of features and entry share, and return the image.

    ``rows`` are of one data set. Where starts are kept apart, a cell is the mean over them of the best of
    each.
    """
    cells: dict[tuple[int, float], list[Row]] = {}
    for row in rows:
        share = json.loads(row["params"])["entry_sparsity"]
        cells.setdefault((row["n_features"], share), []).append(row)
    values = {cell: best(rows, metric)[f"{metric}_mean"] for cell, rows in cells.items()}
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


def curves_figure(table: Table, metric: str) -> Any:
    """Draw a table of the best means over the number of columns: a panel for each set (Figures 5 and 6)."""
    names = list(dict.fromkeys(line[0] for line in table.body))
    figure, axes = _panels(len(names), 2, 4.0, 2.4)
    looks = {}
    for ax, name in zip(axes, names, strict=True):
        for place, (_, label, *cells) in enumerate(line for line in table.body if line[0] == name):
            known = [
                (int(count), float(cell))
                for count, cell in zip(table.columns[2:], cells, strict=True)
                if cell != "–"
            ]
            look = {"color": COLOURS[place % len(COLOURS)], "marker": MARKERS[place % len(MARKERS)]}
            if label == "DSCOFS":
                look |= {"color": "black", "linewidth": 2}
            elif label == "All features":
                look = {"color": "0.35", "linestyle": "--", "linewidth": 1}
            (looks[label],) = ax.plot(*zip(*known, strict=True), markersize=4, **look)
        tidy(ax, name, "Number of columns", f"{metric.upper()} (%)")
    figure.legend(looks.values(), looks, loc="outside lower center", ncols=5, fontsize=8, frameon=False)
    return figure


def time_figure(table: Table) -> Any:
    """Draw accuracy against CPU time, as the paper does for Isolet (Figure 2); other sets without it."""
    titles = list(dict.fromkeys(line[0] for line in table.body))
    titles = [title for title in titles if title == TITLES[TIMED_SET]] or titles
    figure, axes = _panels(len(titles), 2, 5.5, 3.2)
    for ax, title in zip(axes, titles, strict=True):
        for name, label, acc, _, seconds in table.body:
            if name == title:
                ax.semilogx(float(seconds), float(acc), "o", color="C0" if label == "DSCOFS" else "0.5")
                ax.annotate(
                    label, (float(seconds), float(acc)), (6, 3), textcoords="offset points", fontsize=8
                )
        ax.margins(x=0.2, y=0.1)
        tidy(ax, title, "CPU seconds of one fit, one thread", "ACC (%)")
    return figure


def ranks_figure(table: Table, n_datasets: int) -> Any:
    """Draw average ranks and the critical difference from the best method (Figure 8)."""
    column = table.columns.index("Rank here")
    ranks = sorted((float(line[column]), line[0]) for line in table.body)
    k = len(ranks)
    width = critical_difference(k, n_datasets)
    figure, (ax,) = _panels(1, 1, 7.0, 2.8)
    ax.axvspan(ranks[0][0], ranks[0][0] + width, color="C0", alpha=0.12)
    for place, (rank, label) in enumerate(ranks):
        ax.plot(rank, place, "o", color="C0" if label == "DSCOFS" else "0.5")
        ax.annotate(
            f"{label} {rank:.2f}", (rank, place), (8, 0), textcoords="offset points", va="center", fontsize=8
        )
    ax.set(xlim=(1, k), yticks=[], ylim=(k - 0.5, -0.5))
    tidy(ax, "", f"Average rank by ACC, {n_datasets} sets")
    return figure


def shapes_figure(study: Study) -> Any:
    """Draw the planes of the true features and of those that methods choose, one noise draw per shape."""
    labels = {key: all_selectors()[key].label for _, key in study.planes}
    figure, axes = _panels(len(KINDS) * (len(labels) + 1), len(labels) + 1, 2.2, 2.2)
    places = iter(axes)
    for kind, title in KINDS.items():
        X, y = shape_draw(kind, 0)
        plot_plane(X, y, TRUE_FEATURES, f"{title}: truth", next(places))
        for key, label in labels.items():
            plot_plane(X, y, study.planes[kind, key], label, next(places))
    return figure


def plot_plane(X: NDArray, y: NDArray, features: Sequence[int], title: str, ax: Any) -> None:
    """Draw the samples in the plane of two features, a colour and a marker for each class."""
    first, second = features
    for place, label in enumerate(np.unique(y)):
        members, look = (
            y == label,
            {"color": COLOURS[place % len(COLOURS)], "marker": MARKERS[place % len(MARKERS)]},
        )
        ax.scatter(X[members, first], X[members, second], s=4, linewidths=0, rasterized=True, **look)
    tidy(ax, title, f"Feature {first + 1}", f"Feature {second + 1}")
    ax.set_xticks([])
    ax.set_yticks([])


def tidy(ax: Any, title: str = "", x: str = "", y: str = "") -> None:
    """Label axes and take away the frame's upper and right sides."""
    ax.set_title(title, fontsize=10)
    ax.set_xlabel(x, fontsize=9)
    ax.set_ylabel(y, fontsize=9)
    ax.tick_params(labelsize=8)
    ax.spines[["top", "right"]].set_visible(False)
