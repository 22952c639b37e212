"""Keep the tables that a benchmark prints.

``python benchmarks/scale.py | python benchmarks/record.py scaling``

Every benchmark prints Markdown. This reads it, passes it on, and writes the tables to
``benchmarks/results/NAME.json``, each under the heading above it (numbered where a heading has several), as
``columns`` and ``rows``, with version and commit of the code as ``code``. Tables under headings that are not
printed this time stay. The documentation inserts them from there.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable
from pathlib import Path

RESULTS = Path(__file__).resolve().parent / "results"


def cells(line: str) -> list[str]:
    """Return the cells of a line of a Markdown table."""
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def tables(lines: Iterable[str]) -> dict[str, dict[str, list]]:
    """Return the tables of a Markdown text by their headings."""
    found: dict[str, dict[str, list]] = {}
    heading, rows = "table", []
    for line in [*lines, ""]:
        if line.startswith("|"):
            rows.append(cells(line))
            continue
        if rows:
            columns, _, *body = rows
            count = sum(name == heading or name.startswith(f"{heading}, ") for name in found)
            found[heading if not count else f"{heading}, {count + 1}"] = {"columns": columns, "rows": body}
            rows = []
        if line.startswith("#"):
            heading = line.lstrip("# ").strip()
    return found


def main() -> None:
    from common import code_version  # here, since others import the reader of tables without the package

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", help="of the file in benchmarks/results, without .json")
    path = RESULTS / f"{parser.parse_args().name}.json"
    printed = []
    for line in sys.stdin:
        sys.stdout.write(line)
        printed.append(line.rstrip("\n"))
    known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    found = {heading: {"code": code_version(), **table} for heading, table in tables(printed).items()}
    text = json.dumps(known | found, indent=1, ensure_ascii=False)
    path.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
