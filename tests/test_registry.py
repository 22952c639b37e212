"""The registry: an explicit list, open to selectors from outside the package."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import BaseEstimator

import ufselect
from ufselect import GramSelector, RedundancyFilter, UnsupervisedSelector, _registry, register
from ufselect._registry import SELECTORS, all_selectors
from ufselect.compare import compare


class LeastVariance(GramSelector):
    """A method that nobody needs."""

    label = "Least variance"
    cost = "n d"

    def __init__(self, n_features_to_select=0.1):
        self.n_features_to_select = n_features_to_select

    def _fit_gram(self, gram, request):
        return -gram.diag()


@pytest.fixture(autouse=True)
def own_list(monkeypatch):
    monkeypatch.setattr(_registry, "_registered", {})


def test_every_public_selector_is_listed():
    selectors = {getattr(ufselect, name) for name in SELECTORS}
    public = {
        value
        for value in (getattr(ufselect, name) for name in ufselect.__all__)
        if isinstance(value, type) and issubclass(value, UnsupervisedSelector)
    }
    # a filter has no number of columns to compare at
    assert selectors == public - {UnsupervisedSelector, GramSelector, RedundancyFilter}
    assert [selector.__name__ for selector in all_selectors().values()] == sorted(SELECTORS)
    assert {"register", "GramSelector", "dscofs_path", "__version__"} <= set(ufselect.__all__)


def test_type_checkers_see_every_public_name():
    """They cannot follow the registry, so that ``__init__.py`` imports the names for them."""
    tree = ast.parse(inspect.getsource(ufselect))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {(name.asname, line.module) for line in block.body for name in line.names}
    assert seen == set(_registry.PUBLIC.items())


def test_one_selector_comes_without_the_others_and_without_dask():
    script = (
        "import sys, numpy; from ufselect import DSCOFS; DSCOFS(3).fit(numpy.random.rand(30, 9)); "
        "print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "ufselect.dscofs.estimator" in loaded
    assert not loaded & {"ufselect.published.udfs", "ufselect.auto", "ufselect.io.text", "ufselect.plotting"}
    assert not loaded & {"dask", "distributed", "matplotlib"}


def test_a_registered_selector_is_known():
    assert register(LeastVariance) is LeastVariance
    assert all_selectors()["LeastVariance"] is LeastVariance
    register(LeastVariance)  # as when a notebook's cell runs again
    rng = np.random.default_rng(0)
    table = compare(rng.standard_normal((30, 6)), np.arange(30) % 2, ["LeastVariance"], [2], n_runs=2)
    assert {"LeastVariance", "RandomSubset", "PCALeverage"} <= {row["method"] for row in table.rows}


def test_a_package_offers_selectors_by_an_entry_point(tmp_path, monkeypatch):
    """As installed: a module, and beside it the metadata that pip writes."""
    (tmp_path / "least.py").write_text(
        "from ufselect import GramSelector\n" + inspect.getsource(LeastVariance)
    )
    metadata = tmp_path / "least-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: least\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[ufselect.selectors]\nLeastVariance = least:LeastVariance\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert all_selectors()["LeastVariance"].__module__ == "least"
    monkeypatch.delitem(sys.modules, "least")


@pytest.mark.parametrize(
    ("attributes", "bases", "message"),
    [
        ({}, (BaseEstimator,), "not a subclass"),
        ({"label": "x", "cost": "y"}, (GramSelector,), "does not implement _fit_gram"),
        ({"label": ""}, (LeastVariance,), "no label"),
    ],
)
def test_what_is_no_selector_is_refused(attributes, bases, message):
    with pytest.raises(TypeError, match=message):
        register(type("Odd", bases, attributes))


def test_a_name_can_be_taken_once():
    with pytest.raises(ValueError, match="Another selector is called DSCOFS"):
        register(type("DSCOFS", (LeastVariance,), {}))


def test_rooms_and_displays_come_from_the_top_level():
    import ufselect

    assert ufselect.preprocessing.AutoScaler is not None
    assert ufselect.ScoresDisplay.from_estimator is not None
