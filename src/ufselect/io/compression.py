"""Compressed files: recognised by their first bytes when read, by their ending when written."""

from __future__ import annotations

import bz2
import gzip
import lzma
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from ufselect.common.extras import import_extra
from ufselect.exceptions import TableError

MAGIC = {b"\x1f\x8b": ".gz", b"BZh": ".bz2", b"\xfd7zXZ\x00": ".xz", b"\x28\xb5\x2f\xfd": ".zst"}
ENDINGS = tuple(MAGIC.values())
DAMAGE = (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile)


def packed_as(path: Path) -> str | None:
    """Return the ending that fits a file's first bytes, or None if it is not compressed."""
    with path.open("rb") as file:
        start = file.read(max(map(len, MAGIC)))
    return next((ending for magic, ending in MAGIC.items() if start.startswith(magic)), None)


@contextmanager
def open_unpacked(path: Path) -> Iterator[IO[bytes]]:
    """Open a file for reading, unpacking it on the way.

    Raises
    ------
    TableError
        If the compressed file is cut short or damaged.
    """
    try:
        with _reader(path, packed_as(path)) as file:
            yield file
    except DAMAGE as error:
        raise TableError(_damaged(path)) from error
    except OSError as error:  # bz2 and zst report damage so, without a number
        if error.errno is not None:
            raise
        raise TableError(_damaged(path)) from error


def _damaged(path: Path) -> str:
    return f"{path} is a compressed file that is damaged or cut short; copy or download it again."


def _reader(path: Path, ending: str | None) -> Any:
    if ending == ".zst":
        return import_extra("pyarrow", "Reading zst", "tables").input_stream(str(path), compression="zstd")
    openers: dict[str | None, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open, None: open}
    return openers[ending](path, "rb")


@contextmanager
def open_packing(path: Path, ending: str) -> Iterator[Any]:
    """Open a file for writing bytes, packed as the ending says; the same content gives the same bytes."""
    if ending == ".zst":
        with import_extra("pyarrow", "Writing zst", "tables").output_stream(
            str(path), compression="zstd"
        ) as stream:
            yield stream
    elif ending == ".gz":
        # without a name and a time in its head
        with path.open("wb") as raw, gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as packed:
            yield packed
    else:
        writers: dict[str, Any] = {".bz2": bz2.open, ".xz": lzma.open}
        with writers.get(ending, open)(path, "wb") as file:
            yield file
