"""Signed values as coloured cells, for pages."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np
from numpy.typing import NDArray

from ufselect.plotting.svg import frame, short, signed, tick

# Columns' names stand aslant; longer ones would make the head higher than the map.
TILTED_LETTERS = 17
# Mean width of a letter at the page's size of labels.
LETTER_WIDTH = 6.6
# Names of rows must fit whole, also such as ENSG00000139619 in capitals.
ROW_LETTER_WIDTH = 8.0
# Side of a cell: small enough for forty columns on a page, large enough to point at.
MAP_WIDTH, SMALLEST_CELL, LARGEST_CELL = 560, 13, 26
# Beyond so many columns only every fifth is numbered.
ALL_NUMBERED = 15


def heat_map(
    values: NDArray, rows: Sequence[str], columns: Sequence[str], title: str, tilt: bool = False
) -> str:
    """Return signed values as cells: blue above zero, orange below, fainter towards zero."""
    limit = float(np.abs(values).max()) or 1.0
    cell = float(np.clip(MAP_WIDTH / max(values.shape), SMALLEST_CELL, LARGEST_CELL))
    left = 14 + ROW_LETTER_WIDTH * max(len(short(row)) for row in rows)
    longest = max(len(short(column, TILTED_LETTERS)) for column in columns)
    top = 20 + 0.87 * LETTER_WIDTH * longest if tilt else 26.0
    parts = []
    for i, row in enumerate(rows):
        parts.append(tick(left - 6, top + cell * (i + 0.5) + 4, short(row), "end"))
    for j, column in enumerate(columns):
        x = left + cell * (j + 0.5)
        if tilt:
            parts.append(
                f'<text transform="translate({x + 4:.1f} {top - 6:.1f}) rotate(-60)" class="tick">'
                f"{escape(short(column, TILTED_LETTERS))}</text>"
            )
        elif values.shape[1] <= ALL_NUMBERED or j % 5 == 4 or j == 0:
            parts.append(tick(x, top - 8, column, "middle"))
    for i, j in np.ndindex(values.shape):
        value = float(values[i, j])
        tip = escape(f"{rows[i]}, {columns[j]}: {signed(value)}")
        kind = "plus" if value >= 0 else "minus"
        parts.append(
            f'<rect x="{left + cell * j:.1f}" y="{top + cell * i:.1f}" width="{cell - 1:.1f}" '
            f'height="{cell - 1:.1f}" '
            f'class="{kind}" fill-opacity="{abs(value) / limit:.3f}" data-tip="{tip}"/>'
        )
    width = left + cell * values.shape[1] + (0.5 * LETTER_WIDTH * longest + 8 if tilt else 8)
    return frame(max(width, 330), top + cell * values.shape[0] + 6, title, "".join(parts), least=0.85)
