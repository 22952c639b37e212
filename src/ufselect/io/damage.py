"""Damaged files: whatever a reader raises becomes one sentence with the file's name and what to do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ufselect.exceptions import TableError

# Compressed arrays may unpack to 16 GiB: more is no table for memory, and few kilobytes can claim as much.
UNPACKED_BYTES = 2**34


@contextmanager
def readable(path: Path, kind: str) -> Iterator[None]:
    """Turn what another library raises while it reads a file into a `TableError`.

    Damaged bytes lead these libraries to errors of any type, so all are caught; the error itself stays
    attached as the cause. Files that are absent or forbidden, extras that are not installed and our own
    sentences pass as they are.
    """
    try:
        yield
    except (TableError, ImportError, FileNotFoundError, PermissionError):
        raise
    except Exception as error:
        raise TableError(f"{path} is not a readable {kind} file; write or copy it again.") from error
