"""Results in one SQLite file.

Two tables: what was selected, and how a subset scored. A subset that several methods find is scored once.
The write-ahead log makes each batch of rows atomic: after a crash or ``kill -9`` the file holds whole batches
only, and a new run computes what is missing.

``PRAGMA user_version`` is the version of the tables. Every key ends with the name of the program that made
the row (:mod:`ufselect.evaluation.program`): a changed program finds no old row under its own name and
computes a new one beside it.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from ufselect.evaluation.keys import Params

# Raise it with every change of the tables below. Files before number 2 carried no number.
SCHEMA_VERSION = 2
SCHEMA = """
CREATE TABLE selections (
    data TEXT NOT NULL, method TEXT NOT NULL, params TEXT NOT NULL, n_features INTEGER NOT NULL,
    seed INTEGER NOT NULL, program TEXT NOT NULL,
    subset TEXT NOT NULL, features TEXT NOT NULL, status TEXT NOT NULL, note TEXT NOT NULL,
    seconds REAL NOT NULL,
    PRIMARY KEY (data, method, params, n_features, seed, program)
) WITHOUT ROWID;
CREATE TABLE scores (
    data TEXT NOT NULL, subset TEXT NOT NULL, seeding TEXT NOT NULL, kmeans_seed INTEGER NOT NULL,
    n_runs INTEGER NOT NULL, program TEXT NOT NULL,
    acc_mean REAL NOT NULL, acc_std REAL NOT NULL, nmi_mean REAL NOT NULL, nmi_std REAL NOT NULL,
    acc_runs TEXT NOT NULL, nmi_runs TEXT NOT NULL,
    PRIMARY KEY (data, subset, seeding, kmeans_seed, n_runs, program)
) WITHOUT ROWID;
CREATE TABLE datasets (data TEXT PRIMARY KEY, name TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE extras (
    data TEXT NOT NULL, kind TEXT NOT NULL, key TEXT NOT NULL, program TEXT NOT NULL, value TEXT NOT NULL,
    PRIMARY KEY (data, kind, key, program)
) WITHOUT ROWID;
CREATE VIEW results AS
    SELECT datasets.name AS dataset, selections.method, selections.params, selections.n_features,
           selections.seed, scores.seeding, scores.kmeans_seed, scores.n_runs, scores.acc_mean,
           scores.acc_std, scores.nmi_mean, scores.nmi_std, selections.seconds,
           selections.subset, selections.program AS selected_by, scores.program AS scored_by
    FROM selections JOIN scores USING (data, subset) JOIN datasets USING (data);
"""
# Longer than any batch takes to write, so that a second writer waits its turn instead of failing.
BUSY_SECONDS = 60

Row = TypeVar("Row")


class StoreError(ValueError):
    """A file of results that this version cannot use."""


@dataclass(frozen=True)
class Selection:
    """One fit's subset; ``features`` is empty and ``note`` says why where the fit failed."""

    data: str
    method: str
    params: Params
    n_features: int
    seed: int
    program: str
    subset: str
    features: tuple[int, ...]
    status: str
    note: str
    seconds: float

    @property
    def key(self) -> tuple[str, str, Params, int, int, str]:
        """What identifies the fit."""
        return self.data, self.method, self.params, self.n_features, self.seed, self.program


@dataclass(frozen=True)
class Score:
    """Clustering quality of one subset, in per cent."""

    data: str
    subset: str
    seeding: str
    kmeans_seed: int
    n_runs: int
    program: str
    acc_mean: float
    acc_std: float
    nmi_mean: float
    nmi_std: float
    acc_runs: tuple[float, ...]
    nmi_runs: tuple[float, ...]


class ResultStore:
    """A file of results, opened for one writer and any number of readers.

    Parameters
    ----------
    path : path-like or ":memory:"
        The SQLite file; made if absent.

    Raises
    ------
    StoreError
        If the file is no store, or one of another version.

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
        with self._naming_the_file():
            self._connection = sqlite3.connect(path, timeout=BUSY_SECONDS)
        try:
            with self._naming_the_file():
                self._prepare()
        except BaseException:
            self.close()
            raise

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
        self._write("selections", [_to_sql(row) for row in rows])

    def add_scores(self, rows: Iterable[Score]) -> None:
        """Store a batch of scores, all or none."""
        self._write("scores", [_to_sql(row) for row in rows])

    def add_extra(self, data: str, kind: str, key: str, program: str, value: object) -> None:
        """Store a result that is neither a selection nor a score, as JSON."""
        self._write("extras", [(data, kind, key, program, json.dumps(value))])

    def extra(self, data: str, kind: str, key: str, program: str) -> Any:
        """Return a result stored by :meth:`add_extra`, or None."""
        with self._naming_the_file():
            found = self._connection.execute(
                "SELECT value FROM extras WHERE data=? AND kind=? AND key=? AND program=?",
                (data, kind, key, program),
            ).fetchone()
            try:
                return None if found is None else json.loads(found[0])
            except (ValueError, TypeError) as error:
                raise sqlite3.DatabaseError("a row of extras cannot be read") from error

    def selections(self, data: str | None = None) -> Iterator[Selection]:
        """Yield the fits of one data set, or of all, in the order of their keys."""
        return self._rows("selections", data, _selection_from_sql)

    def scores(self, data: str | None = None) -> Iterator[Score]:
        """Yield the scores of one data set, or of all, in the order of their keys."""
        return self._rows("scores", data, _score_from_sql)

    def _prepare(self) -> None:
        """Make the tables of a new file, and refuse a file that has others."""
        self._refuse_part_of_a_page()
        (version,) = self._connection.execute("PRAGMA user_version").fetchone()
        (n_tables,) = self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if n_tables and version != SCHEMA_VERSION:
            raise StoreError(
                f"{self.path} has tables of version {version}, and this ufselect reads and writes version "
                f"{SCHEMA_VERSION}; name another file, or remove it to compute its rows anew."
            )
        if n_tables and not self._has_our_tables():
            raise StoreError(f"{self.path} is a database of another program; name another file.")
        self._connection.execute("PRAGMA journal_mode=WAL")
        self._connection.execute("PRAGMA synchronous=NORMAL")
        if not n_tables:
            # One transaction: a file has all tables and its number, or nothing.
            self._connection.executescript(f"BEGIN;{SCHEMA}PRAGMA user_version={SCHEMA_VERSION};COMMIT;")

    def _refuse_part_of_a_page(self) -> None:
        """Refuse a file that is cut within its last page: SQLite would read zeros there and miss rows."""
        (page_size,) = self._connection.execute("PRAGMA page_size").fetchone()
        if Path(self.path).exists() and Path(self.path).stat().st_size % page_size:
            raise sqlite3.DatabaseError("it ends within a page")

    def _has_our_tables(self) -> bool:
        names = self._connection.execute("SELECT name FROM sqlite_master WHERE type='table'")
        return {"selections", "scores"} <= {name for (name,) in names}

    @contextmanager
    def _naming_the_file(self) -> Iterator[None]:
        """Turn SQLite's errors into one sentence with the file and what to do."""
        try:
            yield
        except sqlite3.IntegrityError:
            raise  # a row of ours that is not complete, which is no fault of the file
        except sqlite3.OperationalError as error:
            raise StoreError(
                f"{self.path} cannot be used ({error}); free some space, make it writable or name another "
                "file."
            ) from error
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:  # damage may turn text into anything
            raise StoreError(
                f"{self.path} is not a file of results or is damaged ({error}); name another file, or "
                "remove it to compute its rows anew."
            ) from error

    def _rows(self, table: str, data: str | None, made_of: Callable[[tuple], Row]) -> Iterator[Row]:
        where, values = ("", ()) if data is None else (" WHERE data=?", (data,))
        with (
            self._naming_the_file(),
            closing(self._connection.execute(f"SELECT * FROM {table}{where}", values)) as rows,
        ):
            for row in rows:
                try:
                    made = made_of(row)
                except (
                    ValueError,
                    TypeError,
                    AttributeError,
                ) as error:  # text that is no JSON, or other JSON
                    raise sqlite3.DatabaseError(f"a row of {table} cannot be read") from error
                yield made

    def _write(self, table: str, rows: list[tuple]) -> None:
        if not rows:
            return
        marks = ",".join("?" * len(rows[0]))
        with self._naming_the_file(), self._connection:
            self._connection.executemany(f"INSERT INTO {table} VALUES ({marks}) ON CONFLICT DO NOTHING", rows)


def _to_sql(row: Selection | Score) -> tuple:
    return tuple(_cell(getattr(row, item.name)) for item in fields(row))


def _cell(value: Any) -> Any:
    """Write parameters and lists as JSON; numbers and words stay."""
    if isinstance(value, Params):
        return str(value)
    return json.dumps(value) if isinstance(value, tuple) else value


def _selection_from_sql(values: tuple) -> Selection:
    data, method, params, n_features, seed, program, subset, features, *rest = values
    return Selection(
        data,
        method,
        Params.from_json(params),
        n_features,
        seed,
        program,
        subset,
        tuple(json.loads(features)),
        *rest,
    )


def _score_from_sql(values: tuple) -> Score:
    return Score(*values[:-2], *(tuple(json.loads(runs)) for runs in values[-2:]))
