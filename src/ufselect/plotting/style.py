"""The look of figures: colours that colour-blind readers tell apart, marks that survive grey print."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable
from html import escape
from typing import Any

from ufselect._utils.imports import import_extra

# Okabe and Ito's palette; a line style and a marker go with each colour, so that grey print will do.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#999999", "#6A3D9A")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
LINES = ("-", "--", "-.", ":")
STRONG = {"DSCOFS": "#000000"}
SELECTED, DROPPED, INK = COLOURS[0], "#B8BEC6", "#333333"


def matplotlib(module: str) -> Any:
    """Return a module of matplotlib, or say how to install it."""
    return import_extra(f"matplotlib.{module}", "Plotting", "plot")


def new_axes() -> Any:
    """Return the Axes of a new figure of pyplot."""
    return matplotlib("pyplot").subplots(layout="constrained")[1]


def plain(name: str, most: int = 28) -> str:
    """Return a name that matplotlib shows as it is: "$" would begin a formula; long names are cut."""
    short = name if len(name) <= most else f"{name[: most - 1]}…"
    return short.replace("$", r"\$")


def quiet(ax: Any) -> None:
    """Take away the lines that say nothing."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(length=3, colors=INK)


def figure_svg(figure: Any, name: str, title: str) -> str:
    """Return a figure as SVG to stand inside a page.

    Text stays text. Ids get ``name`` in front, since several figures share a page, and dark lines take the
    page's colour of text, so that a dark page shows them. ``title`` is read to those who cannot see it.
    """
    target = io.StringIO()
    settings = {"svg.fonttype": "none", "svg.hashsalt": name}
    unsaid = dict.fromkeys(["Date", "Creator", "Format", "Type"])
    with import_extra("matplotlib", "Plotting", "plot").rc_context(settings):
        figure.savefig(target, format="svg", transparent=True, metadata=unsaid)
    svg = target.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>{name}-", svg)
    svg = re.sub(INK + "|#000000", "currentColor", svg, flags=re.IGNORECASE)
    width = 72 * float(figure.get_size_inches()[0])
    head = f'<svg class="chart" style="max-width:{width:.0f}pt" role="img" aria-label="{escape(title)}"'
    return svg.replace("<svg", head, 1)


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
