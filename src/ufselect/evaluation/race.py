"""Which parameter points deserve all K-means runs: a race in which a better point is hardly ever dropped."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from ufselect.evaluation.keys import Params
from ufselect.evaluation.rows import Row

# Method, parameters, number of features and, where labels choose anew for each, the start.
Place = tuple[str, Params, int, int | None]
# A point is dropped when the mean of its few runs lies this many standard errors below what it would need.
# One in forty points that deserve to win is lost by it, and more points can hurt no more often than that.
MARGIN = 2.0
METRICS = ("acc", "nmi")


def place_of(row: Row) -> Place:
    """Return what identifies a row within its data set."""
    return row.method, row.params, row.n_features, row.start


def leaders(rows: Iterable[Row], n_kept: int) -> set[Place]:
    """Return the points that screen best by either metric, for each method, start and number of features."""
    kept: set[Place] = set()
    for group in _grouped(rows, lambda row: (row.method, row.start, row.n_features)):
        for metric in METRICS:
            ordered = sorted(group, key=lambda row: (-_mean(row, metric), str(row.params)))
            kept.update(place_of(row) for row in ordered[:n_kept])
    return kept


def contenders(rows: Sequence[Row], final: Sequence[Row], n_runs: int) -> set[Place]:
    """Return the points that may still beat the best final score of their method and start.

    The mean of the first k of n runs differs from that of all n by a standard error of
    σ √(1/k − 1/n), with σ the standard deviation of single runs, pooled over the points of a method.

    Parameters
    ----------
    rows : sequence of Row
        Points with the scores of few runs.
    final : sequence of Row
        Some of them with the scores of all runs.
    n_runs : int
        The number of all runs.
    """
    finished = {group[0].method: group for group in _grouped(final, lambda row: row.method)}
    kept: set[Place] = set()
    for group in _grouped(rows, lambda row: (row.method, row.start)):
        first = group[0]
        rivals = [row for row in finished.get(first.method, []) if row.start == first.start]
        for metric in METRICS:
            needed = max((_mean(row, metric) for row in rivals), default=-np.inf)
            slack = MARGIN * _spread(group, metric) * np.sqrt(max(0.0, 1 / first.n_runs - 1 / n_runs))
            kept.update(place_of(row) for row in group if _mean(row, metric) + slack >= needed)
    return kept


def _spread(rows: Sequence[Row], metric: str) -> float:
    """Return the standard deviation of single runs around their point's mean, pooled over points."""
    runs = [np.asarray(getattr(row, f"{metric}_runs")) for row in rows]
    if min(len(values) for values in runs) < 2:
        return float("inf")  # a single run says nothing of how far runs lie apart
    return float(np.sqrt(np.mean([values.var(ddof=1) for values in runs])))


def _mean(row: Row, metric: str) -> float:
    return float(getattr(row, f"{metric}_mean"))


def _grouped(rows: Iterable[Row], key: Callable[[Row], object]) -> Iterable[list[Row]]:
    groups: dict[object, list[Row]] = defaultdict(list)
    for row in rows:
        groups[key(row)].append(row)
    return groups.values()
