"""Plain lines on what a selection is worth, for the terminal, the page and the record."""

from __future__ import annotations

from typing import Any

import numpy as np

from ufselect.cli.names import short_name
from ufselect.cli.run import Run
from ufselect.common.wording import listed

CLEARLY = 0.9  # share of random subsets that must be beaten, or win
COPY = 0.99999  # a correlation that rounding may leave of 1
SHOWN = 3  # of several names in a sentence
MOST_COPIES = 4  # named of one set
ALMOST_ALL = 0.999  # of the variance
TIED = 1.0  # times the spread of the winner's criterion over its runs


def verdicts(run: Run, explanation: Any) -> list[str]:
    """Return what a user should know before trusting the selection, most important first.

    Parameters
    ----------
    run : Run
        What was done.
    explanation : Explanation
        What was found out about it.
    """
    found = [*_units(run), *_counts(run), *_against_random(explanation)]
    copies = [*_copies(run, explanation), *_duplicates(run)]
    return [*found, *copies, *_count(run, explanation), *_ties(run)]


def _units(run: Run) -> list[str]:
    ready = run.prepared
    if ready.scale == "standard" and run.request.scale == "auto":
        return [f"{ready.reason} (--scale none to use them as they are)"]
    if ready.scale == "none" and ready.units.differ:
        return [f"Units decide: {ready.units.sentence}; --scale standard gives every column the same weight."]
    return []


def _counts(run: Run) -> list[str]:
    if not run.prepared.units.counts or run.request.normalize != "none":
        return []
    return ["These look like raw counts, in which frequent things decide; --normalize log evens that out."]


def _against_random(explanation: Any) -> list[str]:
    if explanation.n_selected == explanation.n_features:
        return []
    kept = explanation.variance
    mean, spread = float(kept.random.mean()), float(kept.random.std())
    figures = (
        f"the chosen columns rebuild {kept.selection:.1%} of the variance, random ones {mean:.1%} ± "
        f"{spread:.1%}."
    )
    if np.mean(kept.random < kept.selection) >= CLEARLY:
        return [f"Better than random columns: {figures}"]
    if np.mean(kept.random > kept.selection) >= CLEARLY:
        return [
            f"Worse than random columns at rebuilding the table: {figures} Other methods (--method) or "
            "scaling (--scale) may do better, unless they were chosen for clusters."
        ]
    return [f"As good as random columns: {figures}"]


def _copies(run: Run, explanation: Any) -> list[str]:
    alike = np.abs(np.triu(explanation.among_kept, 1)) >= COPY
    names = run.table.feature_names
    pairs = [
        f"{short_name(names[run.ranked[b]])} = {short_name(names[run.ranked[a]])}"
        for a, b in zip(*np.nonzero(alike), strict=True)
    ]
    count = int(alike.any(axis=0).sum())
    if not count:
        return []
    be = "column is a copy" if count == 1 else "columns are copies"
    return [f"{count} chosen {be} of another chosen one ({listed(pairs, 3)}); one of each is enough."]


def _duplicates(run: Run) -> list[str]:
    sets = getattr(run.selector, "duplicates_", [])
    if not sets:
        return []
    names = run.table.feature_names
    shown = [" = ".join(short_name(names[j]) for j in same[:MOST_COPIES]) for same in sets]
    more = sum(len(same) - 1 for same in sets)
    be = "column of the table repeats" if more == 1 else "columns of the table repeat"
    return [f"{more} {be} another exactly ({listed(shown, 3)}); copies are chosen last."]


def _count(run: Run, explanation: Any) -> list[str]:
    n_selected, (n_rows, n_features) = explanation.n_selected, run.table.shape
    if n_selected == n_features:
        return ["All columns are kept; choose fewer with -k."]
    if n_selected >= n_rows:
        return [f"{n_selected} columns for {n_rows} rows: fewer (-k) would say as much."]
    if explanation.variance.selection >= ALMOST_ALL and n_selected > 1:
        return ["The chosen columns rebuild practically everything; fewer (-k) may do."]
    return []


def _ties(run: Run) -> list[str]:
    rows = [row for row in candidates(run) if np.isfinite(row["criterion"])]
    if not rows:
        return []
    best = next(row for row in rows if row["selected"])
    compared = ("all features", "random subsets")
    others = [row for row in rows if row is not best and row["candidate"] not in compared]
    error = TIED * best.get("criterion_std", 0.0)
    tied = [row["candidate"] for row in others if row["criterion"] >= best["criterion"] - error]
    if not tied:
        return []
    return [
        f"{len(tied)} of {len(others)} other methods did as well as {best['candidate']} within the spread of "
        f"its criterion ({'; '.join(tied[:SHOWN])}{'; …' * (len(tied) > SHOWN)}); the choice of the method "
        "matters little here."
    ]


def candidates(run: Run) -> list[dict[str, Any]]:
    """Return what was tried by a method that chooses among several, the best first; empty for others."""
    report = getattr(run.selector, "report_", [])
    return report.to_dict("records") if hasattr(report, "to_dict") else list(report)
