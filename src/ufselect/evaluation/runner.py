"""From a data set and methods to rows: fit, screen, race, score those that may win."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ufselect.evaluation import race
from ufselect.evaluation.events import Listener, to_log, watched
from ufselect.evaluation.execute import execute
from ufselect.evaluation.fitting import OK, FitTask, fit_tasks, run_fit
from ufselect.evaluation.keys import Params, data_key
from ufselect.evaluation.methods import Method
from ufselect.evaluation.program import program_of
from ufselect.evaluation.protocol import Problem, Protocol
from ufselect.evaluation.rows import Row, collect_rows
from ufselect.evaluation.store import ResultStore, Score, Selection
from ufselect.metrics import evaluate_selection

# Enough to outweigh the sending of a task, few enough that an interruption loses seconds.
SUBSETS_PER_TASK = 10


@dataclass(frozen=True)
class ScoreTask:
    """Subsets to cluster in one go."""

    subsets: tuple[tuple[str, tuple[int, ...]], ...]
    n_runs: int

    @property
    def title(self) -> str:
        """What is running, for people."""
        return f"K-means, {self.n_runs} runs on {len(self.subsets)} subsets"


@dataclass(frozen=True)
class Outcome:
    """What a run on one data set found.

    Attributes
    ----------
    rows : list of Row
        Grid points with their final scores.
    screened : list of Row
        All grid points, with scores of the screening; the same as ``rows`` where nothing was screened.
    subsets : dict
        Features by (method, params, n_features, seed).
    failures : dict
        Reason of each failed fit, by (method, params).
    """

    rows: list[Row]
    screened: list[Row]
    subsets: dict[tuple[str, Params, int, int], tuple[int, ...]]
    failures: dict[tuple[str, Params], str]


@dataclass(frozen=True)
class Runner:
    """Computes what a store lacks for a data set.

    Every step is looked up in the store before and written to it after, so that a run can be stopped at any
    moment and taken up again.
    """

    store: ResultStore
    protocol: Protocol
    n_jobs: int = 1
    client: Any = None
    listener: Listener = to_log

    def run(self, problem: Problem, methods: Sequence[Method]) -> Outcome:
        """Fit and score the methods on one data set."""
        data = data_key(problem.X, problem.y)
        self.store.add_dataset(data, problem.name)
        selections = self._select(problem, methods, data)
        few = self.protocol.rounds if any(len(method.points) > 1 for method in methods) else ()
        screened, finalists = self._race(problem, methods, data, selections, few)
        rows = self._rows(problem, methods, data, finalists, self.protocol.n_runs)
        return Outcome(
            rows=rows,
            screened=screened or rows,
            subsets={
                (row.method, row.params, row.n_features, row.seed): row.features
                for row in selections
                if row.status == OK
            },
            failures={(row.method, row.params): row.note for row in selections if row.status != OK},
        )

    def _race(
        self,
        problem: Problem,
        methods: Sequence[Method],
        data: str,
        selections: list[Selection],
        rounds: Sequence[int],
    ) -> tuple[list[Row], list[Selection]]:
        """Return the rows of the first round and the selections that get all runs."""
        if not rounds:
            return [], selections
        apart = {method.key for method in methods if method.starts_apart}
        first = rows = self._rows(problem, methods, data, selections, rounds[0])
        ahead = race.leaders(first, self.protocol.finalists)
        n_runs = self.protocol.n_runs
        final = self._rows(problem, methods, data, _at(selections, ahead, apart), n_runs)
        for n_more in (*rounds[1:], None):
            left = race.contenders(rows, final, n_runs)
            if n_more is not None:
                rows = self._rows(problem, methods, data, _at(selections, left, apart), n_more)
        return first, _at(selections, ahead | left, apart)

    def _rows(
        self,
        problem: Problem,
        methods: Sequence[Method],
        data: str,
        selections: list[Selection],
        n_runs: int,
    ) -> list[Row]:
        """Score selections with some number of runs, where the store has not, and return their rows."""
        self._score(problem, selections, n_runs, data)
        return collect_rows(selections, self._scores(data, n_runs), methods, problem)

    def remember(
        self, data: str, kind: str, tasks: Sequence[Any], work: Callable[..., Any], where: str, *shared: Any
    ) -> dict[str, Any]:
        """Return a value for each task, from the store or from ``work(*shared, task)``.

        Parameters
        ----------
        data, kind : str
            Where the store keeps the values, with the task's own ``key`` and ``program``.
        tasks : sequence
            Pieces of work with the attributes ``key``, ``program`` and ``title``.
        work : callable
            Returns what JSON can hold, and never None.
        where : str
            Data set, for the messages.

        Returns
        -------
        dict
            Values by ``key``, as JSON gives them back.
        """
        found = {task.key: self.store.extra(data, kind, task.key, task.program) for task in tasks}
        missing = [task for task in tasks if found[task.key] is None]
        pairs = execute(work, shared, missing, self.n_jobs, self.client)
        for task, value in watched(pairs, len(missing), where, kind, self.listener):
            self.store.add_extra(data, kind, task.key, task.program, value)
            found[task.key] = self.store.extra(data, kind, task.key, task.program)
        return found

    def _select(self, problem: Problem, methods: Sequence[Method], data: str) -> list[Selection]:
        known = {row.key: row for row in self.store.selections(data)}
        tasks = [task for m in methods for task in fit_tasks(m, problem.counts, problem.X.shape[1])]
        keys = {task: _keys(task, data) for task in tasks}
        missing = [task for task in tasks if not all(key in known for key in keys[task])]
        pairs = execute(run_fit, (problem.X, data), missing, self.n_jobs, self.client)
        for _, rows in watched(pairs, len(missing), problem.name, "fits", self.listener):
            self.store.add_selections(rows)
            known.update({row.key: row for row in rows})
        return [known[key] for task in tasks for key in keys[task]]

    def _score(self, problem: Problem, selections: Iterable[Selection], n_runs: int, data: str) -> None:
        scored = self._scores(data, n_runs)
        missing = {
            row.subset: row.features for row in selections if row.status == OK and row.subset not in scored
        }
        items = sorted(missing.items())
        tasks = [
            ScoreTask(tuple(items[start : start + SUBSETS_PER_TASK]), n_runs)
            for start in range(0, len(items), SUBSETS_PER_TASK)
        ]
        shared = (problem.X, problem.y, data, score_program(), self.protocol)
        pairs = execute(run_scores, shared, tasks, self.n_jobs, self.client)
        for _, rows in watched(pairs, len(tasks), problem.name, f"scores, {n_runs} runs,", self.listener):
            self.store.add_scores(rows)

    def _scores(self, data: str, n_runs: int) -> dict[str, Score]:
        protocol, program = self.protocol, score_program()
        return {
            row.subset: row
            for row in self.store.scores(data)
            if (row.seeding, row.kmeans_seed, row.n_runs, row.program)
            == (protocol.seeding, protocol.seed, n_runs, program)
        }


def score_program() -> str:
    """Name the code that scores a subset."""
    return program_of((evaluate_selection.__module__,))


def run_scores(
    X: NDArray, y: NDArray, data: str, program: str, protocol: Protocol, task: ScoreTask
) -> list[Score]:
    """Cluster some subsets and return their scores."""
    rows = []
    for subset, features in task.subsets:
        index = np.array(features)
        score = evaluate_selection(X, y, index, task.n_runs, protocol.seeding, protocol.seed)
        rows.append(
            Score(
                data=data,
                subset=subset,
                seeding=protocol.seeding,
                kmeans_seed=protocol.seed,
                n_runs=task.n_runs,
                program=program,
                acc_mean=score.acc_mean,
                acc_std=score.acc_std,
                nmi_mean=score.nmi_mean,
                nmi_std=score.nmi_std,
                acc_runs=tuple(score.acc_runs.round(6).tolist()),
                nmi_runs=tuple(score.nmi_runs.round(6).tolist()),
            )
        )
    return rows


def _keys(task: FitTask, data: str) -> list[tuple[str, str, Params, int, int, str]]:
    return [
        (data, task.key, point, count, task.seed, task.program)
        for point in task.points
        for count in task.counts
    ]


def _at(selections: Iterable[Selection], places: set[race.Place], apart: set[str]) -> list[Selection]:
    """Return the selections behind some rows."""
    return [
        row
        for row in selections
        if (row.method, row.params, row.n_features, row.seed if row.method in apart else None) in places
    ]
