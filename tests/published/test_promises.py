"""What published methods promise alike: refusals, constant columns, degenerate data, clusters found."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

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
    InfFS,
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
    InfFS: {"damping": 1.0},
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


@pytest.mark.parametrize(
    "selector",
    [InfFS(4), UDFS(4, n_clusters=3), SOGFS(4, n_clusters=2, n_components=2), SPEC(4, n_clusters=3)],
    ids=repr,
)
def test_constant_columns_change_no_other_score(selector):
    padded = np.insert(X, [2, 7], [5.0, 0.0], axis=1)
    expected, fitted = clone(selector).fit(X).scores_, selector.fit(padded)
    assert set(fitted.ranking_[[2, 8]]) == {11, 12}
    np.testing.assert_allclose(np.delete(fitted.scores_, [2, 8]), expected, rtol=1e-7)


def degenerate_tables():
    rng = np.random.default_rng(0)
    table = rng.standard_normal((40, 6))
    return {
        "duplicate rows": np.repeat(table[:6], 7, axis=0),
        "far apart": np.vstack([table[:20], 1e6 + table[20:]]),
        "zero rows": np.vstack([table, np.zeros((7, 6))]),
        "one row far": np.vstack([table, 100 * np.eye(1, 6)]),
        "two columns": table[:, :2],
        "duplicate columns": np.hstack([table, table]),
        "wide": rng.standard_normal((12, 40)),
        "identity": np.eye(10),
        "huge": 1e200 * table,
        "tiny": 1e-200 * table,
    }


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("table", degenerate_tables())
@pytest.mark.parametrize(
    "selector",
    [
        *(LaplacianScore(bandwidth=width) for width in ("auto", 1e-3, 1e6)),
        *(SOGFS(n_clusters=2, n_components=1, gamma=gamma, max_iter=10) for gamma in (1e-6, 1e6)),
        *(UDFS(n_clusters=1, reg=reg) for reg in (1e-12, 1.0, 1e12)),
        RNE(random_state=0, max_iter=10),
        MCFS(n_clusters=2),
    ],
    ids=repr,
)
def test_degenerate_data_give_finite_scores(selector, table):
    if isinstance(selector, UDFS) and table in ("huge", "tiny"):
        pytest.skip("reg is in units of the data squared")
    scores = clone(selector).set_params(n_features_to_select=2).fit(degenerate_tables()[table]).scores_
    assert np.all(np.isfinite(scores))
    assert np.abs(scores).max() < 1e6 or table in ("huge", "tiny")  # coefficients go with the unit


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "selector",
    [
        LaplacianScore(4),
        SPEC(4, n_clusters=3),
        NDFS(4, n_clusters=3, random_state=0),
        RUFS(4, n_clusters=3, random_state=0),
        SOGFS(2, n_clusters=3, n_components=2, gamma=0.1),
        MCFS(2, n_clusters=2),
    ],
    ids=repr,
)
def test_features_that_show_the_clusters_beat_noise(selector):
    rng = np.random.default_rng(3)
    shown = 10 * np.repeat(rng.standard_normal((3, 4)), 40, axis=0) + 0.1 * rng.standard_normal((120, 4))
    fitted = selector.fit(np.hstack([rng.standard_normal((120, 3)), shown]))
    assert set(np.flatnonzero(fitted.support_)) <= {3, 4, 5, 6}
