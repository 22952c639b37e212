"""Plain lines on what a selection is worth, for the terminal, the page and the record."""

from __future__ import annotations

from typing import Any

import numpy as np

from ufselect.cli.choosing import candidates, count_choice, goal_of, tie_sentence
from ufselect.cli.names import short_name
from ufselect.cli.run import Run
from ufselect.common.wording import listed

CLEARLY = 0.9  # share of random subsets that must be beaten, or win
COPY = 0.99999  # a correlation that rounding may leave of 1
MOST_COPIES = 4  # named of one set
ALMOST_ALL = 0.999  # of the variance
GOAL_WORDS = {"clusters": "finding groups of rows", "rebuild": "rebuilding the other columns"}
LEAST = 0.01  # a share of the variance that matters


def verdicts(run: Run, explanation: Any) -> list[str]:
    """Return what a user should know before trusting the selection, most important first.

    Parameters
    ----------
    run : Run
        What was done.
    explanation : Explanation
        What was found out about it.
    """
    found = [*_units(run), *_counts(run), *_by_goal(run, explanation)]
    copies = [*_copies(run, explanation), *_duplicates(run)]
    tie = tie_sentence(candidates(run))
    counted = [*_count_found(run), *_count(run, explanation)]
    return [*found, *copies, *counted, *([] if tie is None else [tie])]


def _units(run: Run) -> list[str]:
    ready = run.prepared
    if ready.scale == "standard" and run.request.scale == "auto":
        return [f"{ready.reason} (--scale none to use them as they are)"]
    units = ready.units
    if ready.scale == "none" and (units.differ or (units.is_dominated and not units.counts)):
        cause = "Units decide" if units.differ else "Few columns decide"
        return [f"{cause}: {units.sentence}; --scale standard gives every column the same weight."]
    return []


def _counts(run: Run) -> list[str]:
    if not run.prepared.units.counts or run.request.normalize != "none":
        return []
    return ["These look like raw counts, in which frequent things decide; --normalize log evens that out."]


def _by_goal(run: Run, explanation: Any) -> list[str]:
    """Say what the selection is worth for its goal; without one, for rebuilding the table."""
    goal = goal_of(run)
    if goal is None:
        return _against_random(explanation)
    return [f"Goal: {GOAL_WORDS.get(goal, goal)}. {run.chooser.verdict_}"]


def _against_random(explanation: Any) -> list[str]:
    if explanation.n_selected == explanation.n_features:
        return []
    kept = explanation.variance
    mean, spread = float(kept.random.mean()), float(kept.random.std())
    figures = (
        f"the chosen columns rebuild {kept.selection:.1%} of the variance, random ones {mean:.1%} ± "
        f"{spread:.1%}."
    )
    matters = abs(kept.selection - mean) >= LEAST
    if matters and np.mean(kept.random < kept.selection) >= CLEARLY:
        return [f"Better than random columns: {figures}"]
    if matters and np.mean(kept.random > kept.selection) >= CLEARLY:
        return [
            f"Worse than random columns at rebuilding the table: {figures} Another --method or --scale may "
            "do better."
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


def _count_found(run: Run) -> list[str]:
    found = count_choice(run)
    if found is None:
        return []
    return [
        f"-k auto asks for {found['chosen']} columns by the error of rebuilding rows left out "
        f"({found['why']})."
    ]


def _count(run: Run, explanation: Any) -> list[str]:
    n_selected, (n_rows, n_features) = explanation.n_selected, run.table.shape
    if n_selected == n_features:
        return ["All columns are kept; choose fewer with -k."]
    if n_selected >= n_rows:
        return [f"{n_selected} columns for {n_rows} rows: fewer (-k) would say as much."]
    if explanation.variance.selection >= ALMOST_ALL and n_selected > 1:
        return ["The chosen columns rebuild practically everything; fewer (-k) may do."]
    return []
