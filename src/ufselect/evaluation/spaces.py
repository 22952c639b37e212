"""The parameter points among which labels choose in oracle mode."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ufselect.evaluation.keys import Params
from ufselect.evaluation.protocol import Problem
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
    "DSCOFS": (
        DSCOFS_STARTS,
        axis("mu_entry", 0.1, 1.0),
        axis("mu_row", 0.01, 0.1),
        axis("entry_sparsity", 0.02, 0.05, 0.3),
    ),
}


def parameter_points(selector: type[UnsupervisedSelector], problem: Problem, max_points: int) -> list[Params]:
    """Return at most ``max_points`` parameter points of a method's search space.

    The number of components or clusters is the number of classes, as in the published comparisons. A space
    that is too large is thinned by a fixed random choice.
    """
    space = SPACES.get(selector.__name__) or tuple(
        axis(name, *values) for name, values in selector.paper_grid.items()
    )
    common = class_count(selector, problem)
    points = [{name: v for part in point for name, v in part.items()} for point in itertools.product(*space)]
    if len(points) > max_points:
        kept = np.random.RandomState(0).permutation(len(points))[:max_points]
        points = [points[index] for index in sorted(kept)]
    return [Params({**common, **point}) for point in points]


def class_count(selector: type[UnsupervisedSelector], problem: Problem) -> dict[str, int]:
    """Return the number of classes as the number of components and clusters, where a selector has them."""
    parameters = inspect.signature(selector).parameters
    found = {}
    if "n_components" in parameters and parameters["n_components"].default == "auto":
        found["n_components"] = problem.n_components
    if "n_clusters" in parameters:
        found["n_clusters"] = problem.n_classes
    return found
