"""What is compared: data with classes, methods with their parameter points, and settings of the scores."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_consistent_length

from ufselect._registry import SELECTORS, all_selectors
from ufselect._utils.validation import check_array, check_choice, check_positive_int, tabular
from ufselect.assessment.clustering import encode_labels
from ufselect.auto import AutoSelector
from ufselect.base import UnsupervisedSelector
from ufselect.clusters.kmeans import SEEDINGS
from ufselect.dscofs.estimator import DSCOFS
from ufselect.dscofs.path import PAPER_ENTRY_SHARES
from ufselect.published.rne import RNE

ALL_FEATURES = "AllFeatures"
# Left out unless named: slow to fit, or built from other selectors.
ON_REQUEST = ("AutoSelector", "ConstrainedDSCOFS", "TSFS")
BEST_DRAW = "BestRandomSubset"
Point = dict[str, Any]  # parameters of a fit
# The grids over which published comparisons tune the methods, with three exceptions: α is left out for NDFS
# and RUFS, as a change of α acts like a change of β or does nothing; and the two weights of BSUFS are left
# out, as with the published decades nearly all points leave the loadings of PCA as they are.
PAPER_REGULARISERS = (1e-6, 1e-4, 1e-2, 1.0, 1e2, 1e4, 1e6)
DECADES, NEIGHBORS = (1e-3, 1e-2, 0.1, 1.0, 10.0), (3, 5, 10, 15, 20)
PAPER_GRIDS: dict[str, dict[str, tuple]] = {
    "DSCOFS": {
        "mu_entry": PAPER_REGULARISERS,
        "mu_row": PAPER_REGULARISERS,
        "entry_sparsity": PAPER_ENTRY_SHARES,
        "penalty_scale": ("absolute",),
        "init": ("random",),
    },
    "UDFS": {"reg": PAPER_REGULARISERS, "gamma": PAPER_REGULARISERS},
    "SOGFS": {"gamma": PAPER_REGULARISERS},
    "RNE": {"alpha": PAPER_REGULARISERS},
    "SPCAFS": {"gamma": PAPER_REGULARISERS},
    "SPCAPSD": {"gamma": PAPER_REGULARISERS, "eta": PAPER_REGULARISERS},
    "TSFS": {"gamma": PAPER_REGULARISERS},
    "MCFS": {"n_neighbors": NEIGHBORS},
    "SPEC": {"ranking": ("smoothness", "normalized", "leading"), "n_neighbors": NEIGHBORS},
    "NDFS": {"beta": PAPER_REGULARISERS},
    "RUFS": {"beta": PAPER_REGULARISERS},
    "InfFS": {"alpha": tuple(k / 10 for k in range(11))},
    "BSUFS": {"mu_entry": DECADES, "mu_row": DECADES, "q": (0.0, 0.5), "p": (0.0, 0.5)},
}
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


@dataclass(frozen=True)
class Method:
    """One line of a comparison."""

    key: str  # its name in rows
    label: str  # its name in tables
    selector: type[UnsupervisedSelector] | None  # None for all features
    points: tuple[Point, ...] = ({},)  # to try
    n_seeds: int = 1  # over which a random method is averaged
    starts_apart: bool = False  # choose by labels for each seed separately, and average the choices

    @property
    def is_nested(self) -> bool:
        """Whether one fit serves all counts."""
        if self.selector is RNE:  # by default its number of components is the count
            return all("n_components" in point for point in self.points)
        return self.selector is not None and self.selector.is_nested


def choose_methods(
    names: Sequence[str] | None, mode: str, problem: Problem, protocol: Protocol
) -> list[Method]:
    """Return the methods of `compare`, always with the three baselines."""
    check_choice("mode", mode, ("fixed", "oracle", "auto"))
    methods = []
    for name, selector in _resolve(names).items():
        if mode == "auto" and selector is AutoSelector:
            continue
        points = parameter_points(selector, problem, protocol.max_points) if mode == "oracle" else [{}]
        # Ten are enough for the mean of the baseline: K-means runs vary more than sets of random columns.
        n_seeds = 10 if name == "RandomSubset" else (1 if mode == "oracle" else protocol.n_starts)
        methods.append(Method(name, selector.label, selector, tuple(points), n_seeds))
    if mode == "auto":
        known_count = {"n_clusters": problem.n_classes}
        methods.append(Method("AutoSelector", "AutoSelector", AutoSelector, (known_count,)))
    if mode == "oracle":
        # Other seeds than those of the baseline's mean.
        draws = tuple({"random_state": 1000 + k} for k in range(protocol.max_points))
        label = f"Random, best of {len(draws)}"
        methods.append(Method(BEST_DRAW, label, all_selectors()["RandomSubset"], draws))
    methods.append(Method(ALL_FEATURES, "All features", None))
    places = {name: place for place, name in enumerate(("", *SELECTORS))}

    def place(method: Method) -> tuple[int, str]:
        name = "" if method.selector is None else method.selector.__name__
        return places.get(name, len(places)), method.label

    return sorted(methods, key=place)


def _resolve(names: Sequence[str] | None) -> dict[str, type[UnsupervisedSelector]]:
    known = all_selectors()
    baselines = {name: known[name] for name in ("RandomSubset", "PCALeverage")}
    if names is None:
        return {**baselines, **{name: cls for name, cls in known.items() if name not in ON_REQUEST}}
    by_word = {word.lower(): name for name, cls in known.items() for word in (name, cls.label)}
    chosen = {}
    for word in names:
        if word == ALL_FEATURES:
            continue
        name = by_word.get(word.lower())
        if name is None:
            raise ValueError(f"Unknown method {word!r}; known are {', '.join(known)}.")
        chosen[name] = known[name]
    return {**baselines, **chosen}


def is_random(selector: type[UnsupervisedSelector], params: Mapping[str, Any]) -> bool:
    """Return whether a fit with these parameters depends on a seed that they do not set."""
    if "random_state" in params or "random_state" not in inspect.signature(selector).parameters:
        return False
    return selector.is_stochastic or params.get("init") == "random"


def make_selector(
    selector: type[UnsupervisedSelector], params: Mapping[str, Any], seed: int, count: int
) -> UnsupervisedSelector:
    """Return the estimator of a parameter point, with the seed if it takes one."""
    settings = {"n_features_to_select": count, **params}
    if "random_state" in inspect.signature(selector).parameters:
        settings.setdefault("random_state", seed)
    return selector(**settings)


def parameter_points(selector: type[UnsupervisedSelector], problem: Problem, max_points: int) -> list[Point]:
    """Return at most ``max_points`` parameter points of a method's search space.

    The space is the published grid, except for DSCOFS, whose penalties are relative to the largest eigenvalue
    and so comparable across data sets. Each random start of DSCOFS is a point, because choosing among starts
    by the labels is tuning too. From a space that is too large, a fixed random choice of points is used.
    """
    points = published_points(selector, problem)
    if selector is DSCOFS:  # 96 points, within the budget of 100 per method
        starts: list[Point] = [{"init": "random", "random_state": seed} for seed in range(7)]
        tuned = ("mu_entry", "mu_row", "entry_sparsity")
        m, size = problem.n_components, problem.X.shape[1] * problem.n_components
        # Orthonormal columns need at least one entry each; for few features a share may allow fewer.
        shares = [share for share in (0.02, 0.05, 0.3) if int(share * size) >= m] or [m]
        space = itertools.product([{"init": "pca"}, *starts], (0.1, 1.0), (0.01, 0.1), shares)
        points = [
            {"n_components": problem.n_components, **start, **dict(zip(tuned, values, strict=True))}
            for start, *values in space
        ]
    if len(points) > max_points:
        kept = np.random.RandomState(0).permutation(len(points))[:max_points]
        points = [points[index] for index in sorted(kept)]
    return points


def published_points(selector: type[UnsupervisedSelector], problem: Problem) -> list[Point]:
    """Return the whole grid over which published comparisons tune a method.

    The number of components or clusters is the number of classes, as in these comparisons.
    """
    common = class_count(selector, problem)
    if selector is RNE:
        # One fit of the largest width ranks for all counts; one fit per count takes ten times as long.
        common["n_components"] = max(problem.counts)
    grid = PAPER_GRIDS.get(selector.__name__, {})
    return [
        {**common, **dict(zip(grid, values, strict=True))} for values in itertools.product(*grid.values())
    ]


def class_count(selector: type[UnsupervisedSelector], problem: Problem) -> Point:
    """Return the number of classes as the number of components and clusters, if a selector has them."""
    parameters = inspect.signature(selector).parameters
    numbers: Point = {}
    if "n_components" in parameters and parameters["n_components"].default == "auto":
        numbers["n_components"] = problem.n_components
    if "n_clusters" in parameters:
        numbers["n_clusters"] = problem.n_classes
    return numbers
