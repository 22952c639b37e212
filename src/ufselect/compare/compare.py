"""Compare selectors on one labelled data set."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from operator import itemgetter
from pathlib import Path
from typing import Any

from ufselect.compare.methods import QUICK, Protocol, choose_methods, make_problem
from ufselect.compare.runner import METRICS, Event, Row, Runner

HOW = {
    "fixed": "default parameters",
    "oracle": "parameters and number of features tuned with the labels, for each metric separately",
    "auto": "method and parameters found without labels",
}


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


@dataclass(frozen=True)
class Comparison:
    """Results of a comparison.

    Attributes
    ----------
    rows : list of dict
        One row for each method, parameter point and count with a final score; ``pandas.DataFrame(rows)``
        makes a table of them.
    mode : str
        How parameters were chosen.
    protocol : Protocol
        How scores were computed.
    failures : dict
        Error messages of failed fits, by method and parameters.

    See Also
    --------
    compare : Run a comparison.
    """

    rows: list[Row] = field(repr=False)
    mode: str
    protocol: Protocol
    failures: dict[tuple[str, str], str] = field(default_factory=dict)

    def to_csv(self) -> str:
        """Return the scores as CSV, one line for each method, parameter point and count."""
        figures = ("acc_mean", "acc_std", "nmi_mean", "nmi_std", "n_runs", "seconds")
        body = tuple(
            (row["label"], row["params"], str(row["n_features"]), *(f"{row[name]:.6g}" for name in figures))
            for rows in self._rows_by_method().values()
            for row in rows
        )
        return Table("compare", "", ("method", "parameters", "n_features", *figures), body).to_csv()

    def table(self) -> Table:
        """Return mean ± std of ACC and NMI, a line for each method and count.

        In oracle mode each method has one line, with its best number of features by each metric in brackets.
        """
        body: list[tuple[str, ...]] = []
        for label, rows in self._rows_by_method().items():
            if self.mode == "oracle":
                best = {metric: max(rows, key=itemgetter(f"{metric}_mean")) for metric in METRICS}
                cells = [f"{_cell(row, metric)} ({row['n_features']})" for metric, row in best.items()]
                body.append((label, *cells))
            else:
                body += [
                    (label, str(row["n_features"]), *(_cell(row, metric) for metric in METRICS))
                    for row in rows
                ]
        title = f"ACC and NMI in per cent, mean ± std; K-means runs: {self.protocol.n_runs}; {HOW[self.mode]}"
        columns = ("method", "ACC", "NMI") if self.mode == "oracle" else ("method", "features", "ACC", "NMI")
        return Table("compare", title, columns, tuple(body))

    def _rows_by_method(self) -> dict[str, list[Row]]:
        """Return the rows of each method, few features first."""
        rows: dict[str, list[Row]] = {row["label"]: [] for row in self.rows}
        for row in sorted(self.rows, key=lambda row: row["n_features"]):
            rows[row["label"]].append(row)
        return rows


def _cell(row: Row, metric: str) -> str:
    return f"{row[f'{metric}_mean']:.2f} ± {row[f'{metric}_std']:.2f}"


def compare(
    X: Any,
    y: Any,
    methods: Sequence[str] | None = None,
    counts: Sequence[int] | None = None,
    mode: str = "fixed",
    n_runs: int = 50,
    seeding: str = "k-means++",
    store: str | Path | None = None,
    n_jobs: int | None = None,
    quick: bool = False,
    progress: Callable[[Event], object] | bool | None = None,
    name: str = "data",
    random_state: int = 0,
) -> Comparison:
    """Compare selectors by how well K-means on their features recovers known classes.

    The baselines (all features, random features and PCA leverage) are always included. Without labels, use
    `ufselect.assess`.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The data to be clustered; they are not scaled.
    y : array-like of shape (n_samples,)
        The known classes, of any type.
    methods : sequence of str, default=None
        Class names or labels of selectors. None for all whose requirements are installed, except
        AutoSelector, ConstrainedDSCOFS and TSFS, which must be named.
    counts : sequence of int, default=None
        Numbers of features; None for 10, 20, …, 100, or about ten smaller ones if X has few features.
    mode : {"fixed", "oracle", "auto"}, default="fixed"
        ``"fixed"``: default parameters and the largest count, no labels used. ``"oracle"``: for each method
        the best of up to 100 parameter points and of the counts by the labels, which flatters every method
        and takes up to 100 times as long. ``"auto"``: parameters chosen without labels.
    n_runs : int, default=50
        K-means runs per selection.
    seeding : {"random", "k-means++", "greedy-k-means++"}, default="k-means++"
        How K-means is seeded. Only compare scores of the same seeding.
    store : path-like, default=None
        Folder of stored results, from which an interrupted run continues; None stores nothing. It is a joblib
        cache, which is unpickled: use only folders that you trust.
    n_jobs : int, default=None
        Number of processes; None for one, or for the setting of ``joblib.parallel_config``, such as a dask
        cluster.
    quick : bool, default=False
        Use fewer runs, parameter points and starts.
    progress : bool or callable, default=None
        True shows progress on a terminal; a function is called with an event after each task. Events are
        always logged.
    name : str, default="data"
        Name of the data set in tables.
    random_state : int, default=0
        Seed of the K-means runs and of random methods.

    Returns
    -------
    Comparison

    See Also
    --------
    ufselect.assess : Measure one selection without labels, on held-out rows.
    ufselect.metrics.evaluate_selection : Score one given selection by labels.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from ufselect.compare import compare
    >>> X, y = load_wine(return_X_y=True)
    >>> result = compare(X, y, methods=["MaxVariance"], counts=[2, 4], n_runs=3)
    >>> [row["label"] for row in result.rows if row["n_features"] in (4, 13)]
    ['All features', 'Random', 'PCA leverage', 'Max variance']
    """
    protocol = Protocol(n_runs=n_runs, seeding=seeding, seed=random_state)
    if quick:
        protocol = replace(protocol, **{**QUICK, "n_runs": min(n_runs, QUICK["n_runs"])})
    problem = make_problem(name, X, y, counts)
    chosen = choose_methods(methods, mode, problem, protocol)
    rows, failures = Runner(protocol, store, n_jobs, progress).run(problem, chosen)
    return Comparison(rows, mode, protocol, failures)
