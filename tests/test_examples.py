"""Every example of the gallery runs and ends in a picture."""

from __future__ import annotations

import ast
import runpy
import warnings
from importlib.util import find_spec
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).resolve().parents[1] / "examples").rglob("plot_*.py"))


def absent(path):
    """Return the packages that an example imports and that are not installed; the extra "docs" has them all."""
    imports = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Import | ast.ImportFrom)]
    modules = [getattr(node, "module", None) or node.names[0].name for node in imports]
    return sorted({name for name in (module.split(".")[0] for module in modules) if find_spec(name) is None})


def test_there_is_a_gallery():
    assert len(EXAMPLES) >= 8


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs_and_shows_a_figure(path, monkeypatch):
    plt = pytest.importorskip("matplotlib.pyplot", reason="the gallery needs matplotlib")
    if absent(path):
        pytest.skip(f"{path.stem} needs {', '.join(absent(path))}")
    plt.switch_backend("Agg")
    shown = []
    monkeypatch.setattr(plt, "show", lambda: shown.append(plt.gcf()))
    with warnings.catch_warnings():
        runpy.run_path(str(path))
    assert shown
    assert all(axes.has_data() for axes in shown[-1].axes)
    plt.close("all")
