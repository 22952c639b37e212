"""Compare selectors on one labelled data set."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ufselect.compare.methods import choose_methods
from ufselect.compare.protocol import QUICK, Protocol, make_problem
from ufselect.compare.runner import Event, Runner
from ufselect.compare.tables import METRICS, Row, Table, main_table


@dataclass(frozen=True)
class Comparison:
    """Results of a comparison.

    Attributes
    ----------
    rows : list of dict
        One row for each method, parameter point and count with a final score; ``pandas.DataFrame(rows)``
        makes a table of them.
    tables : dict of str to Table
        ``"acc"`` and ``"nmi"``: mean ± std of each method; the title says how parameters were chosen.
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
    tables: dict[str, Table]
    mode: str
    protocol: Protocol
    failures: dict[tuple[str, str], str] = field(default_factory=dict)

    def to_markdown(self) -> str:
        """Return both tables in Markdown."""
        return "\n".join(table.to_markdown() for table in self.tables.values())

    def to_csv(self) -> str:
        """Return the scores as CSV, one line for each method, parameter point and count."""
        figures = ("acc_mean", "acc_std", "nmi_mean", "nmi_std", "n_runs", "seconds")
        body = tuple(
            (row["label"], row["params"], str(row["n_features"]), *(f"{row[name]:.6g}" for name in figures))
            for row in self._rows_by_method()
        )
        return Table("compare", "", ("method", "parameters", "n_features", *figures), body).to_csv()

    def by_count(self) -> Table:
        """Return a table with a line for each method and count, or in other modes for each method."""
        if self.mode != "fixed":
            accuracy, information = self.tables["acc"], self.tables["nmi"]
            lines = zip(accuracy.body, information.body, strict=True)
            columns = (accuracy.columns[0], *(f"{name} ACC %" for name in accuracy.columns[1:]))
            columns += tuple(f"{name} NMI %" for name in information.columns[1:])
            body = tuple((*first, *second[1:]) for first, second in lines)
            return Table("compare", accuracy.title, columns, body)
        body = tuple(
            (
                row["label"],
                str(row["n_features"]),
                f"{row['acc_mean']:.2f} ± {row['acc_std']:.2f}",
                f"{row['nmi_mean']:.2f} ± {row['nmi_std']:.2f}",
            )
            for row in self._rows_by_method()
        )
        title = f"ACC and NMI in per cent, mean ± std of {self.protocol.n_runs} runs; parameters: defaults"
        return Table("compare", title, ("method", "features", "ACC", "NMI"), body)

    def _rows_by_method(self) -> list[Row]:
        order = list(dict.fromkeys(row["label"] for row in self.rows))
        return sorted(self.rows, key=lambda row: (order.index(row["label"]), row["n_features"]))


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
    tables = {metric: main_table(rows, mode, metric, [name]) for metric in METRICS}
    return Comparison(rows, tables, mode, protocol, failures)
