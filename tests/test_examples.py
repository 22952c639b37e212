"""Every example of the gallery runs and ends in a picture."""

from __future__ import annotations

import ast
import runpy
import warnings
from importlib.util import find_spec
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).resolve().parents[1] / "examples").rglob("plot_*.py"))


def test_there_is_a_gallery():
    assert len(EXAMPLES) >= 8


def imported(path):
    """Return the packages that an example imports at its top level."""
    nodes = ast.parse(path.read_text(encoding="utf-8")).body
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module for node in nodes if isinstance(node, ast.ImportFrom)]
    return {name.partition(".")[0] for name in names}


def test_packages_are_found_in_either_form_of_import():
    (path,) = (path for path in EXAMPLES if path.stem == "plot_spectra")
    assert {"matplotlib", "chemotools", "sklearn", "ufselect"} <= imported(path)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs_and_shows_a_figure(path, monkeypatch):
    plt = pytest.importorskip("matplotlib.pyplot", reason="the gallery needs matplotlib")
    absent = [name for name in imported(path) if find_spec(name) is None]
    if absent:
        pytest.skip(f"the example needs {', '.join(absent)}, which the extra docs brings")
    plt.switch_backend("Agg")
    shown = []
    monkeypatch.setattr(plt, "show", lambda: shown.append(plt.gcf()))
    with warnings.catch_warnings():
        runpy.run_path(str(path))
    assert shown
    assert all(axes.has_data() for axes in shown[-1].axes)
    plt.close("all")
