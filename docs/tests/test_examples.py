"""The gallery, once it is built: Sphinx runs every example and stops at an error; each must show a figure."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "examples").rglob("plot_*.py"))
BUILT = ROOT / "docs" / "auto_examples"


def test_there_is_a_gallery():
    assert len(EXAMPLES) >= 8


@pytest.mark.skipif(not BUILT.exists(), reason="the documentation has not been built here")
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_shows_a_figure(path):
    pictures = BUILT / path.parent.name / "images"
    assert (pictures / f"sphx_glr_{path.stem}_001.png").stat().st_size > 5000
