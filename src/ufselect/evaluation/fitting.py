"""Fits that serve many grid points at once."""

from __future__ import annotations

import time
import warnings
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ufselect.common.threads import one_blas_thread
from ufselect.evaluation.keys import Params, subset_key
from ufselect.evaluation.methods import ALL_FEATURES, Method, accepts, is_random
from ufselect.evaluation.program import program_of
from ufselect.evaluation.store import Selection
from ufselect.gram import gram_operator
from ufselect.selectors import DSCOFS, dscofs_path
from ufselect.selectors.base import UnsupervisedSelector

FAILED, OK = "failed", "ok"
# What the points of one DSCOFS task may differ in: they share the Gram operator, and an interruption loses
# no more than this part of a grid.
SHARED_OUT = ("entry_sparsity", "mu_row")


@dataclass(frozen=True)
class FitTask:
    """A piece of work: one fit, or one path, and all the grid points that it answers.

    ``points`` are parameter points that differ only in what the fit shares out; ``program`` names the code.
    """

    key: str
    selector: type[UnsupervisedSelector] | None
    points: tuple[Params, ...]
    counts: tuple[int, ...]
    seed: int
    program: str

    @property
    def title(self) -> str:
        """What is running, for people."""
        return f"{self.key} {self.points[0]}" + (
            f" and {len(self.points) - 1} more" if self.points[1:] else ""
        )


def fit_tasks(method: Method, counts: Sequence[int], n_features: int) -> Iterator[FitTask]:
    """Divide a method's grid into fits that share as much as they can."""
    program = fit_program(method.selector)
    if method.selector is None:
        yield FitTask(ALL_FEATURES, None, method.points, (n_features,), 0, program)
        return
    for points, seed in _families(method):
        shared_counts = (
            [tuple(counts)] if method.is_nested or method.selector is DSCOFS else [(c,) for c in counts]
        )
        for some in shared_counts:
            yield FitTask(method.key, method.selector, points, some, seed, program)


def fit_program(selector: type[UnsupervisedSelector] | None, *experiment: str) -> str:
    """Name the code that a fit of a selector runs through, and the modules of the experiment around it."""
    modules = () if selector is None else (selector.__module__,)
    path = (dscofs_path.__module__,) if selector is DSCOFS else ()
    return program_of(modules + path, alone=(__name__, *experiment))


def _families(method: Method) -> Iterator[tuple[tuple[Params, ...], int]]:
    """Group the points that one fit serves, once per seed."""
    assert method.selector is not None
    families: dict[Params, list[Params]] = defaultdict(list)
    for point in method.points:
        shared = _without(point, *SHARED_OUT) if method.selector is DSCOFS else point
        families[shared].append(point)
    for family in families.values():
        n_seeds = method.n_seeds if is_random(method.selector, family[0]) else 1
        for seed in range(n_seeds):
            yield tuple(family), seed


def run_fit(X: NDArray, data: str, task: FitTask) -> list[Selection]:
    """Carry out a fit task and return one row per point and count.

    A fit that fails by its numbers is recorded with its reason; the table shows it.
    """
    start = time.process_time()
    with one_blas_thread(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            subsets = _subsets(X, task)
        except (ValueError, FloatingPointError, np.linalg.LinAlgError) as error:
            failure = f"{type(error).__name__}: {error}"
            subsets = {(point, count): None for point in task.points for count in task.counts}
        else:
            failure = ""
    if failure and len(task.points) > 1:  # one bad point must not take the others with it
        alone = [replace(task, points=(point,)) for point in task.points]
        return [row for single in alone for row in run_fit(X, data, single)]
    seconds = time.process_time() - start
    note = failure or "; ".join(sorted({f"{w.category.__name__}" for w in caught}))
    return [
        _row(data, task, point, count, subset, note, seconds) for (point, count), subset in subsets.items()
    ]


def _row(
    data: str,
    task: FitTask,
    point: Params,
    count: int,
    subset: NDArray | None,
    note: str,
    seconds: float,
) -> Selection:
    return Selection(
        data=data,
        method=task.key,
        params=point,
        n_features=count,
        seed=task.seed,
        program=task.program,
        subset="" if subset is None else subset_key(subset),
        features=() if subset is None else tuple(np.sort(subset).tolist()),
        status=FAILED if subset is None else OK,
        note=note,
        seconds=seconds,
    )


def _subsets(X: NDArray, task: FitTask) -> dict[tuple[Params, int], NDArray | None]:
    if task.selector is None:
        return {(task.points[0], X.shape[1]): np.arange(X.shape[1])}
    if task.selector is DSCOFS:
        return _path_subsets(X, task)
    (point,) = task.points
    fitted = make_selector(task.selector, point, task.seed, max(task.counts)).fit(X)
    return {(point, count): np.flatnonzero(fitted.ranking_ <= count) for count in task.counts}


def _path_subsets(X: NDArray, task: FitTask) -> dict[tuple[Params, int], NDArray | None]:
    """Fit all points of a task on one Gram operator, those that differ in entries alone along one path."""
    gram = gram_operator(X, copy=DSCOFS.copies_wide_data)
    paths: dict[Params, list[Params]] = defaultdict(list)
    for point in task.points:
        paths[_without(point, "entry_sparsity")].append(point)
    found: dict[tuple[Params, int], NDArray | None] = {}
    for shared, points in paths.items():
        found.update(_path(gram, shared, points, task))
    return found


def _path(
    gram: Any, shared: Params, points: Sequence[Params], task: FitTask
) -> dict[tuple[Params, int], NDArray]:
    default = DSCOFS().entry_sparsity
    shares = {point: point.get("entry_sparsity", default) for point in points}
    seed = {"random_state": task.seed} if is_random(DSCOFS, shared) else {}
    path = dscofs_path(gram, task.counts, tuple(shares.values()), warm_start=False, **shared, **seed)
    return {
        (point, count): np.flatnonzero(path.support(count, share))
        for point, share in shares.items()
        for count in task.counts
    }


def _without(point: Params, *names: str) -> Params:
    return Params({name: value for name, value in point.items() if name not in names})


def make_selector(
    selector: type[UnsupervisedSelector], params: Mapping[str, Any], seed: int, count: int
) -> UnsupervisedSelector:
    """Return the estimator of a grid point, seeded where it is random."""
    settings = dict(params)
    if accepts(selector, "random_state"):
        settings.setdefault("random_state", seed)
    return selector(n_features_to_select=count, **settings)
