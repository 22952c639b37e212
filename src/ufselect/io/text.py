"""Tables in text files: detect how they are written, and read rows in blocks. Workbooks are read as text."""

from __future__ import annotations

import codecs
import csv
import datetime
import io
import logging
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

import numpy as np

from ufselect._utils.imports import import_extra
from ufselect._utils.validation import listed
from ufselect.exceptions import TableError
from ufselect.io.files import open_unpacked, packed_as
from ufselect.io.numbers import LAB_TOKENS, MISSING, PLAIN, Missing, bare_number, read_number
from ufselect.io.table import SHORT, ReadOptions, distinct_names

BLOCK_BYTES = 48 << 20  # of text; as numbers about as much again
SAMPLE_BYTES = 1 << 20  # some lines of 100 000 columns, or thousands of short ones
SAMPLE_LINES = 40  # enough to detect separator and header
SAMPLE_COLUMNS = 2000  # of a wide line; enough to see how numbers are written
STRAY_LINES = 0.1  # share of lines with another number of fields that a separator may leave
REMARK_MARKS = ("#", "%")  # of comments above a table
BLANKS = r"\s+"  # runs of blanks between fields, as pandas names them
COMMA_NUMBER = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?")
COMMA_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?")
DOT_GROUPS = re.compile(r"[+-]?[1-9]\d{0,2}(\.\d{3})+")
DOT_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(\.\d{3})+,\d+")
logger = logging.getLogger("ufselect.io")


@dataclass(frozen=True)
class Dialect:
    """How one text table is written."""

    encoding: str
    separator: str  # BLANKS for runs of blanks
    decimal: str
    above: str  # text before the first row of data
    header: tuple[str, ...] | None  # the names as written
    row_names: bool  # whether rows begin with a name that has no header, as R writes them
    width: int  # number of columns
    line_bytes: float  # mean length of a line
    line_end: bytes = b"\n"
    comment: str | None = None  # mark that begins a comment
    units: tuple[str, ...] = ()  # under the header
    spaced: bool = False  # whether there is a space between a separator and a quote
    notes: tuple[str, ...] = ()  # what was detected
    doubts: tuple[str, ...] = ()  # what may be wrong

    @property
    def mark(self) -> str:
        """The separator to write, as in the table."""
        return " " if self.separator == BLANKS else self.separator


