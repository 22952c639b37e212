"""What is said of the package in several places is the same in all of them."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

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
