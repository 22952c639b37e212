"""What is known when the method was chosen among several: the goal, the candidates, the clusters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ufselect.cli.names import short_name
from ufselect.cli.run import Run

COMPARED = ("all features", "random subsets")
SHOWN = 3  # of several names in a sentence
MANY = 0.5  # tied share of the candidates from which on the choice among them says little


def goal_of(run: Run) -> str | None:
    """Return what the columns were chosen for; None if a method was named."""
    return None if run.chooser is None else str(getattr(run.chooser, "goal", "")) or None


def candidates(run: Run) -> list[dict[str, Any]]:
    """Return what was tried, the chosen one first and what is for comparison last; empty if nothing was."""
    report = getattr(run.chooser, "report_", [])
    rows = report.to_dict("records") if hasattr(report, "to_dict") else list(report)
    last = {name: place for place, name in enumerate(COMPARED, start=1)}
    return sorted(rows, key=lambda row: last.get(row["candidate"], 0))


def count_choice(run: Run) -> dict[str, Any] | None:
    """Return how many columns ``-k auto`` asks for, why, and the errors by which it did so."""
    curves = (getattr(found, "count_curve_", None) for found in (run.selector, run.chooser))
    curve = next((rows for rows in curves if rows is not None), None)
    if curve is None:
        return None
    chosen = next(row for row in curve if row["chosen"])
    return {
        "chosen": int(chosen["count"]),
        "why": str(chosen["note"]),
        "curve": [
            {"count": int(row["count"]), "error": row["error"], "standard_error": row["standard_error"]}
            for row in curve
        ],
    }


def standing(row: Mapping[str, Any]) -> str:
    """Return in a word or two how a candidate fared."""
    if row["candidate"] in COMPARED:
        return "for comparison"
    if row.get("selected"):
        return "chosen"
    if row.get("tied"):
        return "tied"
    note = str(row.get("note", ""))
    return (
        note.partition(":")[0] if note.startswith("skipped") else "stopped early" * ("stopped early" in note)
    )


def clusters(run: Run) -> list[dict[str, Any]]:
    """Return the clusters with their sizes and the columns, by name, that tell each from the rest."""
    names = run.table.feature_names
    return [
        {
            "cluster": int(found["cluster"]),
            "size": int(found["size"]),
            "columns": [
                {"name": names[int(place)], "distance": round(float(distance), 3)}
                for place, distance in found["columns"]
            ],
        }
        for found in getattr(run.chooser, "clusters_", [])
    ]


def telling(found: Mapping[str, Any], most: int) -> str:
    """Return the columns that tell a cluster from the rest, with how much higher or lower they are there."""
    return ", ".join(
        f"{short_name(column['name'])} {column['distance']:+.1f}" for column in found["columns"][:most]
    )


def tie_sentence(rows: Sequence[Mapping[str, Any]]) -> str | None:
    """Return which candidates are tied with the chosen one, and what that means."""
    tried = [row for row in rows if row["candidate"] not in COMPARED and np.isfinite(row["criterion"])]
    tied = [str(row["candidate"]) for row in tried if row.get("tied")]
    if not tied:
        return None
    others = len(tried) - 1
    names = f"{'; '.join(tied[:SHOWN])}{'; …' * (len(tied) > SHOWN)}"
    chosen = next(row for row in tried if row["selected"])
    by = " by its stability" if chosen.get("stability") is not None else ""
    be = "is" if len(tied) == 1 else "are"
    matters = "; which of them is taken matters little here" if len(tied) >= MANY * others else ""
    taken = f"tied with {chosen['candidate']}, which was taken{by} ({names})"
    return f"{len(tied)} of {others} other candidates {be} {taken}{matters}."
