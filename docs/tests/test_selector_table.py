"""The documentation's table says what each selector can do."""

from __future__ import annotations

import numpy as np
import pytest
import selector_table as table
from sklearn.utils.validation import has_fit_parameter

from ufselect._registry import all_selectors, missing_requirements


def said_of(selector):
    """Return the cells of a selector by the heads of their columns."""
    return dict(zip(table.HEADER[1:], table.cells(selector), strict=True))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "selector",
    [pytest.param(each, id=name) for name, each in all_selectors().items() if not missing_requirements(each)],
)
def test_missing_values_weights_and_batches_are_as_the_table_says(selector):
    X = np.random.default_rng(0).standard_normal((40, 8))
    accepted = (
        ("missing" in said_of(selector)["also takes"], np.where(np.eye(40, 8) > 0, np.nan, X), {}),
        (has_fit_parameter(selector, "sample_weight"), X, {"sample_weight": np.ones(40)}),
        (has_fit_parameter(selector, "batch"), X, {"batch": np.arange(40) % 2}),
    )
    for is_accepted, data, given in accepted:
        if is_accepted:
            selector(3).fit(data, **given)
        else:
            with pytest.raises((TypeError, ValueError), match=r"NaN|into account|unexpected keyword"):
                selector(3).fit(data, **given)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "selector",
    [pytest.param(each, id=name) for name, each in all_selectors().items() if not missing_requirements(each)],
)
def test_dask_is_as_the_table_says(selector):
    dask_array = pytest.importorskip("dask.array")
    X = dask_array.from_array(np.random.default_rng(0).standard_normal((60, 8)), chunks=(20, 8))
    if "dask" not in said_of(selector)["also takes"]:
        with pytest.raises(TypeError, match="needs the data in memory"):
            selector(3).fit(X)
    else:
        selector(3).fit(X)


@pytest.mark.parametrize("name", all_selectors())
def test_sparse_groups_and_the_goal_are_as_the_class_says(name):
    selector = all_selectors()[name]
    said = said_of(selector)
    assert ("sparse" in said["also takes"]) == selector.accepts_sparse
    assert (said["groups"] == "criterion") == ("feature_groups" in selector.supports)
    assert said["columns for"] != "–"


def test_ranks_are_those_of_the_results():
    assert table.beaten("RandomSubset", "all sets") == "50"
    assert int(table.beaten("ReconstructionSelector", "reconstruction")) > 50
    assert table.beaten("NotThere", "all sets") == "not measured"
