"""The page on the paper's experiments holds what the results hold."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
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


def test_rows_of_the_earlier_run_fill_the_gaps(page, tmp_path, monkeypatch):
    monkeypatch.setattr(page, "RESULTS", tmp_path)
    new = [
        "Data set | Method | Paper | Here, as the paper ran it | Difference | Verdict | Here, ours",
        " | ".join(["---"] * 7),
        "USPS | UDFS | 59.52 | 59.20 | -0.32 | within | –",
    ]
    old = [
        "Data set | Method | Here | Paper | Difference | Verdict",
        " | ".join(["---"] * 6),
        "USPS | UDFS | 50.90 | 59.52 | -8.62 | below",
        "USPS | SOGFS | 56.67 | 55.58 | +1.09 | at or above",
        "MSTAR_SOC_CNN | UDFS | not available | 78.15 | – | –",
    ]
    for name, lines in (("acc_against_paper", new), ("earlier_acc_against_paper", old)):
        table = "\n".join(f"| {line} |" for line in lines)
        (tmp_path / f"{name}.md").write_text(f"**T**\n\n{table}\n", encoding="utf-8")
    lines = page.against("acc_against_paper")
    assert lines[2].startswith("| USPS | UDFS | 59.52 | 59.20 |")
    assert lines[2].endswith("[UDFS](#why-udfs) |")
    assert lines[3].startswith("| USPS | SOGFS | 55.58 | 56.67 † | +1.09 |")
    assert lines[4].endswith("[MSTAR](#why-mstar) |")
    assert len(lines) == 5


def test_columns_in_which_nothing_is_available_are_left_out(page):
    lines = [
        "| a | b | c |",
        "| --- | --- | --- |",
        "| 1 | not available | 2 |",
        "| 3 | not available | not available |",
    ]
    assert page.without_empty(lines) == ["| a | c |", "| --- | --- |", "| 1 | 2 |", "| 3 | not available |"]
