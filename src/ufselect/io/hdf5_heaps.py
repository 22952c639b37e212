"""Heaps of an HDF5 file, looked at before its library reads them.

Names and words of variable length lie in global heaps. A damaged heap in which an object has no length, or
ends beyond the heap, sends the HDF5 library into an endless loop, so such a file is refused first. The layout
is that of the HDF5 file format specification, section "Global Heap".
"""

from __future__ import annotations

import mmap
import struct
from pathlib import Path

from ufselect.exceptions import TableError

# Signature, version 1 and three reserved bytes; then the size of the heap.
SIGNATURE = b"GCOL\x01\x00\x00\x00"
HEAP_HEADER = 16
# Index, references, four reserved bytes and the size of an object.
OBJECT = struct.Struct("<HHIQ")
ALIGNMENT = 8


def check_heaps(path: Path) -> None:
    """Refuse a file with a heap in which the HDF5 library would never come to an end.

    Raises
    ------
    TableError
        With the file's name.
    """
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        start = content.find(SIGNATURE)
        while start >= 0:
            if not _is_walkable(content, start):
                raise TableError(f"{path} is damaged in its list of names; copy or download it again.")
            start = content.find(SIGNATURE, start + 1)


def _is_walkable(content: mmap.mmap, start: int) -> bool:
    """Whether each object of the heap leads on to the next, up to the end of the heap."""
    size = int.from_bytes(content[start + len(SIGNATURE) : start + HEAP_HEADER], "little")
    end = start + size
    if end > len(content):
        return True  # cut short, which the library refuses itself
    place = start + HEAP_HEADER
    while end - place >= OBJECT.size:
        index, _, _, length = OBJECT.unpack_from(content, place)
        # Index 0 is the free space, whose size includes its header.
        step = length if index == 0 else OBJECT.size + -(-length // ALIGNMENT) * ALIGNMENT
        if not OBJECT.size <= step <= end - place:
            return False
        place += step
    return True
