"""Workbooks and tables on their side: both are turned into plain text first, then read as any csv file."""

from __future__ import annotations

import csv
import datetime
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from ufselect.common.extras import import_extra
from ufselect.common.wording import listed
from ufselect.exceptions import TableError
from ufselect.io.damage import readable, refuse_large_archive
from ufselect.io.temporary import TemporaryFolder
from ufselect.io.text import TextOptions, TextRows


class _SpooledRows(TextRows):
    """Text rows in a temporary folder, which lives as long as they do."""

    def __init__(self, lines: Iterable[Sequence[str]], name: str, options: TextOptions) -> None:
        self._folder = TemporaryFolder()
        path = self._folder.path / f"{name}.csv"
        with path.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(lines)
        super().__init__(path, options)


def as_text(path: Path, sheet: str | None, options: TextOptions) -> TextRows:
    """Return the rows of a sheet of an xlsx workbook, the first one if none is named.

    Raises
    ------
    TableError
        If the file is none, or has no such sheet.
    """
    openpyxl = import_extra("openpyxl", "Reading xlsx", "tables")
    with readable(path, "xlsx"):
        refuse_large_archive(path, "export it as csv, which is read by blocks")
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
    try:
        with readable(path, "xlsx"):
            if sheet is not None and sheet not in book.sheetnames:
                raise TableError(f"{path} has no sheet {sheet!r}; it has {listed(book.sheetnames)}.")
            page = book[sheet] if sheet is not None else book.worksheets[0]
            lines = [[_cell(value) for value in row] for row in page.iter_rows(values_only=True)]
    finally:
        book.close()
    told = TextOptions(",", ".", options.header, options.comment, options.missing)
    rows = _SpooledRows(_without_empty_columns(lines), path.stem, told)
    if len(book.sheetnames) > 1 and sheet is None:
        rows.notes.append(f"The sheet {book.sheetnames[0]!r} is read; there are {len(book.sheetnames)}.")
    return rows


def _without_empty_columns(lines: list[list[str]]) -> list[list[str]]:
    """Cut formatted but empty columns at the right, and empty lines."""
    width = max((place + 1 for line in lines for place, cell in enumerate(line) if cell), default=0)
    return [line[:width] for line in lines if any(line)]


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))  # a workbook stores every number as a double
    if isinstance(value, datetime.datetime | datetime.date):
        return value.isoformat()
    return str(value)


def turned(rows: TextRows, options: TextOptions) -> TextRows:
    """Return a table on its side the right way up: names from its first column, ids from its header."""
    pandas = import_extra("pandas", "Turning a table", "cli")
    frame = pandas.concat(list(rows.frames(range(len(rows.names)))))
    header = ["id", *frame.iloc[:, 0]]
    columns = [frame.iloc[:, j].tolist() for j in range(1, frame.shape[1])]
    lines = [header, *([name, *cells] for name, cells in zip(rows.names[1:], columns, strict=True))]
    told = TextOptions(",", rows.decimal, True, None, options.missing)
    return _SpooledRows(lines, rows.path.stem, told)
