"""Matrices inside HDF5 files and zarr stores: found by name, read by rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ufselect.common.extras import import_extra
from ufselect.common.sparse_structure import index_damage, pointer_damage, sparse_damage
from ufselect.exceptions import TableError
from ufselect.io.damage import readable
from ufselect.io.hdf5_trial import try_hdf5

MOST_PACKED = 1032  # bytes that deflate packs into one, at most
SMALL_CLAIM = 2**24  # bytes that are read in a moment, whether they are stored or not


def open_hdf5(path: Path) -> Any:
    """Open an HDF5 file for reading; close it after use.

    Raises
    ------
    TableError
        If it is none, or the HDF5 library cannot read it without coming to grief.
    """
    h5py = import_extra("h5py", "Opening HDF5 files", "tables")
    with readable(path, "HDF5"):
        try_hdf5(path)
        file = h5py.File(path, "r")
        _refuse_other_files(file, path)
    return file


def _refuse_other_files(file: Any, path: Path) -> None:
    """Refuse a file that makes its readers open other files, which may be anything on this machine."""
    h5py = import_extra("h5py", "Opening HDF5 files", "tables")
    elsewhere: list[str] = []

    def look_at_link(name: str, link: Any) -> None:
        if isinstance(link, h5py.ExternalLink):
            elsewhere.append(name)

    def look_at_object(name: str, node: Any) -> None:
        if isinstance(node, h5py.Dataset) and (node.external is not None or node.is_virtual):
            elsewhere.append(name)

    file.visititems_links(look_at_link)
    file.visititems(look_at_object)
    if elsewhere:
        file.close()
        raise TableError(
            f"{path} keeps {elsewhere[0]!r} in another file, which is not followed; give that file itself."
        )


def is_sparse_group(node: Any) -> bool:
    """Tell whether a group holds a sparse matrix as data, indices and indptr."""
    return not hasattr(node, "ndim") and all(name in node for name in ("data", "indices", "indptr"))


def find_matrix(group: Any, dataset: str | None, path: Path) -> Any:
    """Return the matrix of that name, or the only one.

    Raises
    ------
    TableError
        If there is none, or more than one and no name.
    """
    if dataset is not None:
        if dataset not in group:
            raise TableError(f"{path} holds no array named {dataset!r}; it holds {', '.join(group)}.")
        return check_claim(group[dataset], path)
    with readable(path, "HDF5 or zarr"):
        tables = [
            name for name in group if getattr(group[name], "ndim", 0) == 2 or is_sparse_group(group[name])
        ]
    if len(tables) != 1:
        raise TableError(
            f"{path} holds {len(tables)} arrays of two dimensions; "
            "open the one you mean with ufselect.blocks.open_blocks(path, dataset=…)."
        )
    return check_claim(group[tables[0]], path)


def stored_bytes(path: Path, enough: int) -> int:
    """Return the size of a file, or of the files of a folder until they could unpack to enough bytes."""
    total = 0
    for part in path.rglob("*") if path.is_dir() else [path]:
        total += part.stat().st_size
        if MOST_PACKED * total >= enough:
            break
    return total


def check_claim(array: Any, path: Path) -> Any:
    """Return an open array, refusing one that would be filled up with zeros for hours.

    Chunks that are not stored read as zeros, so damage in the number of rows makes an array of any size.

    Raises
    ------
    TableError
        If it is larger than what is stored could unpack to.
    """
    claimed = getattr(array, "nbytes", 0)
    if claimed > SMALL_CLAIM and claimed > MOST_PACKED * (n_bytes := stored_bytes(path, claimed)):
        raise TableError(
            f"{path} claims {claimed / 2**20:.0f} MiB in {n_bytes} bytes: it is damaged or was never filled; "
            "write it again."
        )
    return array


def refuse_damage(damage: str | None, path: Path) -> None:
    """Raise what is wrong with a stored sparse matrix, with the file's name.

    Raises
    ------
    TableError
        Unless nothing is.
    """
    if damage is not None:
        raise TableError(f"{path} holds a damaged sparse matrix: {damage}; write the file again.")


def check_stored(matrix: Any, path: Path) -> Any:
    """Return what was read from a file, refusing a sparse matrix whose index arrays are damaged."""
    if sparse.issparse(matrix):
        refuse_damage(sparse_damage(matrix) or _shape_damage(matrix.shape, path.stat().st_size), path)
    return matrix


def _shape_damage(shape: tuple[int, ...], n_bytes: int) -> str | None:
    """Say so if a matrix has more rows or columns than its file could hold entries, or return None.

    Converting it would take memory for all of them.
    """
    if max(shape) > MOST_PACKED * n_bytes:
        return f"it claims a shape of {shape[0]} × {shape[1]} in a file of {n_bytes} bytes"
    return None


def sparse_shape(group: Any, path: Path) -> tuple[int, int]:
    """Return the shape that a stored sparse matrix gives itself.

    Raises
    ------
    TableError
        If it gives none, or one that its store cannot have.
    """
    shape = [int(size) for size in group.attrs.get("shape", ())]
    if len(shape) != 2 or min(shape) < 0:
        refuse_damage("it does not say its shape", path)
    refuse_damage(_shape_damage((shape[0], shape[1]), stored_bytes(path, max(shape))), path)
    return shape[0], shape[1]


def row_pointers(group: Any, n_rows: int, path: Path) -> NDArray:
    """Read the row pointers of a stored CSR matrix, refusing those that do not fit its other arrays."""
    n_indices, n_values = group["indices"].shape[0], group["data"].shape[0]
    indptr = np.asarray(group["indptr"][:])
    refuse_damage(pointer_damage(indptr, n_rows, n_values), path)
    if not n_indices == n_values == indptr[-1]:
        refuse_damage(f"it stores {n_values} values and {n_indices} indices for {indptr[-1]}", path)
    return indptr


def sparse_rows(group: Any, indptr: NDArray, n_columns: int, path: Path) -> sparse.csr_array:
    """Read the rows of a stored CSR matrix between the ends of ``indptr``, which `row_pointers` returned."""
    entries = slice(int(indptr[0]), int(indptr[-1]))
    values, indices = group["data"][entries], group["indices"][entries]
    refuse_damage(index_damage(indices, n_columns), path)
    return sparse.csr_array((values, indices, indptr - indptr[0]), shape=(indptr.size - 1, n_columns))
