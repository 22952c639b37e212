"""Shapes among noise: how often a method finds the two features that matter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ufselect.datasets import make_noisy_shapes
from ufselect.evaluation.fitting import fit_program, fit_tasks, run_fit
from ufselect.evaluation.keys import Params
from ufselect.evaluation.methods import BEST_DRAW, Method, choose_methods
from ufselect.evaluation.protocol import make_problem
from ufselect.evaluation.runner import Runner
from ufselect.evaluation.tables import Table
from ufselect.registry import all_selectors

KINDS = {"two_spirals": "2Spiral", "banana": "Banana", "dartboard": "Dartboard"}
# Where make_noisy_shapes puts the plane of the shape among nine features.
TRUE_FEATURES = (3, 4)
N_FEATURES = 9
# More seeds than any method uses, so that no two draws share one.
SEEDS_PER_DRAW = 1000
# The methods of the paper's picture.
DRAWN_METHODS = ("FSPCA", "SPCAFS", "SPCAPSD", "DSCOFS")


@dataclass(frozen=True)
class ShapeTask:
    """One method on all draws of one shape."""

    kind: str
    method: Method
    n_draws: int

    @property
    def key(self) -> str:
        """Name in the store."""
        points = ", ".join(map(str, self.method.points))
        return f"{self.kind} {self.method.key} {self.n_draws} draws, {self.method.n_seeds} seeds, [{points}]"

    @property
    def program(self) -> str:
        """The code that the fits run through."""
        return fit_program(self.method.selector, __name__, make_noisy_shapes.__module__)

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
    found = runner.remember("shapes", "draws", tasks, _solved, "synthetic sets")
    return _results(tasks, found, n_draws)


def drawn_planes(runner: Runner) -> dict[tuple[str, str], tuple[int, int]]:
    """Return the two features that some methods choose at their defaults on the first draw, by shape."""
    known = all_selectors()
    methods = [Method(name, known[name].label, known[name], (Params(),)) for name in DRAWN_METHODS]
    tasks = {(kind, method.key): ShapeTask(kind, method, 1) for kind in KINDS for method in methods}
    found = runner.remember("shapes", "planes", list(tasks.values()), _first_plane, "synthetic sets")
    return {place: tuple(found[task.key]) for place, task in tasks.items()}


def _first_plane(task: ShapeTask) -> list[int]:
    X, _ = make_noisy_shapes(task.kind, random_state=0)
    (fit,) = fit_tasks(task.method, (2,), X.shape[1])
    (row,) = run_fit(X, "", fit)
    return list(row.features)


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
    solved: dict[Params, float] = {}
    for draw in range(task.n_draws):
        X, _ = make_noisy_shapes(task.kind, random_state=draw)
        for fit in fit_tasks(task.method, (2,), X.shape[1]):
            # A new draw gets new seeds: else a random method would try the same few subsets every time.
            for row in run_fit(X, "", replace(fit, seed=SEEDS_PER_DRAW * draw + fit.seed)):
                seeds = task.method.n_seeds if _varies(task.method) else 1
                solved[row.params] = solved.get(row.params, 0.0) + (row.features == TRUE_FEATURES) / seeds
    return max(solved.values())


def _varies(method: Method) -> bool:
    tasks = list(fit_tasks(method, (2,), N_FEATURES))
    return len({task.seed for task in tasks}) > 1


def _results(tasks: Sequence[ShapeTask], found: Mapping[str, Any], n_draws: int) -> list[ShapeResult]:
    best: dict[tuple[str, str], float] = {}
    for task in tasks:
        name = task.kind, task.method.key
        best[name] = max(best.get(name, 0.0), float(found[task.key]))
    return [
        ShapeResult(
            kind=task.kind,
            method=task.method.key,
            label=task.method.label,
            n_draws=n_draws,
            fixed=float(found[task.key]),
            oracle=best[task.kind, task.method.key],
        )
        for task in tasks
        if task.method.points == (Params(),)
    ]


def shapes_table(results: Sequence[ShapeResult]) -> Table:
    """Return the counts, one row per method, fixed and oracle for each shape."""
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
