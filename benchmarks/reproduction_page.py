"""Fill the tables and figures of ``docs/reproduction.md`` from the results of ``python -m benchmarks.paper``.

``python benchmarks/reproduction_page.py --take FOLDER`` copies the tables and figures of a study into
``results/reproduction`` and ``docs/_static/reproduction``, and fills the page. Without ``--take`` the page is
filled from what is there, and ``--check`` only tells whether that would change it.

A table of the time that each part took comes from the log of the run.

In the page, what stands between ``<!-- table: NAME -->`` or ``<!-- figure: NAME -->`` and ``<!-- end -->`` is
replaced. Tables against the paper get a last column that leads to the reason of each difference.
"""

from __future__ import annotations

import argparse
import io
import json
import re
import sys
from collections import Counter
from datetime import datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "reproduction.md"
RESULTS = ROOT / "benchmarks" / "results" / "reproduction"
PICTURES = ROOT / "docs" / "_static" / "reproduction"
MARK = re.compile(r"(<!-- (table|figure): (\w+) -->\n).*?(<!-- end -->)", re.S)
# A line of progress: when, and which data set or part of the study.
LOGGED = re.compile(r"(?P<time>\S+ [\d:]+),\d+ (?P<part>[\w ]+): ")
AGAINST = ("acc_against_paper", "nmi_against_paper")
# Pixels across: what a page shows; and colours, since drawings have few.
WIDTH, COLOURS = 1100, 64


def take(study: Path) -> None:
    """Copy what a study has written."""
    for folder in (RESULTS, PICTURES):
        folder.mkdir(parents=True, exist_ok=True)
    for table in (study / "tables").glob("*.md"):
        (RESULTS / table.name).write_text(table.read_text(encoding="utf-8"), encoding="utf-8")
    (RESULTS / "duration.md").write_text(duration(study / "run.log"), encoding="utf-8")
    captions = study / "figures" / "captions.json"
    if captions.exists():
        (RESULTS / "captions.json").write_text(captions.read_text(encoding="utf-8") + "\n", encoding="utf-8")
        for picture in (study / "figures").glob("*.png"):
            (PICTURES / picture.name).write_bytes(small(picture))


def small(picture: Path) -> bytes:
    """Return a drawing at the width of a page and with few colours, as PNG."""
    from PIL import Image

    image = Image.open(picture).convert("RGB")
    if image.width > WIDTH:
        image = image.resize((WIDTH, round(image.height * WIDTH / image.width)), Image.Resampling.LANCZOS)
    out = io.BytesIO()
    image.quantize(COLOURS, method=Image.Quantize.MEDIANCUT).save(out, "PNG", optimize=True)
    return out.getvalue()


def filled(page: str) -> str:
    """Return the page with every mark filled."""
    return MARK.sub(lambda found: found[1] + block(found[2], found[3]) + found[4], page)


def block(kind: str, name: str) -> str:
    """Return a table with its title, or a picture with its caption."""
    if kind == "figure":
        words = json.loads((RESULTS / "captions.json").read_text(encoding="utf-8"))[name]
        return f"\n![{words['title']}](_static/reproduction/{name}.png)\n\n*{words['caption']}*\n\n"
    title, table = (RESULTS / f"{name}.md").read_text(encoding="utf-8").split("\n\n", 1)
    lines = against(name) if name in AGAINST else without_empty(table.strip().split("\n"))
    return f"\n{title.strip('*')}\n\n" + "\n".join(lines) + "\n\n"


def without_empty(lines: list[str]) -> list[str]:
    """Leave out the columns of a table in which nothing is available."""
    head, rule, *rows = map(cells_of, lines)
    filled = [place for place in range(len(head)) if any(row[place] != "not available" for row in rows)]
    return [f"| {' | '.join(cells[place] for place in filled)} |" for cells in (head, rule, *rows)]


def against(name: str) -> list[str]:
    """Return a table against the paper, with links to the reasons."""
    head, rule, *rows = rows_of(RESULTS / f"{name}.md")
    return [head + " Why |", rule + " --- |", *(f"{row} {reason(cells_of(row))} |" for row in rows)]


def duration(log: Path) -> str:
    """Return the minutes that each part of a run took by its log, as a table in Markdown."""
    minutes: Counter[str] = Counter()
    before = None
    for line in log.read_text(encoding="utf-8").splitlines():
        found = LOGGED.match(line)
        if found is None:
            continue
        now = datetime.fromisoformat(found["time"])
        minutes[found["part"]] += (now - (before or now)).total_seconds() / 60
        before = now
    rows = "\n".join(f"| {part} | {spent:.1f} |" for part, spent in minutes.items())
    total = f"| all | {minutes.total():.1f} |"
    return f"**What the run took, by its log.**\n\n| Part | Minutes |\n| --- | --- |\n{rows}\n{total}\n"


def rows_of(path: Path) -> list[str]:
    """Return the lines of a table in Markdown, without its title."""
    return path.read_text(encoding="utf-8").split("\n\n", 1)[1].strip().split("\n")


def cells_of(line: str) -> list[str]:
    """Return the cells of a line."""
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def reason(cells: list[str]) -> str:
    """Return a link to the section that explains a row."""
    dataset, method = cells[:2]
    target = "MSTAR" if dataset.startswith("MSTAR") else method
    return f"[{target}](#why-{slug(target)})"


def slug(words: str) -> str:
    """Return words as the end of an anchor."""
    return re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-")


def main() -> int:
    """Take, fill or check."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--take", type=Path, help="folder of a study whose tables and figures are copied first"
    )
    parser.add_argument(
        "--check", action="store_true", help="change nothing; fail if the page is not up to date"
    )
    chosen = parser.parse_args()
    if chosen.take:
        take(chosen.take)
    page = PAGE.read_text(encoding="utf-8")
    if chosen.check:
        return int(filled(page) != page)
    PAGE.write_text(filled(page), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
