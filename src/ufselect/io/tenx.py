"""Folders of single-cell counts as 10x Genomics' programs write them: matrix, features and barcodes."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np
from scipy import sparse
from scipy.io import mmread

from ufselect.exceptions import TableError
from ufselect.io.compression import open_unpacked
from ufselect.io.damage import read_unpacked, readable
from ufselect.io.naming import distinct_names
from ufselect.io.stores import check_stored
from ufselect.io.table import Table

FEATURES = ("features.tsv", "genes.tsv")
# What numbers are written with, also those that are not finite.
NUMERALS = b"0123456789+-.eE \t\r\nnaifNAIF"
PART = 1 << 24  # bytes that are looked at together


def is_tenx(folder: Path) -> bool:
    """Whether a folder holds a matrix in this form."""
    return _found(folder, ("matrix.mtx",)) is not None


def _found(folder: Path, names: tuple[str, ...]) -> Path | None:
    places = (folder / f"{name}{packing}" for name in names for packing in ("", ".gz"))
    return next((place for place in places if place.is_file()), None)


def read_tenx(folder: Path) -> Table:
    """Read the counts, cells in rows; genes are called by their symbol.

    Raises
    ------
    TableError
        If a file is absent or does not fit the others.
    """
    matrix = _found(folder, ("matrix.mtx",))
    features, barcodes = _found(folder, FEATURES), _found(folder, ("barcodes.tsv",))
    if matrix is None or features is None or barcodes is None:
        raise TableError(f"{folder} must hold matrix.mtx, features.tsv and barcodes.tsv; one is absent.")
    with open_unpacked(matrix) as file, readable(matrix, "Matrix Market"):
        content = read_unpacked(file, matrix)
        _check_characters(content, matrix)
        if not content.endswith(b"\n"):
            content += b"\n"  # without it SciPy's reader may read on beyond the end
        stored = check_stored(mmread(io.BytesIO(content)), matrix)
        counts = sparse.csr_array(stored.T)
    genes = [row[1] if len(row) > 1 else row[0] for row in _lines(features)]
    cells = [row[0] for row in _lines(barcodes)]
    if counts.shape != (len(cells), len(genes)):
        raise TableError(
            f"{matrix} holds {counts.shape[1]} genes × {counts.shape[0]} cells, but {len(genes)} features "
            f"and {len(cells)} barcodes are named; keep files of one run in the folder."
        )
    names, notes = distinct_names(genes)
    return Table(
        data=counts.astype(np.float32),
        feature_names=names,
        whole=np.ones(len(names), dtype=bool),
        ids=np.array(cells, dtype=object),
        id_name="barcode",
        notes=tuple(notes),
    )


def _check_characters(content: bytes, path: Path) -> None:
    """Refuse a matrix with other characters than numbers have; SciPy's reader crashes on some of them.

    Raises
    ------
    TableError
        With the file's name.
    """
    start = 0
    while content[start : start + 1] == b"%":  # remarks, which may say anything but the end of text
        start = (content.find(b"\n", start) + 1) or len(content)
    parts = range(start, len(content), PART)
    if b"\0" in content[:start] or any(
        content[part : part + PART].translate(None, NUMERALS) for part in parts
    ):
        raise TableError(f"{path} has characters that belong into no matrix; copy or download it again.")


def _lines(path: Path) -> list[list[str]]:
    with open_unpacked(path) as file, readable(path, "UTF-8"):
        text = io.TextIOWrapper(file, encoding="utf-8", newline="")
        return [row for row in csv.reader(text, delimiter="\t", quoting=csv.QUOTE_NONE) if row]
