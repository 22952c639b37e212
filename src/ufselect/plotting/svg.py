"""Charts as SVG text: no library, no network, colours from the page's style."""

from __future__ import annotations

from html import escape

# Width of a chart in units of its own, about the pixels it gets on a page.
CHART_WIDTH = 560.0
# Labels longer than this would leave no room for the chart beside them.
LABEL_LETTERS = 22


def number(value: float, digits: int = 4) -> str:
    """Return a number for people, to a few digits."""
    whole = f"{value:,.0f}" if 1e4 <= abs(value) < 1e9 else f"{value:.{digits}g}"
    return whole.replace("-", "−")


def signed(value: float) -> str:
    """Return a number with two decimals and a true minus."""
    return f"{value:.2f}".replace("-", "−")


def percent(share: float) -> str:
    """Return a share in per cent."""
    digits = 0 if share == 0 or share >= 0.1 else 1
    return f"{100 * share:.{digits}f}\u00a0%"


def frame(width: float, height: float, title: str, body: str, least: float = 0.0) -> str:
    """Return a chart that scales with the page, down to a share of its size, with a name for all."""
    return (
        f'<svg viewBox="0 0 {width:g} {height:g}" role="img" aria-label="{escape(title)}" class="chart" '
        f'style="max-width:{1.2 * width:.0f}px;min-width:{least * width:.0f}px" '
        f'xmlns="http://www.w3.org/2000/svg">{body}</svg>'
    )


def text(x: float, y: float, words: str, anchor: str = "start", classes: str = "") -> str:
    """Return a label; the words are escaped."""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" class="{classes}">{escape(words)}</text>'


def tick(x: float, y: float, words: str, anchor: str = "start") -> str:
    """Return a label of an axis."""
    return text(x, y, words, anchor, "tick")


def line(x1: float, y1: float, x2: float, y2: float) -> str:
    """Return a line of an axis."""
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="axis"/>'


def short(name: str, most: int = LABEL_LETTERS) -> str:
    """Return a name, cut where it has too many letters."""
    return name if len(name) <= most else f"{name[: most - 1]}…"
