"""Copy the tables and figures of a study to where ``docs/reproduction.md`` reads them.

``python benchmarks/reproduction_page.py STUDY`` takes the folder that ``python -m benchmarks.paper -o STUDY``
wrote, and adds a table of the minutes that each part took by its log.
"""

from __future__ import annotations

import io
import re
import sys
from collections import Counter
from datetime import datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "reproduction"
PICTURES = ROOT / "docs" / "_static" / "reproduction"
# A line of progress: when, and which data set or part of the study.
LOGGED = re.compile(r"(?P<time>\S+ [\d:]+),\d+ (?P<part>[\w ]+): ")


def take(study: Path, results: Path = RESULTS, pictures: Path = PICTURES) -> None:
    """Copy what a study has written."""
    for folder in (results, pictures):
        folder.mkdir(parents=True, exist_ok=True)
    for table in (study / "tables").glob("*.md"):
        (results / table.name).write_text(table.read_text(encoding="utf-8"), encoding="utf-8")
    (results / "duration.md").write_text(duration(study / "run.log"), encoding="utf-8")
    for picture in (study / "figures").glob("*.png"):
        (pictures / picture.name).write_bytes(small(picture))


def small(picture: Path, width: int = 1100, colours: int = 64) -> bytes:
    """Return a drawing at the width of a page and with few colours, as PNG."""
    from PIL import Image

    with Image.open(picture) as opened:
        image = opened.convert("RGB")
    if image.width > width:
        image = image.resize((width, round(image.height * width / image.width)), Image.Resampling.LANCZOS)
    out = io.BytesIO()
    image.quantize(colours, method=Image.Quantize.MEDIANCUT).save(out, "PNG", optimize=True)
    return out.getvalue()


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


if __name__ == "__main__":
    take(Path(sys.argv[1]))
