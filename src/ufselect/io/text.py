"""Tables in text files: csv and tsv, in blocks of rows."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, Any

from ufselect.common.extras import import_extra
from ufselect.common.wording import Sentence, Setting, listed
from ufselect.exceptions import TableError
from ufselect.io.compression import open_unpacked, packed_as
from ufselect.io.dialect import Dialect, sniff
from ufselect.io.naming import distinct_names
from ufselect.io.numbers import MISSING, NumberReader
from ufselect.io.roles import ColumnPlan, ColumnRoles, look_at_text, plan_columns
from ufselect.io.short_lines import short_lines_note

BLOCK_BYTES = 48 << 20  # of text; as numbers about as much again
FIRST_CELLS = 400_000  # looked at before reading, in a quarter of a second
FIRST_ROWS = (50, 2000)  # at least, at most
SPARE_ROWS = 1.02  # the estimate of rows from the first lines is seldom further off
UNPACKED = 4  # times the size of a compressed file, as text usually unpacks
NO_ROWS = "The table has names but no rows of data; check that the whole file was exported."
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class TextOptions:
    """How a text file is written, where the user says so; None means to find out."""

    separator: str | None = None
    decimal: str | None = None
    header: bool | None = None
    comment: str | None = None
    missing: tuple[str, ...] = ()


class TextRows:
    """The rows of a csv or tsv file.

    Parameters
    ----------
    path : Path
        The file.
    options : TextOptions
        What is known of it.
    """

    def __init__(self, path: Path, options: TextOptions) -> None:
        self._pandas = import_extra("pandas", "Reading text tables", "cli")
        self.path = path
        self.dialect: Dialect = sniff(
            path, options.separator, options.decimal, options.header, options.comment
        )
        self.decimal = self.dialect.decimal
        self.missing = MISSING | frozenset(options.missing)
        written = _written_names(self.dialect)
        self.names, notes = distinct_names(written)
        self.unnamed = [not name.strip() for name in written]
        if self.unnamed[0]:
            notes = [note for note in notes if "without a name" not in note or sum(self.unnamed) > 1]
        self.notes = [*_dialect_notes(self.dialect, path), *notes]
        self._may_be_short = False

    @cached_property
    def n_rows(self) -> int:
        """An estimate from the size of the file, rather too large than too small."""
        size = self.path.stat().st_size * (1 if packed_as(self.path) is None else UNPACKED)
        return int(size / self.dialect.line_bytes * SPARE_ROWS) + 10

    def plan(self, roles: ColumnRoles) -> ColumnPlan:
        """Decide by the first rows what each column is for.

        Raises
        ------
        TableError
            If there are no rows.
        """
        least, most = FIRST_ROWS
        count = min(most, max(least, FIRST_CELLS // self.dialect.width))
        first = next(self._read(count, dtype=str, na_filter=False), None)
        if first is None or first.empty:
            raise TableError(NO_ROWS)
        looks = [look_at_text(first[j].tolist(), self.decimal, self.missing) for j in first.columns]
        return plan_columns(looks, self.names, self.unnamed, roles)

    def number_reader(self, plan: ColumnPlan) -> NumberReader:
        """Return what turns blocks into numbers."""
        return NumberReader(plan.features, self.decimal, self.missing)

    def blocks(self, plan: ColumnPlan, progress: Progress | None = None) -> Iterator[Any]:
        """Yield data frames of about 48 MiB of text; columns that are no features stay as written."""
        words = {j: str for j in range(self.dialect.width) if j not in set(plan.features)}
        empty = {j: list(self.missing) for j in plan.features}
        rows = max(1, int(BLOCK_BYTES / self.dialect.line_bytes))
        # pandas' other ways of reading decimals miss the last bit of a third of 17-digit numbers
        options = {"float_precision": "round_trip", "decimal": self.decimal}
        for block in self._read(
            rows, progress, dtype=words, na_values=empty, keep_default_na=False, low_memory=False, **options
        ):
            # a line that is too short lacks its last field, though not every line without one is too short
            last = block.iloc[:, -1]
            self._may_be_short = self._may_be_short or bool((last.isna() | (last == "")).any())
            yield block

    def ending_notes(self) -> list[str]:
        """Return, after all blocks have been read, what can only be said then: which lines are too short."""
        note = short_lines_note(self.path, self.dialect) if self._may_be_short else None
        return [] if note is None else [note]

    def frames(self, positions: Sequence[int]) -> Iterator[Any]:
        """Yield the cells of some columns as they stand in the file, in data frames of text."""
        rows = max(1, int(BLOCK_BYTES / self.dialect.line_bytes))
        chosen = sorted(positions)
        for frame in self._read(rows, dtype=str, na_filter=False, usecols=chosen):
            yield frame[list(positions)]

    def _read(self, rows: int, progress: Progress | None = None, **options: Any) -> Iterator[Any]:
        dialect, size = self.dialect, self.path.stat().st_size
        with open_unpacked(self.path) as file:
            try:
                with self._pandas.read_csv(
                    file,
                    sep=dialect.separator,
                    encoding=dialect.encoding,
                    header=None,
                    names=list(range(dialect.width)),
                    index_col=False,
                    skiprows=dialect.skip,
                    skipinitialspace=dialect.spaced,
                    comment=dialect.comment,
                    chunksize=rows,
                    **options,
                ) as reader:
                    for block in reader:
                        yield block
                        if progress is not None:
                            progress(_position(file, self.path), size)
            except self._pandas.errors.EmptyDataError:
                return
            except self._pandas.errors.ParserError as error:
                raise TableError(*_parser_sentence(self.path, str(error))) from error
            except UnicodeDecodeError as error:
                raise TableError(f"{self.path} is not valid {dialect.encoding}; save it as UTF-8.") from error


def _written_names(dialect: Dialect) -> list[str]:
    if dialect.header is None:
        return [f"column_{j}" for j in range(1, dialect.width + 1)]
    written = ["", *dialect.header] if dialect.row_names else list(dialect.header)
    return written + [""] * (dialect.width - len(written))


def _dialect_notes(dialect: Dialect, path: Path) -> list[str]:
    notes: list[str] = []
    if path.suffix.lower() == ".gz" and packed_as(path) is None:
        notes.append(f"{path.name} is named .gz but is not compressed; it is read as plain text.")
    if dialect.decimal == ",":
        notes.append(
            Sentence("Numbers are read with a decimal comma (", Setting("decimal", "."), " to change).")
        )
    if dialect.header is None:
        words = "The first line holds numbers, so it is read as data ("
        notes.append(Sentence(words, Setting("header", True), " if it holds names)."))
    elif all(name.strip().isdecimal() for name in dialect.header):
        words = "The first line holds whole numbers in order and is read as names ("
        notes.append(Sentence(words, Setting("header", False), " if it is data)."))
    if dialect.remarks:
        lines = f"{dialect.remarks} line{'s' * (dialect.remarks > 1)} of remarks"
        notes.append(f"{lines} before the table {'were' if dialect.remarks > 1 else 'was'} left out.")
    if dialect.units:
        units = listed([unit.strip() for unit in dialect.units])
        notes.append(f"The line under the names holds units ({units}) and is not read as a row.")
    if dialect.encoding == "cp1252":
        notes.append("The file is not UTF-8 and is read as Windows-1252; check names with accents.")
    return notes


def _position(file: IO[bytes], path: Path) -> int:
    """Return the bytes read so far; within a compressed file they are not known."""
    return file.tell() if packed_as(path) is None else 0


def _parser_sentence(path: Path, message: str) -> tuple[str | Setting, ...]:
    found = re.search(r"Expected (\d+) fields in line (\d+), saw (\d+)", message)
    if found:
        expected, line, saw = found.groups()
        return (
            f"Line {line} of {path} has {saw} fields where {expected} are expected; correct that line, "
            "or name the separator with ",
            Setting("separator"),
            ".",
        )
    return (f"{path} cannot be read as a table ({message.strip()}); check its separator and quotes.",)
