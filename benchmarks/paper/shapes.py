"""Shapes among noise: how often a method finds the two features that matter."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from benchmarks.paper.methods import paper_grid
from numpy.typing import NDArray

from ufselect._registry import all_selectors
from ufselect.compare.compare import Table
from ufselect.compare.methods import (
    BEST_DRAW,
    Method,
    Problem,
    Protocol,
    choose_methods,
    class_count,
    make_problem,
)
from ufselect.compare.runner import Runner, fit_families, fit_points
from ufselect.datasets import load_dataset, make_noisy_shapes
from ufselect.datasets.catalogue import ENTRIES
from ufselect.datasets.loading import local_file
from ufselect.datasets.shapes import POINTS_PER_CLASS, among_noise

KINDS = {"two_spirals": "2Spiral", "banana": "Banana", "dartboard": "Dartboard"}
# Where make_noisy_shapes puts the plane of the shape among nine features.
TRUE_FEATURES = (3, 4)


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
    return among_noise(bunch.data[rows], 7, rng), classes[rows]


def shape_problem(kind: str) -> Problem:
    """Return the first draw of a shape, of which two features are to be found."""
    return make_problem(kind, *shape_draw(kind, 0), [2])


def shape_methods(
    kind: str, names: Sequence[str] | None, tuned: bool, protocol: Protocol
) -> dict[tuple[str, str], Method]:
    """Return what is run on a shape, by method and by how its parameters are chosen.

    The number of components or clusters is that of the classes throughout.
    """
    problem, methods = shape_problem(kind), {}
    for method in choose_methods(names, "fixed", problem, protocol):
        if method.selector is not None:
            methods[method.key, "fixed"] = replace(method, points=(class_count(method.selector, problem),))
    for method in choose_methods(names, "oracle", problem, protocol) if tuned else []:
        if len(method.points) > 1 and method.key != BEST_DRAW:
            methods[method.key, "oracle"] = method
        if method.key == "DSCOFS":
            methods[method.key, "paper"] = feasible_grid(problem)
    return methods


def feasible_grid(problem: Problem) -> Method:
    """Return the published grid without the points that keep fewer entries than there are components."""
    grid, size = paper_grid(problem, n_starts=1), problem.X.shape[1] * problem.n_components
    kept = (point for point in grid.points if int(point["entry_sparsity"] * size) >= problem.n_components)
    return replace(grid, points=tuple(kept))


def shape_results(
    runner: Runner, names: Sequence[str] | None, n_draws: int, tuned: bool = True
) -> list[dict[str, Any]]:
    """Count on how many noise draws the first two features of each method are the true ones.

    ``fixed`` is the count of the defaults, ``oracle`` that of the best parameter point of the method's search
    space, the same point on all draws of a shape, ``paper`` that of the best point of the published grid,
    None for other methods than DSCOFS. A random method counts the mean over its seeds.
    """
    calls = {
        (kind, *key): (kind, is_published(kind), method, n_draws)
        for kind in KINDS
        for key, method in shape_methods(kind, names, tuned, runner.protocol).items()
    }
    solved = runner.call_all(solved_draws, calls, "synthetic sets", "draws")
    return [
        {
            "kind": kind,
            "method": method,
            "label": calls[kind, method, how][2].label,
            "n_draws": n_draws,
            "fixed": fixed,
            "oracle": max(fixed, solved.get((kind, method, "oracle"), 0.0)),
            "paper": solved.get((kind, method, "paper")),
        }
        for (kind, method, how), fixed in solved.items()
        if how == "fixed"
    ]


def solved_draws(kind: str, published: bool, method: Method, n_draws: int) -> float:
    """Return the number of draws that the best parameter point solves."""
    solved: dict[str, float] = defaultdict(float)
    for draw in range(n_draws):
        X, _ = shape_draw(kind, draw)
        families = list(fit_families(method, (2,), X.shape[1]))
        n_seeds = len({seed for _, _, seed in families})
        for points, counts, seed in families:
            # A new draw gets new seeds: else a random method would try the same few subsets every time.
            for fit in fit_points(X, method.selector, points, counts, 1000 * draw + seed):
                solved[fit["params"]] += (fit["features"] == TRUE_FEATURES) / n_seeds
    return max(solved.values())


def drawn_planes(runner: Runner) -> dict[tuple[str, str], tuple[int, ...]]:
    """Return the two features that the paper's methods select at their defaults on the first draws."""
    calls = {}
    for kind in KINDS:
        problem = shape_problem(kind)
        for name in ("FSPCA", "SPCAFS", "SPCAPSD", "DSCOFS"):
            selector = all_selectors()[name]
            method = Method(name, selector.label, selector, (class_count(selector, problem),))
            calls[kind, name] = (kind, is_published(kind), method)
    return runner.call_all(first_plane, calls, "synthetic sets", "planes")


def first_plane(kind: str, published: bool, method: Method) -> tuple[int, ...]:
    """Return the two features of a method on the first draw."""
    X, _ = shape_draw(kind, 0)
    (family,) = fit_families(method, (2,), X.shape[1])
    (fit,) = fit_points(X, method.selector, *family)
    return fit["features"]


def shapes_table(results: Sequence[dict[str, Any]]) -> Table:
    """Return the counts, one row per method, fixed and oracle for each shape."""
    cells: dict[str, list[str]] = defaultdict(list)
    for result in results:
        counts = [result[how] for how in ("fixed", "oracle", "paper") if result[how] is not None]
        cells[result["label"]].append(" / ".join(f"{count:.3g}" for count in counts))
    of_grid = (
        " / with the best point of the paper's grid, leaving out points with fewer entries than components"
        if any(result["paper"] is not None for result in results)
        else ""
    )
    source = "sampled from the published file" if is_published("banana") else "generated"
    title = (
        f"Noise samples, out of {results[0]['n_draws']}, in which the two best columns are the true pair: "
        f"with defaults / with the parameters that find it most often{of_grid}. As many "
        f"components as classes. Banana's points are {source}."
    )
    body = tuple((label, *counts) for label, counts in cells.items())
    return Table("synthetic", title, ("Method", *KINDS.values()), body)
