"""The parameter points among which labels choose in oracle mode."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Mapping
from typing import Any

import numpy as np

from ufselect.evaluation.protocol import Problem
from ufselect.selectors.base import UnsupervisedSelector

# Where the published grid is not the class's own: penalties relative to the largest eigenvalue mean the same
# on every data set, and a constraint that keeps more than r/d of the entries cannot bind.
SPACES: dict[str, Mapping[str, tuple]] = {
    "DSCOFS": {
        "mu_entry": (0.01, 0.1, 1.0),
        "mu_row": (0.01, 0.1, 1.0),
        "entry_sparsity": (0.02, 0.05, 0.1, 0.2, 0.5),
    },
}


def parameter_points(
    selector: type[UnsupervisedSelector], problem: Problem, max_points: int
) -> list[dict[str, Any]]:
    """Return at most ``max_points`` parameter points of a method's search space.

    The number of components or clusters is the number of classes, as in the published comparisons. A space
    that is too large is thinned by a fixed random choice.
    """
    space = SPACES.get(selector.__name__, selector.paper_grid)
    common = _class_count(selector, problem)
    values = [dict(zip(space, point, strict=True)) for point in itertools.product(*space.values())]
    if len(values) > max_points:
        kept = np.random.RandomState(0).permutation(len(values))[:max_points]
        values = [values[index] for index in sorted(kept)]
    return [{**common, **value} for value in values]


def _class_count(selector: type[UnsupervisedSelector], problem: Problem) -> dict[str, int]:
    parameters = inspect.signature(selector).parameters
    rank = int(np.linalg.matrix_rank(problem.X - problem.X.mean(axis=0)))
    found = {}
    if "n_components" in parameters and parameters["n_components"].default == "auto":
        found["n_components"] = min(problem.n_classes, rank)
    if "n_clusters" in parameters:
        found["n_clusters"] = problem.n_classes
    return found
