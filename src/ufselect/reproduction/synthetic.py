"""Shapes among noise: how often a method finds the two features that matter."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ufselect.datasets import load_dataset, make_noisy_shapes
from ufselect.datasets.catalogue import ENTRIES
from ufselect.datasets.loading import local_file
from ufselect.datasets.shapes import POINTS_PER_CLASS, among_noise
from ufselect.evaluation.fitting import fit_program, fit_tasks, run_fit
from ufselect.evaluation.keys import Params
from ufselect.evaluation.methods import BEST_DRAW, Method, choose_methods
from ufselect.evaluation.protocol import Problem, make_problem
from ufselect.evaluation.runner import Runner
from ufselect.evaluation.spaces import class_count
from ufselect.evaluation.tables import Table
from ufselect.registry import all_selectors
from ufselect.reproduction.paper_grid import PAPER_GRID, paper_grid

KINDS = {"two_spirals": "2Spiral", "banana": "Banana", "dartboard": "Dartboard"}
# Where make_noisy_shapes puts the plane of the shape among nine features.
TRUE_FEATURES = (3, 4)
N_FEATURES = 9
N_NOISE = N_FEATURES - len(TRUE_FEATURES)
# More seeds than any method uses, so that no two draws share one.
SEEDS_PER_DRAW = 1000
# The methods of the paper's picture.
DRAWN_METHODS = ("FSPCA", "SPCAFS", "SPCAPSD", "DSCOFS")


@dataclass(frozen=True)
class ShapeTask:
    """One method on all draws of one shape; ``is_published`` tells whether the points are the paper's."""

    kind: str
    method: Method
    n_draws: int
    is_published: bool

    @property
    def key(self) -> str:
        """Name in the store."""
        points = ", ".join(map(str, self.method.points))
        source = "published" if self.is_published else "generated"
        return (
            f"{self.kind}, {source}, {self.method.key} {self.n_draws} draws, {self.method.n_seeds} seeds, "
            f"[{points}]"
        )

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
    """How many of the draws a method solved, by how its parameters were chosen.

    ``fixed`` is the count of the defaults, ``oracle`` that of the best point of its search space, ``paper``
    that of the best point of the published grid, None for other methods than DSCOFS.
    """

    kind: str
    method: str
    label: str
    n_draws: int
    fixed: float
    oracle: float
    paper: float | None


def is_published(kind: str) -> bool:
    """Tell whether the points are those of the published file: spirals and circles always are."""
    return kind != "banana" or local_file("banana", ENTRIES["banana"]) is not None


def shape_draw(kind: str, draw: int) -> tuple[NDArray, NDArray]:
    """Return one draw of a shape among noise, of the published points where they are at hand.

    The paper draws 500 points of each class of the published Banana and does not say which.
    """
    if kind != "banana" or not is_published(kind):
        return make_noisy_shapes(kind, random_state=draw)
    bunch, rng = load_dataset("banana"), np.random.RandomState(draw)
    classes = np.unique(bunch.target, return_inverse=True)[1]
    rows = np.concatenate(
        [
            rng.choice(np.flatnonzero(classes == label), POINTS_PER_CLASS, replace=False)
            for label in range(classes.max() + 1)
        ]
    )
    return among_noise(bunch.data[rows], N_NOISE, rng), classes[rows]


def shape_results(
    runner: Runner, names: Sequence[str] | None, n_draws: int, tuned: bool = True
) -> list[ShapeResult]:
    """Count on how many noise draws the first two features of each method are the true ones.

    ``oracle`` is the count of the best parameter point of the method's search space, the same point on all
    draws of a shape. A random method counts the mean over its seeds. The number of components or clusters is
    that of the classes throughout.
    """
    tasks = [task for kind in KINDS for task in _tasks(kind, names, n_draws, tuned, runner)]
    found = runner.remember("shapes", "draws", tasks, _solved, "synthetic sets")
    return _results(tasks, found, n_draws)


def drawn_planes(runner: Runner) -> dict[tuple[str, str], tuple[int, int]]:
    """Return the two features that some methods choose at their defaults on the first draw, by shape."""
    known = all_selectors()
    tasks = {}
    for kind in KINDS:
        for name in DRAWN_METHODS:
            method = Method(name, known[name].label, known[name], (Params(),))
            tasks[kind, name] = ShapeTask(kind, _with_classes(method, _problem(kind)), 1, is_published(kind))
    found = runner.remember("shapes", "planes", list(tasks.values()), _first_plane, "synthetic sets")
    return {place: tuple(found[task.key]) for place, task in tasks.items()}


