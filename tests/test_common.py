"""scikit-learn's own checks, and the promises that every selector makes."""

from __future__ import annotations

import logging
import re

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from tests.selectors import RUNNABLE
from ufselect import DSCOFS, RandomSubset

SELECTORS = [pytest.param(selector, id=name) for name, selector in RUNNABLE.items()]
# Few rows and sweeps, and a goal whose verdict takes few fits: the checks fit hundreds of times.
SMALL = {"AutoSelector": {"max_samples": 20, "n_clusters": 2}, "TSFS": {"max_iter": 3}}


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([each(**SMALL.get(name, {})) for name, each in RUNNABLE.items()])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    return rng.standard_normal((60, 4)) @ rng.standard_normal((4, 12)) + 0.1 * rng.standard_normal((60, 12))


@pytest.mark.parametrize("selector", SELECTORS)
def test_bad_feature_counts_are_refused(selector, data):
    for bad in (0, 13, 0.0, 1.5, "many", True):
        with pytest.raises((ValueError, TypeError), match="n_features_to_select"):
            selector(n_features_to_select=bad).fit(data)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("selector", SELECTORS)
def test_constant_columns_come_last(selector, data):
    constant = data.copy()
    constant[:, [0, 5]] = 3.25
    fitted = selector(n_features_to_select=5).fit(constant)
    assert np.all(np.isfinite(fitted.scores_))
    assert set(fitted.ranking_[[0, 5]]) == {11, 12} or selector is RandomSubset


@pytest.mark.parametrize("selector", SELECTORS)
def test_what_tables_pages_and_editors_read_is_there(selector):
    """Every attribute in the docstring is annotated on the class or a base, or is a property."""
    assert selector.label
    assert selector.cost
    assert "Parameters" in selector.__doc__
    assert ">>>" in selector.__doc__
    section = selector.__doc__.partition("Attributes\n----------\n")[2].partition("\n\n")[0]
    documented = {name for line in re.findall(r"(?m)^(\w.*_) : ", section) for name in line.split(", ")}
    annotated = {name for base in selector.__mro__ for name in vars(base).get("__annotations__", {})}
    assert {"scores_", "ranking_", "support_"} <= documented
    assert documented <= annotated | set(dir(selector))


@pytest.mark.filterwarnings("ignore")
def test_verbose_leaves_the_log_as_it_was(data, capsys):
    logger = logging.getLogger("ufselect")
    before = (list(logger.handlers), logger.level)
    root = logging.getLogger()
    kept, root.handlers = root.handlers, []  # pytest's own, which would count as set up by the user
    try:
        DSCOFS(5, verbose=True).fit(data)
    finally:
        root.handlers = kept
    assert "DSCOFS: iteration 1" in capsys.readouterr().err
    assert (list(logger.handlers), logger.level) == before
