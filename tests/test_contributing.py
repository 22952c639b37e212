"""CONTRIBUTING's method and its walks, followed to the letter."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.utils.estimator_checks import check_estimator

import ufselect
from ufselect import _registry
from ufselect.cli.app import run

CONTRIBUTING = Path(__file__).parents[1] / "CONTRIBUTING.md"
# A call and, in code behind it, the files that it enters; a call named there stands for its own files.
_, _, SECTION = CONTRIBUTING.read_text(encoding="utf-8").partition("## What runs when")
WALK = re.compile(r"^- `(.+?)`: (.+?)(?=\n- |\s*\Z)", re.MULTILINE | re.DOTALL)
WALKS = dict(WALK.findall(SECTION.partition("\n## ")[0]))


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


def named_files(call):
    names = re.findall(r"`([^`]+)`", WALKS[call])
    files = {name for name in names if name.endswith((".py", ".html"))}
    return files.union(*(named_files(name) for name in names if name in WALKS))


def entered_files(function):
    """Return the files of the package whose functions run."""
    folder, files = f"{Path(ufselect.__file__).parent}{os.sep}", set()

    def note(frame, event, _):
        file = frame.f_code.co_filename
        if event == "call" and file.startswith(folder) and frame.f_code.co_name != "<module>":
            files.add(Path(file).relative_to(folder).as_posix())

    sys.setprofile(note)
    try:
        function()
    finally:
        sys.setprofile(None)
    return files - {"__init__.py"}


@pytest.mark.parametrize("call", WALKS)
def test_a_walk_names_every_file_that_is_entered(call, tmp_path, monkeypatch):
    pytest.importorskip("jinja2")
    monkeypatch.chdir(tmp_path)
    load_breast_cancer(as_frame=True).data.to_csv("table.csv", index=False)
    names = {"X": load_digits().data, **{name: getattr(ufselect, name) for name in ufselect.__all__}}

    def function():
        if call.startswith("ufselect "):
            run([*call.split()[1:], "--force"])
        else:
            eval(call, names)

    function()  # imports and caches
    assert entered_files(function) == named_files(call)
