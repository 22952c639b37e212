"""Results for the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.table import Table as Grid
from rich.text import Text

from ufselect.cli.console import takes_unicode
from ufselect.cli.names import short_name

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ufselect.cli.run import Run

MOST_ROWS = 30  # of a terminal; the whole list goes to files
BAR_WIDTH = 16
CANDIDATE_COLUMNS = ("candidate", "criterion", "seconds")


def feature_table(run: Run, most: int = MOST_ROWS) -> Grid:
    """Return the chosen features with rank, score and a bar, best first."""
    ranked = run.ranked
    title = f"{ranked.size} of {run.table.shape[1]} features by {run.chosen_method.label}"
    grid = Grid(
        title=title, title_justify="left", caption=_caption(ranked.size, most), caption_justify="left"
    )
    grid.add_column("rank", justify="right")
    grid.add_column("feature", overflow="fold")
    grid.add_column("score", justify="right")
    grid.add_column("", min_width=BAR_WIDTH)
    scores = run.selector.scores_
    low, high = _bar_range(scores, ranked)
    bar = "█" if takes_unicode() else "#"
    for rank, position in enumerate(ranked[:most], start=1):
        share = (scores[position] - low) / (high - low) if high > low else 1.0
        grid.add_row(
            str(rank),
            Text(short_name(run.table.feature_names[position])),
            f"{scores[position]:.4g}",
            Text(bar * max(1, round(BAR_WIDTH * share)), style="cyan"),
        )
    return grid


def _bar_range(scores: NDArray, ranked: NDArray) -> tuple[float, float]:
    """Bars start at 0, or at the lowest score of all where scores are negative."""
    return min(0.0, float(scores.min())), float(scores[ranked[0]])


def _caption(count: int, most: int) -> str | None:
    return f"and {count - most} more; -o writes them all" if count > most else None


def pixel_map(support: NDArray[np.bool_], shape: tuple[int, int], order: str = "C") -> Text:
    """Return the chosen pixels as a picture of characters."""
    full, empty = ("██", "··") if takes_unicode() else ("##", "..")
    text = Text()
    for row in support.reshape(shape, order=order):  # type: ignore[call-overload]
        for chosen in row:
            text.append(full if chosen else empty, style="cyan" if chosen else "dim")
        text.append("\n")
    return text


def candidate_table(rows: Sequence[Mapping[str, Any]], most: int = 15) -> Grid:
    """Return the candidates with the judge's figures, the chosen one marked."""
    grid = Grid(title=f"{len(rows)} candidates", title_justify="left")
    for name in CANDIDATE_COLUMNS:
        grid.add_column(name, justify="left" if name == "candidate" else "right", overflow="fold")
    grid.add_column("")
    for row in rows[:most]:
        cells = [_figure(row.get(name)) for name in CANDIDATE_COLUMNS]
        grid.add_row(*cells, "chosen" if row.get("selected") else "")
    if len(rows) > most:
        grid.caption = f"and {len(rows) - most} more"
    return grid


def _figure(value: Any) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def shown_value(value: Any) -> Any:
    """Return a value as JSON and a terminal can show it."""
    if isinstance(value, bool | int | str | type(None)):
        return value
    if isinstance(value, Mapping):
        return ", ".join(f"{name}={shown_value(item)}" for name, item in value.items())
    plain = value.item() if hasattr(value, "item") else value
    return (
        float(f"{plain:.6g}") if isinstance(plain, float) else plain if isinstance(plain, int) else str(plain)
    )
