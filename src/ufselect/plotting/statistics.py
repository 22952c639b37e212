"""Box plots of the runs, and the critical-difference diagram."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ufselect.evaluation.rows import Row
from ufselect.evaluation.statistics import RankTest
from ufselect.plotting.style import STRONG, tidy


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
        box.set_facecolor("#E69F00" if row.label in STRONG else "#9ecae1")
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
        crossbar_props={"color": "#D55E00", "linewidth": 3},
    )
    ax.set_title(
        f"Average rank over {test.n_datasets} data sets (1 is best); critical difference "
        f"{test.critical_difference:.2f}",
        fontsize=10,
        pad=18,
    )
