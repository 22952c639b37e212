"""How a text table is written: encoding, separator, decimal mark, header."""

from __future__ import annotations

import csv
import gzip
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from ufselect.io.errors import TableError

SAMPLE_BYTES = 1 << 20  # some lines of 100 000 columns, or thousands of short ones
LONGEST_LINE = 64 << 20  # about four million columns
SAMPLE_LINES = 40  # marks and header show in the first lines; more only cost time
SAMPLE_COLUMNS = 2000  # of a wide line; enough to see how numbers are written
STRAY_LINES = 0.1  # share of lines with another number of fields that a separator may leave
DOT_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
COMMA_NUMBER = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?")
COMMA_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?")
DOT_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(\.\d{3})+,\d+")
MISSING = ("?", "-", "–", ".", "n.a.", "N.A.", "k.A.", "k. A.", "missing")
SPREADSHEET_ERRORS = ("#DIV/0!", "#VALUE!", "#REF!", "#NUM!", "#NAME?", "#WERT!", "#NV", "#BEZUG!", "#ZAHL!")


@dataclass(frozen=True)
class Dialect:
    """The way of writing of one text table.

    Attributes
    ----------
    encoding, separator, decimal : str
        As pandas takes them.
    thousands : str or None
        Mark between groups of three digits.
    skip : int
        Lines before the first row of data.
    header : tuple of str or None
        The names as written; None without a header line.
    row_names : bool
        Whether rows begin with a name that has no header, as R writes them.
    line_bytes : float
        Mean length of a line.
    """

    encoding: str
    separator: str
    decimal: str
    thousands: str | None
    skip: int
    header: tuple[str, ...] | None
    row_names: bool
    width: int
    line_bytes: float


def open_binary(path: Path) -> IO[bytes]:
    """Open a file, unpacking gzip on the way."""
    return gzip.open(path, "rb") if path.suffix.lower() == ".gz" else path.open("rb")  # type: ignore[return-value]


def sniff(
    path: Path, separator: str | None = None, decimal: str | None = None, header: bool | None = None
) -> Dialect:
    """Find out how a text table is written; what is given is not guessed.

    Raises
    ------
    TableError
        If the file is empty or not text.
    """
    raw = _sample(path)
    encoding = _encoding(raw, path)
    lines = _records(raw.decode(encoding, errors="ignore"))
    skip = 0
    if lines and lines[0].lower().startswith("sep=") and len(lines[0].strip()) == 5:
        separator = separator or lines[0].strip()[4]
        lines, skip = lines[1:], 1
    while lines and not lines[0].strip():
        lines, skip = lines[1:], skip + 1
    if not lines:
        raise TableError(f"{path} holds no data; give a table with a header line and rows of numbers.")
    complete = lines[: max(2, len(lines) - 1)][:SAMPLE_LINES]  # the last line of the sample may be cut
    separator = separator or _separator(complete)
    rows = [_split(line, separator) for line in complete if line.strip()]
    body = rows[1:] or rows
    mark = decimal or _decimal(body, separator)
    named = _has_header(rows, mark) if header is None else header
    usual = Counter(map(len, rows[1:] or rows)).most_common(1)[0][0]
    row_names = named and len(rows) > 1 and len(rows[0]) == usual - 1 and _row_names(rows[1:])
    return Dialect(
        encoding=encoding,
        separator=separator,
        decimal=mark,
        thousands=_thousands(body, mark),
        skip=skip + int(named),
        header=tuple(rows[0]) if named else None,
        row_names=row_names,
        width=max(usual, len(rows[0])) if named else usual,
        line_bytes=len("\n".join(complete)) / len(complete) + 1,
    )


def _records(text: str) -> list[str]:
    """Return the lines, those within a quoted cell joined."""
    records: list[str] = []
    inside = False
    for line in text.splitlines():
        if inside:
            records[-1] += "\n" + line
        else:
            records.append(line)
        inside ^= line.count('"') % 2 == 1
    return records


def _split(line: str, mark: str) -> list[str]:
    # the csv module refuses cells of more than 128 KiB, which a wrong mark makes of a wide line
    return next(csv.reader([line], delimiter=mark)) if '"' in line else line.split(mark)


def _sample(path: Path) -> bytes:
    """Return the start of the file, with at least two complete lines where there are any."""
    with open_binary(path) as file:
        raw = file.read(SAMPLE_BYTES)
        while raw.count(b"\n") < 3 and len(raw) < LONGEST_LINE:
            more = file.read(SAMPLE_BYTES)
            if not more:
                break
            raw += more
    return raw


def _encoding(raw: bytes, path: Path) -> str:
    if raw.startswith(b"\xef\xbb\xbf"):
        return "utf-8-sig"
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    if b"\x00" in raw:
        raise TableError(f"{path} is not a text file; export the table as csv, parquet or npz.")
    try:
        raw[: raw.rfind(b"\n") + 1 or len(raw)].decode("utf-8")
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"


def _separator(lines: Sequence[str]) -> str:
    """Take the mark that splits the lines into equally many fields; a comma only where no other does."""
    unquoted = [re.sub(r'"[^"]*"', "", line) for line in lines if line.strip()]
    best, fewest_strays = ",", 1.0
    for mark in (";", "\t", "|", ","):
        counts = Counter(line.count(mark) for line in unquoted[1:] or unquoted)
        marks, agreeing = counts.most_common(1)[0]
        strays = 1 - agreeing / counts.total()
        if marks and strays <= STRAY_LINES:
            return mark
        if marks and strays < fewest_strays:
            best, fewest_strays = mark, strays
    return best


def _decimal(rows: Sequence[Sequence[str]], separator: str) -> str:
    """Return "," if numbers are written that way, else "."."""
    commas = dots = grouped = 0
    for cell in _cells(rows):
        if COMMA_NUMBER.fullmatch(cell) or DOT_THOUSANDS.fullmatch(cell):
            commas += 1
            grouped += bool(COMMA_THOUSANDS.fullmatch(cell))
        elif "." in cell and (DOT_NUMBER.fullmatch(cell) or COMMA_THOUSANDS.fullmatch(cell)):
            dots += 1
    if separator == "," and commas == grouped:
        return "."  # "1,234" in a file separated by commas is a grouped number
    return "," if commas > dots else "."


def _thousands(rows: Sequence[Sequence[str]], decimal: str) -> str | None:
    pattern, mark = (DOT_THOUSANDS, ".") if decimal == "," else (COMMA_THOUSANDS, ",")
    return mark if any(pattern.fullmatch(cell) for cell in _cells(rows)) else None


def _cells(rows: Sequence[Sequence[str]]) -> list[str]:
    return [cell.strip() for row in rows for cell in row[:SAMPLE_COLUMNS]]


def _is_number(cell: str, decimal: str) -> bool:
    cell = cell.strip()
    return bool(DOT_NUMBER.fullmatch(cell.replace(decimal, ".") if decimal == "," else cell))


def _has_header(rows: Sequence[Sequence[str]], decimal: str) -> bool:
    """A first line of numbers only is data, unless the rows below hold none."""
    first = [cell for cell in rows[0] if cell.strip()]
    if not first:
        return True
    return not all(_is_number(cell, decimal) for cell in first)


def _row_names(rows: Sequence[Sequence[str]]) -> bool:
    """Tell names before the first field from an empty field after the last."""
    return not all(row[-1].strip() == "" for row in rows)
