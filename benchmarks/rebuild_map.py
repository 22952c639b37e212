"""How well the maps back reconstruct: ridge, kernel, auto, PySensors, PCA and random columns.

``python benchmarks/rebuild_map.py FOLDER --half development`` reads every .npz of a folder, as ``rebuild.py``
does. The half of a set is fixed by its name: the seven published sets, whose figures were known when the
kernel map was designed, and every set whose name has an even CRC-32 are for development; the others are held
out and were looked at once.
"""

from __future__ import annotations

from zlib import crc32

PUBLISHED = ("coil20", "glioma", "isolet", "lung_discrete", "umist", "usps", "warppie10p")


def half(name: str) -> str:
    """Return the half that a set belongs to: "development" or "held-out"."""
    return "development" if name in PUBLISHED or crc32(name.encode()) % 2 == 0 else "held-out"
