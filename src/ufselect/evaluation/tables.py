"""Tables of results, as csv, Markdown and LaTeX."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ufselect.evaluation.choice import HOW, choose
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
    rows: Sequence[Row],
    mode: str,
    metric: str,
    datasets: Sequence[str],
    n_features: int | None = None,
    titles: Mapping[str, str] | None = None,
) -> Table:
    """Return mean ± std (number of features) of every method, one row per method, one column per data set.

    A data set without rows keeps its column, which says that it is not available. The last column is the
    mean over the data sets at hand. ``titles`` says how data sets are called; without it by their names.
    """
    chosen = choose(rows, mode, metric, n_features)
    methods = method_labels(rows)
    present = [name for name in datasets if any(name == row.dataset for row in rows)]
    body = []
    for method, label in methods.items():
        cells = [
            words_of(chosen.get((name, method)), metric) if name in present else "not available"
            for name in datasets
        ]
        means = [
            getattr(chosen[name, method], f"{metric}_mean") for name in present if (name, method) in chosen
        ]
        whole = f"{np.mean(means):.2f}" if len(means) == len(present) else "–"
        body.append((label, *cells, whole))
    columns = ("Method", *((titles or {}).get(name, name) for name in datasets), "Mean")
    title = f"{metric.upper()} in per cent, mean ± std (features). Mode {mode}: {HOW[mode]}."
    return Table(f"{metric}_{mode}", title, columns, tuple(body))


def method_labels(rows: Iterable[Row]) -> dict[str, str]:
    """Return the methods of some rows and their labels, in the order of their first rows."""
    return {row.method: row.label for row in rows}


def counted_table(name: str, title: str, first: str, counts: Mapping[str, Mapping[str, str]]) -> Table:
    """Return a table from words by row and column."""
    columns = list(dict.fromkeys(column for cells in counts.values() for column in cells))
    body = tuple((row, *(cells.get(column, "–") for column in columns)) for row, cells in counts.items())
    return Table(name, title, (first, *columns), body)


def words_of(row: Row | None, metric: str) -> str:
    """Return mean ± std (number of features) of a row."""
    if row is None:
        return "–"
    mean, std = getattr(row, f"{metric}_mean"), getattr(row, f"{metric}_std")
    over_starts = f", starts ± {getattr(row, f'{metric}_start_std'):.2f}" if row.n_starts > 1 else ""
    return f"{mean:.2f} ± {std:.2f} ({row.n_features}{over_starts})"


def _pipes(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _ampersands(cells: Iterable[str]) -> str:
    return " & ".join(_escaped(cell) for cell in cells) + r" \\"


def _escaped(words: str) -> str:
    return "".join(LATEX_WORDS.get(letter, letter) for letter in words)
