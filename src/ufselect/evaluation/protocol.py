"""What an evaluation does: how often K-means runs, how it is seeded, how many features are kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array, check_consistent_length

from ufselect.common.containers import tabular
from ufselect.metrics.clustering import encode_labels
from ufselect.metrics.seeding import SEEDINGS

PAPER_COUNTS = tuple(range(10, 101, 10))
# A curve of fewer points shows no course; beyond four fifths of the features little is left to choose.
FEWEST_COUNTS, N_COUNTS, LARGEST_SHARE = 5, 10, 0.8
# Enough to halve the number that is left, few enough to cost less than the final round saves.
RUNS_OF_NEXT_ROUND = 3
MODES = ("fixed", "oracle", "auto")


@dataclass(frozen=True)
class Protocol:
    """The settings on which scores depend.

    Attributes
    ----------
    counts : tuple of int
        Numbers of features at which every selection is scored.
    n_runs : int
        K-means runs of a final score.
    seeding : str
        How K-means is seeded; see :func:`ufselect.metrics.evaluate_selection`.
    seed : int
        Seeds the K-means runs.
    n_starts : int
        Fits with different seeds of a method that is random, whose scores are averaged. In oracle mode every
        start is a point of its own, and points with open seeds are fitted once.
    screening_runs : int or None
        K-means runs with which all grid points are scored first. Points that may still win by them, within
        two standard errors, get three times as many, and those that then still may get ``n_runs``; None
        scores every point with ``n_runs`` (exact mode).
    finalists : int
        Grid points per method and count, by each metric, that go from screening to the final score in any
        case.
    max_points : int
        Parameter points per method, the same for all.
    """

    counts: tuple[int, ...] = PAPER_COUNTS
    n_runs: int = 50
    seeding: str = "k-means++"
    seed: int = 0
    n_starts: int = 5
    screening_runs: int | None = 5
    finalists: int = 1
    max_points: int = 100

    def __post_init__(self) -> None:
        if self.seeding not in SEEDINGS:
            raise ValueError(f"seeding must be one of {', '.join(SEEDINGS)}, not {self.seeding!r}.")
        for name in ("n_runs", "n_starts", "finalists", "max_points"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, not {getattr(self, name)!r}.")

    @property
    def is_exact(self) -> bool:
        """Whether every grid point gets the final number of runs."""
        return not self.rounds

    @property
    def rounds(self) -> tuple[int, ...]:
        """Numbers of runs before the final one, each for fewer points; none in exact mode."""
        first = self.n_runs if self.screening_runs is None else self.screening_runs
        return tuple(runs for runs in (first, RUNS_OF_NEXT_ROUND * first) if runs < self.n_runs)


@dataclass(frozen=True)
class Problem:
    """One data set with its classes, ready to be evaluated."""

    name: str
    X: NDArray
    y: NDArray
    n_classes: int
    counts: tuple[int, ...]

    @cached_property
    def n_components(self) -> int:
        """The number of classes, or the rank of the centred data if that is less."""
        return min(self.n_classes, int(np.linalg.matrix_rank(self.X - self.X.mean(axis=0))))


def make_problem(name: str, X: Any, y: Any, counts: Sequence[int]) -> Problem:
    """Check data, classes and counts before any long work.

    Raises
    ------
    ValueError
        If they do not fit together, or no count is below the number of features.
    """
    X = check_array(tabular(X), dtype=np.float64, ensure_min_samples=2)
    codes, n_classes = encode_labels(y)
    check_consistent_length(X, codes)
    if n_classes < 2:
        raise ValueError("The labels name one class only; a comparison by clustering needs at least two.")
    usable = tuple(sorted({int(count) for count in counts if 1 <= count < X.shape[1]}))
    if not usable:
        raise ValueError(
            f"None of the counts {list(counts)} lies between 1 and {X.shape[1] - 1}, one less than the "
            "number of features; pass smaller counts."
        )
    return Problem(name, X, codes, n_classes, usable)


def default_counts(n_features: int) -> tuple[int, ...]:
    """Return the paper's counts where they fit, else about ten counts up to four fifths of the features."""
    largest = max(1, int(LARGEST_SHARE * n_features))
    fitting = tuple(count for count in PAPER_COUNTS if count <= largest)
    if len(fitting) >= FEWEST_COUNTS:
        return fitting
    return tuple(sorted({max(1, round(step * largest / N_COUNTS)) for step in range(1, N_COUNTS + 1)}))
