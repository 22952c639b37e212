"""Fit methods on a data set, cluster the rows and score the clusters.

Joblib caches fits and scores in a folder, by a digest of the data and the version of the package, so that an
interrupted run continues where it stopped.
"""

from __future__ import annotations

import inspect
import json
import logging
import sys
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import joblib
import numpy as np
from numpy.typing import NDArray

import ufselect
from ufselect._utils.threads import one_blas_thread
from ufselect.base import UnsupervisedSelector
from ufselect.compare.methods import Method, Point, Problem, Protocol, is_random, make_selector
from ufselect.dscofs.estimator import DSCOFS
from ufselect.dscofs.path import dscofs_path
from ufselect.gram import gram_operator
from ufselect.metrics import evaluate_selection

logger = logging.getLogger("ufselect.compare")

METRICS = ("acc", "nmi")
# The result of a parameter point: what it is (dataset, method, label, params as JSON, n_features), how often
# it was run (n_starts, n_runs), acc and nmi in per cent with their mean, their std over all runs and over the
# means of the starts, and all runs; CPU seconds of a fit, a note, the features of each start. ``start`` is
# the seed of the row's only start if labels choose for each start separately, else None.
Row = dict[str, Any]
Selector = type[UnsupervisedSelector] | None
Selection = dict[str, Any]  # of fit_points
Features = tuple[int, ...]
Failures = dict[tuple[str, str], str]  # by method and parameters
# Method, parameters, number of features and, if labels choose for each start separately, the start.
Place = tuple[str, str, int, int | None]


class Event(NamedTuple):
    """Progress of a long run: stage, last task, tasks done, and seconds since the stage began."""

    dataset: str
    stage: str
    what: str
    done: int
    total: int
    elapsed: float

    def __str__(self) -> str:
        left = self.elapsed / self.done * (self.total - self.done)
        return (
            f"{self.dataset}: {self.stage} {self.done}/{self.total}, {self.elapsed:.0f} s elapsed, "
            f"about {left:.0f} s left ({self.what})"
        )


