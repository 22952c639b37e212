"""Tables in Parquet: one file, or a directory of parts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ufselect._utils.imports import import_extra
from ufselect._utils.messages import listed
from ufselect.exceptions import TableError
from ufselect.io.files import check_claim, readable
from ufselect.io.numbers import MISSING
from ufselect.io.roles import ColumnPlan, look_at_typed, plan_columns
from ufselect.io.table import ReadOptions, distinct_names
from ufselect.io.text import NO_ROWS

BLOCK_CELLS = 8 << 20  # 64 MiB of float64 a block


def parts_of(path: Path) -> list[Path]:
    """Return the Parquet files of a path, parts of a directory in the order of their names.

    Files and folders whose name begins with "." or "_" are no parts: programs keep unfinished files so.
    """
    if not path.is_dir():
        return [path]
    parts = sorted(
        part
        for part in path.rglob("*.parquet")
        if part.is_file() and not any(step[0] in "._" for step in part.relative_to(path).parts)
    )
    if not parts:
        raise TableError(f"The directory {path} holds no .parquet files; name a file or another directory.")
    return parts


class ParquetRows:
    """The rows of a Parquet file or of a directory of parts."""

    dialect = None
    decimal = "."
    missing = MISSING

    def __init__(self, path: Path) -> None:
        parquet = import_extra("pyarrow.parquet", "Reading Parquet", "tables")
        import_extra("pandas", "Reading Parquet", "cli")
        self._parts = parts_of(path)
        self._files = []
        for part in self._parts:
            with readable(part, "parquet"):
                self._files.append(parquet.ParquetFile(part))
                names = list(self._files[-1].schema_arrow.names)
            first = list(self._files[0].schema_arrow.names)
            if names != first:
                differing = (
                    [a for a in names if a not in first] or [a for a in first if a not in names] or names
                )
                raise TableError(
                    f"{part} has other columns than {self._parts[0]} ({listed(differing)}); "
                    "keep parts of one table in the directory."
                )
        self._written = first
        self.names, self.notes = distinct_names(self._written)
        self.unnamed = [name == "__index_level_0__" or not name.strip() for name in self._written]
        self.n_rows = sum(file.metadata.num_rows for file in self._files)
        check_claim(8 * self.n_rows * len(self.names), path)

    def plan(self, options: ReadOptions) -> ColumnPlan:
        """Decide by the first block what each column is for."""
        first = next(self._read(), None)
        if first is None or first.empty:
            raise TableError(NO_ROWS)

        def look_at(positions: list[int]) -> list[Any]:
            return [look_at_typed(first.iloc[:, j]) for j in positions]

        return plan_columns(first, look_at, self.names, self.unnamed, options)

    def blocks(self, plan: ColumnPlan) -> Iterator[Any]:
        """Yield data frames of some millions of cells."""
        yield from self._read()

    def ending_notes(self) -> list[str]:
        """Return what can only be said after all blocks: nothing, since every row has all columns."""
        return []

    def frames(self, positions: Sequence[int]) -> Iterator[Any]:
        """Yield some columns as they are stored."""
        for block in self._read([self._written[j] for j in positions]):
            block.columns = list(positions)
            yield block

    def _read(self, columns: list[str] | None = None) -> Iterator[Any]:
        width = len(columns) if columns is not None else len(self._written)
        for file in self._files:
            for batch in file.iter_batches(max(1, BLOCK_CELLS // max(1, width)), columns=columns):
                block = batch.to_pandas(ignore_metadata=True)
                block = block if columns is None else block[columns]
                block.columns = range(width)
                yield block
