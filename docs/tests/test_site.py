"""The site's parts are there: what it links, ships and says of itself."""

from __future__ import annotations

import importlib
import json
import re
import zlib
from pathlib import Path

import pytest
from external_names import inventories

import ufselect

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
EXAMPLES = ROOT / "examples"


@pytest.fixture(scope="module")
def settings():
    return (DOCS / "conf.py").read_text(encoding="utf-8")


def test_tasks_come_before_methods_in_the_header(settings):
    home = (DOCS / "index.md").read_text(encoding="utf-8")
    words = re.findall(r"^(\w+) <", home.rpartition("{toctree}")[2], re.MULTILINE)
    assert words[:6] == ["Start", "Tasks", "Methods", "Data", "Trust", "API"]
    assert '"header_links_before_dropdown": 6' in settings


def test_the_switcher_knows_this_version():
    entries = json.loads((DOCS / "_static" / "switcher.json").read_text(encoding="utf-8"))
    assert ufselect.__version__ in {entry["version"] for entry in entries}


def test_mathjax_is_shipped_with_its_licence(settings):
    folder = DOCS / "_static" / "mathjax"
    (path,) = re.findall(r'mathjax_path = "(.+)"', settings)
    assert (DOCS / "_static" / path).stat().st_size > 1e5
    assert "Apache License" in (folder / "LICENSE").read_text(encoding="utf-8")
    assert sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) < 2e6


def test_every_folder_of_the_gallery_has_its_place_and_its_words(settings):
    placed = re.findall(r'"\.\./examples/(\w+)"', settings)
    there = {path.parent.name for path in EXAMPLES.rglob("plot_*.py")}
    assert there <= set(placed)
    assert not [*EXAMPLES.glob("plot_*.py")], "an example belongs into a section"
    assert all((EXAMPLES / name / "GALLERY_HEADER.rst").exists() for name in placed)


def test_every_public_name_is_in_the_reference():
    page = (DOCS / "api.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^   ([\w.]+)$", page, re.MULTILINE))
    assert set(ufselect.__all__) - {"__version__"} <= listed
    for room in ("metrics", "plotting", "report", "compare", "datasets", "pipeline"):
        names = set(importlib.import_module(f"ufselect.{room}").__all__)
        assert names <= listed, room


def test_names_of_other_projects_need_no_network():
    for address, path in inventories().values():
        assert address.startswith("https://")
        *head, packed = Path(path).read_bytes().split(b"\n", 4)
        assert head[0] == b"# Sphinx inventory version 2"
        assert zlib.decompress(packed).count(b" py:") >= 1


def test_files_and_packages_that_contributors_are_sent_to_exist():
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`(?:src/ufselect/)?((?:\w+/)+(?:\w+\.py)?|\w+\.py)`", page))
    elsewhere = ("src/", "tests/", "docs/", "benchmarks/", "examples/")
    paths = [(ROOT if name.startswith(elsewhere) else ROOT / "src" / "ufselect") / name for name in named]
    assert len(paths) > 10
    assert [path for path in paths if not path.exists()] == []
