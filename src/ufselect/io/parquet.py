"""Tables in Parquet: one file, or a directory of parts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from ufselect.io.assemble import ColumnRoles, assemble
from ufselect.io.damage import readable
from ufselect.io.errors import TableError, need
from ufselect.io.naming import distinct_names
from ufselect.io.table import Table
from ufselect.io.text import Progress
from ufselect.io.wording import listed

BLOCK_CELLS = 8 << 20  # 64 MiB of float64 a block


def parts_of(path: Path) -> list[Path]:
    """Return the Parquet files of a path, parts of a directory in the order of their names.

    Raises
    ------
    TableError
        If a directory holds none.
    """
    if not path.is_dir():
        return [path]
    parts = sorted(part for part in path.rglob("*.parquet") if part.is_file())
    if not parts:
        raise TableError(f"The directory {path} holds no .parquet files; name a file or another directory.")
    return parts


def read_parquet(path: Path, roles: ColumnRoles, progress: Progress | None = None) -> Table:
    """Read a Parquet file or a directory of parts in blocks of rows."""
    parquet = need("pyarrow.parquet", "Reading Parquet", "tables")
    need("pandas", "Reading Parquet", "cli")
    parts = parts_of(path)
    files = [_open(parquet, part) for part in parts]
    written = _names(files, parts)
    names, notes = distinct_names(written)
    unnamed = [name == "__index_level_0__" or not name.strip() for name in written]
    n_rows = sum(file.metadata.num_rows for file in files)
    blocks = _blocks(files, parts, len(names), n_rows, progress)
    table = assemble(blocks, names, unnamed, roles, n_rows=n_rows)
    return replace(table, notes=(*notes, *table.notes))


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


def _blocks(
    files: list[Any], parts: list[Path], width: int, n_rows: int, progress: Progress | None
) -> Iterator[Any]:
    done = 0
    for file, part in zip(files, parts, strict=True):
        with readable(part, "Parquet"):
            for batch in file.iter_batches(batch_size=max(1, BLOCK_CELLS // max(1, width))):
                block = batch.to_pandas(ignore_metadata=True)
                block.columns = range(width)
                yield block
                done += batch.num_rows
                if progress is not None:
                    progress(done, n_rows)