@dataclass(frozen=True)
class Runner:
    """Fits and scores methods; ``store``, ``n_jobs`` and ``progress`` are those of `compare`."""

    protocol: Protocol
    store: str | Path | None = None
    n_jobs: int | None = None
    progress: Callable[[Event], object] | bool | None = None

    def run(self, problem: Problem, methods: Sequence[Method]) -> tuple[list[Row], Failures]:
        """Return the rows of the methods on one data set, and the errors of failed fits."""
        selections, failures = self.fit(problem, methods)
        return self.score(problem, methods, selections, self.protocol.n_runs), failures

    def fit(
        self, problem: Problem, methods: Sequence[Method]
    ) -> tuple[dict[Place, list[Selection]], Failures]:
        """Return the selections of the methods, one per averaged start, and the errors of failed fits."""
        key = data_key(problem)
        calls = {}
        for method in methods:
            for points, counts, seed in fit_families(method, problem.counts, problem.X.shape[1]):
                arguments = (problem.X, method.selector, points, counts, seed, f"{key} {code_key(method)}")
                calls[method.key, params_text(points[0]), counts[0], seed] = arguments
        fits = self.call_all(fit_points, calls, problem.name, "fits", ignore=("X",))
        apart = {method.key for method in methods if method.starts_apart}
        selections: dict[Place, list[Selection]] = defaultdict(list)
        failures = {}
        for (method_key, *_), found in fits.items():
            for each in found:
                if each["features"]:
                    start = each["seed"] if method_key in apart else None
                    selections[method_key, each["params"], each["n_features"], start].append(each)
                else:
                    failures[method_key, each["params"]] = each["note"]
        return selections, failures

    def score(
        self,
        problem: Problem,
        methods: Sequence[Method],
        selections: Mapping[Place, list[Selection]],
        n_runs: int,
        places: Collection[Place] | None = None,
    ) -> list[Row]:
        """Return the rows of all places, or of some, scored by ``n_runs`` K-means runs."""
        chosen = {place: found for place, found in selections.items() if places is None or place in places}
        labels = {method.key: method.label for method in methods}
        subsets: dict[Features, str] = {}  # a subset that several points find is clustered once
        for (method, *_), starts in chosen.items():
            for start in starts:
                subsets.setdefault(start["features"], method)
        protocol, key = self.protocol, data_key(problem)
        calls: dict[tuple[str, int], tuple] = {}
        for method in labels:  # method by method, so that adding one does not change the calls of others
            own = [features for features, finder in subsets.items() if finder == method]
            # Ten per call make its overhead small, and an interruption loses only seconds.
            for first in range(0, len(own), 10):
                settings = (own[first : first + 10], n_runs, protocol.seeding, protocol.seed, key)
                calls[method, first] = (problem.X, problem.y, *settings)
        stage = f"scores, {n_runs} runs,"
        found = self.call_all(score_subsets, calls, problem.name, stage, ignore=("X", "y"))
        runs = {features: scores for each in found.values() for features, scores in each.items()}
        return [
            {
                "dataset": problem.name,
                "label": labels[place[0]],
                **dict(zip(("method", "params", "n_features", "start"), place, strict=True)),
                "n_starts": len(starts),
                "n_runs": n_runs,
                **statistics({m: [runs[start["features"]][m] for start in starts] for m in METRICS}),
                "seconds": float(np.mean([start["seconds"] for start in starts])),
                "note": "; ".join(sorted({start["note"] for start in starts} - {""})),
                "features": [start["features"] for start in starts],
            }
            for place, starts in chosen.items()
        ]

    def call_all(
        self,
        work: Callable[..., Any],
        calls: Mapping[Any, tuple],
        dataset: str,
        stage: str,
        ignore: Sequence[str] = (),
    ) -> dict[Any, Any]:
        """Return ``work(*arguments)`` for each of the named calls, from the cache or computed.

        ``work`` is a module-level function, so that other processes can import it. ``dataset`` and ``stage``
        are shown in progress messages. Arguments to ``ignore`` follow from others, as the data from their
        digest.
        """
        memory = joblib.Memory(None if self.store is None else str(self.store), verbose=0)
        cached = memory.cache(work, ignore=list(ignore))
        run = joblib.delayed(partial(_call, cached))
        # One call per batch: joblib would put slow calls that follow quick ones into one batch.
        parallel = joblib.Parallel(n_jobs=self.n_jobs, return_as="generator", batch_size=1)
        start, found = time.monotonic(), {}
        for key, result in zip(calls, parallel(run(*each) for each in calls.values()), strict=True):
            found[key] = result
            what = " ".join(map(str, key)) if isinstance(key, tuple) else str(key)
            event = Event(dataset, stage, what, len(found), len(calls), time.monotonic() - start)
            logger.info("%s", event)
            if callable(self.progress):
                self.progress(event)
            elif self.progress and sys.stderr.isatty():
                end = "\n" if event.done == event.total else ""
                sys.stderr.write(f"\r\x1b[2K{str(event)[:118]}{end}")
                sys.stderr.flush()
        return found


def statistics(runs: Mapping[str, Sequence[Sequence[float]]]) -> Row:
    """Return mean, standard deviations and all runs of each metric, from the runs of each start."""
    row: Row = {}
    for metric, starts in runs.items():
        means, together = [np.mean(start) for start in starts], [run for start in starts for run in start]
        row[f"{metric}_mean"] = float(np.mean(means))
        row[f"{metric}_std"] = float(np.std(together))
        row[f"{metric}_start_std"] = float(np.std(means))
        row[f"{metric}_runs"] = together
    return row


def _call(cached: Callable[..., Any], *arguments: Any) -> Any:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Persisting input arguments")  # joblib warns if the disk is slow
        return cached(*arguments)


def params_text(point: Mapping[str, Any], *without: str) -> str:
    """Return the parameters, without some of them, as text that is equal if and only if they are."""
    return json.dumps({name: value for name, value in point.items() if name not in without}, sort_keys=True)


def data_key(problem: Problem) -> str:
    """Return what identifies the data and the version of the package in the cache."""
    return f"{joblib.hash((problem.X, problem.y))} {ufselect.__version__}"


