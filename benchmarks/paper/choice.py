"""The row that represents each method, chosen by the labels or at a given number of features."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from ufselect.compare.compare import Table
from ufselect.compare.runner import METRICS, Row, statistics

HOW = {
    "oracle": "parameters and number of features tuned with the labels, for each metric separately",
    "fixed": "default parameters, number of features given, no labels used",
    "auto": "method and parameters found without labels, numbers of features and of clusters given",
}


def grouped(rows: Iterable[Row], *names: str) -> dict[tuple, list[Row]]:
    """Return the rows grouped by the values of some columns, in the order of their first rows."""
    groups: dict[tuple, list[Row]] = defaultdict(list)
    for row in rows:
        groups[tuple(row[name] for name in names)].append(row)
    return groups


def choose(
    rows: Iterable[Row], mode: str, metric: str, n_features: int | None = None
) -> dict[tuple[str, str], Row]:
    """Return one of the final rows for each data set and method.

    Mode "oracle" chooses the best by the labels. The other modes use no scores: they choose the row at
    ``n_features``, or at the largest count below it (the largest of all, if None).
    """
    groups = grouped(rows, "dataset", "method")
    if mode == "oracle":
        return {key: best(group, metric) for key, group in groups.items()}
    chosen = {}
    for key, group in groups.items():
        fitting = [row for row in group if n_features is None or row["n_features"] <= n_features] or group
        largest = max(row["n_features"] for row in fitting)
        chosen[key], *others = [row for row in fitting if row["n_features"] == largest]
        if others:
            raise ValueError(
                f"{chosen[key]['label']} has {1 + len(others)} parameter points at {largest} features; only "
                "oracle mode may choose among them."
            )
    return chosen


def best(rows: Iterable[Row], metric: str) -> Row:
    """Return the row of highest mean; among equal ones, the one with fewer features.

    If starts are kept apart, labels choose for each start separately and never among starts: the row is the
    mean of the best rows of all starts, and its count the most common one, or the least of these.
    """
    chosen = best_of_each_start(rows, metric)
    if len(chosen) == 1:
        return chosen[0]
    counts = [row["n_features"] for row in chosen]
    return {
        **chosen[0],
        "n_features": min(counts, key=lambda count: (-counts.count(count), count)),
        "start": None,
        "n_starts": len(chosen),
        **statistics({each: [row[f"{each}_runs"] for row in chosen] for each in METRICS}),
        "seconds": float(np.mean([row["seconds"] for row in chosen])),
        "features": [features for row in chosen for features in row["features"]],
    }


def best_of_each_start(rows: Iterable[Row], metric: str) -> list[Row]:
    """Return the row of highest mean of each start; one row if starts are not kept apart."""
    return [
        min(group, key=lambda row: (-row[f"{metric}_mean"], row["n_features"], row["params"]))
        for group in grouped(rows, "start").values()
    ]


def method_labels(rows: Iterable[Row]) -> dict[str, str]:
    """Return the methods of some rows and their labels, in the order of their first rows."""
    return {row["method"]: row["label"] for row in rows}


def main_table(
    rows: Sequence[Row],
    mode: str,
    metric: str,
    datasets: Sequence[str],
    n_features: int | None = None,
    titles: Mapping[str, str] | None = None,
) -> Table:
    """Return mean ± std (number of features) of every method, one row per method, one column per data set.

    The column of a data set without rows says that it is not available. The last column is the mean over the
    available data sets. ``titles`` gives names to show for data sets.
    """
    chosen = choose(rows, mode, metric, n_features)
    present = {row["dataset"] for row in rows}
    body = []
    for method, label in method_labels(rows).items():
        own = {name: chosen.get((name, method)) for name in datasets}
        cells = [words_of(own[name], metric) if name in present else "not available" for name in datasets]
        means = [row[f"{metric}_mean"] for row in own.values() if row is not None]
        body.append((label, *cells, f"{np.mean(means):.2f}" if len(means) == len(present) else "–"))
    columns = ("Method", *((titles or {}).get(name, name) for name in datasets), "Mean")
    title = f"{metric.upper()} in per cent, mean ± std (features). Mode {mode}: {HOW[mode]}."
    return Table(f"{metric}_{mode}", title, columns, tuple(body))


def words_of(row: Row | None, metric: str) -> str:
    """Return mean ± std (number of features) of a row."""
    if row is None:
        return "–"
    over_starts = f", starts ± {row[f'{metric}_start_std']:.2f}" if row["n_starts"] > 1 else ""
    return f"{row[f'{metric}_mean']:.2f} ± {row[f'{metric}_std']:.2f} ({row['n_features']}{over_starts})"
