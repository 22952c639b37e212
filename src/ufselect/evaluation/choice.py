"""Choosing the row that stands for a method: by labels, or without them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from ufselect.evaluation.rows import Row, mean_over_starts

METRICS = ("acc", "nmi")
HOW = {
    "oracle": "parameters and number of features chosen by the labels, separately for each metric",
    "fixed": "default parameters, number of features given, no labels used",
    "auto": "method and parameters chosen without labels, numbers of features and of clusters given",
}


def choose(
    rows: Iterable[Row], mode: str, metric: str, n_features: int | None = None
) -> dict[tuple[str, str], Row]:
    """Return one row for each data set and method.

    Parameters
    ----------
    rows : iterable of Row
        Final rows.
    mode : {"oracle", "fixed", "auto"}
        ``"oracle"`` takes the best row by the labels. The others take the row at ``n_features`` (the largest
        count there is, if None) and look at no score.
    metric : {"acc", "nmi"}
        What the oracle maximises.
    """
    groups: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        groups[row.dataset, row.method].append(row)
    if mode == "oracle":
        return {key: best(group, metric) for key, group in groups.items()}
    return {key: _at_count(group, n_features) for key, group in groups.items()}


def best(rows: Iterable[Row], metric: str) -> Row:
    """Return the row of highest mean; of equal ones that with fewer features.

    Where starts are kept apart, labels choose anew for each start and never among starts: the row is the
    mean of the best rows of all starts.
    """
    return mean_over_starts(best_of_each_start(rows, metric))


def best_of_each_start(rows: Iterable[Row], metric: str) -> list[Row]:
    """Return the row of highest mean of each start; one row where starts are not kept apart."""
    groups: dict[int | None, list[Row]] = defaultdict(list)
    for row in rows:
        groups[row.start].append(row)
    return [
        min(group, key=lambda row: (-getattr(row, f"{metric}_mean"), row.n_features, str(row.params)))
        for group in groups.values()
    ]


def best_by_count(rows: Iterable[Row], metric: str) -> list[Row]:
    """Return the best row of each count, by rising count."""
    groups: dict[int, list[Row]] = defaultdict(list)
    for row in rows:
        groups[row.n_features].append(row)
    return [best(groups[count], metric) for count in sorted(groups)]


def _at_count(rows: list[Row], n_features: int | None) -> Row:
    """Return the row at a count, or the largest count below it."""
    fitting = [row for row in rows if n_features is None or row.n_features <= n_features] or rows
    largest = max(row.n_features for row in fitting)
    at_largest = [row for row in fitting if row.n_features == largest]
    if len(at_largest) > 1:
        raise ValueError(
            f"{at_largest[0].label} has {len(at_largest)} parameter points at {largest} features; only "
            "oracle mode may choose among them."
        )
    return at_largest[0]
