"""Tables in Parquet: one file, or a directory of parts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ufselect._utils.imports import import_extra
from ufselect._utils.validation import listed
from ufselect.exceptions import TableError
from ufselect.io.files import check_claim, readable
from ufselect.io.numbers import Missing
from ufselect.io.table import ReadOptions, distinct_names

BLOCK_CELLS = 8 << 20  # 64 MiB of float64 a block


def parts_of(path: Path) -> list[Path]:
    """Return the Parquet files of a path, those of a directory in the order of their names.

    Files and folders whose name begins with "." or "_" are ignored: programs name unfinished files so.
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
    doubts: tuple[str, ...] = ()

    def __init__(self, path: Path, options: ReadOptions) -> None:
        parquet = import_extra("pyarrow.parquet", "Reading Parquet", "tables")
        self._pandas = import_extra("pandas", "Reading Parquet", "cli")
        parts, self._files = parts_of(path), []
        for part in parts:
            with readable(part, "parquet"):
                self._files.append(parquet.ParquetFile(part))
                names = list(self._files[-1].schema_arrow.names)
            first = list(self._files[0].schema_arrow.names)
            if names != first:
                differing = (
                    [a for a in names if a not in first] or [a for a in first if a not in names] or names
                )
                raise TableError(
                    f"{part} has other columns than {parts[0]} ({listed(differing)}); "
                    "keep only parts of one table in the directory."
                )
        self.missing, self._written = Missing.of(options.missing), first
        self.names, self.notes = distinct_names(self._written)
        self.unnamed = [name == "__index_level_0__" or not name.strip() for name in self._written]
        self.n_rows = sum(file.metadata.num_rows for file in self._files)
        check_claim(8 * self.n_rows * len(self.names), path)

    def first(self) -> Any:
        """Return the first block."""
        return next(self.blocks(), self._pandas.DataFrame())

    def blocks(self, positions: Sequence[int] | None = None) -> Iterator[Any]:
        """Yield all or some columns as they are stored, in data frames of some millions of cells."""
        positions = range(len(self.names)) if positions is None else positions
        columns = [self._written[j] for j in positions]
        some = None if columns == self._written else columns
        for file in self._files:
            for batch in file.iter_batches(max(1, BLOCK_CELLS // max(1, len(columns))), columns=some):
                block = batch.to_pandas(ignore_metadata=True)
                block = block if some is None else block[some]
                coded = [name for name, kind in block.dtypes.items() if kind == "category"]
                block = block.astype(dict.fromkeys(coded, object))
                block.columns = list(positions)
                yield block
