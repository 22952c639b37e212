"""Lines of a text table that have fewer fields than the table has columns."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from pathlib import Path

from ufselect.io.compression import open_unpacked
from ufselect.io.dialect import BLANKS, Dialect, split

SHORT = "Too short:"
NAMED = 5  # enough to find the place where the file went wrong


def short_lines_note(path: Path, dialect: Dialect) -> str | None:
    """Return a sentence with the numbers of lines that are too short, None if there are none."""
    expected = _expected(dialect)
    found: list[str] = []
    count = 0
    with open_unpacked(path) as file:
        lines = io.TextIOWrapper(file, encoding=dialect.encoding)
        for number, fields in _field_counts(lines, dialect):
            if fields < expected:
                count += 1
                found += [f"line {number} ({fields})"] if count <= NAMED else []
    if not count:
        return None
    have, they = ("line has", "it lacks") if count == 1 else ("lines have", "they lack")
    more = f" and {count - NAMED} more" if count > NAMED else ""
    return (
        f"{SHORT} {count} {have} fewer fields than the {expected} columns of {path.name}: {', '.join(found)}"
        f"{more}; what {they} is read as missing."
    )


def _expected(dialect: Dialect) -> int:
    if dialect.header is None:
        return dialect.width
    return len(dialect.header) + int(dialect.row_names)


def _field_counts(lines: Iterable[str], dialect: Dialect) -> Iterator[tuple[int, int]]:
    """Yield the number of the first line of each row of data, and how many fields the row has."""
    record, start, seen = "", 0, 0
    for number, line in enumerate(lines, start=1):
        start = start if record else number
        record += line
        if record.count('"') % 2:
            continue  # a quoted cell goes on in the next line
        seen += 1
        text = record if dialect.comment is None else record.partition(dialect.comment)[0]
        record = ""
        if seen > dialect.skip and text.strip():
            yield start, _n_fields(text.rstrip("\r\n"), dialect.separator)


def _n_fields(text: str, separator: str) -> int:
    if separator != BLANKS and '"' not in text:
        return text.count(separator) + 1
    return len(split(text, separator))