def sniff(raw: bytes, path: Path, options: ReadOptions) -> Dialect:
    """Detect from its first bytes how a text table is written, unless options say so."""
    if options.separator is not None and len(options.separator) != 1 and options.separator != BLANKS:
        raise TableError(f"--separator must be one character, not {options.separator!r}.")
    encoding = _encoding(raw, path)
    text = raw.decode(encoding, errors="ignore")
    lines, ends = _records(text)
    comment, separator, decimal, skip = options.comment, options.separator, options.decimal, 0
    if lines and lines[0].lower().startswith("sep=") and len(lines[0].strip()) == 5:
        separator = separator or lines[0].strip()[4]
        lines, skip = lines[1:], 1
    lines, skip = lines[options.skip_rows or 0 :], skip + (options.skip_rows or 0)
    remarks = _remarks(lines, comment)
    lines, skip = lines[remarks:], skip + remarks
    while lines and not lines[0].strip():
        lines, skip = lines[1:], skip + 1
    if comment is not None:
        lines = [line.partition(comment)[0] for line in lines if not line.startswith(comment)]
    if not lines:
        raise TableError(f"{path} holds no data; give a table with a header line and rows of numbers.")
    complete = lines[: max(2, len(lines) - 1)][:SAMPLE_LINES]  # the last line of the sample may be cut
    below = [line.strip() for line in complete[1:] if line.strip()]
    one_column = below and "," not in complete[0] and all(COMMA_NUMBER.fullmatch(line) for line in below)
    if one_column and separator is None and decimal is None:
        separator, decimal = ";", ","
    separator = separator or _separator(complete)
    rows = [split(line, separator) for line in complete if line.strip()]
    titles = _titles(rows) if options.skip_rows is None else 0
    if titles:
        first = [place for place, line in enumerate(complete) if line.strip()][titles]
        complete, rows, skip = complete[first:], rows[titles:], skip + first
    rows[0] = _without_remark_mark(rows[0])
    decimal = decimal or _decimal(rows[1:] or rows, separator)
    usual = Counter(map(len, rows[1:] or rows)).most_common(1)[0][0]
    named, is_doubtful = (
        _has_header(rows, decimal, usual) if options.header is None else (options.header, False)
    )
    shorter = named and len(rows) > 1 and len(rows[0]) == usual - 1
    units = tuple(rows[1]) if named and _is_units_line(rows[1:], decimal) else ()
    doubts, notes = _header_notes(rows[0] if named else None, decimal, is_doubtful)
    if decimal == ",":
        notes.append("Numbers are read with a decimal comma (--decimal . to change).")
    if titles:
        lines_above = (" ".join(split(line, separator)).strip() for line in lines[:first])
        are = f"The first {first} lines are" if first > 1 else "The first line is"
        words = " / ".join(filter(None, lines_above))
        notes.append(f'{are} left out as a title, "{words}" (--skip-rows to change).')
    if remarks:
        were = "comment line before the table was" if remarks == 1 else "comment lines before the table were"
        notes.append(f"{remarks} {were} left out.")
    if units:
        words = listed(list(dict.fromkeys(unit.strip() for unit in units if unit.strip())))
        notes.append(f"The line under the names holds units ({words}) and is not read as a row.")
    if not encoding.startswith("utf"):
        words = "Windows-1252" if encoding == "cp1252" else encoding
        notes.append(f"The file is not UTF-8 and is read as {words}; check names with accents.")
    return Dialect(
        encoding=encoding,
        separator=separator,
        decimal=decimal,
        above=text[: ends[min(skip + named + bool(units), len(ends) - 1)]],
        header=tuple(rows[0]) if named else None,
        # unless the longer lines end in an empty field
        row_names=shorter and not all(row[-1].strip() == "" for row in rows[1:]),
        width=max(usual, len(rows[0])) if named else usual,
        line_bytes=len("\n".join(complete)) / len(complete) + 1,
        line_end=b"\n" if b"\n" in raw else b"\r",
        comment=comment,
        units=units,
        spaced=any(f'{separator} "' in line for line in complete),
        notes=tuple(notes),
        doubts=tuple(doubts),
    )


def _header_notes(
    names: Sequence[str] | None, decimal: str, is_doubtful: bool
) -> tuple[list[str], list[str]]:
    """Return what to say first and what to note about a first line of numbers."""
    notes = []
    if names is None:
        notes.append("The first line holds numbers, so it is read as data (--header if it holds names).")
    elif all(_is_number(name, decimal) for name in names if name.strip()):
        words = "The first line holds numbers that look like names, such as years or wavelengths"
        notes.append(f"{words} (--no-header if it is data).")
    return (notes, []) if is_doubtful else ([], notes)


def _encoding(raw: bytes, path: Path) -> str:
    if raw.startswith(b"\xef\xbb\xbf"):
        return "utf-8-sig"
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    if b"\x00" in raw:
        raise TableError(f"{path} is not a text file; export the table as csv, parquet or npz.")
    try:
        raw[: raw.rfind(b"\n") + 1 or len(raw)].decode("utf-8")
        return "utf-8"
    except UnicodeDecodeError:
        try:
            from charset_normalizer import from_bytes
        except ImportError:
            return "cp1252"
        # It recognises Cyrillic and East Asian code pages, but mistakes short Western texts for others.
        pages = ["cp1252", "cp1250", "cp1251", "cp1253", "shift_jis", "gb18030", "euc_kr", "big5"]
        best = from_bytes(raw[: 1 << 16], cp_isolation=pages).best()
        is_western = len(re.findall(rb"[A-Za-z]", raw)) > len(re.findall(rb"[\x80-\xff]", raw))
        return "cp1252" if best is None or (is_western and best.encoding[:4] == "cp12") else best.encoding


def _records(text: str) -> tuple[list[str], list[int]]:
    """Return the lines, joined within quoted cells, and the offsets where they begin and the last ends."""
    records: list[str] = []
    ends, inside = [0], False
    for whole in re.findall("[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+$", text):
        line, end = whole.rstrip("\r\n"), ends[-1] + len(whole)
        if inside:
            records[-1] += "\n" + line
            ends[-1] = end
        else:
            records.append(line)
            ends.append(end)
        inside ^= line.count('"') % 2 == 1
    return records, ends


