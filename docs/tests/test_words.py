"""Pages and examples use one term for one thing, such as reconstruct, held-out rows and random columns."""

from __future__ import annotations

import io
import re
import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# What to write instead, by what is not written. Public names such as `goal="rebuild"` are code.
BANNED = {
    r"rebuil(d|ds|t|ding)": "reconstruct",
    r"(bring|brings|come|comes) back": "reconstruct",
    r"rows (that were )?left out": "held-out rows",
    r"(took|take|takes|played) no part": "held-out, or not used",
    r"looked at once": "evaluated once",
    r"gaps": "missing values",
    r"random subsets?": "random columns",
    r"(random|blind) draws?": "random columns",
    r"picked": "selected",
    r"wish(es)?": "constraint",
    r"honou?rs?": "meets the constraint",
    r"stands? (in )?for": "represents",
    r"sa(y|ys) (nearly )?the same": "redundant",
    r"dearer": "slower",
    r"bent": "nonlinear",
}
# What is not prose: fenced blocks, code, roles, formulas, addresses and comments.
ASIDE = re.compile(
    r"^(`{3,})(?!`).*?^\1`*$|\{\w+(?::\w+)*\}`[^`]+`|`[^`\n]+`|\$[^$\n]+\$|\]\([^)]*\)|<!--.*?-->",
    re.MULTILINE | re.DOTALL,
)
PAGES = [
    page
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
    if not {"_build", "auto_examples", "generated"} & {*page.parts}
]
EXAMPLES = sorted((ROOT / "examples").rglob("*.py"))
HEADERS = sorted((ROOT / "examples").rglob("*.rst"))


def banned(text):
    """Return each banned phrase of the prose of a page, with what to write instead."""
    prose = " ".join(ASIDE.sub(" ", text).split())
    return [
        f"{found.group()} → {instead}"
        for words, instead in BANNED.items()
        for found in re.finditer(rf"\b{words}\b", prose, re.IGNORECASE)
    ]


def prose_of(code):
    """Return what a reader of an example sees beside code: comments, and strings of several words."""
    tokens = tokenize.generate_tokens(io.StringIO(code).readline)
    kinds = {"COMMENT", "STRING", "FSTRING_MIDDLE"}  # the last from Python 3.12 on
    parts = [token.string for token in tokens if tokenize.tok_name[token.type] in kinds]
    return "\n".join(part.lstrip("#") for part in parts if len(part.split()) > 1)


@pytest.mark.parametrize("page", [*PAGES, *HEADERS], ids=lambda page: page.relative_to(ROOT).as_posix())
def test_a_page_keeps_to_the_terms(page):
    assert banned(page.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_keeps_to_the_terms(path):
    assert banned(prose_of(path.read_text(encoding="utf-8"))) == []


def test_the_check_reads_prose_and_not_code():
    page = 'Random\nsubsets. `goal="rebuild"`\n\n```sh\nufselect select -o picked.csv\n```\n\nGaps.\n'
    assert banned(page) == ["Gaps → missing values", "Random subsets → random columns"]
    code = '"""Random\nsubsets."""\n# rows left\n# out\nrebuilt = assess(goal="rebuild")\nx = "all gaps"\n'
    assert banned(prose_of(code)) == [
        "rows left out → held-out rows",
        "gaps → missing values",
        "Random subsets → random columns",
    ]
