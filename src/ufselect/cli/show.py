"""Results for the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.table import Table as Grid
from rich.text import Text

from ufselect.cli.run import Run

MOST_ROWS = 30  # of a terminal; the whole list goes to files
BAR_WIDTH = 16


def feature_table(run: Run, most: int = MOST_ROWS) -> Grid:
    """Return the chosen features with rank, score and a bar, best first."""
    ranked = run.ranked
    title = f"{ranked.size} of {run.table.shape[1]} features by {run.selector.label}"
    grid = Grid(
        title=title, title_justify="left", caption=_caption(ranked.size, most), caption_justify="left"
    )
    grid.add_column("rank", justify="right")
    grid.add_column("feature", overflow="fold")
    grid.add_column("score", justify="right")
    grid.add_column("", min_width=BAR_WIDTH)
    scores = run.selector.scores_
    low, high = _bar_range(scores, ranked)
    for rank, position in enumerate(ranked[:most], start=1):
        share = (scores[position] - low) / (high - low) if high > low else 1.0
        grid.add_row(
            str(rank),
            Text(run.table.feature_names[position]),
            f"{scores[position]:.4g}",
            Text("█" * max(1, round(BAR_WIDTH * share)), style="cyan"),
        )
    return grid


def _bar_range(scores: NDArray, ranked: NDArray) -> tuple[float, float]:
    """Bars start at 0, or at the lowest score of all where scores are negative."""
    return min(0.0, float(scores.min())), float(scores[ranked[0]])


def _caption(count: int, most: int) -> str | None:
    return f"and {count - most} more; -o writes them all" if count > most else None


def pixel_map(support: NDArray[np.bool_], shape: tuple[int, int], order: str = "C") -> Text:
    """Return the chosen pixels as a picture of characters."""
    picture = np.reshape(support, shape, order=order)  # type: ignore[call-overload]
    text = Text()
    for row in picture:
        for chosen in row:
            text.append("██" if chosen else "··", style="cyan" if chosen else "dim")
        text.append("\n")
    return text


def shown_value(value: Any) -> Any:
    """Return a value as JSON and a terminal can show it."""
    if isinstance(value, float | np.floating):
        return float(f"{value:.6g}")
    if isinstance(value, np.integer):
        return int(value)
    if isinstance(value, Mapping):
        return ", ".join(f"{name}={shown_value(item)}" for name, item in value.items())
    return value if isinstance(value, bool | int | str | type(None)) else str(value)
