"""Matrices inside HDF5 files and zarr stores: found by name, read by rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ufselect._utils.imports import import_extra
from ufselect._utils.validation import index_damage, pointer_damage, sparse_damage
from ufselect.exceptions import TableError
from ufselect.io.files import readable, refuse_expansion
from ufselect.io.trial import try_file


def open_hdf5(path: Path) -> Any:
    """Open an HDF5 file for reading; close it after use."""
    h5py = import_extra("h5py", "Opening HDF5 files", "tables")
    elsewhere: list[str] = []  # other files, which may be anything on this machine

    def look_at_link(name: str, link: Any) -> None:
        if isinstance(link, h5py.ExternalLink):
            elsewhere.append(name)

    def look_at_object(name: str, node: Any) -> None:
        if isinstance(node, h5py.Dataset) and (node.external is not None or node.is_virtual):
            elsewhere.append(name)

    with readable(path, "HDF5"):
        try_file(path)
        file = h5py.File(path, "r")
        file.visititems_links(look_at_link)
        file.visititems(look_at_object)
    if elsewhere:
        file.close()
        raise TableError(
            f"{path} keeps {elsewhere[0]!r} in another file, which is not followed; give that file itself."
        )
    return file


def is_sparse_group(node: Any) -> bool:
    """Tell whether a group holds a sparse matrix as data, indices and indptr."""
    return not hasattr(node, "ndim") and all(name in node for name in ("data", "indices", "indptr"))


def find_matrix(group: Any, dataset: str | None, path: Path) -> Any:
    """Return the matrix of that name, or the only one."""
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


def check_claim(array: Any, path: Path) -> Any:
    """Return an open array, refusing one that would be filled up with zeros for hours.

    Chunks that are not stored read as zeros, so damage in the number of rows makes an array of any size.
    """
    refuse_expansion(path, getattr(array, "nbytes", 0), "it is damaged or was never filled: write it again")
    return array


def refuse_damage(damage: str | None, path: Path) -> None:
    """Raise what is wrong with a stored sparse matrix, with the file's name."""
    if damage is not None:
        raise TableError(f"{path} holds a damaged sparse matrix: {damage}; write the file again.")


def check_stored(matrix: Any, path: Path) -> Any:
    """Return what was read from a file, refusing a sparse matrix whose index arrays are damaged."""
    if sparse.issparse(matrix):
        refuse_damage(sparse_damage(matrix), path)
        _check_shape(matrix.shape, path)
    return matrix


def _check_shape(shape: tuple[int, ...], path: Path) -> None:
    """Refuse more rows or columns than a file can hold; converting the matrix takes memory for each."""
    refuse_expansion(path, 8 * max(shape), "its shape is damaged: write it again")


def sparse_shape(group: Any, path: Path) -> tuple[int, int]:
    """Return the shape that a stored sparse matrix gives itself, if it gives one that its store can have."""
    shape = [int(size) for size in group.attrs.get("shape", ())]
    if len(shape) != 2 or min(shape) < 0:
        refuse_damage("it does not say its shape", path)
    _check_shape((shape[0], shape[1]), path)
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
