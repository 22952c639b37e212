"""Pages quote the figures that the benchmarks wrote, and no others."""

from __future__ import annotations

import json
import re
from pathlib import Path

import draw
import figures
import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
# A page that writes measured numbers as they are names the files they stand in. Parameters are code.
SOURCES = re.compile(r"<!-- figures: (.+?) -->", re.DOTALL)
NUMBER = re.compile(r"(?<![\w.,/^⁻])(\d*\.\d+)(?!\w|\.\d)")
# What is not prose: code, formulas, roles, addresses, comments.
ASIDE = re.compile(
    r"<!-- table.*?<!-- end -->|^```.*?^```|^\$\$.*?^\$\$|\$[^$\n]+\$|\{\w+(?::\w+)*\}`[^`]+`|`[^`]+`|\]\([^)]*\)|https?://\S+|<!--.*?-->"
    r"|\b(?:arXiv|doi):\S+|\b(?:Theorem|Python ≥) \d+\.\d+",
    re.MULTILINE | re.DOTALL,
)


PAGES = [page for page in figures.PAGES if page.name not in {"changelog.md", "contributing.md"}]


def numbers_in(value):
    """Yield every number of a result file, also those within text such as ``58.67 ± 4.49``."""
    if isinstance(value, dict):
        yield from (number for entry in value.values() for number in numbers_in(entry))
    elif isinstance(value, list):
        yield from (number for entry in value for number in numbers_in(entry))
    elif isinstance(value, str):
        yield from map(float, re.findall(r"\d*\.\d+|\d+", value))
    elif isinstance(value, int | float):
        yield abs(float(value))


def content(path):
    """Return what a result file holds, or the text of all files of a folder."""
    if path.is_dir():
        return [each.read_text(encoding="utf-8") for each in path.iterdir()]
    return json.loads(path.read_text(encoding="utf-8"))


def is_among(text, numbers):
    """Whether a decimal as it is written is one of the numbers, rounded to as many places."""
    half_a_unit = 0.5 * 10.0 ** -len(text.partition(".")[2])
    return any(abs(number - float(text)) <= half_a_unit * (1 + 1e-9) for number in numbers)


def unknown(text, known):
    """Return the decimals of a page's prose and tables that are not known."""
    quoted = NUMBER.findall(ASIDE.sub(" ", text))
    return sorted({number for number in quoted if not is_among(number, known)})


def test_every_named_figure_is_there():
    for name in figures.names():
        assert re.fullmatch(r"[−+]?[\d,]*\.?\d+", figures.figure(name)), name


def test_every_named_figure_is_quoted():
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    quoted = {name for _, name in figures.MARKED.findall(text)}
    assert {*figures.names()} - quoted == set()


def test_a_figure_that_is_not_there_is_an_error(monkeypatch):
    monkeypatch.setattr(figures, "names", lambda: {"lost": {"at": "unseen/errors/nowhere"}})
    with pytest.raises(KeyError):
        figures.figure("lost")


def test_places_in_lists_tables_and_all_entries(monkeypatch):
    held = {
        "records": [{"data": "a", "share": 0.1, "x": 1.0}, {"data": "a", "share": 0.2, "x": -2.5}],
        "doubled": {"columns": ["ACC", "ACC"], "rows": [["1", "2"]]},
        "table": {"columns": ["data", "ACC"], "rows": [["a", "12.34 ± 5"], ["b", "10.0"]]},
    }
    monkeypatch.setattr(figures, "results", lambda _: held)
    assert figures.look_up("f/records/data=a&share=0.2/x") == -2.5
    assert figures.look_up("f/records/*/x") == [1.0, -2.5]
    assert figures.look_up("f/table/data=a/ACC") == "12.34 ± 5"
    with pytest.raises(ValueError, match="Two columns have one name"):
        figures.look_up("f/doubled/0")
    with pytest.raises(ValueError, match="unpack"):
        figures.look_up("f/records/data=a/x")
    named = {
        "mean": {"at": "f/table/*/ACC", "of": "mean"},
        "loss": {"at": "f/records/1/x", "less": "f/records/0/x", "format": "+.0f"},
        "bare": {"at": "f/records/0/x", "times": 0.5, "format": ".2f", "bare": True},
    }
    monkeypatch.setattr(figures, "names", lambda: named)
    assert [figures.figure(name) for name in named] == ["11.2", "−4", ".50"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_a_page_has_the_numbers_and_tables_of_the_results(page):
    text = page.read_text(encoding="utf-8")
    assert figures.with_figures(text) == text, "run python docs/figures.py"
    heads = re.findall(r"^\|(?: :?-+:? \||-+\|)+$", text, re.MULTILINE)
    assert all(head.count("|") <= 8 for head in heads), "a table has more than seven columns"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_a_page_quotes_no_figure_that_is_not_there(page):
    text = page.read_text(encoding="utf-8")
    files = [name.strip() for names in SOURCES.findall(text) for name in names.split(",")]
    known = [number for name in files for number in numbers_in(content(figures.RESULTS / name))]
    known += [float(re.sub("[−+,]", "", figures.figure(name))) for name in figures.names()]
    assert unknown(text, known) == []


def test_the_check_finds_a_wrong_figure():
    page = "It has 63.2. Not `1.25`, $2.5$ or Theorem 3.1.\n\n```python\nx = 9.9\n```\n"
    assert unknown(page, [63.24]) == []
    assert unknown(page, [63.26]) == ["63.2"]


@pytest.mark.parametrize("name", draw.SCRIPTS)
def test_a_picture_is_drawn_from_what_is_there(name):
    assert draw.digest(name).encode() in (draw.STORED / f"{name}.png").read_bytes(), (
        f"python docs/draw.py {name}"
    )
    assert any(f"_static/pictures/{name}.png" in page.read_text(encoding="utf-8") for page in PAGES)
