"""Rows of results: the row that represents each method, and tables as CSV, Markdown and LaTeX."""

from __future__ import annotations

import csv
import io
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

METRICS = ("acc", "nmi")
HOW = {
    "oracle": "parameters and number of features tuned with the labels, for each metric separately",
    "fixed": "default parameters, number of features given, no labels used",
    "auto": "method and parameters found without labels, numbers of features and of clusters given",
}
# The result of a parameter point: what it is (dataset, method, label, params as JSON, n_features), how often
# it was run (n_starts, n_runs), acc and nmi in per cent with their mean, their std over all runs and over the
# means of the starts, and all runs; CPU seconds of a fit, a note, the features of each start. ``start`` is
# the seed of the row's only start if labels choose for each start separately, else None.
Row = dict[str, Any]


def grouped(rows: Iterable[Row], *names: str) -> dict[tuple, list[Row]]:
    """Return the rows grouped by the values of some columns, in the order of their first rows."""
    groups: dict[tuple, list[Row]] = defaultdict(list)
    for row in rows:
        groups[tuple(row[name] for name in names)].append(row)
    return groups


def statistics(runs: Mapping[str, Sequence[Sequence[float]]]) -> Row:
    """Return mean, standard deviations and all runs of each metric, from the runs of each start."""
    row: Row = {}
    for metric, starts in runs.items():
        means, together = [np.mean(start) for start in starts], [run for start in starts for run in start]
        row[f"{metric}_mean"] = float(np.mean(means))
        row[f"{metric}_std"] = float(np.std(together))
        row[f"{metric}_start_std"] = float(np.std(means))
        row[f"{metric}_runs"] = together
    return row


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


@dataclass(frozen=True)
class Table:
    """A table of text with a title."""

    name: str
    title: str
    columns: tuple[str, ...]
    body: tuple[tuple[str, ...], ...] = field(repr=False)

    def to_csv(self) -> str:
        """Return the table as comma-separated values."""
        out = io.StringIO()
        csv.writer(out, lineterminator="\n").writerows([self.columns, *self.body])
        return out.getvalue()

    def to_markdown(self) -> str:
        """Return the table in Markdown, below its title."""
        lines = [self.columns, ["---"] * len(self.columns), *self.body]
        return f"**{self.title}**\n\n" + "".join(f"| {' | '.join(cells)} |\n" for cells in lines)

    def to_latex(self) -> str:
        """Return the table in LaTeX, for the package booktabs."""
        words = str.maketrans({"±": r"$\pm$", "_": r"\_", "%": r"\%", "–": "--", "−": "$-$", "&": r"\&"})
        lines = [[cell.translate(words) for cell in cells] for cells in (self.columns, *self.body)]
        head, *body = [" & ".join(cells) + r" \\" for cells in lines]
        caption = rf"\caption{{{self.title.translate(words)}}}"
        begin = rf"\begin{{tabular}}{{l{'r' * (len(self.columns) - 1)}}}"
        end = [r"\bottomrule", r"\end{tabular}", r"\end{table}", ""]
        return "\n".join([r"\begin{table}", caption, begin, r"\toprule", head, r"\midrule", *body, *end])


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
