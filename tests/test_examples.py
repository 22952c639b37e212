"""Every example of the gallery runs and ends in a picture."""

from __future__ import annotations

import runpy
import warnings
from importlib.util import find_spec
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).resolve().parents[1] / "examples").glob("plot_*.py"))
# Packages whose data an example reads; they are in the extra "docs".
DATA_FROM = {"plot_rebuild": "skimage", "plot_rebuild_cells": "scanpy", "plot_rebuild_spectra": "chemotools"}


def test_there_is_a_gallery():
    assert len(EXAMPLES) >= 8


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs_and_shows_a_figure(path, monkeypatch):
    plt = pytest.importorskip("matplotlib.pyplot", reason="the gallery needs matplotlib")
    package = DATA_FROM.get(path.stem)
    if package is not None and find_spec(package) is None:
        pytest.skip(f"{path.stem} reads data of {package}")
    plt.switch_backend("Agg")
    shown = []
    monkeypatch.setattr(plt, "show", lambda: shown.append(plt.gcf()))
    with warnings.catch_warnings():
        runpy.run_path(str(path))
    assert shown
    assert all(axes.has_data() for axes in shown[-1].axes)
    plt.close("all")
