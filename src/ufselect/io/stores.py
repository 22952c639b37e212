"""Matrices inside HDF5 files and zarr stores: found by name, read by rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from scipy import sparse

from ufselect.common.extras import import_extra
from ufselect.exceptions import TableError


def open_hdf5(path: Path) -> Any:
    """Open an HDF5 file for reading; close it after use.

    Raises
    ------
    TableError
        If it is none.
    """
    h5py = import_extra("h5py", "Opening HDF5 files", "tables")
    try:
        return h5py.File(path, "r")
    except (FileNotFoundError, PermissionError):
        raise
    except OSError as error:
        raise TableError(f"{path} is not a readable HDF5 file; write it again.") from error


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
        return group[dataset]
    tables = [name for name in group if getattr(group[name], "ndim", 0) == 2 or is_sparse_group(group[name])]
    if len(tables) != 1:
        raise TableError(
            f"{path} holds {len(tables)} arrays of two dimensions; "
            "open the one you mean with ufselect.blocks.open_blocks(path, dataset=…)."
        )
    return group[tables[0]]


def sparse_rows(group: Any, indptr: Any, n_columns: int) -> sparse.csr_array:
    """Read the rows of a stored CSR matrix between the ends of ``indptr``."""
    entries = slice(int(indptr[0]), int(indptr[-1]))
    values, indices = group["data"][entries], group["indices"][entries]
    return sparse.csr_array((values, indices, indptr - indptr[0]), shape=(indptr.size - 1, n_columns))
