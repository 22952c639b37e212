"""Settings of an evaluation: the data with their classes, the K-means runs, the numbers of features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_consistent_length

from ufselect._utils.validation import check_array, check_choice, check_positive_int, tabular
from ufselect.assessment.clustering import encode_labels
from ufselect.clusters.kmeans import SEEDINGS

PAPER_COUNTS = tuple(range(10, 101, 10))
# For a first look: seconds on a table of a thousand rows, with means accurate to a few points.
QUICK: dict[str, Any] = {"n_runs": 10, "max_points": 6, "n_starts": 2}


@dataclass(frozen=True)
class Protocol:
    """Settings on which the scores of a comparison depend.

    Attributes
    ----------
    n_runs : int
        Number of K-means runs of a final score.
    seeding : str
        How K-means is seeded; see :func:`ufselect.metrics.evaluate_selection`.
    seed : int
        Seed of the K-means runs.
    n_starts : int
        Number of fits of a random method, with different seeds, over which scores are averaged. In oracle
        mode every start is a parameter point, and points that set no seed are fitted once.
    max_points : int
        Largest number of parameter points per method.

    See Also
    --------
    compare : Run a comparison.
    """

    n_runs: int = 50
    seeding: str = "k-means++"
    seed: int = 0
    n_starts: int = 5
    max_points: int = 100

    def __post_init__(self) -> None:
        check_choice("seeding", self.seeding, SEEDINGS)
        for name in ("n_runs", "n_starts", "max_points"):
            check_positive_int(name, getattr(self, name))


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


def make_problem(name: str, X: Any, y: Any, counts: Sequence[int] | None = None) -> Problem:
    """Check data, classes and counts before any long work."""
    X = check_array(tabular(X), dtype=np.float64, ensure_min_samples=2)
    codes, n_classes = encode_labels(y)
    check_consistent_length(X, codes)
    if n_classes < 2:
        raise ValueError("The labels have only one class; give labels of at least two classes.")
    counts = default_counts(X.shape[1]) if counts is None else counts
    usable = tuple(sorted({int(count) for count in counts if 1 <= count < X.shape[1]}))
    if not usable:
        raise ValueError(
            f"None of the counts {list(counts)} lies between 1 and {X.shape[1] - 1}, one less than the "
            "number of features; give counts in this range."
        )
    return Problem(name, X, codes, n_classes, usable)


def default_counts(n_features: int) -> tuple[int, ...]:
    """Return the paper's counts if five of them fit, else about ten up to four fifths of the features."""
    largest = max(1, int(0.8 * n_features))
    fitting = tuple(count for count in PAPER_COUNTS if count <= largest)
    if len(fitting) >= 5:
        return fitting
    return tuple(sorted({max(1, round(k * largest / 10)) for k in range(1, 11)}))
