"""Which method works on my data?"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ufselect.evaluation.choice import METRICS
from ufselect.evaluation.events import Listener, as_listener
from ufselect.evaluation.keys import Params
from ufselect.evaluation.methods import choose_methods
from ufselect.evaluation.protocol import Protocol, default_counts, make_problem
from ufselect.evaluation.rows import Row
from ufselect.evaluation.runner import Runner
from ufselect.evaluation.store import ResultStore
from ufselect.evaluation.tables import Table, main_table

# Settings for a first look: seconds on a table of a thousand rows, and means good to a few points.
QUICK: dict[str, Any] = {"n_runs": 10, "screening_runs": 3, "finalists": 1, "max_points": 6, "n_starts": 2}


@dataclass(frozen=True)
class Comparison:
    """What a comparison found.

    Attributes
    ----------
    rows : list of Row
        One for each method, parameter point and count with a final score.
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
    failures: dict[tuple[str, Params], str] = field(default_factory=dict)

    def to_markdown(self) -> str:
        """Return both tables in Markdown."""
        return "\n".join(table.to_markdown() for table in self.tables.values())


def compare(
    X: Any,
    y: Any,
    methods: Sequence[str] | None = None,
    counts: Sequence[int] | None = None,
    mode: str = "fixed",
    n_runs: int = 50,
    seeding: str = "k-means++",
    store: str | Path | None = None,
    n_jobs: int = 1,
    client: Any = None,
    quick: bool = False,
    exact: bool = False,
    progress: Listener | bool | None = None,
    name: str = "data",
    random_state: int = 0,
) -> Comparison:
    """Compare selectors by how well K-means on their features recovers known classes.

    All features, random subsets and PCA leverage are always among the methods.

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
        the best parameters and count by the labels, which flatters every method. ``"auto"``: parameters
        chosen without labels.
    n_runs : int, default=50
        K-means runs per selection.
    seeding : {"random", "k-means++", "greedy-k-means++"}, default="k-means++"
        How K-means is seeded. Compare only scores of one seeding.
    store : path-like, default=None
        SQLite file of results, taken up again where an earlier run stopped; None for a temporary one.
    n_jobs : int, default=1
        Processes.
    client : dask.distributed.Client, default=None
        A cluster to use instead of processes.
    quick : bool, default=False
        Fewer runs, parameter points and starts.
    exact : bool, default=False
        Score every parameter point with ``n_runs`` instead of screening with few first.
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
    >>> [row.label for row in result.rows if row.n_features in (4, 13)]
    ['All features', 'Random', 'PCA leverage', 'Max variance']
    """
    protocol = Protocol(n_runs=n_runs, seeding=seeding, seed=random_state)
    if quick:
        protocol = replace(protocol, **{**QUICK, "n_runs": min(n_runs, QUICK["n_runs"])})
    if exact:
        protocol = replace(protocol, screening_runs=None)
    shape = getattr(X, "shape", None) or (len(X), len(X[0]))
    problem = make_problem(name, X, y, default_counts(shape[1]) if counts is None else counts)
    chosen = choose_methods(methods, mode, problem, protocol)
    with (
        tempfile.TemporaryDirectory() as folder,
        ResultStore(Path(folder) / "results.sqlite" if store is None else store) as results,
    ):
        runner = Runner(results, protocol, n_jobs, client, as_listener(progress))
        outcome = runner.run(problem, chosen)
    rows = outcome.rows
    tables = {metric: main_table(rows, mode, metric, [name]) for metric in METRICS}
    return Comparison(rows, tables, mode, protocol, outcome.failures)
