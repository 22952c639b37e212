"""Whether the elements of a MATLAB file fit together; the compiled reader trusts their types and crashes.

A level 5 file is a header of 128 bytes and a sequence of elements, each a type, a size and as many bytes
[1]_. A matrix is an element whose bytes are elements again, the first of which holds its class.

References
----------
.. [1] The MathWorks, "MAT-File Format", chapter 1.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ufselect.io import damage

HEADER_BYTES = 128
LEVEL_7_3 = (b"\x00\x02", b"\x02\x00")  # the version in either order of bytes
BYTE_ORDERS = {b"IM": "<", b"MI": ">"}
NUMBERS = frozenset((1, 2, 3, 4, 5, 6, 7, 9, 12, 13, 16, 17, 18))  # integers, floats and characters
MATRIX, COMPRESSED = 14, 15
CONTAINERS = frozenset((1, 2, 3, 16, 17))  # cell, structure, object, function, opaque: they hold matrices
MAX_DEPTH = 20  # of matrices within matrices, far more than tables have


class DamagedMatError(ValueError):
    """The elements of a MATLAB file do not fit together."""


@dataclass(frozen=True)
class Element:
    """The type of an element and its bytes."""

    kind: int
    content: memoryview


def check_mat(path: Path) -> None:
    """Walk through a level 5 file without building anything from it.

    Raises
    ------
    DamagedMatError
        If an element has an unknown type, ends after its parent or unpacks to more than 16 GiB.
    """
    content = memoryview(path.read_bytes())
    order = BYTE_ORDERS.get(bytes(content[126:HEADER_BYTES]))
    if order is None or bytes(content[124:126]) in LEVEL_7_3:
        return  # level 4, which is read without compiled code, or HDF5, which is not read at all
    for element in _elements(content[HEADER_BYTES:], order, is_padded=False):
        if element.kind == COMPRESSED:
            for inner in _elements(_unpacked(element.content), order):
                _check_matrix(inner, order, 0)
        else:
            _check_matrix(element, order, 0)


def _unpacked(content: memoryview) -> memoryview:
    stream = zlib.decompressobj()
    unpacked = stream.decompress(content, damage.UNPACKED_BYTES)
    if stream.unconsumed_tail:
        raise DamagedMatError("It unpacks to more than 16 GiB.")
    return memoryview(unpacked)


def _elements(content: memoryview, order: str, is_padded: bool = True) -> Iterator[Element]:
    """Yield the elements in some bytes; inside a matrix they begin at multiples of eight."""
    place = 0
    while len(content) - place >= 8:
        kind, size = struct.unpack_from(f"{order}II", content, place)
        begin = place + 8
        if kind >> 16:  # up to four bytes are kept beside their type and size
            kind, size, begin = kind & 0xFFFF, kind >> 16, place + 4
            if size > 4:
                raise DamagedMatError("A small element has more than four bytes.")
            stop = place + 8
        else:
            stop = begin + size + (-size % 8 if is_padded else 0)
        if begin + size > len(content):
            raise DamagedMatError("An element ends after the file.")
        yield Element(kind, content[begin : begin + size])
        place = stop


def _check_matrix(element: Element, order: str, depth: int) -> None:
    if element.kind != MATRIX or depth > MAX_DEPTH:
        raise DamagedMatError("A matrix is expected, and something else is there.")
    parts = list(_elements(element.content, order))
    if not parts:
        return  # an empty matrix may have no parts at all
    if parts[0].kind not in NUMBERS or len(parts[0].content) < 8:
        raise DamagedMatError("A matrix does not begin with its class.")
    flags = struct.unpack_from(f"{order}I", parts[0].content)[0]
    for part in parts[1:]:
        if part.kind == MATRIX and flags & 0xFF in CONTAINERS:
            _check_matrix(part, order, depth + 1)
        elif part.kind not in NUMBERS:
            raise DamagedMatError("An element has a type that does not exist.")
