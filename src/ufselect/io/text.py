"""Tables in text files: csv and tsv, in blocks of rows."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

from ufselect.io.assemble import ColumnRoles, assemble
from ufselect.io.dialect import MISSING, SPREADSHEET_ERRORS, Dialect, open_binary, sniff
from ufselect.io.errors import TableError, need
from ufselect.io.naming import distinct_names
from ufselect.io.table import Table
from ufselect.io.wording import Sentence, Setting

BLOCK_BYTES = 48 << 20  # of text; as numbers about as much again
SPARE_ROWS = 1.02  # the estimate of rows from the first lines is seldom further off
Progress = Callable[[int, int], None]


def read_text(
    path: Path,
    roles: ColumnRoles,
    separator: str | None = None,
    decimal: str | None = None,
    header: bool | None = None,
    progress: Progress | None = None,
) -> Table:
    """Read a csv or tsv file, finding out how it is written."""
    pandas = need("pandas", "Reading text tables", "cli")
    dialect = sniff(path, separator, decimal, header)
    written = _written_names(dialect)
    names, notes = distinct_names(written)
    unnamed = [not name.strip() for name in written]
    if unnamed[0]:
        notes = [note for note in notes if "without a name" not in note or sum(unnamed) > 1]
    rows = int(path.stat().st_size / dialect.line_bytes * SPARE_ROWS) + 10
    blocks = _blocks(pandas, path, dialect, progress)
    table = assemble(blocks, names, unnamed, roles, n_rows=rows)
    return replace(table, notes=(*_dialect_notes(dialect), *notes, *table.notes), dialect=dialect)


def _written_names(dialect: Dialect) -> list[str]:
    if dialect.header is None:
        return [f"column_{j}" for j in range(1, dialect.width + 1)]
    written = ["", *dialect.header] if dialect.row_names else list(dialect.header)
    return written + [""] * (dialect.width - len(written))


def _dialect_notes(dialect: Dialect) -> list[str]:
    notes: list[str] = []
    if dialect.decimal == ",":
        notes.append(
            Sentence("Numbers are read with a decimal comma (", Setting("decimal", "."), " to change).")
        )
    if dialect.thousands:
        notes.append(f'"{dialect.thousands}" is read as a mark between thousands.')
    if dialect.header is None:
        notes.append(
            Sentence(
                "The first line holds numbers, so it is read as data (",
                Setting("header", True),
                " if it holds names).",
            )
        )
    if dialect.encoding == "cp1252":
        notes.append("The file is not UTF-8 and is read as Windows-1252; check names with accents.")
    return notes


def _blocks(pandas: Any, path: Path, dialect: Dialect, progress: Progress | None) -> Iterator[Any]:
    """Yield data frames of about 48 MiB of text."""
    size = path.stat().st_size
    rows = max(1, int(BLOCK_BYTES / dialect.line_bytes))
    with open_binary(path) as file:
        try:
            with pandas.read_csv(
                file,
                sep=dialect.separator,
                decimal=dialect.decimal,
                thousands=dialect.thousands,
                encoding=dialect.encoding,
                header=None,
                names=list(range(dialect.width)),
                index_col=False,
                skiprows=dialect.skip,
                na_values=[*MISSING, *SPREADSHEET_ERRORS],
                skipinitialspace=True,
                float_precision="round_trip",  # the others miss the last bit of a third of 17-digit numbers
                low_memory=False,
                chunksize=rows,
            ) as reader:
                for block in reader:
                    yield block
                    if progress is not None:
                        progress(_position(file, path), size)
        except pandas.errors.EmptyDataError:
            return
        except pandas.errors.ParserError as error:
            raise TableError(*_parser_sentence(path, str(error))) from error
        except UnicodeDecodeError as error:
            raise TableError(f"{path} is not valid {dialect.encoding}; save it as UTF-8.") from error


def _position(file: IO[bytes], path: Path) -> int:
    """Return the bytes read so far; within gzip they are not known."""
    return 0 if path.suffix.lower() == ".gz" else file.tell()


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
