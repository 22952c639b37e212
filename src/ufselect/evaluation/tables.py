"""Tables of results, as csv, Markdown and LaTeX."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ufselect.evaluation.choice import HOW, METRICS, choose
from ufselect.evaluation.paper import TITLES, UNAVAILABLE, published
from ufselect.evaluation.rows import Row

LATEX_WORDS = {"±": r"$\pm$", "_": r"\_", "%": r"\%", "–": "--", "−": "$-$", "&": r"\&"}


@dataclass(frozen=True)
class Table:
    """A titled grid of words."""

    name: str
    title: str
    columns: tuple[str, ...]
    body: tuple[tuple[str, ...], ...] = field(repr=False)

    def to_csv(self) -> str:
        """Return the table as comma-separated values."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows(self.body)
        return out.getvalue()

    def to_markdown(self) -> str:
        """Return the table in Markdown, its title above it."""
        lines = [_pipes(self.columns), _pipes(["---"] * len(self.columns)), *map(_pipes, self.body)]
        return f"**{self.title}**\n\n" + "\n".join(lines) + "\n"

    def to_latex(self) -> str:
        """Return a LaTeX table for the package booktabs."""
        lines = [
            r"\begin{table}",
            rf"\caption{{{_escaped(self.title)}}}",
            rf"\begin{{tabular}}{{l{'r' * (len(self.columns) - 1)}}}",
            r"\toprule",
            _ampersands(self.columns),
            r"\midrule",
            *map(_ampersands, self.body),
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
        ]
        return "\n".join(lines) + "\n"

    def write(self, folder: Path) -> None:
        """Write the three forms into a folder."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{self.name}.csv").write_text(self.to_csv(), encoding="utf-8")
        (folder / f"{self.name}.md").write_text(self.to_markdown(), encoding="utf-8")
        (folder / f"{self.name}.tex").write_text(self.to_latex(), encoding="utf-8")


def main_table(
    rows: Sequence[Row], mode: str, metric: str, datasets: Sequence[str], n_features: int | None = None
) -> Table:
    """Return mean ± std (number of features) of every method, a row a method, a column a data set.

    A data set without rows keeps its column, which says that it is not available. The last column is the
    mean over the data sets at hand.
    """
    chosen = choose(rows, mode, metric, n_features)
    methods = method_labels(rows)
    present = [name for name in datasets if any(name == row.dataset for row in rows)]
    body = []
    for method, label in methods.items():
        cells = [_cell(chosen.get((name, method)), metric, name) for name in datasets]
        means = [
            getattr(chosen[name, method], f"{metric}_mean") for name in present if (name, method) in chosen
        ]
        whole = f"{np.mean(means):.2f}" if len(means) == len(present) else "–"
        body.append((label, *cells, whole))
    columns = ("Method", *(TITLES.get(name, name) for name in datasets), "Mean")
    title = f"{metric.upper()} in per cent, mean ± std (features). Mode {mode}: {HOW[mode]}."
    return Table(f"{metric}_{mode}", title, columns, tuple(body))


def method_labels(rows: Iterable[Row]) -> dict[str, str]:
    """Return the methods of some rows and their labels, in the order of their first rows."""
    return {row.method: row.label for row in rows}


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
                    _cell(ours, metric, name),
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


def counted_table(name: str, title: str, first: str, counts: Mapping[str, Mapping[str, str]]) -> Table:
    """Return a table from words by row and column."""
    columns = list(dict.fromkeys(column for cells in counts.values() for column in cells))
    body = tuple((row, *(cells.get(column, "–") for column in columns)) for row, cells in counts.items())
    return Table(name, title, (first, *columns), body)


def _mean(values: Sequence[float | None]) -> str:
    known = [value for value in values if value is not None]
    return f"{np.mean(known):.2f}" if values and len(known) == len(values) else "–"


def _cell(row: Row | None, metric: str, dataset: str) -> str:
    if row is None:
        return "not available" if dataset in UNAVAILABLE else "–"
    mean, std = getattr(row, f"{metric}_mean"), getattr(row, f"{metric}_std")
    over_starts = f", starts ± {getattr(row, f'{metric}_start_std'):.2f}" if row.n_starts > 1 else ""
    return f"{mean:.2f} ± {std:.2f} ({row.n_features}{over_starts})"


def _pipes(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _ampersands(cells: Iterable[str]) -> str:
    return " & ".join(_escaped(cell) for cell in cells) + r" \\"


def _escaped(words: str) -> str:
    return "".join(LATEX_WORDS.get(letter, letter) for letter in words)
