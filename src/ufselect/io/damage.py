"""Damaged files: whatever a reader raises becomes one sentence with the file's name and what to do."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from ufselect.exceptions import TableError

# Compressed arrays may unpack to 16 GiB: more is no table for memory, and few kilobytes can claim as much.
UNPACKED_BYTES = 2**34


def refuse_large_archive(path: Path, advice: str) -> None:
    """Refuse a zip archive whose members unpack to more than is read.

    Raises
    ------
    TableError
        With the advice.
    """
    if not zipfile.is_zipfile(path):
        return  # its reader says what it is instead
    with zipfile.ZipFile(path) as packed:
        n_bytes = sum(member.file_size for member in packed.infolist())
    if n_bytes > UNPACKED_BYTES:
        raise TableError(f"{path} unpacks to {n_bytes / 2**30:.0f} GiB, more than is read; {advice}.")


def read_unpacked(file: IO[bytes], path: Path) -> bytes:
    """Return the bytes of an open file, compressed or not.

    Raises
    ------
    TableError
        If they are more than is read.
    """
    content = file.read(UNPACKED_BYTES + 1)
    if len(content) > UNPACKED_BYTES:
        raise TableError(
            f"{path} unpacks to more than {UNPACKED_BYTES / 2**30:.0f} GiB, which is more than is read; "
            "cut it into parts."
        )
    return content


@contextmanager
def readable(path: Path, kind: str) -> Iterator[None]:
    """Turn what another library raises while it reads a file into a `TableError`.

    Damaged bytes lead these libraries to errors of any type, so all are caught; the error itself stays
    attached as the cause. Files that are absent or forbidden, extras that are not installed and our own
    sentences pass as they are.
    """
    try:
        yield
    except (TableError, ImportError, PermissionError):
        raise
    except Exception as error:
        if isinstance(error, FileNotFoundError) and not path.exists():
            raise  # what is there and is not found, such as a part of a zarr store, is damage
        raise TableError(f"{path} is not a readable {kind} file; write or copy it again.") from error
