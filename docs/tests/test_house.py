"""The contributor's page names files and rooms that exist."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "ufselect"


def test_files_and_rooms_of_the_page_exist():
    page = (ROOT / "docs" / "house.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`(?:src/ufselect/)?((?:\w+/)+(?:\w+\.py)?|\w+\.py)`", page))
    assert named
    elsewhere = ("src/", "tests/", "docs/", "benchmarks/", "examples/")
    paths = [(ROOT if name.startswith(elsewhere) else PACKAGE) / name for name in sorted(named)]
    assert [path for path in paths if not path.exists()] == []
