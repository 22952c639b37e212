"""What the documentation's table says of each selector is what the selector does."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from ufselect.registry import all_selectors, missing_requirements

SMALL = {
    "SOGFS": {"n_clusters": 2, "n_components": 2, "max_iter": 3},
    "UDFS": {"n_clusters": 2, "max_iter": 5},
    "RNE": {"max_iter": 5, "n_components": 3},
    "PartitionSelector": {"n_clusters": 2},
    "GreedyProjection": {"target": "features"},
    "DSCOFS": {"n_components": 2, "entry_sparsity": None, "mu_row": 0.5},
    "ConstrainedDSCOFS": {"n_components": 2},
    "FSPCA": {"n_components": 2},
    "DOptimalLeverage": {"n_components": 2, "ridge": 0.1},
}
# AutoSelector hands its wishes to its candidates, which are judged here one by one.
NAMES = [
    name
    for name, selector in all_selectors().items()
    if name != "AutoSelector" and not missing_requirements(selector)
]


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    return rng.standard_normal((50, 4)) @ rng.standard_normal((4, 12)) + 0.4 * rng.standard_normal((50, 12))


def scores(name, X, **wishes):
    selector = all_selectors()[name]
    seed = {"random_state": 0} if selector.is_stochastic else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return selector(4, **{**SMALL.get(name, {}), **seed, **wishes}).fit(X).scores_


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("wish", ["keep", "groups"])
def test_a_wish_enters_the_criterion_where_it_is_honoured_and_nowhere_else(name, wish, data):
    plain = scores(name, data)
    order = np.argsort(plain).tolist()
    wished = scores(name, data, **{wish: order[:2] if wish == "keep" else {"pair": [order[0], order[-1]]}})
    others = order[2:] if wish == "keep" else order
    changed = not np.allclose(wished[others], plain[others], rtol=1e-9)
    assert changed == (wish in all_selectors()[name].supports)
