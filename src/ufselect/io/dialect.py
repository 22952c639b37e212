"""How a text table is written: encoding, separator, decimal mark, header, comments, units."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from ufselect.common.wording import Setting
from ufselect.exceptions import TableError
from ufselect.io.compression import open_unpacked
from ufselect.io.numbers import LAB_TOKENS, MISSING, read_number

SAMPLE_BYTES = 1 << 20  # some lines of 100 000 columns, or thousands of short ones
LONGEST_LINE = 64 << 20  # about four million columns
SAMPLE_LINES = 40  # marks and header show in the first lines; more only cost time
SAMPLE_COLUMNS = 2000  # of a wide line; enough to see how numbers are written
STRAY_LINES = 0.1  # share of lines with another number of fields that a separator may leave
DECIMALS_SHARE = 0.9  # so many cells below must have decimals for a line of whole numbers to be names
UNITS_SHARE = 0.5  # so many columns of numbers must begin with a word for a line of units
BLANKS = r"\s+"  # runs of blanks between fields, as pandas names them
DOT_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
COMMA_NUMBER = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?")
COMMA_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?")
DOT_GROUPS = re.compile(r"[+-]?[1-9]\d{0,2}(\.\d{3})+")
DOT_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(\.\d{3})+,\d+")


@dataclass(frozen=True)
class Dialect:
    """The way of writing of one text table.

    Attributes
    ----------
    encoding, separator, decimal : str
        As pandas takes them; the separator ``BLANKS`` means runs of blanks.
    skip : int
        Lines before the first row of data.
    header : tuple of str or None
        The names as written; None without a header line.
    row_names : bool
        Whether rows begin with a name that has no header, as R writes them.
    width : int
        Number of columns.
    line_bytes : float
        Mean length of a line.
    comment : str or None
        What begins a remark.
    remarks : int
        Lines of remarks before the table.
    units : tuple of str
        The units under the header, empty without such a line.
    spaced : bool
        Whether a space stands between a separator and a quote.
    """

    encoding: str
    separator: str
    decimal: str
    skip: int
    header: tuple[str, ...] | None
    row_names: bool
    width: int
    line_bytes: float
    comment: str | None = None
    remarks: int = 0
    units: tuple[str, ...] = ()
    spaced: bool = False


def written_mark(dialect: Dialect) -> str:
    """Return what to write between fields to write as a table was written."""
    return " " if dialect.separator == BLANKS else dialect.separator


def sniff(
    path: Path,
    separator: str | None = None,
    decimal: str | None = None,
    header: bool | None = None,
    comment: str | None = None,
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
    remarks = _remarks(lines, comment)
    lines, skip = lines[remarks:], skip + remarks
    while lines and not lines[0].strip():
        lines, skip = lines[1:], skip + 1
    if comment is not None:
        lines = [line.partition(comment)[0] for line in lines if not line.startswith(comment)]
    if not lines:
        raise TableError(f"{path} holds no data; give a table with a header line and rows of numbers.")
    complete = lines[: max(2, len(lines) - 1)][:SAMPLE_LINES]  # the last line of the sample may be cut
    if separator is None and decimal is None and _one_column_of_comma_numbers(complete):
        separator, decimal = ";", ","
    separator = separator or _separator(complete)
    rows = [split(line, separator) for line in complete if line.strip()]
    rows[0] = _without_remark_mark(rows[0])
    mark = decimal or _decimal(rows[1:] or rows, separator)
    named = _has_header(rows, mark) if header is None else header
    usual = Counter(map(len, rows[1:] or rows)).most_common(1)[0][0]
    row_names = named and len(rows) > 1 and len(rows[0]) == usual - 1 and _row_names(rows[1:])
    units = tuple(rows[1]) if named and _is_units_line(rows[1:], mark) else ()
    width = max(usual, len(rows[0])) if named else usual
    n_above = int(named) + bool(units)
    _refuse_long_first_row(rows[n_above:], width, skip + n_above + 1, path)
    return Dialect(
        encoding=encoding,
        separator=separator,
        decimal=mark,
        skip=skip + int(named) + bool(units),
        header=tuple(rows[0]) if named else None,
        row_names=row_names,
        width=width,
        line_bytes=len("\n".join(complete)) / len(complete) + 1,
        comment=comment,
        remarks=remarks,
        units=units,
        spaced=any(f'{separator} "' in line for line in complete),
    )


def _without_remark_mark(names: list[str]) -> list[str]:
    """Take "# " off the first name: programs that write arrays put the names in a remark."""
    if names[0].strip() == "#" and len(names) > 1:
        return names[1:]
    return [names[0][2:], *names[1:]] if names[0].startswith("# ") else names


def _remarks(lines: Sequence[str], comment: str | None) -> int:
    """Count the lines before the table that begin with the comment mark, or with "#" unlike a header."""
    count = 0
    while count < len(lines) and lines[count].startswith(comment or "#"):
        count += 1
    if comment is not None or count == 0 or count == len(lines):
        return count
    # "#id,a,b" over lines with as many fields is a header that begins so
    mark = _separator(lines[count : count + SAMPLE_LINES])
    fields = len(split(lines[count], mark))
    above = len(_without_remark_mark(split(lines[count - 1], mark)))
    return count - 1 if fields > 1 and above == fields else count


def _one_column_of_comma_numbers(lines: Sequence[str]) -> bool:
    body = [line.strip() for line in lines[1:] if line.strip()]
    return bool(body) and "," not in lines[0] and all(COMMA_NUMBER.fullmatch(line) for line in body)


def _is_units_line(rows: Sequence[Sequence[str]], decimal: str) -> bool:
    """Whether the first row holds words where the rows below hold numbers, in most of such columns."""
    if len(rows) < 3:
        return False
    width = min(min(map(len, rows)), SAMPLE_COLUMNS)
    below = [[row[j] for row in rows[1:] if not _missing(row[j])] for j in range(width)]
    numeric = [j for j in range(width) if below[j] and all(_is_number(cell, decimal) for cell in below[j])]
    words = [j for j in numeric if not _missing(rows[0][j]) and not _is_number(rows[0][j], decimal)]
    return len(words) > UNITS_SHARE * len(numeric)


def _missing(cell: str) -> bool:
    return cell.strip() in MISSING or cell.strip() in LAB_TOKENS


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


def split(line: str, mark: str) -> list[str]:
    """Return the fields of a line."""
    if mark == BLANKS:
        return [cell.strip('"') for cell in re.findall(r'"[^"]*"|\S+', line)]
    if '"' not in line:
        return line.split(mark)
    try:
        return next(csv.reader([line], delimiter=mark))
    except csv.Error:
        # A quote within a cell quotes nothing, and a cell of more than 128 KiB comes of a wrong mark: neither
        # says where fields end. Whether the file can be read is for its reader to say.
        return line.split(mark)


def _sample(path: Path) -> bytes:
    """Return the start of the file, with at least two complete lines where there are any."""
    with open_unpacked(path) as file:
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
    """Take the mark that splits the lines into equally many fields; commas and blanks where no other does."""
    body = [line for line in lines if line.strip()]
    strays = {mark: _strays(body, mark) for mark in (",", ";", "\t", "|")}
    for mark in (";", "\t", "|"):
        if strays[mark] <= STRAY_LINES:
            return mark
    agreeing = [","] if strays[","] <= STRAY_LINES else []
    agreeing += [BLANKS] if _are_blank_separated(body) else []
    if not agreeing:
        return min(strays, key=lambda mark: strays[mark])
    # "1,5 2,5" is two numbers between blanks, "s 1,2" a name and a number between commas
    return max(agreeing, key=lambda mark: _numbers(body, mark))


def _strays(lines: Sequence[str], mark: str) -> float:
    """Return the share of lines below the first that have another number of marks; 1 if most have none."""
    unquoted = [re.sub(r'"[^"]*"', "", line) for line in lines]
    counts = Counter(line.count(mark) for line in unquoted[1:] or unquoted)
    marks, agreeing = counts.most_common(1)[0]
    return 1 - agreeing / counts.total() if marks else 1.0


def _are_blank_separated(lines: Sequence[str]) -> bool:
    """Whether lines have equally many fields between blanks, numbers among them, under at least two names."""
    first = len(_without_remark_mark(split(lines[0], BLANKS)))
    below = [len(split(line, BLANKS)) for line in lines[1:]]
    if first < 2 or not below:
        return False
    fields, agreeing = Counter(below).most_common(1)[0]
    equal = agreeing >= (1 - STRAY_LINES) * len(below) and first in (fields, fields - 1)
    return equal and _numbers(lines, BLANKS) > 0


def _numbers(lines: Sequence[str], mark: str) -> float:
    """Return the share of numbers among the fields below the first line."""
    cells = [cell for line in lines[1:] for cell in split(line, mark)[:SAMPLE_COLUMNS]]
    return sum(_is_number(cell, ".") or _is_number(cell, ",") for cell in cells) / max(1, len(cells))


def _decimal(rows: Sequence[Sequence[str]], separator: str) -> str:
    """Return "," if numbers are written that way, else "."."""
    commas = dots = grouped = 0
    for cell in _cells(rows):
        if COMMA_NUMBER.fullmatch(cell) or DOT_THOUSANDS.fullmatch(cell):
            commas += 1
            grouped += bool(COMMA_THOUSANDS.fullmatch(cell))
        elif DOT_GROUPS.fullmatch(cell):
            continue  # "850.772" may have a decimal point, or a mark between thousands
        elif "." in cell and (DOT_NUMBER.fullmatch(cell) or COMMA_THOUSANDS.fullmatch(cell)):
            dots += 1
    if separator == "," and commas == grouped:
        return "."  # "1,234" in a file separated by commas is a grouped number
    return "," if commas > dots else "."


def _cells(rows: Sequence[Sequence[str]]) -> list[str]:
    return [cell.strip() for row in rows for cell in row[:SAMPLE_COLUMNS]]


def _is_number(cell: str, decimal: str) -> bool:
    return read_number(cell, decimal) is not None


def _refuse_long_first_row(rows: list[list[str]], width: int, line: int, path: Path) -> None:
    """Refuse a first row with too many fields, of which pandas would drop the last; it refuses later ones.

    Raises
    ------
    TableError
        With the line.
    """
    if rows and any(cell.strip() for cell in rows[0][width:]):
        raise TableError(
            f"Line {line} of {path} has {len(rows[0])} fields where {width} are expected; correct that line, "
            "or name the separator with ",
            Setting("separator"),
            ".",
        )


def _has_header(rows: Sequence[Sequence[str]], decimal: str) -> bool:
    """A first line of numbers only is data, unless it holds whole numbers in order over decimals."""
    first = [cell for cell in rows[0] if cell.strip()]
    if not first:
        return True
    return not all(_is_number(cell, decimal) for cell in first) or _are_numbered_names(rows, decimal)


def _are_numbered_names(rows: Sequence[Sequence[str]], decimal: str) -> bool:
    """Whether the first line holds years or wavelengths: whole, rising, over rows of decimal numbers."""
    first = [cell.strip() for cell in rows[0]]
    if len(rows) < 3 or len(first) < 3 or not all(cell.isdecimal() for cell in first):
        return False
    rising = all(int(a) < int(b) for a, b in pairwise(first))
    body = _cells(rows[1:])
    return rising and sum(decimal in cell for cell in body) > DECIMALS_SHARE * len(body)


def _row_names(rows: Sequence[Sequence[str]]) -> bool:
    """Tell names before the first field from an empty field after the last."""
    return not all(row[-1].strip() == "" for row in rows)
