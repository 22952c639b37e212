"""Which method works on my data?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ufselect.evaluation.methods import choose_methods
from ufselect.evaluation.protocol import QUICK, Protocol, make_problem
from ufselect.evaluation.runner import Event, Runner
from ufselect.evaluation.tables import METRICS, Row, Table, main_table


@dataclass(frozen=True)
class Comparison:
    """What a comparison found.

    Attributes
    ----------
    rows : list of dict
        One for each method, parameter point and count with a final score: a flat table, which
        ``pandas.DataFrame(rows)`` takes as it is.
    tables : dict of str to Table
        ``"acc"`` and ``"nmi"``: mean ± std of each method; the title says how parameters were chosen.
    mode : str
        How parameters were chosen.
    protocol : Protocol
        How scores were computed.
    failures : dict
        Why a fit failed, by method and parameters; empty if none did.
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
        """Return the numbers, one line for each method, parameters and count."""
        figures = ("acc_mean", "acc_std", "nmi_mean", "nmi_std", "n_runs", "seconds")
        body = tuple(
            (row["label"], row["params"], str(row["n_features"]), *(f"{row[name]:.6g}" for name in figures))
            for row in self._rows_by_method()
        )
        return Table("compare", "", ("method", "parameters", "n_features", *figures), body).to_csv()

    def by_count(self) -> Table:
        """Return one line for each method and number of columns; in other modes, for each method."""
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

    All features, random features and PCA leverage are always among the methods.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The data, as they are to be clustered; they are not scaled.
    y : array-like of shape (n_samples,)
        The known classes, of any type.
    methods : sequence of str, default=None
        Class names or labels of selectors; None for all that can run here, save TSFS, which must be named.
    counts : sequence of int, default=None
        Numbers of features; None for 10, 20, …, 100 or what fits the data.
    mode : {"fixed", "oracle", "auto"}, default="fixed"
        ``"fixed"``: default parameters and the largest count, no labels used. ``"oracle"``: for each method
        the best of up to 100 parameter points and of the counts by the labels, which flatters every method
        and takes up to 100 times as long. ``"auto"``: parameters chosen without labels.
    n_runs : int, default=50
        K-means runs per selection.
    seeding : {"random", "k-means++", "greedy-k-means++"}, default="k-means++"
        How K-means is seeded. Compare only scores of one seeding.
    store : path-like, default=None
        Folder of results, from which a run that was stopped is taken up again; None keeps nothing. It is a
        cache of joblib, which is unpickled: name only folders that you trust.
    n_jobs : int, default=None
        Processes; None for one, or for what ``joblib.parallel_config`` says, such as a dask cluster.
    quick : bool, default=False
        Fewer runs, parameter points and starts.
    progress : bool or callable, default=None
        True shows progress on a terminal; a function gets an event after each task; the log always does.
    name : str, default="data"
        Name of the data set in tables.
    random_state : int, default=0
        Seed of the K-means runs and of methods that are random.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from ufselect.evaluation import compare
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
