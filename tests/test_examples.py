"""Every example of the gallery runs and ends in a picture."""

from __future__ import annotations

import runpy
import warnings
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).resolve().parents[1] / "examples").rglob("plot_*.py"))


def test_there_is_a_gallery():
    assert len(EXAMPLES) >= 8


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs_and_shows_a_figure(path, monkeypatch):
    plt = pytest.importorskip("matplotlib.pyplot", reason="the gallery needs matplotlib")
    plt.switch_backend("Agg")
    shown = []
    monkeypatch.setattr(plt, "show", lambda: shown.append(plt.gcf()))
    with warnings.catch_warnings():
        runpy.run_path(str(path))
    assert shown
    assert all(axes.has_data() for axes in shown[-1].axes)
    plt.close("all")
