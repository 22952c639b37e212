"""Charts as SVG text: no library, no network, colours from the page's style."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np
from numpy.typing import NDArray

from ufselect.report.keeping import Kept

MOST_POINTS = 400
STRIP_WIDTH = 460.0
CHART_WIDTH = 560.0
LABEL_LETTERS = 22
TILTED_LETTERS = 17
LETTER_WIDTH = 6.6


def number(value: float, digits: int = 4) -> str:
    """Return a number for people, to a few digits."""
    whole = f"{value:,.0f}" if 1e4 <= abs(value) < 1e9 else f"{value:.{digits}g}"
    return whole.replace("-", "−")


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


def strip(kept: Kept, title: str, all_label: str | None = "all features") -> str:
    """Return a line from 0 to 100 % with the random subsets, the selection and all features on it."""
    width, left, right, middle = STRIP_WIDTH, 14.0, STRIP_WIDTH - 14, 58.0

    def at(share: float) -> float:
        return left + (right - left) * min(1.0, max(0.0, share))

    parts = [f'<line x1="{left}" y1="{middle}" x2="{right}" y2="{middle}" class="axis"/>']
    for tick in (0, 0.25, 0.5, 0.75, 1):
        parts.append(
            f'<line x1="{at(tick):.1f}" y1="{middle}" x2="{at(tick):.1f}" y2="{middle + 5}" class="axis"/>'
        )
        anchor = "start" if tick == 0 else "end" if tick == 1 else "middle"
        parts.append(text(at(tick), middle + 20, f"{100 * tick:.0f} %", anchor, "tick"))
    for value in kept.random:
        tip = f"a random subset: {percent(float(value))}"
        parts.append(f'<circle cx="{at(value):.1f}" cy="{middle}" r="6" class="random" data-tip="{tip}"/>')
    mean = float(kept.random.mean())
    x = at(kept.selection)
    parts.append(
        f'<path d="M{x:.1f} {middle - 9}l9 9l-9 9l-9 -9z" class="selection" '
        f'data-tip="this selection: {percent(kept.selection)}"/>'
    )
    parts.append(_flag(x, middle - 22, f"this selection {percent(kept.selection)}", "strong"))
    parts.append(
        _flag(at(mean), middle + 42, f"{kept.random.size} random subsets, mean {percent(mean)}", "tick")
    )
    if all_label and not np.isnan(kept.everything):
        parts.append(
            f'<circle cx="{at(kept.everything):.1f}" cy="{middle}" r="5" class="everything" '
            f'data-tip="{all_label}"/>'
        )
    label = f"{title}: this selection {percent(kept.selection)}, random subsets {percent(mean)} on average."
    return frame(width, 108, label, "".join(parts))


def _flag(x: float, y: float, words: str, classes: str) -> str:
    """Return a label that stays inside the chart."""
    half = 3.6 * len(words)
    return text(min(max(x, half + 4), STRIP_WIDTH - 4 - half), y, words, "middle", classes)


def scores_chart(ordered: NDArray, n_selected: int, names: Sequence[str]) -> str:
    """Return all scores, best first, with the kept ones in colour."""
    width, height, left, bottom, top = CHART_WIDTH, 240.0, 56.0, 204.0, 14.0
    places = np.unique(np.linspace(0, ordered.size - 1, min(ordered.size, MOST_POINTS)).astype(int))
    places = np.unique(np.append(places, [n_selected - 1]))
    low, high = min(0.0, float(ordered.min())), float(ordered.max())
    span = (high - low) or 1.0
    step = (width - left - 10) / ordered.size
    bars = []
    edges = np.append(places, ordered.size)
    for place, end in zip(places, edges[1:], strict=True):
        tall = max(1.0, (bottom - top) * (ordered[place] - low) / span)
        bar = max(0.8, step * (end - place) - (1 if step > 4 else 0))
        kind = "kept" if place < n_selected else "dropped"
        tip = escape(f"{place + 1}. {names[place]}: {number(float(ordered[place]))}")
        bars.append(
            f'<rect x="{left + step * place:.2f}" y="{bottom - tall:.2f}" width="{bar:.2f}" '
            f'height="{tall:.2f}" '
            f'class="{kind}" data-tip="{tip}"/>'
        )
    axis = (
        f'<line x1="{left}" y1="{bottom}" x2="{width - 8}" y2="{bottom}" class="axis"/>'
        + text(left - 6, top + 6, number(high), "end", "tick")
        + text(left - 6, bottom, number(low), "end", "tick")
        + text(left, bottom + 18, "rank 1", "start", "tick")
        + text(width - 8, bottom + 18, f"rank {ordered.size:,}", "end", "tick")
    )
    title = f"Scores of all {ordered.size} features, best first; the first {n_selected} are kept."
    return frame(width, height, title, axis + "".join(bars))


def heat_map(
    values: NDArray, rows: Sequence[str], columns: Sequence[str], title: str, tilt: bool = False
) -> str:
    """Return signed values as cells: blue above zero, orange below, fainter towards zero."""
    limit = float(np.abs(values).max()) or 1.0
    cell = float(np.clip(560 / max(values.shape), 13, 26))
    left = 14 + LETTER_WIDTH * max(len(_short(row)) for row in rows)
    longest = max(len(_short(column, TILTED_LETTERS)) for column in columns)
    top = 20 + 0.87 * LETTER_WIDTH * longest if tilt else 26.0
    parts = []
    for i, row in enumerate(rows):
        parts.append(text(left - 6, top + cell * (i + 0.5) + 4, _short(row), "end", "tick"))
    for j, column in enumerate(columns):
        x = left + cell * (j + 0.5)
        if tilt:
            parts.append(
                f'<text transform="translate({x + 4:.1f} {top - 6:.1f}) rotate(-60)" class="tick">'
                f"{escape(_short(column, TILTED_LETTERS))}</text>"
            )
        elif values.shape[1] <= 15 or j % 5 == 4 or j == 0:
            parts.append(text(x, top - 8, column, "middle", "tick"))
    for i, j in np.ndindex(values.shape):
        value = float(values[i, j])
        tip = escape(f"{rows[i]}, {columns[j]}: {value:.2f}".replace("-", "−"))
        kind = "plus" if value >= 0 else "minus"
        parts.append(
            f'<rect x="{left + cell * j:.1f}" y="{top + cell * i:.1f}" width="{cell - 1:.1f}" '
            f'height="{cell - 1:.1f}" '
            f'class="{kind}" fill-opacity="{abs(value) / limit:.3f}" data-tip="{tip}"/>'
        )
    width = left + cell * values.shape[1] + (0.5 * LETTER_WIDTH * longest + 8 if tilt else 8)
    return frame(max(width, 330), top + cell * values.shape[0] + 6, title, "".join(parts), least=0.85)


def convergence_chart(history: NDArray) -> str:
    """Return the objective over the iterations as a line."""
    width, height, left, bottom, top = CHART_WIDTH, 220.0, 86.0, 180.0, 14.0
    low, high = float(history.min()), float(history.max())
    span = (high - low) or 1.0
    step = (width - left - 16) / max(1, history.size - 1)
    points = [(left + step * k, bottom - (bottom - top) * (v - low) / span) for k, v in enumerate(history)]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    dots = "".join(
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{4 if history.size < 60 else 2.5}" class="kept" '
        f'data-tip="iteration {k}: {number(float(history[k]))}"/>'
        for k, (x, y) in enumerate(points)
    )
    axis = (
        f'<line x1="{left}" y1="{bottom}" x2="{width - 8}" y2="{bottom}" class="axis"/>'
        f'<line x1="{left}" y1="{top}" x2="{left}" y2="{bottom}" class="axis"/>'
        + text(left - 6, top + 5, number(high), "end", "tick")
        + text(left - 6, bottom + 2, number(low), "end", "tick")
        + text(left, bottom + 20, "start", "start", "tick")
        + text(width - 8, bottom + 20, f"iteration {history.size - 1}", "end", "tick")
    )
    title = (
        f"Objective over {history.size - 1} iterations, from {number(history[0])} to {number(history[-1])}."
    )
    return frame(width, height, title, f'{axis}<polyline points="{line}" class="line"/>{dots}')


def pixel_chart(
    support: NDArray, mean_image: NDArray, names: Sequence[str], shape: tuple[int, int], order: str
) -> str:
    """Return the kept pixels over the mean image."""
    cell = float(np.clip(340 / max(shape), 3, 40))
    index = np.reshape(np.arange(support.size), shape, order=order)  # type: ignore[call-overload]
    low, high = float(mean_image.min()), float(mean_image.max())
    parts = []
    for (i, j), feature in np.ndenumerate(index):
        shade = (float(mean_image[feature]) - low) / ((high - low) or 1.0)
        kept = bool(support[feature])
        kind = 'class="kept"' if kept else f'class="ink" fill-opacity="{0.06 + 0.4 * shade:.3f}"'
        tip = escape(f"{names[feature]}: {'kept' if kept else 'dropped'}")
        parts.append(
            f'<rect x="{cell * j:.1f}" y="{cell * i:.1f}" width="{cell * 0.94:.2f}" '
            f'height="{cell * 0.94:.2f}" '
            f'{kind} data-tip="{tip}"/>'
        )
    title = f"Image of {shape[0]} × {shape[1]} pixels; the {int(support.sum())} kept ones are coloured."
    return frame(cell * shape[1], cell * shape[0], title, "".join(parts))


def _short(name: str, most: int = LABEL_LETTERS) -> str:
    return name if len(name) <= most else f"{name[: most - 1]}…"