def _first_plane(task: ShapeTask) -> list[int]:
    X, _ = shape_draw(task.kind, 0)
    (fit,) = fit_tasks(task.method, (2,), X.shape[1])
    (row,) = run_fit(X, "", fit)
    return list(row.features)


def _problem(kind: str) -> Problem:
    return make_problem(kind, *shape_draw(kind, 0), [2])


def _with_classes(method: Method, problem: Problem) -> Method:
    """Return a method at its defaults, with as many components or clusters as classes."""
    assert method.selector is not None
    return replace(method, points=(Params(class_count(method.selector, problem)),))


def _tasks(
    kind: str, names: Sequence[str] | None, n_draws: int, tuned: bool, runner: Runner
) -> Iterator[ShapeTask]:
    problem, published = _problem(kind), is_published(kind)
    for method in choose_methods(names, "fixed", problem, runner.protocol):
        if method.selector is not None:
            yield ShapeTask(kind, _with_classes(method, problem), n_draws, published)
    if not tuned:
        return
    for method in choose_methods(names, "oracle", problem, runner.protocol):
        if len(method.points) > 1 and method.key != BEST_DRAW:
            yield ShapeTask(kind, method, n_draws, published)
        if method.key == "DSCOFS":
            yield ShapeTask(kind, feasible_grid(problem), n_draws, published)


def feasible_grid(problem: Problem) -> Method:
    """Return the published grid without the points that keep fewer entries than there are components."""
    grid, size = paper_grid(problem, n_starts=1), problem.X.shape[1] * problem.n_components
    kept = (point for point in grid.points if int(point["entry_sparsity"] * size) >= problem.n_components)
    return replace(grid, points=tuple(kept))


def _solved(task: ShapeTask) -> float:
    """Return the number of draws that the best parameter point solves."""
    solved: dict[Params, float] = defaultdict(float)
    n_seeds = task.method.n_seeds if _varies(task.method) else 1
    for draw in range(task.n_draws):
        X, _ = shape_draw(task.kind, draw)
        for fit in fit_tasks(task.method, (2,), X.shape[1]):
            # A new draw gets new seeds: else a random method would try the same few subsets every time.
            for row in run_fit(X, "", replace(fit, seed=SEEDS_PER_DRAW * draw + fit.seed)):
                solved[row.params] += (row.features == TRUE_FEATURES) / n_seeds
    return max(solved.values())


def _varies(method: Method) -> bool:
    tasks = list(fit_tasks(method, (2,), N_FEATURES))
    return len({task.seed for task in tasks}) > 1


def _results(tasks: Sequence[ShapeTask], found: Mapping[str, float], n_draws: int) -> list[ShapeResult]:
    best: dict[tuple[str, str], float] = defaultdict(float)
    fixed: dict[tuple[str, str], tuple[float, str]] = {}
    for task in tasks:
        place, solved = (task.kind, task.method.key), float(found[task.key])
        best[place] = max(best[place], solved)
        fixed.setdefault(place, (solved, task.method.label))  # the defaults come first
    return [
        ShapeResult(
            kind=kind,
            method=method,
            label=label,
            n_draws=n_draws,
            fixed=solved,
            oracle=best[kind, method],
            paper=best.get((kind, PAPER_GRID)) if method == "DSCOFS" else None,
        )
        for (kind, method), (solved, label) in fixed.items()
        if method != PAPER_GRID
    ]


def shapes_table(results: Sequence[ShapeResult]) -> Table:
    """Return the counts, one row per method, fixed and oracle for each shape."""
    by_key = {(result.kind, result.method): result for result in results}
    labels = {result.method: result.label for result in results}
    body = [(label, *(_counts(by_key[kind, method]) for kind in KINDS)) for method, label in labels.items()]
    n_draws = results[0].n_draws
    of_grid = (
        " / with the best point of the paper's grid, without those that keep fewer entries than components"
        if any(result.paper is not None for result in results)
        else ""
    )
    source = "drawn from the published file" if is_published("banana") else "generated"
    title = (
        f"Draws of {n_draws} in which the first two features are the true ones: with defaults (fixed) / with "
        f"the parameter point that is best over all draws (oracle){of_grid}. As many components as classes; "
        f"Banana's points are {source}."
    )
    return Table("synthetic", title, ("Method", *KINDS.values()), tuple(body))


def _counts(result: ShapeResult) -> str:
    counts = [result.fixed, result.oracle, *([] if result.paper is None else [result.paper])]
    return " / ".join(f"{count:.3g}" for count in counts)
