"""The panels of the study's figures, drawn from rows and records."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ufselect.evaluation.choice import best, best_by_count
from ufselect.evaluation.methods import ALL_FEATURES
from ufselect.evaluation.rank_test import RankTest
from ufselect.evaluation.rows import Row
from ufselect.evaluation.tables import method_labels
from ufselect.plotting.style import COLOURS, MARKERS, STRONG, line_styles, matplotlib, tidy

# Lines of a loading matrix that a panel can show.
SHOWN_ROWS = 160
# Loadings of this share of the largest are drawn in full colour, so that the smaller ones show.
FULL_COLOUR = 0.6
# The clock's resolution: no fit is shown as faster.
LEAST_SECONDS = 1e-4


def plot_curves(
    rows: Sequence[Row], metric: str, ax: Any, styles: Mapping[str, Mapping[str, Any]] | None = None
) -> None:
    """Draw each method's best mean at each number of features, and all features as a level line.

    Parameters
    ----------
    rows : sequence of Row
        Rows of one data set.
    metric : {"acc", "nmi"}
        What is drawn.
    ax : matplotlib Axes
        Where to draw.
    styles : mapping, optional
        Line styles by label, to keep them equal over several axes.
    """
    labels = method_labels(rows)
    styles = styles or line_styles([label for key, label in labels.items() if key != ALL_FEATURES])
    for key, label in labels.items():
        own = best_by_count([row for row in rows if row.method == key], metric)
        means = [getattr(row, f"{metric}_mean") for row in own]
        if key == ALL_FEATURES:
            ax.axhline(means[0], color="0.35", linestyle=(0, (6, 3)), linewidth=1.2, label=label, zorder=1)
        else:
            ax.plot([row.n_features for row in own], means, label=label, **styles[label])
    tidy(ax, rows[0].dataset, "Number of features", f"{metric.upper()} (%)")


def plot_time(points: Sequence[tuple[str, float, float]], metric: str, ax: Any) -> None:
    """Draw quality against the CPU seconds of one fit.

    Parameters
    ----------
    points : sequence of (label, seconds, mean)
        One per method.
    """
    ticker = matplotlib("ticker")
    styles = line_styles([label for label, _, _ in points])
    for label, seconds, mean in points:
        style = {**styles[label], "linestyle": "", "markersize": 8}
        ax.semilogx(max(seconds, LEAST_SECONDS), mean, label=label, **style)
    ax.xaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
    ax.xaxis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:g}"))
    ax.xaxis.set_minor_locator(ticker.NullLocator())
    tidy(ax, "", "CPU seconds of one fit (one thread)", f"{metric.upper()} (%)")
    ax.grid(alpha=0.25)
    ax.legend(fontsize=8, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))


def plot_sparsity(matrix: NDArray, title: str, ax: Any) -> None:
    """Draw where a loading matrix is not zero, features downwards; white is exactly zero.

    Where there are more features than a figure has lines, each line shows the largest of a few neighbours,
    so that no kept feature is lost.
    """
    block = -(-len(matrix) // SHOWN_ROWS)
    padded = np.pad(np.abs(matrix), ((0, -len(matrix) % block), (0, 0)))
    pooled = padded.reshape(-1, block, matrix.shape[1]).max(axis=1)
    magnitudes = np.ma.masked_equal(pooled, 0.0)
    largest = float(pooled.max()) or 1.0
    ax.imshow(
        magnitudes,
        aspect="auto",
        interpolation="nearest",
        cmap="viridis_r",
        vmin=0.0,
        vmax=FULL_COLOUR * largest,
        extent=(-0.5, matrix.shape[1] - 0.5, len(pooled) * block, 0),
    )
    ax.set_ylim(len(matrix), 0)
    shown = range(0, matrix.shape[1], 1 + matrix.shape[1] // 6)
    ax.set_xticks(shown, [component + 1 for component in shown])
    share = np.count_nonzero(matrix) / matrix.size
    tidy(ax, f"{title}, {share:.0%} kept", "Component", "Feature")
    ax.spines[["top", "right"]].set_visible(True)


def plot_sensitivity(rows: Sequence[Row], metric: str, ax: Any) -> Any:
    """Draw DSCOFS's best mean at each number of features and entry share, and return the image.

    Parameters
    ----------
    rows : sequence of Row
        Rows of DSCOFS on one data set, with ``entry_sparsity`` among their parameters. Where starts are kept
        apart, a cell is the mean over them of the best of each.
    """
    cells: dict[tuple[int, float], list[Row]] = defaultdict(list)
    for row in rows:
        cells[row.n_features, row.params["entry_sparsity"]].append(row)
    values = {cell: getattr(best(own, metric), f"{metric}_mean") for cell, own in cells.items()}
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
    tidy(ax, rows[0].dataset, "Number of features r", "Entry share α")
    return image


def plot_plane(X: NDArray, y: NDArray, features: Sequence[int], title: str, ax: Any) -> None:
    """Draw the samples in the plane of two features, a colour and a marker for each class."""
    first, second = features
    for position, label in enumerate(np.unique(y)):
        own = y == label
        ax.scatter(
            X[own, first],
            X[own, second],
            s=4,
            color=COLOURS[position % len(COLOURS)],
            marker=MARKERS[position % len(MARKERS)],
            linewidths=0,
            rasterized=True,
        )
    tidy(ax, title, f"Feature {first + 1}", f"Feature {second + 1}")
    ax.set_xticks([])
    ax.set_yticks([])


def plot_boxes(rows: Sequence[Row], metric: str, ax: Any) -> None:
    """Draw a box for the K-means runs of each row, the mean as a diamond."""
    boxes = ax.boxplot(
        [getattr(row, f"{metric}_runs") for row in rows],
        orientation="horizontal",
        patch_artist=True,
        showmeans=True,
        medianprops={"color": "black"},
        meanprops={"marker": "D", "markerfacecolor": "white", "markeredgecolor": "black", "markersize": 4},
        flierprops={"marker": ".", "markersize": 3, "markeredgecolor": "0.4"},
    )
    for box, row in zip(boxes["boxes"], rows, strict=True):
        box.set_facecolor(COLOURS[1] if row.label in STRONG else "#9ecae1")
    ax.set_yticks(np.arange(1, len(rows) + 1), [f"{row.label} ({row.n_features})" for row in rows])
    ax.invert_yaxis()
    tidy(ax, rows[0].dataset, f"{metric.upper()} (%)")


def plot_critical_difference(test: RankTest, ax: Any) -> None:
    """Draw the average ranks on a line and join methods that Nemenyi's test does not tell apart.

    Groups are those of ``scikit_posthocs``: maximal sets of methods without a significant pair.

    Raises
    ------
    ImportError
        If scikit-posthocs is not installed.
    """
    try:
        import pandas as pd
        import scikit_posthocs
    except ImportError as error:
        raise ImportError('The diagram needs scikit-posthocs: pip install "ufselect[study]".') from error
    ranks = pd.Series(test.average_ranks, index=list(test.labels))
    pairs = pd.DataFrame(test.pairwise, index=list(test.labels), columns=list(test.labels))
    scikit_posthocs.critical_difference_diagram(
        ranks,
        pairs,
        ax=ax,
        label_fmt_left="{label} ({rank:.2f})  ",
        label_fmt_right="  {label} ({rank:.2f})",
        label_props={"size": 9},
        color_palette=["black"] * len(ranks),
        crossbar_props={"color": COLOURS[5], "linewidth": 3},
    )
    ax.set_title(
        f"Average rank over {test.n_datasets} data sets (1 is best); critical difference "
        f"{test.critical_difference:.2f}",
        fontsize=10,
        pad=18,
    )
