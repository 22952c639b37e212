"""HDF5 files, walked through by another process before this one opens them.

The HDF5 library crashes on damaged descriptions of types, heaps and indices of chunks, or loops for ever, and
most files have no checksums of these. A process of its own can come to grief instead of the user's.
"""

from __future__ import annotations

import os
import subprocess
import sys
from functools import lru_cache
from pathlib import Path

from ufselect.common.warn import warn_user
from ufselect.exceptions import TableError
from ufselect.io import hdf5_walk

# A walk takes well under a second of an idle machine; large files may lie on disks that give 10 MB a second.
WALK_SECONDS = 60.0
BYTES_PER_SECOND = 1e7
REMEMBERED_FILES = 1024  # more than a program has open; each takes a few words


def try_hdf5(path: Path) -> None:
    """Refuse a file on which the HDF5 library crashes or loops; one that has not changed is tried once.

    Raises
    ------
    TableError
        With the file's name.
    """
    found = os.stat(path)
    _try(os.path.abspath(path), found.st_size, found.st_mtime_ns, found.st_ino)


@lru_cache(REMEMBERED_FILES)
def _try(path: str, size: int, changed: int, number: int) -> None:
    seconds = WALK_SECONDS + size / BYTES_PER_SECOND
    outcome = _walk(path, seconds)
    if outcome is None or (outcome.returncode and not outcome.stdout):
        warn_user(
            f"{path} could not be tried in a process of its own, since {sys.executable or 'Python'} does not "
            "start here: if the file is damaged, the HDF5 library may crash.",
            RuntimeWarning,
        )
    elif outcome.returncode == hdf5_walk.OUT_OF_TIME:
        raise TableError(
            f"{path} is damaged, or on too slow a disk: the HDF5 library finds no end within {seconds:.0f} "
            "s; copy or download it again."
        )
    elif outcome.returncode:
        raise TableError(f"{path} is damaged: the HDF5 library crashes on it; copy or download it again.")


def _walk(path: str, seconds: float) -> subprocess.CompletedProcess[bytes] | None:
    """Return how the walk ended, or None if it could not start."""
    if not Path(sys.executable or "").stem.lower().startswith(("python", "pypy")):
        return None  # a program that Python is part of, which would start itself again
    command = [sys.executable, "-I", "-S", hdf5_walk.__file__, path, str(seconds), *sys.path]
    # Without a console window on Windows, where programs with windows of their own would show one.
    flags = getattr(subprocess, "CREATE_NO_WINDOW", 0)
    try:
        return subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            creationflags=flags,
            check=False,
        )
    except OSError:
        return None
