"""From a data set and methods to rows: fit, screen, race, score those that may win.

Fits and scores are calls of functions that joblib caches in a folder. The data enter its keys by their
digest, the code by the version of the package and a digest of the source: a run that was stopped finds what
it had done, and what has changed is computed anew.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import logging
import sys
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

import joblib
import numpy as np
from numpy.typing import NDArray

import ufselect
from ufselect._utils.threads import one_blas_thread
from ufselect.evaluation.methods import Method, Point, is_random, make_selector
from ufselect.evaluation.protocol import Problem, Protocol
from ufselect.evaluation.tables import METRICS, Row, best_of_each_start, grouped, statistics
from ufselect.gram import gram_operator
from ufselect.methods._base import UnsupervisedSelector
from ufselect.methods.dscofs.estimator import DSCOFS
from ufselect.methods.dscofs.path import dscofs_path
from ufselect.metrics import evaluate_selection

logger = logging.getLogger("ufselect.evaluation")
# Stands for code without a file, such as a class typed into a notebook: equal within a session only.
SESSION = uuid4().hex

Selector = type[UnsupervisedSelector] | None
Selection = dict[str, Any]  # of fit_points
Features = tuple[int, ...]
# Method, parameters, number of features and, where labels choose anew for each, the start.
Place = tuple[str, str, int, int | None]


class Event(NamedTuple):
    """One step of a long run: where it is, what was done last, and the seconds since the stage began."""

    dataset: str
    stage: str
    what: str
    done: int
    total: int
    elapsed: float

    def __str__(self) -> str:
        left = self.elapsed / self.done * (self.total - self.done)
        return (
            f"{self.dataset}: {self.stage} {self.done}/{self.total}, {self.elapsed:.0f} s gone, "
            f"about {left:.0f} s left ({self.what})"
        )


class Outcome(NamedTuple):
    """What a run on one data set found."""

    rows: list[Row]  # grid points with their final scores
    screened: list[Row]  # all of them with the scores of the screening, if any, else the same
    failures: dict[tuple[str, str], str]  # why fits failed, by method and parameters


@dataclass(frozen=True)
class Runner:
    """Fits and scores methods; ``store``, ``n_jobs`` and ``progress`` are those of `compare`."""

    protocol: Protocol
    store: str | Path | None = None
    n_jobs: int | None = None
    progress: Callable[[Event], object] | bool | None = None

    def run(self, problem: Problem, methods: Sequence[Method]) -> Outcome:
        """Fit and score the methods on one data set.

        All points get few K-means runs first; the leaders, and those that may still win, get all of them.
        """
        data = joblib.hash((problem.X, problem.y))
        calls = {}
        for method in methods:
            key = f"{data} {fit_code(method.selector)}"
            for points, counts, seed in fit_families(method, problem.counts, problem.X.shape[1]):
                arguments = (problem.X, method.selector, points, counts, seed, key)
                calls[method.key, params_text(points[0]), counts[0], seed] = arguments
        fits = self.call_all(fit_points, calls, problem.name, "fits", ignore=("X",))
        apart = {method.key for method in methods if method.starts_apart}
        selections: dict[Place, list[Selection]] = defaultdict(list)  # one for each start that is averaged
        failures = {}
        for (key, *_), found in fits.items():
            for each in found:
                if each["features"]:
                    start = each["seed"] if key in apart else None
                    selections[key, each["params"], each["n_features"], start].append(each)
                else:
                    failures[key, each["params"]] = each["note"]
        labels = {method.key: method.label for method in methods}
        rows_of = partial(self._rows, problem, data, labels, selections)
        n_runs, rounds = self.protocol.n_runs, self.protocol.rounds
        if not rounds or all(len(method.points) == 1 for method in methods):
            rows = rows_of(n_runs, selections)
            return Outcome(rows, rows, failures)
        screened = left = rows_of(rounds[0], selections)
        ahead = leaders(screened)
        final = rows_of(n_runs, ahead)
        for n_more in rounds[1:]:
            left = rows_of(n_more, contenders(left, final, n_runs))
        rows = final + rows_of(n_runs, contenders(left, final, n_runs) - ahead)
        order = {place: number for number, place in enumerate(selections)}
        return Outcome(sorted(rows, key=lambda row: order[place_of(row)]), screened, failures)

    def _rows(
        self,
        problem: Problem,
        data: str,
        labels: Mapping[str, str],
        selections: Mapping[Place, list[Selection]],
        n_runs: int,
        places: Collection[Place],
    ) -> list[Row]:
        """Return the rows of some places by a number of K-means runs."""
        chosen = {place: found for place, found in selections.items() if place in places}
        subsets: dict[Features, str] = {}  # one that several points find is clustered once
        for (method, *_), starts in chosen.items():
            for start in starts:
                subsets.setdefault(start["features"], method)
        protocol, key = self.protocol, f"{data} {code_digest(evaluate_selection.__module__)}"
        calls: dict[tuple[str, int], tuple] = {}
        for method in labels:  # method by method, so that one more leaves the calls of the others
            own = [features for features, finder in subsets.items() if finder == method]
            # Ten outweigh the sending of a call, and an interruption loses seconds.
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
        """Return ``work(*arguments)``, from the cache or computed, by what names the call.

        ``work`` is a function of a module, so that other processes can import it; ``dataset`` and ``stage``
        say in messages where the run is; arguments to ``ignore`` are implied by others, as data by a digest.
        """
        memory = joblib.Memory(None if self.store is None else str(self.store), verbose=0)
        cached = memory.cache(work, ignore=list(ignore))
        run = joblib.delayed(partial(_call, cached))
        # One call at a time: joblib would put slow calls that follow quick ones into one batch.
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


def _call(cached: Callable[..., Any], *arguments: Any) -> Any:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Persisting input arguments")  # joblib's note where a disk is slow
        return cached(*arguments)


def params_text(point: Mapping[str, Any], *without: str) -> str:
    """Return parameters, save some, as text that is equal exactly when they are."""
    return json.dumps({name: value for name, value in point.items() if name not in without}, sort_keys=True)


@cache
def code_digest(module: str | None, *alone: str) -> str:
    """Name a program: the version of the package and a digest of the source of some modules.

    What the first one uses of this package counts too, directly and indirectly: a changed line renews the
    results of the methods that run through it, and of no others. The others count by themselves.
    """
    sources: dict[str, str] = {}
    waiting = [module, *alone] if module else [*alone]
    while waiting:
        name = waiting.pop()
        if name in sources:
            continue
        found = import_module(name)
        try:
            sources[name] = inspect.getsource(found)
        except (OSError, TypeError):
            sources[name] = SESSION
        for value in () if name in alone else vars(found).values():
            used = value.__name__ if inspect.ismodule(value) else getattr(value, "__module__", None)
            # Not a package, which holds what has been imported of it so far.
            if used and used.startswith("ufselect.") and not hasattr(import_module(used), "__path__"):
                waiting.append(used)
    digest = hashlib.sha256("\n".join(sources[name] for name in sorted(sources)).encode())
    return f"{ufselect.__version__} {digest.hexdigest()}"


def fit_code(selector: Selector, *experiment: str) -> str:
    """Name the code that fits of a selector run through, and the modules of an experiment around them."""
    module = dscofs_path.__module__ if selector is DSCOFS else getattr(selector, "__module__", None)
    return code_digest(module, *experiment)


def fit_families(
    method: Method, counts: Sequence[int], n_features: int
) -> Iterator[tuple[list[Point], Features, int]]:
    """Divide a method's grid into points, counts and a seed that one call of :func:`fit_points` serves."""
    if method.selector is None:
        yield [{}], (n_features,), 0
        return
    # The points of a family of DSCOFS share the Gram operator, and an interruption loses no more than them.
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
    """Return the selected features, rising, by parameters and count."""
    if selector is None:
        return {("{}", X.shape[1]): np.arange(X.shape[1])}
    if selector is not DSCOFS:
        (point,) = points
        fitted = make_selector(selector, point, seed, max(counts)).fit(X)
        return {(params_text(point), count): np.flatnonzero(fitted.ranking_ <= count) for count in counts}
    gram = gram_operator(X, copy=DSCOFS.copies_wide_data)
    paths: dict[str, list[Point]] = defaultdict(list)
    for point in points:  # those that differ in entries alone are one path
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


