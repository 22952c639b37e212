"""CONTRIBUTING's method, followed to the letter."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from sklearn.utils.estimator_checks import check_estimator

from ufselect import _registry

CONTRIBUTING = Path(__file__).parents[1] / "CONTRIBUTING.md"


@pytest.mark.filterwarnings("ignore::ufselect.exceptions.DominatedByUnitsWarning")
def test_the_method_of_the_page_runs(monkeypatch):
    monkeypatch.setattr(_registry, "_registered", {})
    (code,) = re.findall(r"```python\n(.*?)```", CONTRIBUTING.read_text(encoding="utf-8"), re.DOTALL)
    page = ModuleType("page")
    monkeypatch.setitem(sys.modules, "page", page)  # where pickle looks for the class
    exec(compile(code, str(CONTRIBUTING), "exec", dont_inherit=True), vars(page))
    selector = _registry.all_selectors()["LeastVariance"]
    assert selector is page.LeastVariance
    X = np.diag([1.0, 3.0, 2.0])
    np.testing.assert_array_equal(selector(1).fit(X).support_, [True, False, False])
    np.testing.assert_array_equal(selector(1).partial_fit(X).support_, [True, False, False])
    check_estimator(selector(), on_skip=None)