def _remarks(lines: Sequence[str], comment: str | None) -> int:
    """Count the comment lines before the table; a header that begins with "#" is none."""
    count = 0
    while count < len(lines) and lines[count].startswith(comment or REMARK_MARKS):
        count += 1
    if comment is not None or count == 0 or count == len(lines):
        return count
    # "#id,a,b" above lines with as many fields is a header
    mark = _separator(lines[count : count + SAMPLE_LINES])
    fields = len(split(lines[count], mark))
    above = len(_without_remark_mark(split(lines[count - 1], mark)))
    return count - 1 if fields > 1 and above == fields else count


def _without_remark_mark(names: list[str]) -> list[str]:
    """Remove "# " from the first name: programs that write arrays put the names in a comment."""
    if names[0].strip() in REMARK_MARKS and len(names) > 1:
        return names[1:]
    return [names[0][2:], *names[1:]] if names[0][:1] in REMARK_MARKS and names[0][1:2] == " " else names


def split(line: str, mark: str) -> list[str]:
    """Return the fields of a line."""
    if mark == BLANKS:
        return [cell.strip('"') for cell in re.findall(r'"[^"]*"|\S+', line)]
    if '"' not in line:
        return line.split(mark)
    try:
        return next(csv.reader([line], delimiter=mark))
    except csv.Error:
        # A stray quote, or a cell above 128 KiB because of a wrong separator; the reader refuses bad files.
        return line.split(mark)


def _separator(lines: Sequence[str]) -> str:
    """Return the mark that splits lines into equally many fields; commas and blanks only if no other does."""
    body = [line for line in lines if line.strip()]
    unquoted = [re.sub(r'"[^"]*"', "", line) for line in body[1:] or body]

    def strays(mark: str) -> float:
        """Return the share of lines below the first with another number of marks; 1 if most have none."""
        counts = Counter(line.count(mark) for line in unquoted)
        marks, agreeing = counts.most_common(1)[0]
        return 1 - agreeing / counts.total() if marks else 1.0

    def numbers(mark: str) -> float:
        """Return the share of numbers among the fields below the first line."""
        cells = [cell for line in body[1:] for cell in split(line, mark)[:SAMPLE_COLUMNS]]
        return sum(_is_number(cell, ".") or _is_number(cell, ",") for cell in cells) / max(1, len(cells))

    for mark in (";", "\t", "|"):
        if strays(mark) <= STRAY_LINES:
            return mark
    agreeing = [","] if strays(",") <= STRAY_LINES else []
    first = len(_without_remark_mark(split(body[0], BLANKS)))
    below = Counter(len(split(line, BLANKS)) for line in body[1:])
    if first >= 2 and below:
        fields, alike = below.most_common(1)[0]
        if alike >= (1 - STRAY_LINES) * below.total() and first in (fields, fields - 1) and numbers(BLANKS):
            agreeing.append(BLANKS)
    if not agreeing:
        return min((",", ";", "\t", "|"), key=strays)
    # "1,5 2,5" is two numbers between blanks, "s 1,2" a name and a number between commas
    return agreeing[0] if len(agreeing) == 1 else max(agreeing, key=numbers)


def _titles(rows: Sequence[Sequence[str]]) -> int:
    """Count the lines above the names with a third of the usual cells or fewer, such as a title."""
    filled = [sum(bool(cell.strip()) for cell in row) for row in rows]
    usual = Counter(filled).most_common(1)[0][0]
    first = next(place for place, count in enumerate(filled) if 3 * count > usual)
    return first if usual >= 3 and first < len(rows) - 1 else 0


def _decimal(rows: Sequence[Sequence[str]], separator: str) -> str:
    """Return "," if numbers are written that way, else "."."""
    commas = dots = grouped = 0
    for cell in (bare_number(cell)[0] for row in rows for cell in row[:SAMPLE_COLUMNS]):
        if COMMA_NUMBER.fullmatch(cell) or DOT_THOUSANDS.fullmatch(cell):
            commas += 1
            grouped += bool(COMMA_THOUSANDS.fullmatch(cell))
        elif DOT_GROUPS.fullmatch(cell):
            continue  # "850.772" may have a decimal point, or a mark between thousands
        elif "." in cell and (PLAIN["."].fullmatch(cell) or COMMA_THOUSANDS.fullmatch(cell)):
            dots += 1
    if separator == "," and commas == grouped:
        return "."  # "1,234" in a file separated by commas is a grouped number
    return "," if commas > dots else "."