def place_of(row: Row) -> Place:
    return row["method"], row["params"], row["n_features"], row["start"]


def leaders(rows: Iterable[Row]) -> set[Place]:
    """Return the points that screen best by either metric, for each method, start and number of features."""
    groups = grouped(rows, "method", "n_features").values()
    return {
        place_of(row) for group in groups for metric in METRICS for row in best_of_each_start(group, metric)
    }


def contenders(rows: Sequence[Row], final: Sequence[Row], n_runs: int) -> set[Place]:
    """Return the points that may still beat the best final score of their method and start.

    The mean of the first k of n runs differs from that of all n by a standard error of
    σ √(1/k − 1/n), with σ the standard deviation of single runs, pooled over the points of a method. A point
    is dropped when it lies two of these below what it would need: one in forty that deserve to win is lost,
    and more points can hurt no more often than that. ``final`` are some of the points with the scores of all
    ``n_runs``.
    """
    finished = grouped(final, "method", "start")
    kept: set[Place] = set()
    for key, group in grouped(rows, "method", "start").items():
        n_few = group[0]["n_runs"]
        for metric in METRICS:
            needed = max((row[f"{metric}_mean"] for row in finished.get(key, [])), default=-np.inf)
            # A single run says nothing of how far runs lie apart.
            runs = np.array([row[f"{metric}_runs"] for row in group])
            variance = runs.var(axis=1, ddof=1).mean() if n_few > 1 else np.inf
            slack = 2 * np.sqrt(variance * max(0.0, 1 / n_few - 1 / n_runs))
            kept.update(place_of(row) for row in group if row[f"{metric}_mean"] + slack >= needed)
    return kept
