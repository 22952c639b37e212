"""Results for the terminal."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.table import Table as Grid
from rich.text import Text

from ufselect.cli.choosing import COMPARED, telling
from ufselect.cli.console import marks, takes_unicode
from ufselect.cli.names import short_name

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ufselect.cli.run import Run

MOST_COUNTS = 10  # of a curve, evenly spread, beside the chosen one
MOST_ROWS = 30  # of a terminal; the whole list goes to files
BAR_WIDTH = 16
NAMED = 3  # columns of a cluster on one line of a terminal; record and page name more


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


def candidate_table(rows: Sequence[Mapping[str, Any]], goal: str | None, most: int) -> Grid:
    """Return the candidates with the judge's figures, the chosen and the tied ones marked.

    At most so many candidates are shown beside those for comparison.
    """
    tried = [row for row in rows if row["candidate"] not in COMPARED]
    grid = Grid(title=f"{len(tried)} candidates for the goal {goal!r}", title_justify="left")
    grid.add_column("candidate", overflow="fold")
    for name in ("criterion", *_further(rows), "seconds"):
        grid.add_column(name, justify="right")
    grid.add_column("")
    for row in [*tried[:most], *(row for row in rows if row["candidate"] in COMPARED)]:
        spread = f" {marks('±')} {_figure(row['criterion_error'], 3)}" if row["criterion"] is not None else ""
        figures = [_figure(row["criterion"], 3) + spread]
        figures += [_figure(row.get(name), 3) for name in _further(rows)]
        figures.append("" if row["candidate"] in COMPARED else _figure(row["seconds"], 2))
        grid.add_row(str(row["candidate"]), *figures, str(row["standing"]))
    if len(tried) > most:
        grid.caption = f"and {len(tried) - most} more candidates; tune and --report show them all"
        grid.caption_justify = "left"
    return grid


def count_table(found: Mapping[str, Any]) -> Grid:
    """Return the errors by which the number of columns was chosen, with that number marked."""
    curve, chosen = found["curve"], found["chosen"]
    step = max(1, math.ceil(len(curve) / MOST_COUNTS))
    shown = [row for row in curve if row["count"] % step == 0 or row["count"] in (1, chosen, len(curve))]
    title, caption = "Error of rebuilding rows left out", "1 is the error of the columns' means"
    grid = Grid(title=title, title_justify="left", caption=caption, caption_justify="left")
    for name in ("columns", "error"):
        grid.add_column(name, justify="right")
    grid.add_column("", min_width=BAR_WIDTH)
    grid.add_column("")
    bar, highest = "█" if takes_unicode() else "#", max(row["error"] for row in curve)
    for row in shown:
        spread = f" {marks('±')} {_figure(row['standard_error'], 3)}"
        length = max(1, round(BAR_WIDTH * row["error"] / highest)) if highest > 0 else 1
        is_chosen = "chosen" if row["count"] == chosen else ""
        grid.add_row(
            str(row["count"]),
            _figure(row["error"], 3) + spread,
            Text(bar * length, style="cyan"),
            is_chosen,
        )
    return grid


def _further(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the figures that not every choice comes with."""
    return ["stability"] if any(isinstance(row.get("stability"), float) for row in rows) else []


def _figure(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:.{digits}f}"


def cluster_table(rows: Sequence[Mapping[str, Any]], most: int = MOST_ROWS) -> Grid:
    """Return the clusters with their sizes and the columns that tell each from the rest."""
    caption = f"and {len(rows) - most} more" if len(rows) > most else None
    grid = Grid(title=f"{len(rows)} clusters", title_justify="left", caption=caption)
    grid.add_column("cluster", justify="right")
    grid.add_column("rows", justify="right")
    grid.add_column("columns that tell it (deviations from the rest)", overflow="fold")
    for row in rows[:most]:
        grid.add_row(str(row["cluster"]), str(row["size"]), Text(telling(row, NAMED)))
    return grid


def shown_value(value: Any) -> Any:
    """Return a value as JSON and a terminal can show it."""
    if isinstance(value, bool | int | str | type(None)):
        return value
    if isinstance(value, Mapping):
        return ", ".join(f"{name}={shown_value(item)}" for name, item in value.items())
    plain = value.item() if hasattr(value, "item") else value
    if isinstance(plain, float):
        return float(f"{plain:.6g}") if math.isfinite(plain) else None  # JSON knows no NaN
    return plain if isinstance(plain, int) else str(plain)
