"""A share on a line from 0 to 100 %, with random subsets beside it."""

from __future__ import annotations

import numpy as np

from ufselect.plotting.svg import frame, line, percent, text, tick
from ufselect.report.measures import Kept

# Two of them stand side by side on a page.
STRIP_WIDTH = 460.0


def strip(kept: Kept, title: str) -> str:
    """Return a line from 0 to 100 % with the random subsets, the selection and all features on it."""
    width, left, right, middle = STRIP_WIDTH, 14.0, STRIP_WIDTH - 14, 58.0

    def at(share: float) -> float:
        return left + (right - left) * min(1.0, max(0.0, share))

    parts = [line(left, middle, right, middle)]
    for share in (0, 0.25, 0.5, 0.75, 1):
        parts.append(line(at(share), middle, at(share), middle + 5))
        anchor = "start" if share == 0 else "end" if share == 1 else "middle"
        parts.append(tick(at(share), middle + 20, f"{100 * share:.0f} %", anchor))
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
    if not np.isnan(kept.everything):
        parts.append(
            f'<circle cx="{at(kept.everything):.1f}" cy="{middle}" r="5" class="everything" '
            'data-tip="all features"/>'
        )
    label = f"{title}: this selection {percent(kept.selection)}, random subsets {percent(mean)} on average."
    return frame(width, 108, label, "".join(parts))


def _flag(x: float, y: float, words: str, classes: str) -> str:
    """Return a label that stays inside the chart."""
    half = 3.6 * len(words)
    return text(min(max(x, half + 4), STRIP_WIDTH - 4 - half), y, words, "middle", classes)
