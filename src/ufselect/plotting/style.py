"""The look of figures, in colours that colour-blind readers can tell apart."""

from __future__ import annotations

import io
import re
import warnings
from html import escape
from typing import Any

from ufselect._utils.imports import import_extra

# Okabe and Ito's palette.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#999999", "#6A3D9A")
SELECTED, DROPPED, INK = COLOURS[0], "#B8BEC6", "#333333"


def matplotlib(module: str) -> Any:
    """Return a module of matplotlib, or say how to install it."""
    return import_extra(f"matplotlib.{module}", "Plotting", "plot")


def plain(name: str, most: int = 28) -> str:
    """Return a name for matplotlib: "$", which begins a formula, is escaped, and long names are cut."""
    short = name if len(name) <= most else f"{name[: most - 1]}…"
    return short.replace("$", r"\$")


def quiet(ax: Any) -> None:
    """Remove the top and right spines and soften the ticks."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(length=3, colors=INK)


def figure_svg(figure: Any, name: str, title: str) -> str:
    """Return a figure as SVG to embed in a page.

    Text stays text. Ids are prefixed with ``name``, since several figures share a page. Dark lines take the
    text colour of the page, so that a dark page shows them. ``title`` is the text for screen readers.
    """
    target = io.StringIO()
    settings = {"svg.fonttype": "none", "svg.hashsalt": name}
    unsaid = dict.fromkeys(["Date", "Creator", "Format", "Type"])
    with import_extra("matplotlib", "Plotting", "plot").rc_context(settings), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font")  # text stays text
        figure.savefig(target, format="svg", transparent=True, metadata=unsaid)
    svg = target.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>{name}-", svg)
    svg = re.sub(INK + "|#000000", "currentColor", svg, flags=re.IGNORECASE)
    width = 72 * float(figure.get_size_inches()[0])
    head = f'<svg class="chart" style="max-width:{width:.0f}pt" role="img" aria-label="{escape(title)}"'
    return svg.replace("<svg", head, 1)
