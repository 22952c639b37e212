"""Figures of the documentation, as the benchmarks wrote them to ``benchmarks/results``.

``figures.toml`` gives each figure a name, which a page writes in a comment behind the number. A table stands
between two comments, of which the first has its file and heading, and the columns to show if not all.
``python docs/figures.py`` writes numbers and tables of all pages anew, so that they read as well in the
repository as on the site.
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import Any

HERE = Path(__file__).resolve().parent
RESULTS = HERE.parent / "benchmarks" / "results"
PAGES = [
    page
    for page in [HERE.parent / "README.md", *sorted(HERE.rglob("*.md"))]
    if not {"_build", "auto_examples", "generated"} & {*page.parts}
]
# A number, or a range of them, with the name of its figure in a comment behind it.
MARKED = re.compile(r"([−+\d.,–]+)<!--\s*([\w]+)\s*-->")
TABLE = re.compile(r"(<!-- table( and commit)?: (.+?) -->\n).*?(<!-- end -->)", re.DOTALL)
SUMMARIES = {"min": min, "max": max, "mean": fmean}


@cache
def names() -> Mapping[str, Any]:
    """Return what ``figures.toml`` says of each figure."""
    return tomllib.loads((HERE / "figures.toml").read_text(encoding="utf-8"))


@cache
def results(stem: str) -> Any:
    """Return the content of a result file, or the tables of a folder of Markdown files by their names."""
    if (RESULTS / stem).is_dir():
        return {path.stem: _table_in(path) for path in sorted((RESULTS / stem).glob("*.md"))}
    return json.loads((RESULTS / f"{stem}.json").read_text(encoding="utf-8"))


def _table_in(path: Path) -> dict[str, Any]:
    """Return the table of a Markdown file, with the code that its last line names."""
    *lines, last = path.read_text(encoding="utf-8").splitlines()
    columns, _, *rows = (
        [cell.strip() for cell in line.strip("| ").split("|")] for line in lines if line.startswith("|")
    )
    return {"columns": columns, "rows": rows, "code": last.removeprefix("Code: ")}


def look_up(path: str) -> Any:
    """Return what stands at a place of a result file.

    The first step is the file. A step into a list, or into a table with ``columns`` and ``rows``, is a
    number, or ``key=value`` for the record that has it; several, with ``&`` between them, must hold
    together. The step ``*`` goes to all entries at once and gives a list.
    """
    file, *steps = path.split("/")
    return _follow(results(file), steps)


def look_up_table(path: str) -> Mapping[str, list]:
    """Return a table of a result file, named by file and heading, as its ``columns`` and ``rows``."""
    file, _, heading = path.partition("/")
    return results(file)[heading]


def _follow(content: Any, steps: list[str]) -> Any:
    content = _records_of(content)
    if not steps:
        return content
    step, *further = steps
    if step == "*":
        entries = content.values() if isinstance(content, Mapping) else content
        return [_follow(entry, further) for entry in entries]
    return _follow(_record(content, step) if isinstance(content, list) else content[step], further)


def _records_of(content: Any) -> Any:
    """Return a table with ``columns`` and ``rows`` as a list of records; anything else as it is."""
    if isinstance(content, Mapping) and {"columns", "rows"} <= content.keys():
        if len({*content["columns"]}) < len(content["columns"]):
            raise ValueError(f"Two columns have one name: {content['columns']}.")
        return [dict(zip(content["columns"], row, strict=True)) for row in content["rows"]]
    return content


def number(value: Any) -> Any:
    """Return the leading number of a cell such as ``58.67 ± 4.49``; what is no text as it is."""
    return float(value.split()[0].rstrip("%").replace("−", "-")) if isinstance(value, str) else value


def _record(records: list, step: str) -> Any:
    if "=" not in step:
        return records[int(step)]
    request = dict(condition.split("=", 1) for condition in step.split("&"))
    (match,) = (
        record for record in records if all(str(record[key]) == value for key, value in request.items())
    )
    return match


def figure(name: str) -> str:
    """Return a figure as it is to be read."""
    spec = names()[name]
    value = _value(spec, "at")
    if "less" in spec:
        value -= _value(spec, "less")
    text = format(value * spec.get("times", 1), spec.get("format", ".1f"))
    return text.removeprefix("0") if spec.get("bare") else text.replace("-", "−")


def _value(spec: Mapping[str, Any], place: str) -> float:
    """Return the number at a place, or a summary of all numbers there, or at several places."""
    if "of" not in spec:
        return number(look_up(spec[place]))
    places = [spec[place]] if isinstance(spec[place], str) else spec[place]
    values = [each for one in places for each in look_up(one)]
    return len(values) if spec["of"] == "count" else SUMMARIES[spec["of"]]([*map(number, values)])


def marked(text: str) -> list[tuple[str, str, str]]:
    """Return number, name and true figure of every marked number of a text."""
    return [(number, name, figure(name)) for number, name in MARKED.findall(text)]


def with_figures(text: str) -> str:
    """Return a text with every marked number and table as the result files have it."""
    text = TABLE.sub(lambda match: f"{match[1]}{markdown(match[3], bool(match[2]))}{match[4]}", text)
    return MARKED.sub(lambda match: f"{figure(match[2])}<!--{match[2]}-->", text)


def markdown(place: str, with_commit: bool = False) -> str:
    """Return the lines of a table: of a result file, without empty columns, or that of the selectors."""
    code = ""
    if place == "selectors":
        from selector_table import rows_of_selectors  # imports the package

        columns, *rows = rows_of_selectors()
    else:
        place, _, chosen = place.partition(", columns: ")
        table = look_up_table(place)
        code = f"\n*Code: {table['code']}*\n" if with_commit else ""
        shown = [
            column
            for column in range(len(table["columns"]))
            if any(row[column] != "not available" for row in table["rows"])
            and (not chosen or table["columns"][column] in chosen.split("; "))
        ]
        columns, *rows = ([each[column] for column in shown] for each in (table["columns"], *table["rows"]))
    # a number and its uncertainty stay in one line, by spaces that do not break
    cells = [[re.sub(" ([±→]) ", "\u00a0\\1\u00a0", str(cell)) for cell in row] for row in rows]
    lines = (f"| {' | '.join(row)} |\n" for row in (columns, ["---"] * len(columns), *cells))
    return "".join(lines) + code


if __name__ == "__main__":
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        if (renewed := with_figures(text)) != text:
            page.write_text(renewed, encoding="utf-8")
            sys.stdout.write(f"{page.relative_to(HERE.parent)}\n")
