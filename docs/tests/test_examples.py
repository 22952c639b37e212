"""The gallery: links into it resolve and, once it is built, every example shows a figure."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "examples").rglob("plot_*.py"))
BUILT = ROOT / "docs" / "auto_examples"
LINK = re.compile(r"auto_examples/(\w+/plot_\w+)")


def test_links_into_the_gallery_lead_to_an_example():
    pages = [path for path in (ROOT / "docs").rglob("*.md") if BUILT not in path.parents]
    linked = {name for page in pages for name in LINK.findall(page.read_text(encoding="utf-8"))}
    assert linked
    assert linked <= {f"{path.parent.name}/{path.stem}" for path in EXAMPLES}


@pytest.mark.skipif(not BUILT.exists(), reason="the documentation has not been built here")
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_shows_a_figure(path):
    pictures = BUILT / path.parent.name / "images"
    assert (pictures / f"sphx_glr_{path.stem}_001.png").stat().st_size > 5000
