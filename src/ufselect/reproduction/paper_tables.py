"""Our figures beside those that the paper prints."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ufselect.evaluation.choice import METRICS, best_of_each_start, choose
from ufselect.evaluation.methods import ALL_FEATURES
from ufselect.evaluation.rows import Row
from ufselect.evaluation.tables import Table, method_labels, words_of
from ufselect.registry import all_selectors
from ufselect.reproduction.paper import METHODS, TITLES, TSFS, published
from ufselect.reproduction.paper_grid import PAPER_GRID
from ufselect.reproduction.paper_ranks import as_the_paper_runs


def paper_table(rows: Sequence[Row], metric: str, datasets: Sequence[str]) -> Table:
    """Return our oracle figures beside the paper's, with the difference and its verdict.

    Methods of which we have two settings are compared by that of the paper; the other is beside it.
    """
    chosen = choose(rows, "oracle", metric)
    labels = method_labels(rows)
    body = []
    for name in datasets:
        for method in METHODS:
            theirs = published(metric, name, method)
            if theirs is None or not {method, as_the_paper_runs(method)} & set(labels):
                continue
            printed = f"{theirs.mean:.2f} ± {theirs.std:.2f}"
            count = "" if theirs.n_features is None else f" ({theirs.n_features})"
            here, own = chosen.get((name, as_the_paper_runs(method))), chosen.get((name, method))
            difference = None if here is None else getattr(here, f"{metric}_mean") - theirs.mean
            body.append(
                (
                    TITLES.get(name, name),
                    label_of(method),
                    printed + count,
                    "not available" if here is None else words_of(here, metric),
                    "–" if difference is None else f"{difference:+.2f}",
                    "–" if difference is None else verdict(difference, theirs.std),
                    "–" if own is here or own is None else words_of(own, metric),
                )
            )
    columns = (
        "Data set",
        "Method",
        "Paper",
        "Here, as the paper ran it",
        "Difference",
        "Verdict",
        "Here, ours",
    )
    title = (
        f"{metric.upper()} in the paper and here (oracle); within: by at most one of the paper's std. As the "
        "paper ran it: its grid for DSCOFS, t = 1 for LapScore, α = 10³ for RNE; ours: our own setting of "
        "these three."
    )
    return Table(f"{metric}_against_paper", title, columns, tuple(body))


def label_of(method: str) -> str:
    """Return the name of one of the paper's methods in tables."""
    return "All features" if method == ALL_FEATURES else all_selectors()[method].label


def verdict(difference: float, std: float) -> str:
    """Say how a difference from the paper compares with the paper's standard deviation."""
    if difference >= 0:
        return "at or above"
    return "within" if -difference <= std else "below"


def means_table(rows: Sequence[Row], datasets: Sequence[str]) -> Table:
    """Return each method's mean over the data sets, here and in the paper."""
    body = []
    chosen = {metric: choose(rows, "oracle", metric) for metric in METRICS}
    printed_for = {as_the_paper_runs(method): method for method in METHODS}
    for method, label in method_labels(rows).items():
        cells = [label]
        for metric in METRICS:
            ours = [chosen[metric].get((name, method)) for name in datasets]
            theirs = [published(metric, name, printed_for.get(method, "")) for name in datasets]
            cells.append(_mean([None if row is None else getattr(row, f"{metric}_mean") for row in ours]))
            cells.append(_mean([None if figure is None else figure.mean for figure in theirs]))
        body.append(tuple(cells))
    title = (
        f"Means over {len(datasets)} data sets, oracle, here and in the paper, whose figures stand beside "
        "the row that repeats its setting."
    )
    return Table("means", title, ("Method", "ACC", "ACC, paper", "NMI", "NMI, paper"), tuple(body))


def paper_grid_table(rows: Sequence[Row], datasets: Sequence[str]) -> Table:
    """Return DSCOFS by the published grid, with the spread over starts, beside the paper and our space."""
    body = []
    for name in datasets:
        cells = [TITLES.get(name, name)]
        for metric in METRICS:
            theirs = published(metric, name, "DSCOFS")
            of_grid = [row for row in rows if (row.dataset, row.method) == (name, PAPER_GRID)]
            own = choose([row for row in rows if row.dataset == name], "oracle", metric).get((name, "DSCOFS"))
            cells.append("–" if theirs is None else f"{theirs.mean:.2f}")
            cells.append(_range(of_grid, metric))
            cells.append("–" if own is None else f"{getattr(own, f'{metric}_mean'):.2f}")
        body.append(tuple(cells))
    title = (
        "DSCOFS in the paper, by the paper's grid and by ours. The paper's grid: 441 points, penalties as "
        "they are, a random start, the point and the count chosen by the labels for each start; mean over "
        "starts, least and most in brackets. Ours: 96 points, of which labels choose among eight starts, too."
    )
    parts = [f"{metric.upper()}, {what}" for metric in METRICS for what in ("paper", "paper's grid", "ours")]
    return Table("paper_grid", title, ("Data set", *parts), tuple(body))


