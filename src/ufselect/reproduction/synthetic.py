"""Shapes among noise: how often a method finds the two features that matter."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ufselect.datasets import make_noisy_shapes
from ufselect.evaluation.execute import execute
from ufselect.evaluation.fitting import fit_tasks, run_fit
from ufselect.evaluation.identity import software_versions
from ufselect.evaluation.methods import BEST_DRAW, Method, choose_methods
from ufselect.evaluation.progress import watched
from ufselect.evaluation.protocol import make_problem
from ufselect.evaluation.runner import Runner
from ufselect.evaluation.tables import Table

KINDS = {"two_spirals": "2Spiral", "banana": "Banana", "dartboard": "Dartboard"}
TRUE_FEATURES = [3, 4]


@dataclass(frozen=True)
class ShapeTask:
    """One method on all draws of one shape."""

    kind: str
    method: Method
    n_draws: int

    @property
    def title(self) -> str:
        """What is running, for people."""
        return f"{self.method.key} on {self.n_draws} draws of {self.kind}"


@dataclass(frozen=True)
class ShapeResult:
    """How many of the draws each parameter point solved; ``fixed`` is the count of the defaults."""

    kind: str
    method: str
    label: str
    n_draws: int
    fixed: float
    oracle: float


def shape_results(
    runner: Runner, names: Sequence[str] | None, n_draws: int, tuned: bool = True
) -> list[ShapeResult]:
    """Count on how many noise draws the first two features of each method are the true ones.

    ``oracle`` is the count of the best parameter point of the method's search space, the same point on all
    draws of a shape. A random method counts the mean over its seeds.
    """
    tasks = [task for kind in KINDS for task in _tasks(kind, names, n_draws, tuned, runner)]
    versions = software_versions()
    found = {_key(task): runner.store.extra("shapes", task.kind, _key(task), versions) for task in tasks}
    missing = [task for task in tasks if found[_key(task)] is None]
    pairs = execute(_solved, (), missing, runner.n_jobs, runner.client)
    for task, value in watched(pairs, len(missing), "synthetic sets", "draws", runner.listener):
        runner.store.add_extra("shapes", task.kind, _key(task), versions, value)
        found[_key(task)] = value
    return _results(tasks, found, n_draws)


def _tasks(
    kind: str, names: Sequence[str] | None, n_draws: int, tuned: bool, runner: Runner
) -> Iterator[ShapeTask]:
    problem = make_problem(kind, *make_noisy_shapes(kind, random_state=0), [2])
    for method in choose_methods(names, "fixed", problem, runner.protocol):
        if method.selector is not None:
            yield ShapeTask(kind, method, n_draws)
    if tuned:
        for method in choose_methods(names, "oracle", problem, runner.protocol):
            if len(method.points) > 1 and method.key != BEST_DRAW:
                yield ShapeTask(kind, method, n_draws)


def _solved(task: ShapeTask) -> float:
    """Return the number of draws that the best parameter point solves."""
    solved: dict[str, float] = {}
    for draw in range(task.n_draws):
        X, _ = make_noisy_shapes(task.kind, random_state=draw)
        for fit in fit_tasks(task.method, (2,), X.shape[1]):
            # A new draw gets new seeds: else a random method would try the same few subsets every time.
            for row in run_fit(X, "", "", replace(fit, seed=1000 * draw + fit.seed)):
                seeds = task.method.n_seeds if _varies(task.method) else 1
                solved[row.params] = solved.get(row.params, 0.0) + (row.indices == TRUE_FEATURES) / seeds
    return max(solved.values())


def _varies(method: Method) -> bool:
    tasks = list(fit_tasks(method, (2,), 9))
    return len({task.seed for task in tasks}) > 1


def _results(tasks: Sequence[ShapeTask], found: Mapping[str, Any], n_draws: int) -> list[ShapeResult]:
    best: dict[tuple[str, str], float] = {}
    for task in tasks:
        name = task.kind, task.method.key
        best[name] = max(best.get(name, 0.0), float(found[_key(task)]))
    return [
        ShapeResult(
            kind=task.kind,
            method=task.method.key,
            label=task.method.label,
            n_draws=n_draws,
            fixed=float(found[_key(task)]),
            oracle=best[task.kind, task.method.key],
        )
        for task in tasks
        if task.method.points == ({},)
    ]


def shapes_table(results: Sequence[ShapeResult]) -> Table:
    """Return the counts, a row a method, fixed and oracle for each shape."""
    by_key = {(result.kind, result.method): result for result in results}
    labels = {result.method: result.label for result in results}
    body = [(label, *(_counts(by_key[kind, method]) for kind in KINDS)) for method, label in labels.items()]
    n_draws = results[0].n_draws
    title = (
        f"Draws of {n_draws} in which the first two features are the true ones: with defaults (fixed) / with "
        "the parameter point that is best over all draws (oracle)."
    )
    return Table("synthetic", title, ("Method", *KINDS.values()), tuple(body))


def _counts(result: ShapeResult) -> str:
    return f"{result.fixed:.3g} / {result.oracle:.3g}"


def _key(task: ShapeTask) -> str:
    points = json.dumps([dict(sorted(point.items())) for point in task.method.points])
    return f"{task.kind} {task.method.key} {task.n_draws} draws, {task.method.n_seeds} seeds, {points}"