def _is_number(cell: str, decimal: str) -> bool:
    return read_number(cell, decimal) is not None


def _has_header(rows: Sequence[Sequence[str]], decimal: str, usual: int) -> tuple[bool, bool]:
    """Whether the first line holds names, words or numbers such as wavelengths; whether that is in doubt."""
    first = [cell.strip() for cell in rows[0]]
    named = [cell for cell in first if cell]
    if not all(_is_number(cell, decimal) for cell in named) or not named:
        return True, False
    if len(rows) < 3 or len(named) < 3 or len(set(named)) < len(named):
        return False, False
    is_rising = _is_rising(named, decimal)
    if len(first) == usual - 1 or (not first[0] and len(named) == len(first) - 1):
        # pandas and R leave the field above row names empty
        return is_rising or all(cell.isdecimal() for cell in named), False
    if not is_rising or len(named) < len(first):
        return False, False
    below = [row[: len(first)] for row in rows[1:]]
    cells = [cell.strip() for row in below for cell in row[:SAMPLE_COLUMNS]]
    if all(cell.isdecimal() for cell in named) and sum(decimal in cell for cell in cells) > 0.9 * len(cells):
        return True, False
    # 1100.0, 1101.9, 1103.8, … above numbers that are in no order
    is_named = len(named) >= 5 and not any(_is_rising(row, decimal) for row in below)
    return is_named, not (is_named and len(named) >= 8)  # as few are in order by chance


def _is_rising(cells: Sequence[str], decimal: str) -> bool:
    """Whether numbers are in order, up or down."""
    steps = np.diff([(read_number(cell, decimal) or (np.nan,))[0] for cell in cells])
    return bool(np.all(steps > 0) or np.all(steps < 0))


def _is_units_line(rows: Sequence[Sequence[str]], decimal: str) -> bool:
    """Whether most columns of numbers begin with a word."""
    if len(rows) < 3:
        return False
    width = min(min(map(len, rows)), SAMPLE_COLUMNS)
    numeric = words = 0
    for column in zip(*(row[:width] for row in rows), strict=True):
        first, *below = (cell.strip() for cell in column)
        present = [cell for cell in below if cell not in MISSING and cell not in LAB_TOKENS]
        if present and all(_is_number(cell, decimal) for cell in present):
            numeric += 1
            words += first not in MISSING and first not in LAB_TOKENS and not _is_number(first, decimal)
    return words > 0.5 * numeric


