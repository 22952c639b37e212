"""What is said of the package in several places is the same in all of them."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

import ufselect

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def text(name):
    return (ROOT / name).read_text(encoding="utf-8")


def test_one_version_everywhere():
    assert f"\nversion: {ufselect.__version__}\n" in text("CITATION.cff")
    assert f"\n  version: {ufselect.__version__}\n" in text("conda/recipe.yaml")
    assert f"version = {{{ufselect.__version__}}}" in text("docs/index.md")
    assert f"## {ufselect.__version__}" in text("CHANGELOG.md")


def test_the_conda_recipe_has_the_floors_of_the_project():
    """And of the command line, which it installs too."""
    floors = {*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["cli"]}
    recipe = {
        line.replace(" ", "") for line in re.findall(r"(?m)^    - (\S+ >=\S+)$", text("conda/recipe.yaml"))
    }
    assert recipe - {"python>=3.11"} == {floor.replace("matplotlib>", "matplotlib-base>") for floor in floors}
    assert PROJECT["requires-python"] == ">=3.11"


def test_type_checkers_know_what_fit_returns(tmp_path, monkeypatch):
    """Through the decorators that stand on `fit`."""
    mypy = pytest.importorskip("mypy.api", reason="mypy is no test dependency")
    calls = {
        "DSCOFS(5).fit": "DSCOFS",
        "DSCOFS(5).partial_fit": "DSCOFS",
        "LaplacianScore(5).fit": "LaplacianScore",
        "Reconstructor(DSCOFS(5)).fit": "Reconstructor",
        "StableSelector(DSCOFS(5)).fit": "StableSelector",
    }
    names = ", ".join(set(calls.values()))
    lines = ["from typing import assert_type", f"from ufselect import {names}", "X = [[1.0]]"]
    lines += [f"assert_type({call}(X), {name})" for call, name in calls.items()]
    (tmp_path / "user.py").write_text("\n".join(lines), encoding="utf-8")
    monkeypatch.setenv("MYPYPATH", str(Path(ufselect.__file__).parents[1]))
    options = ["--config-file=", "--ignore-missing-imports", "--follow-imports=silent"]
    said, errors, code = mypy.run([*options, f"--cache-dir={tmp_path}", str(tmp_path / "user.py")])
    assert code == 0, said + errors
