"""Results in one SQLite file.

Two tables: what was selected, and how a subset scored. A subset that several methods find is scored once.
The write-ahead log makes each batch of rows atomic: after a crash or ``kill -9`` the file holds whole batches
only, and a new run computes what is missing.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import astuple, dataclass
from pathlib import Path
from types import TracebackType

SCHEMA = """
CREATE TABLE IF NOT EXISTS selections (
    data TEXT NOT NULL, method TEXT NOT NULL, params TEXT NOT NULL, n_features INTEGER NOT NULL,
    seed INTEGER NOT NULL, versions TEXT NOT NULL,
    subset TEXT NOT NULL, features TEXT NOT NULL, status TEXT NOT NULL, note TEXT NOT NULL,
    seconds REAL NOT NULL,
    PRIMARY KEY (data, method, params, n_features, seed, versions)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS scores (
    data TEXT NOT NULL, subset TEXT NOT NULL, seeding TEXT NOT NULL, kmeans_seed INTEGER NOT NULL,
    n_runs INTEGER NOT NULL, versions TEXT NOT NULL,
    acc_mean REAL NOT NULL, acc_std REAL NOT NULL, nmi_mean REAL NOT NULL, nmi_std REAL NOT NULL,
    acc_runs TEXT NOT NULL, nmi_runs TEXT NOT NULL,
    PRIMARY KEY (data, subset, seeding, kmeans_seed, n_runs, versions)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS datasets (data TEXT PRIMARY KEY, name TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS extras (
    data TEXT NOT NULL, kind TEXT NOT NULL, key TEXT NOT NULL, versions TEXT NOT NULL, value TEXT NOT NULL,
    PRIMARY KEY (data, kind, key, versions)
) WITHOUT ROWID;
CREATE VIEW IF NOT EXISTS results AS
    SELECT datasets.name AS dataset, selections.method, selections.params, selections.n_features,
           selections.seed, scores.seeding, scores.kmeans_seed, scores.n_runs, scores.acc_mean,
           scores.acc_std, scores.nmi_mean, scores.nmi_std, selections.seconds,
           selections.subset, selections.versions
    FROM selections JOIN scores USING (data, subset, versions) JOIN datasets USING (data);
"""
BUSY_SECONDS = 60


@dataclass(frozen=True)
class Selection:
    """One fit's subset; ``features`` is empty and ``note`` says why where the fit failed."""

    data: str
    method: str
    params: str
    n_features: int
    seed: int
    versions: str
    subset: str
    features: str
    status: str
    note: str
    seconds: float

    @property
    def key(self) -> tuple[str, str, str, int, int, str]:
        """What identifies the fit."""
        return self.data, self.method, self.params, self.n_features, self.seed, self.versions

    @property
    def indices(self) -> list[int]:
        """The selected features, sorted."""
        return json.loads(self.features)


@dataclass(frozen=True)
class Score:
    """Clustering quality of one subset, in per cent."""

    data: str
    subset: str
    seeding: str
    kmeans_seed: int
    n_runs: int
    versions: str
    acc_mean: float
    acc_std: float
    nmi_mean: float
    nmi_std: float
    acc_runs: str
    nmi_runs: str


class ResultStore:
    """A file of results, opened for one writer and any number of readers.

    Parameters
    ----------
    path : path-like or ":memory:"
        The SQLite file; made if absent.

    Examples
    --------
    >>> from ufselect.evaluation import ResultStore
    >>> with ResultStore(":memory:") as store:
    ...     list(store.selections())
    []
    """

    def __init__(self, path: str | Path) -> None:
        if str(path) != ":memory:":
            Path(path).parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self._connection = sqlite3.connect(path, timeout=BUSY_SECONDS)
        self._connection.execute("PRAGMA journal_mode=WAL")
        self._connection.execute("PRAGMA synchronous=NORMAL")
        self._connection.executescript(SCHEMA)

    def __enter__(self) -> ResultStore:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def add_dataset(self, data: str, name: str) -> None:
        """Remember the name under which a data set is shown."""
        self._write("datasets", [(data, name)])

    def add_selections(self, rows: Iterable[Selection]) -> None:
        """Store a batch of fits, all or none."""
        self._write("selections", [astuple(row) for row in rows])

    def add_scores(self, rows: Iterable[Score]) -> None:
        """Store a batch of scores, all or none."""
        self._write("scores", [astuple(row) for row in rows])

    def add_extra(self, data: str, kind: str, key: str, versions: str, value: object) -> None:
        """Store a result that is neither a selection nor a score, as JSON."""
        self._write("extras", [(data, kind, key, versions, json.dumps(value))])

    def extra(self, data: str, kind: str, key: str, versions: str) -> object | None:
        """Return a result stored by :meth:`add_extra`, or None."""
        found = self._connection.execute(
            "SELECT value FROM extras WHERE data=? AND kind=? AND key=? AND versions=?",
            (data, kind, key, versions),
        ).fetchone()
        return None if found is None else json.loads(found[0])

    def selections(self, data: str | None = None) -> Iterator[Selection]:
        """Yield the fits of one data set, or of all, in the order of their keys."""
        where, values = ("", ()) if data is None else (" WHERE data=?", (data,))
        with closing(self._connection.execute(f"SELECT * FROM selections{where}", values)) as rows:
            yield from (Selection(*row) for row in rows)

    def scores(self, data: str | None = None) -> Iterator[Score]:
        """Yield the scores of one data set, or of all, in the order of their keys."""
        where, values = ("", ()) if data is None else (" WHERE data=?", (data,))
        with closing(self._connection.execute(f"SELECT * FROM scores{where}", values)) as rows:
            yield from (Score(*row) for row in rows)

    def _write(self, table: str, rows: list[tuple]) -> None:
        if not rows:
            return
        marks = ",".join("?" * len(rows[0]))
        with self._connection:
            self._connection.executemany(f"INSERT INTO {table} VALUES ({marks}) ON CONFLICT DO NOTHING", rows)
