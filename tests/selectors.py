"""All selectors, with settings that let a test fit all of them many times."""

from __future__ import annotations

from ufselect import GreedyProjection, PCALeverage
from ufselect._registry import all_selectors

RUNNABLE = all_selectors()
SMALL = {
    "AutoSelector": {"candidates": [PCALeverage(), GreedyProjection()], "n_clusters": 2},
    "SOGFS": {"n_clusters": 2, "n_components": 2, "max_iter": 3},
    "UDFS": {"n_clusters": 2, "max_iter": 5},
    "RNE": {"max_iter": 5, "n_components": 3},
    "TSFS": {"max_iter": 3, "hidden": 4},
    "ConstrainedDSCOFS": {"n_components": 2},
    "DSCOFS": {"n_components": 2},
}


def make(name, **parameters):
    """Return a selector with small settings and, where it draws, a seed."""
    seed = {"random_state": 0} if RUNNABLE[name].is_stochastic else {}
    return RUNNABLE[name](**{**SMALL.get(name, {}), **seed, **parameters})
