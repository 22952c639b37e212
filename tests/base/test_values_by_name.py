"""What a user says of each column by name goes by name, in any order; names that do not match are errors."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ufselect import (
    DSCOFS,
    RNE,
    AutoSelector,
    GreedyProjection,
    MaxVariance,
    ReconstructionSelector,
    Reconstructor,
    RedundancyFilter,
    StableSelector,
    assess,
    gram_from_covariance,
)
from ufselect.preprocessing import AutoScaler

NAMES = [f"s{j}" for j in range(12)]
RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.standard_normal((40, 4)) @ RNG.standard_normal((4, 12)), columns=NAMES)
X += 0.4 * RNG.standard_normal(X.shape)
MASK = np.arange(12) % 5 == 1
PRICES = np.where(np.arange(12) < 6, 1.0, 100.0)
REGIONS = np.array(list("aaaabbbb") + [None] * 4, dtype=object)


def supported(selector):
    return lambda value: selector(value).fit(X).get_support()


# What is said of the columns, in their order, and what follows from it.
SAID = {
    "costs": (PRICES, supported(lambda value: ReconstructionSelector(6, costs=value, budget=6))),
    "greedy costs": (PRICES, supported(lambda value: GreedyProjection(6, costs=value, budget=106))),
    "regions": (
        REGIONS,
        supported(lambda value: ReconstructionSelector(6, regions=value, quotas={"a": 1, "b": (2, 2)})),
    ),
    "positions": (
        RNG.permutation(12) * 1.0,
        supported(lambda value: ReconstructionSelector(4, positions=value, min_distance=3)),
    ),
    "positions in the plane": (
        RNG.standard_normal((12, 2)),
        supported(lambda value: GreedyProjection(4, positions=value, min_distance=0.7)),
    ),
    "feature_groups": (REGIONS, supported(lambda value: MaxVariance(2, feature_groups=value))),
    "keep": (MASK, supported(lambda value: DSCOFS(4, keep=value))),
    "exclude": (MASK, supported(lambda value: MaxVariance(4, exclude=value))),
    "prefer": (RNG.permutation(12), supported(lambda value: RedundancyFilter(0.3, prefer=value))),
    "noise_variance": (PRICES, lambda value: Reconstructor(NAMES[3:9], noise_variance=value).fit(X).weights_),
    "columns": (MASK, lambda value: Reconstructor(value).fit(X).get_feature_names_out().tolist()),
    "assessed columns": (MASK, lambda value: assess(value, X, random_state=0).table),
    "unscaled": (MASK, lambda value: AutoScaler(exclude=value).fit_transform(X)),
    "initial loadings": (
        np.linalg.qr(RNG.standard_normal((12, 2)))[0],
        lambda value: DSCOFS(3, n_components=2, init=value, max_iter=1).fit(X).scores_,
    ),
    "initial embedding": (RNG.random((12, 2)), lambda value: RNE(3, init=value, max_iter=1).fit(X).scores_),
    "mean": (
        PRICES,
        lambda value: Reconstructor().fit(gram_from_covariance(X.cov(), 40, mean=value)).mean_,
    ),
    "within a stable selector": (
        MASK,
        lambda value: StableSelector(MaxVariance(4, keep=value), 4, 0.5, random_state=0).fit(X).support_,
    ),
    "within an automatic one": (
        MASK,
        lambda value: AutoSelector(4, keep=value, n_clusters=2, random_state=0).fit(X).support_,
    ),
}


def named(values, order, kind):
    """Return values by name, in some order."""
    names = [NAMES[j] for j in order]
    if kind == "dict":
        return dict(zip(names, (values[j] for j in order), strict=True))
    make = pd.Series if values.ndim == 1 else pd.DataFrame
    return make(values[order], index=names if kind == "by name" else order)


@pytest.mark.parametrize("kind", ["by name", "by index", "dict"])
@pytest.mark.parametrize("parameter", SAID)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_values_by_name_do_not_depend_on_their_order(parameter, kind):
    values, outcome = SAID[parameter]
    order = np.random.default_rng(len(parameter)).permutation(12)
    expected, actual = outcome(values), outcome(named(values, order, kind))
    if isinstance(expected, list):
        assert actual == expected
    else:
        np.testing.assert_allclose(actual, expected, rtol=1e-12)


@pytest.mark.parametrize("parameter", SAID)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_names_that_do_not_match_are_an_error(parameter):
    values, outcome = SAID[parameter]
    series = named(values, np.arange(12), "by name")
    with pytest.raises(ValueError, match="which is not a column of X; did you mean 's3'"):
        outcome(series.rename(index={"s3": "s3 "}))
    with pytest.raises(ValueError, match="has no entry for 's3'; give one for each"):
        outcome(series.drop("s3"))
    with pytest.raises(ValueError, match="has 's3' twice"):
        outcome(pd.concat([series, series.loc[["s3"]]]))


def test_several_labels_for_a_column_are_refused_in_a_sentence():
    with pytest.raises(TypeError, match="regions must have one label per column"):
        ReconstructionSelector(3, regions=pd.DataFrame(REGIONS, index=NAMES), quotas={"a": 1}).fit(X)


def test_the_example_buys_the_cheap_columns():
    price = pd.Series(PRICES, index=NAMES)[::-1]
    bought = ReconstructionSelector(6, costs=price, budget=6).fit(X).get_feature_names_out()
    assert set(bought) <= set(NAMES[:6])


def test_names_need_names_in_the_data():
    with pytest.raises(ValueError, match="X has no column names"):
        ReconstructionSelector(6, costs=dict.fromkeys(NAMES, 1.0), budget=6).fit(X.to_numpy())


@given(st.lists(st.sampled_from(["a", "b", None, float("nan"), pd.NA]), min_size=12, max_size=12))
def test_columns_without_a_region_have_no_quota(regions):
    quotas = {region: 1 for region in ("a", "b") if region in {r for r in regions if isinstance(r, str)}}
    if not quotas:
        return
    fitted = GreedyProjection(4, regions=regions, quotas=quotas, n_components=4)
    free = sum(not isinstance(region, str) for region in regions)
    if free + len(quotas) < 4:
        with pytest.raises(ValueError, match="meet the constraints"):
            fitted.fit(X)
        return
    support = fitted.fit(X).get_support()
    assert support.sum() == 4
    selected = [regions[column] for column in np.flatnonzero(support)]
    assert all(sum(region is other for other in selected) <= 1 for region in quotas)


@pytest.mark.parametrize("value", ["s1", 3, [1, 2], ["x"] * 12, {"s1": 1}, iter([1])])
def test_what_is_no_value_per_column_is_refused_in_a_sentence(value):
    with pytest.raises((ValueError, TypeError), match=r"costs (has|must)"):
        ReconstructionSelector(3, costs=value, budget=3).fit(X)
