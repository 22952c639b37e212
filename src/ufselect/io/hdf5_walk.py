"""The program that `hdf5_trial` runs: walks through an HDF5 file and reads what its readers may read.

    python hdf5_walk.py FILE SECONDS FOLDER_OF_MODULES…

It imports nothing of the package, so that it starts fast. Errors are left to the readers, which meet them
where they matter; what counts is that the walk comes to its end.
"""

from __future__ import annotations

import faulthandler
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

# Numbers up to so many bytes of an array are read whole, and the beginning and the end of more: the rest
# passes through the same type and filters, and reading all of it would take as long as the fit's own reading.
# Words lie in heaps that can be damaged anywhere, and are always read.
READ_BYTES = 2**24
BEGUN = "begun"  # tells a walk that did not end from one that could not start
OUT_OF_TIME = 1  # what the timer of `faulthandler` exits with


def walk(path: str) -> None:
    """Read the attributes and arrays of all groups of a file, and go on where there are errors."""
    import h5py

    with suppress(Exception), h5py.File(path, "r") as file:
        _try(_read_attributes, file)
        _try(file.visititems_links, lambda name, link: None)
        file.visititems(lambda name, node: _read(node))


def _read(node: Any) -> None:
    _try(_read_attributes, node)
    if hasattr(node, "chunks"):
        _try(_read_array, node)


def _try(step: Callable[..., Any], *arguments: Any) -> None:
    with suppress(Exception):
        step(*arguments)


def _read_attributes(node: Any) -> None:
    for name in node.attrs:
        _try(node.attrs.get, name)


def _read_array(array: Any) -> None:
    if array.external is not None or array.is_virtual:
        return  # lies in another file, which the readers refuse to follow
    if array.chunks is not None:
        _try(_walk_chunks, array)
    if array.nbytes <= READ_BYTES:
        array[()]
        return
    n_rows = array.shape[0]
    step = READ_BYTES // 2 // (array.nbytes // n_rows)
    if step == 0:  # long rows, or damage that claims so
        array[(0,) * array.ndim]
        return
    for start in range(0, n_rows, step) if array.dtype.hasobject else (0, n_rows - step):
        _try(array.__getitem__, slice(start, start + step))


def _walk_chunks(array: Any) -> None:
    """Look up the place of every chunk, and so read the whole index of them."""
    array.id.chunk_iter(lambda chunk: None)


def _die_quietly() -> None:
    """Leave no dump of memory behind, and let Windows show no window."""
    if sys.platform == "win32":
        import msvcrt

        msvcrt.SetErrorMode(msvcrt.SEM_NOGPFAULTERRORBOX | msvcrt.SEM_FAILCRITICALERRORS)
    else:
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def main() -> None:
    path, seconds, *sys.path[:] = sys.argv[1:]
    _die_quietly()
    import h5py  # noqa: F401 - may be slow to find, which says nothing about the file

    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        # A timer of this process, which also ends when nobody waits for it any more; it needs no turn of the
        # interpreter, which the HDF5 library does not give up while it loops.
        faulthandler.dump_traceback_later(float(seconds), exit=True, file=nowhere)
        sys.stdout.write(BEGUN)
        sys.stdout.flush()
        walk(path)
        faulthandler.cancel_dump_traceback_later()


if __name__ == "__main__":
    main()