def teacher_student_table(rows: Sequence[Row], datasets: Sequence[str]) -> Table | None:
    """Return TSFS beside the paper's figures for it and beside DSCOFS; None where it was not run."""
    body = []
    for name in datasets:
        own = [row for row in rows if row.dataset == name]
        cells = [TITLES.get(name, name)]
        for metric, printed in zip(METRICS, TSFS.get(name, (None, None)), strict=True):
            chosen = choose(own, "oracle", metric)
            cells.append("–" if printed is None else f"{printed:.2f}")
            cells += [
                "–" if row is None else words_of(row, metric)
                for row in (chosen.get((name, method)) for method in ("TSFS", PAPER_GRID))
            ]
        if any(row.method == "TSFS" for row in own):
            body.append(tuple(cells))
    if not body:
        return None
    title = (
        "TSFS (oracle) in the paper and here, and DSCOFS by the paper's grid. Labels choose penalty and "
        "count for each seed; the mean is over the seeds."
    )
    parts = [f"{m.upper()}, {what}" for m in METRICS for what in ("TSFS, paper", "TSFS here", "DSCOFS here")]
    return Table("tsfs", title, ("Data set", *parts), tuple(body))


def optimism_table(rows: Sequence[Row], datasets: Sequence[str]) -> Table:
    """Return how much of each best mean is the luck of its K-means runs.

    The point is chosen by half of the runs and scored by the other half, both ways; the mean of the two is
    free of that luck, though not of the labels' choice.
    """
    body = []
    for method, label in method_labels(rows).items():
        cells = [label]
        for metric in METRICS:
            whole, split = [], []
            for name in datasets:
                own = [row for row in rows if (row.dataset, row.method) == (name, method)]
                if own:
                    whole.append(np.mean([_best(group, metric, slice(None)) for group in _by_start(own)]))
                    split.append(np.mean([nested_mean(group, metric) for group in _by_start(own)]))
            complete = len(whole) == len(datasets)
            cells += [f"{np.mean(whole):.2f}", f"{np.mean(split):.2f}"] if complete else ["–", "–"]
        body.append(tuple(cells))
    columns = ("Method", *(f"{m.upper()}, {what}" for m in METRICS for what in ("best", "by a nested split")))
    title = (
        "Best mean over all runs, and the mean by runs that had no part in the choice: chosen by one half of "
        f"the K-means runs, scored by the other. Means over {len(datasets)} data sets, oracle."
    )
    return Table("optimism", title, columns, tuple(body))


def nested_mean(rows: Sequence[Row], metric: str) -> float:
    """Return the mean, both ways, of the runs of one half at the point that is best by the other half."""
    n_runs = min(len(getattr(row, f"{metric}_runs")) for row in rows)
    if n_runs < 2:
        return _best(rows, metric, slice(None))
    halves = slice(0, n_runs // 2), slice(n_runs // 2, n_runs)
    scores = [[np.mean(getattr(row, f"{metric}_runs")[half]) for row in rows] for half in halves]
    return float(np.mean([scores[1][int(np.argmax(scores[0]))], scores[0][int(np.argmax(scores[1]))]]))


def _best(rows: Sequence[Row], metric: str, part: slice) -> float:
    return max(float(np.mean(getattr(row, f"{metric}_runs")[part])) for row in rows)


def _by_start(rows: Sequence[Row]) -> list[list[Row]]:
    return [[row for row in rows if row.start == start] for start in {row.start: None for row in rows}]


def _range(rows: Sequence[Row], metric: str) -> str:
    if not rows:
        return "not available"
    values = [getattr(row, f"{metric}_mean") for row in best_of_each_start(rows, metric)]
    spread = f" ({min(values):.2f}–{max(values):.2f}, {len(values)} starts)" if len(values) > 1 else ""
    return f"{np.mean(values):.2f}{spread}"


def _mean(values: Sequence[float | None]) -> str:
    known = [value for value in values if value is not None]
    return f"{np.mean(known):.2f}" if values and len(known) == len(values) else "–"
