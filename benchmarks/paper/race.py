"""Scoring a large grid: all points by few K-means runs, those that may win by all of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from benchmarks.paper.choice import best_of_each_start, grouped

from ufselect.compare.methods import Method, Problem
from ufselect.compare.runner import METRICS, Failures, Place, Row, Runner


class RaceOutcome(NamedTuple):
    """What a race on one data set found."""

    rows: list[Row]  # grid points with their final scores
    screened: list[Row]  # all of them with the scores of the screening, if any, else the same
    failures: Failures


@dataclass(frozen=True)
class Race(Runner):
    """Fits methods and scores those of their points that may win.

    All points get ``screening_runs`` K-means runs. Points that may still win by them, within two standard
    errors, get three times as many, and those that then still may get all, as does the best of each method
    and count by either metric. None scores every point with all runs.
    """

    screening_runs: int | None = 5

    @property
    def rounds(self) -> tuple[int, ...]:
        """Numbers of runs before the final one, each for fewer points."""
        first = self.protocol.n_runs if self.screening_runs is None else self.screening_runs
        return tuple(runs for runs in (first, 3 * first) if runs < self.protocol.n_runs)

    def run(self, problem: Problem, methods: Sequence[Method]) -> RaceOutcome:  # type: ignore[override]
        """Fit the methods on one data set and score their points."""
        selections, failures = self.fit(problem, methods)
        rows_of = partial(self.score, problem, methods, selections)
        n_runs = self.protocol.n_runs
        if not self.rounds or all(len(method.points) == 1 for method in methods):
            rows = rows_of(n_runs)
            return RaceOutcome(rows, rows, failures)
        first, *later = self.rounds
        screened = left = rows_of(first)
        ahead = leaders(screened)
        final = rows_of(n_runs, ahead)
        for n_more in later:
            left = rows_of(n_more, contenders(left, final, n_runs))
        rows = final + rows_of(n_runs, contenders(left, final, n_runs) - ahead)
        order = {place: number for number, place in enumerate(selections)}
        return RaceOutcome(sorted(rows, key=lambda row: order[place_of(row)]), screened, failures)


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
