"""The page on the paper's experiments holds what the results hold."""

from __future__ import annotations

import importlib.util
import re
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


def test_the_page_is_filled_from_the_results(page):
    text = page.PAGE.read_text(encoding="utf-8")
    assert page.filled(text) == text
    assert "@@" not in text


def test_each_printed_figure_leads_to_its_reason(page):
    text = page.PAGE.read_text(encoding="utf-8")
    targets = set(re.findall(r"^\(([\w-]+)\)=$", text, re.M))
    links = set(re.findall(r"\(#(why-[\w-]+)\)", text))
    assert links
    assert links <= targets
    for name in page.AGAINST:
        assert len(page.against(name)) == 2 + 8 * 9  # head, rule, eight sets by nine methods


def test_pictures_are_there_and_small(page):
    text = page.PAGE.read_text(encoding="utf-8")
    pictures = re.findall(r"\((_static/reproduction/\w+\.png)\)", text)
    files = [ROOT / "docs" / picture for picture in pictures]
    assert files
    assert sum(path.stat().st_size for path in files) < 1.5e6


def test_blocks_are_replaced_whole(page, tmp_path, monkeypatch):
    monkeypatch.setattr(page, "RESULTS", tmp_path)
    (tmp_path / "toy.md").write_text("**A title.**\n\n| a |\n| --- |\n| 1 |\n", encoding="utf-8")
    (tmp_path / "captions.json").write_text('{"fig": {"title": "T", "caption": "C."}}', encoding="utf-8")
    text = "x\n<!-- table: toy -->\nold\n<!-- end -->\ny\n<!-- figure: fig -->\n<!-- end -->\n"
    found = page.filled(text)
    assert "\nA title.\n\n| a |\n| --- |\n| 1 |\n\n<!-- end -->" in found
    assert "![T](_static/reproduction/fig.png)\n\n*C.*" in found
    assert "old" not in found
    assert page.filled(found) == found


def test_rows_against_the_paper_lead_to_reasons(page, tmp_path, monkeypatch):
    monkeypatch.setattr(page, "RESULTS", tmp_path)
    rows = ["USPS | SPCA-PSD | 65.38 | 65.32", "MSTAR_SOC_CNN | UDFS | 78.15 | not available"]
    table = "\n".join(f"| {line} |" for line in ("Data set | Method | Paper | Here", "- | - | - | -", *rows))
    (tmp_path / "acc_against_paper.md").write_text(f"**T**\n\n{table}\n", encoding="utf-8")
    assert page.against("acc_against_paper") == [
        "| Data set | Method | Paper | Here | Why |",
        "| - | - | - | - | --- |",
        f"| {rows[0]} | [SPCA-PSD](#why-spca-psd) |",
        f"| {rows[1]} | [MSTAR](#why-mstar) |",
    ]


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


def test_columns_in_which_nothing_is_available_are_left_out(page):
    lines = [
        "| a | b | c |",
        "| --- | --- | --- |",
        "| 1 | not available | 2 |",
        "| 3 | not available | not available |",
    ]
    assert page.without_empty(lines) == ["| a | c |", "| --- | --- |", "| 1 | 2 |", "| 3 | not available |"]
