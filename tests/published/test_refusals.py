"""Parameters that mean nothing for the data: refused in a sentence with their name."""

from __future__ import annotations

import numpy as np
import pytest

from ufselect import (
    FSPCA,
    MCFS,
    NDFS,
    RNE,
    RUFS,
    SOGFS,
    SPCAFS,
    SPCAPSD,
    SPEC,
    TSFS,
    UDFS,
    LaplacianScore,
)

RNG = np.random.default_rng(0)
X = RNG.standard_normal((20, 3)) @ RNG.standard_normal((3, 10)) + 0.5 * RNG.standard_normal((20, 10))
OUT_OF_RANGE = {
    FSPCA: {"refine": "yes", "max_iter": 0, "n_components": 2.5},
    RNE: {"alpha": -1.0},
    SOGFS: {"gamma": -1.0, "p": 1.5},
    SPCAFS: {"gamma": np.nan, "p": 2.5},
    SPCAPSD: {"gamma": -1.0, "eta": np.inf},
    UDFS: {"gamma": 0.0, "reg": "auto"},
    TSFS: {"hidden": 2.5, "gamma": np.nan, "n_components": 0, "tol": -1},
    SPEC: {"ranking": "phi"},
    LaplacianScore: {"bandwidth": np.inf},
}


@pytest.mark.parametrize(
    ("selector", "name", "value"),
    [(selector, name, value) for selector, bad in OUT_OF_RANGE.items() for name, value in bad.items()],
)
def test_values_out_of_range(selector, name, value):
    with pytest.raises(ValueError, match=f"'{name}' parameter"):
        selector(2, **{name: value}).fit(X)


@pytest.mark.parametrize(
    ("selector", "message"),
    [
        *((each(2, n_clusters=21), "n_clusters=21 is too many for the 20") for each in (NDFS, RUFS)),
        *((each(2, n_clusters=20), "n_clusters=20 is too many for the 20") for each in (MCFS, SPEC, SOGFS)),
        (UDFS(2, n_clusters=11), "more than the 10 features of X that vary"),
        (SOGFS(2, n_components=11), "more than the 10 features"),
        (SPCAFS(2, n_components=30), "more than the rank"),
        (SPCAPSD(2, eta=1e6), r"eta=1000000.0 is too large .* well below"),
        (RNE(2, init=np.ones((3, 3))), "init has 3 entries"),
        (RNE(2, init=-np.ones((10, 2))), "init must be a finite non-negative"),
        (RNE(2, init=np.ones((10, 2)), n_components=5), r"shape \(10, 5\)"),
        (RNE(2, init=np.ones(10)), r"shape \(10, 2\)"),
    ],
    ids=repr,
)
def test_values_that_the_data_do_not_allow(selector, message):
    with pytest.raises(ValueError, match=message):
        selector.fit(X)
