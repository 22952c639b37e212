"""The parameter points among which labels choose in oracle mode."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ufselect.evaluation.keys import Params
from ufselect.evaluation.protocol import Problem
from ufselect.selectors import DSCOFS, RNE
from ufselect.selectors.base import UnsupervisedSelector

Axis = Sequence[Mapping[str, Any]]

# With the PCA start eight: 96 points in all, within the budget of 100 that every method has.
RANDOM_STARTS = 7
DSCOFS_STARTS: Axis = (
    {"init": "pca"},
    *({"init": "random", "random_state": start} for start in range(RANDOM_STARTS)),
)


def axis(name: str, *values: Any) -> Axis:
    """Return the values of one parameter as an axis of a space."""
    return tuple({name: value} for value in values)


# Where the published grid is not the class's own. Penalties relative to the largest eigenvalue mean the same
# on every data set. The paper draws a random start; each start is one point here, since choosing among
# starts by the labels is choosing.
SPACES: dict[str, tuple[Axis, ...]] = {
    "DSCOFS": (DSCOFS_STARTS, axis("mu_entry", 0.1, 1.0), axis("mu_row", 0.01, 0.1)),
}
# The last axis of DSCOFS, by number of entries where there are few.
ENTRY_SHARES = (0.02, 0.05, 0.3)


def parameter_points(selector: type[UnsupervisedSelector], problem: Problem, max_points: int) -> list[Params]:
    """Return at most ``max_points`` parameter points of a method's search space.

    The space is that of :data:`SPACES` or else the published grid. One that is too large is thinned by a
    fixed random choice.
    """
    space = SPACES.get(selector.__name__)
    if space is not None and selector is DSCOFS:
        shares = valid_entries(ENTRY_SHARES, problem.X.shape[1], problem.n_components)
        space = (*space, axis("entry_sparsity", *shares))
    points = published_points(selector, problem) if space is None else _points(selector, problem, space)
    if len(points) > max_points:
        kept = np.random.RandomState(0).permutation(len(points))[:max_points]
        points = [points[index] for index in sorted(kept)]
    return points


def published_points(selector: type[UnsupervisedSelector], problem: Problem) -> list[Params]:
    """Return the whole grid over which published comparisons tune a method.

    The number of components or clusters is the number of classes, as in these comparisons.
    """
    return _points(
        selector, problem, tuple(axis(name, *values) for name, values in selector.paper_grid.items())
    )


def _points(selector: type[UnsupervisedSelector], problem: Problem, space: Sequence[Axis]) -> list[Params]:
    common = class_count(selector, problem)
    if selector is RNE:
        # One fit of the largest width ranks for all counts; a fit for each count takes ten times as long.
        common["n_components"] = max(problem.counts)
    return [
        Params({**common, **{name: value for part in point for name, value in part.items()}})
        for point in itertools.product(*space)
    ]


def valid_entries(shares: Sequence[float], n_features: int, n_components: int) -> tuple[float | int, ...]:
    """Return as many different entry sparsities, none below one entry a component.

    A share that keeps fewer is replaced by a number of entries: the least that an orthonormal matrix can
    have, then one more, and so on. That happens on a handful of features only.

    Examples
    --------
    >>> from ufselect.evaluation.spaces import valid_entries
    >>> valid_entries((0.02, 0.05, 0.3), n_features=617, n_components=26)
    (0.02, 0.05, 0.3)
    >>> valid_entries((0.02, 0.05, 0.3), n_features=9, n_components=2)
    (2, 3, 0.3)
    """
    size = n_features * n_components
    least = itertools.count(n_components)
    return tuple(share if int(share * size) >= n_components else next(least) for share in shares)


def class_count(selector: type[UnsupervisedSelector], problem: Problem) -> dict[str, int]:
    """Return the number of classes as the number of components and clusters, where a selector has them."""
    parameters = inspect.signature(selector).parameters
    found = {}
    if "n_components" in parameters and parameters["n_components"].default == "auto":
        found["n_components"] = problem.n_components
    if "n_clusters" in parameters:
        found["n_clusters"] = problem.n_classes
    return found
