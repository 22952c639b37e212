"""The documentation's table says what each selector can do."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from ufselect.registry import all_selectors, missing_requirements

PAGE = Path(__file__).resolve().parents[1] / "docs" / "selector_table.py"


@pytest.fixture(scope="module")
def table():
    pytest.importorskip("docutils", reason="the documentation needs docutils")
    if not PAGE.exists():
        pytest.skip("the documentation is not beside the tests")
    spec = importlib.util.spec_from_file_location("selector_table", PAGE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "selector",
    [pytest.param(each, id=name) for name, each in all_selectors().items() if not missing_requirements(each)],
)
def test_gaps_weights_and_batches_are_as_the_table_says(table, selector):
    said = table.cells(selector)[-2]
    X = np.random.default_rng(0).standard_normal((40, 8))
    gapped = np.where(np.eye(40, 8) > 0, np.nan, X)
    halves = np.arange(40) % 2
    for word, data, given in (
        ("gaps", gapped, {}),
        ("weights", X, {"sample_weight": np.ones(40)}),
        ("batches", X, {"batch": halves}),
    ):
        if word in said:
            selector(3).fit(data, **given)
        else:
            with pytest.raises((TypeError, ValueError), match=r"NaN|into account"):
                selector(3).fit(data, **given)


@pytest.mark.parametrize("name", all_selectors())
def test_wishes_and_the_idea_are_as_the_class_says(table, name):
    selector = all_selectors()[name]
    _, sparse, keep, groups, _, idea = table.cells(selector)
    assert sparse == ("yes" if selector.accepts_sparse else "no")
    assert (keep == "criterion") == ("keep" in selector.honours)
    assert (groups == "criterion") == ("groups" in selector.honours)
    assert idea.endswith(".")
