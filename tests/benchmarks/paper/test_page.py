"""A study's tables and figures reach the page on the paper's experiments."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
SCRIPT = ROOT / "benchmarks" / "reproduction_page.py"


@pytest.fixture(scope="module")
def page():
    if not SCRIPT.exists():
        pytest.skip("not a checkout")
    spec = importlib.util.spec_from_file_location("reproduction_page", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_tables_and_small_pictures_are_taken(page, tmp_path):
    image = pytest.importorskip("PIL.Image")
    study, results, pictures = (tmp_path / name for name in ("study", "results", "pictures"))
    for folder in ("tables", "figures"):
        (study / folder).mkdir(parents=True)
    (study / "run.log").write_text("", encoding="utf-8")
    (study / "tables" / "toy.md").write_text("**T**\n\n| a |\n| --- |\n| 1 |\n", encoding="utf-8")
    image.new("RGB", (3000, 300)).save(study / "figures" / "toy.png")
    page.take(study, results, pictures)
    assert "| 1 |" in (results / "toy.md").read_text(encoding="utf-8")
    with image.open(pictures / "toy.png") as picture:
        assert picture.size == (1100, 110)


def test_minutes_come_from_the_log(page, tmp_path):
    log = tmp_path / "run.log"
    log.write_text(
        "2026-01-01 10:00:00,500 MSTAR is not on this machine.\n"
        "2026-01-01 10:01:00,000 coil20: fits 1/3\n"
        "2026-01-01 10:02:30,000 coil20: fits 2/3\n"
        "2026-01-01 10:03:30,000 usps: scores\n"
        "2026-01-01 10:05:00,000 coil20: stability\n",
        encoding="utf-8",
    )
    table = page.duration(log)
    assert "| coil20 | 3.0 |\n| usps | 1.0 |\n| all | 4.0 |" in table
