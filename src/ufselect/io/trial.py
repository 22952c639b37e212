"""Opens HDF5 and MATLAB files in a process of their own first: damage makes their libraries crash or loop."""

import faulthandler
import os
import subprocess
import sys
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

SECONDS = 20.0  # an idle machine takes one
READ_BYTES = 2**24  # of larger arrays of numbers the ends are read, which pass through the same filters


def try_file(path: Path) -> None:
    """Refuse a file on which its library crashes or finds no end; one that has not changed is tried once."""
    found = os.stat(path)
    _try(os.path.abspath(path), found.st_size, found.st_mtime_ns, found.st_ino)


@lru_cache(1024)
def _try(path: str, size: int, changed: int, number: int) -> None:
    from ufselect._utils.messages import warn_user
    from ufselect.exceptions import TableError

    seconds = SECONDS + size / 1e7  # disks may give 10 MB a second
    ended = _ended(path, seconds)
    if ended is None:
        words = "could not be tried in a process of its own: if it is damaged, its library may crash."
        warn_user(f"{path} {words}", RuntimeWarning)
    elif ended:  # 1 is the timer's
        what = f"is not read within {seconds:.0f} s" if ended == 1 else "crashes its library"
        raise TableError(f"{path} is damaged: it {what}; copy or download it again.")


def _ended(path: str, seconds: float) -> int | None:
    """Return how the process ended, or None if it could not start."""
    if not Path(sys.executable or "").stem.lower().startswith(("python", "pypy")):
        return None  # a program that Python is part of, which would start itself again
    command = [sys.executable, "-I", "-S", __file__, path, str(seconds), *sys.path]
    with suppress(OSError):
        ended = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
        return ended.returncode if ended.stdout.startswith(b"begun") else None
    return None


def open_everything(path: str) -> None:
    """Read a MATLAB file, or what is in an HDF5 file; errors are for the reader, what counts is the end."""

    def read(name: str, node) -> None:  # type: ignore[no-untyped-def]
        with suppress(Exception):
            dict(node.attrs)
        with suppress(Exception):
            if hasattr(node, "chunks") and node.external is None and not node.is_virtual:
                if node.chunks:
                    node.id.chunk_iter(lambda chunk: None)
                whole = node.nbytes <= READ_BYTES or node.dtype.hasobject
                step = 0 if whole else max(1, READ_BYTES // 2 // (node.nbytes // len(node)))
                for part in [()] if whole else [slice(step), slice(len(node) - step, None)]:
                    node[part]

    with suppress(Exception):
        if path.lower().endswith(".mat"):
            __import__("scipy.io").io.loadmat(path)
            return
        with __import__("h5py").File(path) as file:
            read("", file)
            file.visititems_links(lambda name, link: None)
            file.visititems(read)


if __name__ == "__main__":
    target, limit, *sys.path[:] = sys.argv[1:]
    with suppress(ImportError):  # leave no dump of memory behind; there is none on Windows
        __import__("resource").setrlimit(__import__("resource").RLIMIT_CORE, (0, 0))
    sys.stdout.write("begun")
    sys.stdout.flush()
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        # a timer that needs no turn of the interpreter, which the library does not give up while it loops
        faulthandler.dump_traceback_later(float(limit), exit=True, file=nowhere)
        open_everything(target)
        faulthandler.cancel_dump_traceback_later()
