"""Curves: quality against the number of features and against time, and the objective against iterations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ufselect.evaluation.choice import best_by_count
from ufselect.evaluation.methods import ALL_FEATURES
from ufselect.evaluation.rows import Row
from ufselect.evaluation.tables import method_labels
from ufselect.plotting.style import line_styles, tidy


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


def plot_convergence(histories: Mapping[str, NDArray], ax: Any) -> None:
    """Draw how far the objective still is above its last value, relative to its whole descent."""
    for (name, history), style in zip(histories.items(), line_styles(histories).values(), strict=True):
        descent = history[0] - history[-1]
        gap = (history - history[-1]) / (descent if descent > 0 else 1.0)
        ax.semilogy(
            np.arange(gap.size - 1), np.maximum(gap[:-1], 1e-12), label=name, **{**style, "marker": ""}
        )
    tidy(ax, "", "Iteration", "Share of the descent still to go")
    ax.legend(fontsize=8, frameon=False)


def plot_time(points: Sequence[tuple[str, float, float]], metric: str, ax: Any) -> None:
    """Draw quality against the CPU seconds of one fit.

    Parameters
    ----------
    points : sequence of (label, seconds, mean)
        One a method.
    """
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    styles = line_styles([label for label, _, _ in points])
    for label, seconds, mean in points:
        style = {**styles[label], "linestyle": "", "markersize": 8}
        ax.semilogx(max(seconds, 1e-4), mean, label=label, **style)
    ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.xaxis.set_minor_locator(NullLocator())
    tidy(ax, "", "CPU seconds of one fit (one thread)", f"{metric.upper()} (%)")
    ax.grid(alpha=0.25)
    ax.legend(fontsize=8, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