def code_key(method: Method) -> str:
    """Return a digest of the source of a selector, which may change without a new version."""
    try:
        return joblib.hash(inspect.getsource(sys.modules[method.selector.__module__]))
    except (AttributeError, OSError, TypeError):  # all features, or a class defined in an interactive session
        return "" if method.selector is None else str(id(method.selector))


def fit_families(
    method: Method, counts: Sequence[int], n_features: int
) -> Iterator[tuple[list[Point], Features, int]]:
    """Yield the points, counts and seed of each call of :func:`fit_points` for a method."""
    if method.selector is None:
        yield [{}], (n_features,), 0
        return
    # The points of a family of DSCOFS share the Gram operator; an interruption loses one family at most.
    shared = ("entry_sparsity", "mu_row") if method.selector is DSCOFS else ()
    families: dict[str, list[Point]] = defaultdict(list)
    for point in method.points:
        families[params_text(point, *shared)].append(point)
    together = method.is_nested or method.selector is DSCOFS
    for family in families.values():
        for seed in range(method.n_seeds if is_random(method.selector, family[0]) else 1):
            for some in [tuple(counts)] if together else [(count,) for count in counts]:
                yield family, some, seed


def fit_points(
    X: NDArray, selector: Selector, points: list[Point], counts: tuple[int, ...], seed: int, key: str = ""
) -> list[Selection]:
    """Return the selection at each point and count; one that failed by its numbers has no features.

    ``key`` names the data and the program, for the cache.
    """
    start = time.process_time()
    with one_blas_thread(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            subsets = _subsets(X, selector, points, counts, seed)
            note = "; ".join(sorted({warning.category.__name__ for warning in caught}))
        except (ValueError, FloatingPointError, np.linalg.LinAlgError) as error:
            if len(points) > 1:  # one bad point must not take the others with it
                alone = (fit_points(X, selector, [point], counts, seed) for point in points)
                return [selection for each in alone for selection in each]
            subsets = {(params_text(points[0]), count): np.empty(0, dtype=np.intp) for count in counts}
            note = f"{type(error).__name__}: {error}"
    found = {"seed": seed, "note": note, "seconds": time.process_time() - start}
    return [
        {"params": params, "n_features": count, "features": tuple(subset.tolist()), **found}
        for (params, count), subset in subsets.items()
    ]


def _subsets(
    X: NDArray, selector: Selector, points: list[Point], counts: tuple[int, ...], seed: int
) -> dict[tuple[str, int], NDArray]:
    """Return the selected features, in ascending order, by parameters and count."""
    if selector is None:
        return {("{}", X.shape[1]): np.arange(X.shape[1])}
    if selector is not DSCOFS:
        (point,) = points
        fitted = make_selector(selector, point, seed, max(counts)).fit(X)
        return {(params_text(point), count): np.flatnonzero(fitted.ranking_ <= count) for count in counts}
    gram = gram_operator(X, copy=DSCOFS.copies_wide_data)
    paths: dict[str, list[Point]] = defaultdict(list)
    for point in points:  # points that differ only in entry_sparsity form one path
        paths[params_text(point, "entry_sparsity")].append(point)
    found = {}
    for text, family in paths.items():
        settings = json.loads(text)
        if is_random(DSCOFS, settings):
            settings["random_state"] = seed
        shares = [point.get("entry_sparsity", DSCOFS().entry_sparsity) for point in family]
        path = dscofs_path(gram, counts, tuple(shares), warm_start=False, **settings)
        for point, share in zip(family, shares, strict=True):
            for count in counts:
                found[params_text(point), count] = np.flatnonzero(path.support(count, share))
    return found


def score_subsets(
    X: NDArray, y: NDArray, subsets: list[Features], n_runs: int, seeding: str, seed: int, key: str
) -> dict[Features, dict[str, list[float]]]:
    """Cluster subsets and return the ACC and NMI of all runs; ``key`` is as in :func:`fit_points`."""
    found = {}
    for subset in subsets:
        score = evaluate_selection(X, y, list(subset), n_runs, seeding, seed)
        found[subset] = {"acc": score.acc_runs.round(6).tolist(), "nmi": score.nmi_runs.round(6).tolist()}
    return found