class TextRows:
    """The rows of a csv or tsv file, in blocks of whole lines, as text.

    Blocks are read by pyarrow if it is installed; one that it refuses, such as one with a short line, is read
    cell by cell. ``content`` is the text in UTF-8 if it is not that of the file.
    """

    def __init__(self, path: Path, options: ReadOptions, content: bytes | None = None) -> None:
        self._pandas = import_extra("pandas", "Reading text tables", "cli")
        self.path, self._content = path, content
        self._packed = content is None and packed_as(path) is not None
        with io.BytesIO(content) if content is not None else open_unpacked(path) as file:
            raw = file.read(SAMPLE_BYTES)
            while raw.count(b"\n") < 3 and len(raw) < BLOCK_BYTES and (more := file.read(len(raw))):
                raw += more
        if content is None and len(raw) >= BLOCK_BYTES and not (b"\n" in raw or b"\r" in raw):
            raise TableError(
                f"{path} has no line break in its first {len(raw) >> 20} MiB; write each row on its own line."
            )
        dialect = self.dialect = sniff(raw, path, options)
        self.decimal, self.missing = dialect.decimal, Missing.of(options.missing, dialect.decimal)
        written = [f"column_{j}" for j in range(1, dialect.width + 1)]
        if dialect.header is not None:
            written = [""] * dialect.row_names + list(dialect.header)
            if len(set(written)) < len(written) and len(dialect.units) == len(written):
                # names in two lines, such as Blood, Blood, Urine above Na, K, Na
                written = [
                    f"{name} {unit}".strip() for name, unit in zip(written, dialect.units, strict=True)
                ]
            written += [""] * (dialect.width - len(written))
        self.names, notes = distinct_names(written)
        self.unnamed = [not name.strip() for name in written]
        if self.unnamed[0]:
            notes = [note for note in notes if "without a name" not in note or sum(self.unnamed) > 1]
        if path.suffix.lower() == ".gz" and content is None and not self._packed:
            notes.insert(0, f"{path.name} is named .gz but is not compressed; it is read as plain text.")
        self.opening_notes, self.doubts = [*dialect.notes, *notes], list(dialect.doubts)
        bom = codecs.BOM_UTF8 if dialect.encoding == "utf-8-sig" else b""
        self._above = bom + dialect.above.encode()
        self._n_fields = dialect.width if dialect.header is None else len(dialect.header) + dialect.row_names
        self._first: Any = None  # the first block, which is read once
        self._short: dict[int, int] = {}  # number of fields of each line that has too few

    @property
    def n_rows(self) -> int:
        """An estimate from the size of the file, usually slightly too large."""
        size = self.path.stat().st_size * (4 if self._packed else 1)  # as text usually unpacks
        size = size if self._content is None else len(self._content)
        return int(size / self.dialect.line_bytes * 1.02) + 10

    def first(self) -> Any:
        """Return the first block."""
        return next(self.blocks(), self._pandas.DataFrame())

    def blocks(self, positions: Sequence[int] | None = None) -> Iterator[Any]:
        """Yield the cells of all or some columns as they are written, in data frames of text."""
        for number, (block, line) in enumerate(self._blocks()):
            frame = self._first if number == 0 else None
            if frame is None:
                frame = self._read_by_arrow(block)
            if frame is None:
                frame = self._read_by_cell(block, line)
            if number == 0:
                self._first = frame
            yield frame if positions is None else frame[list(positions)]

    @property
    def notes(self) -> list[str]:
        """What was detected, and after all blocks have been read also which lines are too short."""
        if not self._short:
            return self.opening_notes
        count, most = len(self._short), 5  # enough to find the place where the file went wrong
        found = listed([f"line {line} ({fields})" for line, fields in self._short.items()], most)
        have, they = ("line has", "it lacks") if count == 1 else ("lines have", "they lack")
        return [
            *self.opening_notes,
            f"{SHORT} {count} {have} fewer fields than the {self._n_fields} columns of {self.path.name}: "
            f"{found}; what {they} is read as missing.",
        ]

    @contextmanager
    def _open(self) -> Iterator[IO[bytes]]:
        """Open the text as UTF-8."""
        if self._content is not None:
            yield io.BytesIO(self._content)
            return
        encoding = self.dialect.encoding
        try:
            with open_unpacked(self.path) as file:
                yield file if encoding.startswith("utf-8") else codecs.EncodedFile(file, "utf-8", encoding)
        except UnicodeDecodeError as error:
            raise TableError(self._not_text()) from error

    def _not_text(self) -> str:
        return f"{self.path} is not valid {self.dialect.encoding}; save it as UTF-8."

    def _blocks(self) -> Iterator[tuple[bytes, int]]:
        """Yield blocks of whole records, and the number of lines before each."""
        done = line = 0
        with self._open() as file:
            while block := file.read(max(BLOCK_BYTES, len(self._above) - done)):
                ends = [file.readline()]
                quotes = block.count(b'"') + ends[0].count(b'"')
                # a record ends where its quotes are closed; one that is never closed is cut
                while quotes % 2 and ends[-1] and sum(map(len, ends)) < BLOCK_BYTES:
                    ends.append(file.readline())
                    quotes += ends[-1].count(b'"')
                block = b"".join([block, *ends])
                above = self._above if done == 0 else b""
                done += len(block)
                line += above.count(self.dialect.line_end)
                block = block[len(above) :]
                if block and not block.isspace():
                    yield block, line
                line += block.count(self.dialect.line_end)
                logger.info("%d MB read", done >> 20)

    def _read_by_arrow(self, block: bytes) -> Any:
        """Return the cells of a block as a data frame, or None if pyarrow cannot read it."""
        dialect = self.dialect
        if dialect.comment or dialect.spaced or dialect.separator == BLANKS:
            return None
        try:
            arrow: Any = import_extra("pyarrow.csv", "", "")
        except ImportError:
            return None
        import pyarrow

        names = [str(j) for j in range(dialect.width)]
        try:
            cells = arrow.read_csv(
                pyarrow.BufferReader(block),
                # one chunk: thousands of columns in many of them take long
                arrow.ReadOptions(column_names=names, block_size=len(block) + 1),
                arrow.ParseOptions(delimiter=dialect.separator, newlines_in_values=b'"' in block),
                arrow.ConvertOptions(column_types=dict.fromkeys(names, pyarrow.string())),
            )
        except pyarrow.ArrowInvalid:
            return None
        frame = cells.to_pandas(types_mapper=self._pandas.ArrowDtype)
        frame.columns = range(dialect.width)
        return frame

    def _read_by_cell(self, block: bytes, line: int) -> Any:
        """Return the cells of a block as a data frame of strings."""
        dialect, rows = self.dialect, []
        try:
            lines: Iterable[str] = io.StringIO(block.decode(), newline="")
        except UnicodeDecodeError as error:
            raise TableError(self._not_text()) from error
        if dialect.comment is not None:
            lines = (text.partition(dialect.comment)[0] for text in lines)
        if dialect.separator == BLANKS:
            records = ((number, split(text, BLANKS)) for number, text in enumerate(lines, 1))
        else:
            reader = csv.reader(
                lines, delimiter=dialect.separator, skipinitialspace=dialect.spaced, strict=True
            )
            records = ((reader.line_num, row) for row in reader)
        try:
            for number, row in records:
                if len(row) > dialect.width:
                    has = f"has {len(row)} fields instead of {dialect.width}"
                    advice = "correct that line, or name the separator with --separator."
                    raise TableError(f"Line {line + number} of {self.path} {has}; {advice}")
                if len(row) > 1 or (row and row[0].strip()):
                    if len(row) < self._n_fields:
                        self._short[line + number] = len(row)
                    rows.append(row + [""] * (dialect.width - len(row)))
        except csv.Error as error:
            words = f"cannot be read as a table ({error}); check its separator and quotes."
            raise TableError(f"{self.path} {words}") from error
        return self._pandas.DataFrame(rows, columns=range(dialect.width), dtype=object)


