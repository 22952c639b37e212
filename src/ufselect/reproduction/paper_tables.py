"""Our figures beside those that the paper prints."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ufselect.evaluation.choice import METRICS, choose
from ufselect.evaluation.rows import Row
from ufselect.evaluation.tables import Table, method_labels, words_of
from ufselect.reproduction.paper import TITLES, published


def paper_table(rows: Sequence[Row], metric: str, datasets: Sequence[str]) -> Table:
    """Return our oracle figures beside the paper's, with the difference and its verdict."""
    chosen = choose(rows, "oracle", metric)
    body = []
    for name in datasets:
        for method, label in method_labels(rows).items():
            theirs = published(metric, name, method)
            if theirs is None:
                continue
            ours = chosen.get((name, method))
            printed = f"{theirs.mean:.2f} ± {theirs.std:.2f}"
            if ours is None:
                body.append((TITLES.get(name, name), label, "not available", printed, "–", "–"))
                continue
            difference = getattr(ours, f"{metric}_mean") - theirs.mean
            body.append(
                (
                    TITLES.get(name, name),
                    label,
                    words_of(ours, metric),
                    printed,
                    f"{difference:+.2f}",
                    verdict(difference, theirs.std),
                )
            )
    columns = ("Data set", "Method", "Here", "Paper", "Difference", "Verdict")
    title = f"{metric.upper()} here (oracle) and in the paper; within: by at most one of the paper's std."
    return Table(f"{metric}_against_paper", title, columns, tuple(body))


def verdict(difference: float, std: float) -> str:
    """Say how a difference from the paper compares with the paper's standard deviation."""
    if difference >= 0:
        return "at or above"
    return "within" if -difference <= std else "below"


def means_table(rows: Sequence[Row], datasets: Sequence[str]) -> Table:
    """Return each method's mean over the data sets, here and in the paper."""
    body = []
    chosen = {metric: choose(rows, "oracle", metric) for metric in METRICS}
    for method, label in method_labels(rows).items():
        cells = [label]
        for metric in METRICS:
            ours = [chosen[metric].get((name, method)) for name in datasets]
            theirs = [published(metric, name, method) for name in datasets]
            cells.append(_mean([None if row is None else getattr(row, f"{metric}_mean") for row in ours]))
            cells.append(_mean([None if figure is None else figure.mean for figure in theirs]))
        body.append(tuple(cells))
    title = f"Means over {len(datasets)} data sets, oracle, here and in the paper."
    return Table("means", title, ("Method", "ACC", "ACC, paper", "NMI", "NMI, paper"), tuple(body))


def _mean(values: Sequence[float | None]) -> str:
    known = [value for value in values if value is not None]
    return f"{np.mean(known):.2f}" if values and len(known) == len(values) else "–"
