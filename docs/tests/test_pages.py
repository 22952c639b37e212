"""The code on the pages runs as pasted, each page by itself, and prints what the page says."""

from __future__ import annotations

import doctest
import json
import re
import shlex
import subprocess
import sys
import warnings
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest
import sklearn
from joblib import parallel_config

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PAGES = [
    page
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    if not {"_build", "auto_examples"} & set(page.parts) and "```python" in page.read_text(encoding="utf-8")
]
# Their method is followed to the letter by tests/test_contributing.py.
PAGES = [page for page in PAGES if page.stem != "contributing"]
SAME = doctest.OutputChecker()
NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?")
# Above a text block, for what differs from one machine to the next: how far its numbers may be off.
TOLERANCE = re.compile(r"<!-- tolerance: (\S+) -->\s*\Z")


def blocks(page):
    """Return language, text and tolerance of the fenced blocks of a page."""
    content = page.read_text(encoding="utf-8")
    for block in BLOCK.finditer(content):
        tolerance = TOLERANCE.search(content[: block.start()])
        yield *block.groups(), float(tolerance[1]) if tolerance else 0.0


def is_same(said, true, tolerance):
    """Whether a page shows what is printed: the same words, and numbers within the tolerance."""
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    if not tolerance:
        return SAME.check_output(said, true, flags)
    numbers = [[*map(float, NUMBER.findall(each))] for each in (said, true)]
    words = (NUMBER.sub("#", each) for each in (said, true))
    return SAME.check_output(*words, flags) and numbers[0] == pytest.approx(numbers[1], abs=tolerance, rel=0)


def test_there_are_pages_with_code():
    assert len(PAGES) >= 6
    assert sum(language == "python" for page in PAGES for language, *_ in blocks(page)) >= 10


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_code_runs_as_pasted(page, tmp_path, monkeypatch):
    """All Python blocks of a page, in order, in one namespace; a text block after one is what it prints."""
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("Agg")
    monkeypatch.chdir(tmp_path)
    with sklearn.config_context():  # a page may set scikit-learn's configuration
        run(page)
    plt.close("all")


def run(page):
    """Run the blocks of a page, and compare what they print; a warning is printed where it is raised."""
    namespace = {"__name__": "__main__"}
    printed = ""
    for language, text, tolerance in blocks(page):
        if language == "text" and printed:
            assert is_same(text, printed, tolerance), f"{page.name} prints\n{printed}"
            printed = ""
        elif language == "python":
            assert "Warning: " not in printed, f"{page.name} does not show\n{printed}"
            # Threads, for processes start more slowly than they fit.
            with (
                parallel_config("threading"),
                warnings.catch_warnings(),
                redirect_stdout(StringIO()) as output,
            ):
                warnings.simplefilter("default")
                warnings.showwarning = lambda message, category, *_: print(f"{category.__name__}: {message}")
                exec(compile(text, str(page), "exec", dont_inherit=True), namespace)
            printed = output.getvalue()
    assert "Warning: " not in printed, f"{page.name} does not show\n{printed}"


def test_numbers_are_compared():
    assert is_same("0.74 of 20\n", "0.74 of 20\n", 0.0)
    assert not is_same("0.74 of 20\n", "0.75 of 20\n", 0.0)
    assert is_same("0.74 of 20\n", "0.75 of 20\n", 0.02)
    assert not is_same("0.74 of 20\n", "0.77 of 20\n", 0.02)


def test_the_first_result_on_the_command_line(tmp_path, monkeypatch):
    """The commands of the page of the first result, on the table that it writes."""
    page = ROOT / "docs" / "start" / "first_result.md"
    write_table, *_ = (text for language, text, _ in blocks(page) if language == "python")
    commands = "".join(text for language, text, _ in blocks(page) if language == "sh").splitlines()
    monkeypatch.chdir(tmp_path)
    exec(write_table, {"__name__": "__main__"})
    for command in commands:
        program, *arguments = shlex.split(command)
        subprocess.run([sys.executable, "-m", program, *arguments], check=True, capture_output=True)
    assert {"selected.csv", "selected.json", "page.html"} <= {path.name for path in tmp_path.iterdir()}
    record = json.loads((tmp_path / "selected.json").read_text(encoding="utf-8"))
    shown = next(text for language, text, _ in blocks(page) if language == "console")
    for feature in record["result"]["features"]:
        assert re.search(rf"^ +{feature['name']}  ", shown, re.MULTILINE)
    for line in (record["message"], *record["assumed"]):
        assert " ".join(line.split()) in " ".join(shown.split())
