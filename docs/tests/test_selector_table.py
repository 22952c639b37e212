"""The documentation's table says what each selector can do."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
import selector_table as table
from sklearn.utils.validation import has_fit_parameter

import ufselect

SELECTORS = {name: getattr(ufselect, name) for name in table.GOALS}


def said_of(selector):
    """Return the cells of a selector by the heads of their columns."""
    return dict(zip(table.HEADER[1:], table.cells(selector), strict=True))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", SELECTORS)
def test_containers_missing_values_weights_and_batches_are_as_the_table_says(name):
    selector = SELECTORS[name]
    X = np.random.default_rng(0).standard_normal((40, 8))
    accepted = (
        ("missing" in said_of(selector)["also takes"], np.where(np.eye(40, 8) > 0, np.nan, X), {}),
        (has_fit_parameter(selector, "sample_weight"), X, {"sample_weight": np.ones(40)}),
        (has_fit_parameter(selector, "batch"), X, {"batch": np.arange(40) % 2}),
    )
    for is_accepted, data, settings in accepted:
        if is_accepted:
            selector(3).fit(data, **settings)
        else:
            with pytest.raises((TypeError, ValueError), match=r"NaN|into account|unexpected keyword"):
                selector(3).fit(data, **settings)
    blocks = pytest.importorskip("dask.array").from_array(X, chunks=(20, 8))
    if "dask" in said_of(selector)["also takes"]:
        selector(3).fit(blocks)
    else:
        with pytest.raises(TypeError, match="needs the data in memory"):
            selector(3).fit(blocks)


def test_every_method_is_in_the_table():
    public = {name: getattr(ufselect, name) for name in ufselect.__all__}
    methods = {
        name
        for name, each in public.items()
        if inspect.isclass(each) and issubclass(each, ufselect.UnsupervisedSelector)
    }
    assert methods - {"UnsupervisedSelector", "GramSelector", "RedundancyFilter"} == {*SELECTORS}


def test_ranks_are_those_of_the_results():
    assert table.beaten("RandomSubset", "all sets") == "50"
    assert int(table.beaten("ReconstructionSelector", "reconstruction")) > 50
    assert table.beaten("NotThere", "all sets") == "not measured"
