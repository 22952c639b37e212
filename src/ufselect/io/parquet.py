"""Tables in Parquet: one file, or a directory of parts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ufselect.common.extras import import_extra
from ufselect.common.wording import listed
from ufselect.exceptions import TableError
from ufselect.io.damage import readable
from ufselect.io.naming import distinct_names
from ufselect.io.numbers import MISSING, NumberReader
from ufselect.io.roles import ColumnPlan, ColumnRoles, look_at_typed, plan_columns
from ufselect.io.text import NO_ROWS, Progress

BLOCK_CELLS = 8 << 20  # 64 MiB of float64 a block


def parts_of(path: Path) -> list[Path]:
    """Return the Parquet files of a path, parts of a directory in the order of their names.

    Files and folders whose name begins with "." or "_" are no parts: programs keep unfinished files so.

    Raises
    ------
    TableError
        If a directory holds none.
    """
    if not path.is_dir():
        return [path]
    parts = sorted(part for part in path.rglob("*.parquet") if part.is_file() and not _hidden(part, path))
    if not parts:
        raise TableError(f"The directory {path} holds no .parquet files; name a file or another directory.")
    return parts


def _hidden(part: Path, folder: Path) -> bool:
    return any(step.startswith((".", "_")) for step in part.relative_to(folder).parts)


class ParquetRows:
    """The rows of a Parquet file or of a directory of parts."""

    dialect = None
    decimal = "."
    missing = MISSING

    def __init__(self, path: Path) -> None:
        parquet = import_extra("pyarrow.parquet", "Reading Parquet", "tables")
        import_extra("pandas", "Reading Parquet", "cli")
        self._parts = parts_of(path)
        self._files = [_open(parquet, part) for part in self._parts]
        self._written = _names(self._files, self._parts)
        self.names, self.notes = distinct_names(self._written)
        self.unnamed = [name == "__index_level_0__" or not name.strip() for name in self._written]
        self.n_rows = sum(file.metadata.num_rows for file in self._files)

    def plan(self, roles: ColumnRoles) -> ColumnPlan:
        """Decide by the first block what each column is for."""
        first = next(self._read(None), None)
        if first is None or first.empty:
            raise TableError(NO_ROWS)
        looks = [look_at_typed(first.iloc[:, j]) for j in range(len(self.names))]
        return plan_columns(looks, self.names, self.unnamed, roles)

    def number_reader(self, plan: ColumnPlan) -> NumberReader:
        """Return what turns blocks into numbers."""
        return NumberReader(plan.features)

    def blocks(self, plan: ColumnPlan, progress: Progress | None = None) -> Iterator[Any]:
        """Yield data frames of some millions of cells."""
        yield from self._read(progress)

    def ending_notes(self) -> list[str]:
        """Return what can only be said after all blocks: nothing, since every row has all columns."""
        return []

    def frames(self, positions: Sequence[int]) -> Iterator[Any]:
        """Yield some columns as they are stored."""
        for block in self._read(None, [self._written[j] for j in positions]):
            block.columns = list(positions)
            yield block

    def _read(self, progress: Progress | None, columns: list[str] | None = None) -> Iterator[Any]:
        done = 0
        width = len(columns) if columns is not None else len(self._written)
        for file, part in zip(self._files, self._parts, strict=True):
            with readable(part, "Parquet"):
                for batch in file.iter_batches(max(1, BLOCK_CELLS // max(1, width)), columns=columns):
                    block = batch.to_pandas(ignore_metadata=True)
                    block = block if columns is None else block[columns]
                    block.columns = range(width)
                    yield block
                    done += batch.num_rows
                    if progress is not None:
                        progress(done, self.n_rows)


def _open(parquet: Any, part: Path) -> Any:
    with readable(part, "Parquet"):
        file = parquet.ParquetFile(part)
        _ = file.schema_arrow  # decoded only now, and damaged as often as the rest
    return file


def _names(files: list[Any], parts: list[Path]) -> list[str]:
    """Return the columns, a data frame's index first, and make sure that all parts agree."""
    first = list(files[0].schema_arrow.names)
    for file, part in zip(files[1:], parts[1:], strict=True):
        other = list(file.schema_arrow.names)
        if other != first:
            differing = [a for a in other if a not in first] or [a for a in first if a not in other] or other
            raise TableError(
                f"{part} has other columns than {parts[0]} ({listed(differing)}); "
                "keep parts of one table in the directory."
            )
    return first
