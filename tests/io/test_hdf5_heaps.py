"""Damaged heaps of names, on which the HDF5 library would loop for ever, are refused before it reads them."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from ufselect.io import TableError, read_table
from ufselect.io.hdf5_heaps import HEAP_HEADER, OBJECT, SIGNATURE, check_heaps

anndata = pytest.importorskip("anndata")


@pytest.fixture
def cells(tmp_path):
    path = tmp_path / "cells.h5ad"
    anndata.AnnData(np.random.default_rng(0).standard_normal((12, 5))).write_h5ad(path)
    return path


def objects(content):
    """Return the place, index and length of the objects of the first heap."""
    start = content.index(SIGNATURE)
    (size,) = struct.unpack_from("<Q", content, start + 8)
    place, found = start + HEAP_HEADER, []
    while start + size - place >= OBJECT.size:
        index, _, _, length = OBJECT.unpack_from(content, place)
        found.append((place, index, length))
        place += length if index == 0 else OBJECT.size + (length + 7) // 8 * 8
    return found


def with_length(content, place, length):
    changed = bytearray(content)
    struct.pack_into("<Q", changed, place + 8, length)
    return bytes(changed)


def test_a_whole_file_passes(cells):
    check_heaps(cells)
    assert read_table(cells).data.shape == (12, 5)


def test_free_space_without_length_is_refused(cells):
    content = cells.read_bytes()
    (place,) = (place for place, index, _ in objects(content) if index == 0)
    cells.write_bytes(with_length(content, place, 0))
    with pytest.raises(TableError, match=r"cells\.h5ad is damaged in its list of names"):
        read_table(cells)


@pytest.mark.parametrize("length", [2**64 - 16, 2**40])
def test_an_object_beyond_its_heap_is_refused(cells, length):
    content = cells.read_bytes()
    cells.write_bytes(with_length(content, objects(content)[0][0], length))
    with pytest.raises(TableError, match=r"cells\.h5ad is damaged in its list of names"):
        read_table(cells)


def test_an_empty_file_is_left_to_its_reader(tmp_path):
    path = tmp_path / "none.h5ad"
    path.write_bytes(b"")
    with pytest.raises(TableError, match=r"none\.h5ad"):
        read_table(path)
