"""Try HDF5 and MATLAB files in a process of their own: damage makes their libraries crash or hang."""

import subprocess
import sys
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

SECONDS = 20.0  # an idle machine takes one
READ_BYTES = 2**24  # of larger arrays only both ends are read, with the same filters


def try_file(path: Path) -> None:
    """Refuse a file on which its library crashes or hangs; an unchanged file is tried once."""
    from ufselect.exceptions import TableError

    facts = path.stat()
    if _ended(str(path.absolute()), facts.st_size, facts.st_mtime_ns) not in (0, 1):  # 1: it did not start
        raise TableError(f"{path} is damaged: its library crashes or hangs; copy it again.")


@lru_cache(1024)
def _ended(path: str, size: int, changed: int) -> int:
    """Return the exit code of the process that opens a file; 0 if ``sys.executable`` is not Python."""
    if not Path(sys.executable or "").stem.lower().startswith(("python", "pypy")):
        return 0
    command = [sys.executable, "-I", "-S", __file__, path, *sys.path]
    try:  # disks may give 10 MB a second
        return subprocess.run(command, capture_output=True, timeout=SECONDS + size / 1e7).returncode
    except subprocess.TimeoutExpired:
        return -1


def open_everything(path: str) -> None:
    """Read a MATLAB or HDF5 file and ignore errors: only a crash or a hang matters here."""

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
        else:
            with __import__("h5py").File(path) as file:
                read("", file)
                file.visititems_links(lambda name, link: None)
                file.visititems(read)


if __name__ == "__main__":
    sys.path[:] = sys.argv[2:]
    open_everything(sys.argv[1])
