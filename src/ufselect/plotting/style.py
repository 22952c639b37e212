"""The look of figures: colours that colour-blind readers tell apart, marks that survive grey print."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ufselect.common.extras import import_extra
from ufselect.plotting.svg import short

# Okabe and Ito's palette; a line style and a marker go with each colour, so that grey print will do.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#999999", "#6A3D9A")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
LINES = ("-", "--", "-.", ":")
STRONG = {"DSCOFS": "#000000"}
KEPT, DROPPED, INK = COLOURS[0], "#B8BEC6", "#333333"
# A longer name would push the bars off a figure of usual width.
MOST_LETTERS = 28


def matplotlib(module: str) -> Any:
    """Return a module of matplotlib.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    """
    return import_extra(f"matplotlib.{module}", "Plotting", "plot")


def new_axes() -> Any:
    """Return the Axes of a new figure of pyplot."""
    return matplotlib("pyplot").subplots(layout="constrained")[1]


def plain(name: str) -> str:
    """Return a name that Matplotlib shows as it is: "$" would begin a formula; long names are cut."""
    return short(name, MOST_LETTERS).replace("$", r"\$")


def quiet(ax: Any) -> None:
    """Take away the lines that say nothing."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(length=3, colors=INK)


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