def workbook_rows(path: Path, options: ReadOptions) -> TextRows:
    """Return the rows of a sheet of an xlsx workbook, the first one if none is named."""
    openpyxl = import_extra("openpyxl", "Reading xlsx", "tables")
    with closing(openpyxl.load_workbook(path, read_only=True, data_only=True, keep_links=False)) as book:
        names = [sheet.title for sheet in book.worksheets]
        if options.sheet is not None and options.sheet not in names:
            raise TableError(f"{path} has no sheet {options.sheet!r}; it has {listed(names)}.")
        sheet = book[options.sheet or names[0]]
        sheet.reset_dimensions()  # those that other programs write are often wrong
        # only filled cells: a single one far from the others would make a table of 10^10 cells
        cells = [
            {j: text for j, cell in enumerate(row) if (text := _cell_text(cell))} for row in sheet.iter_rows()
        ]
    if options.skip_rows is not None:
        cells, options = cells[options.skip_rows :], replace(options, skip_rows=0)
    columns = sorted({j for row in cells for j in row})
    rows = _spooled([[row.get(j, "") for j in columns] for row in cells if row], path, options, ".")
    if len(names) > 1 and options.sheet is None:
        rows.opening_notes.append(
            f"The sheet {names[0]!r} is read, the first of {len(names)} (--sheet to name another)."
        )
    return rows


def _cell_text(cell: Any) -> str:
    value = cell.value
    if value is None or cell.data_type == "e":  # an error such as #N/A
        return ""
    if isinstance(value, datetime.datetime | datetime.date):
        return value.isoformat().removesuffix("T00:00:00")
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def turned(rows: TextRows, options: ReadOptions) -> TextRows:
    """Return the table transposed: names from its first column, ids from its header."""
    frames = [frame.to_numpy(dtype=object) for frame in rows.blocks()]
    cells = np.vstack([np.array(["id", *rows.names[1:]], dtype=object), *frames])
    return _spooled(
        cells.T.tolist(), rows.path, replace(options, header=True, comment=None, skip_rows=0), rows.decimal
    )


def _spooled(lines: Iterable[Sequence[str]], path: Path, options: ReadOptions, decimal: str) -> TextRows:
    """Return rows of cells as those of a text file."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(lines)
    return TextRows(path, replace(options, separator=",", decimal=decimal), text.getvalue().encode())
