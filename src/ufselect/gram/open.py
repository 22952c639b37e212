"""Open data on disk as blocks, without reading them."""

from __future__ import annotations

import math
import os
from contextlib import nullcontext
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from ufselect._utils.validation import index_damage, is_open_store, pointer_damage
from ufselect.exceptions import TableError
from ufselect.gram.dask import import_dask
from ufselect.io.arrays import open_npy
from ufselect.io.files import check_claim, readable, refuse_damage
from ufselect.io.h5ad import find_matrix, is_sparse_group, open_hdf5
from ufselect.io.parquet import parts_of

BLOCK_BYTES = 2**26  # large enough for full disk speed, small enough for a few on every worker


def open_blocks(store: Any, dataset: str | None = None) -> Any:
    """Open data on disk for a selector's ``fit``, without reading them yet.

    Use it for data that do not fit into memory; read smaller tables with pandas or polars.

    Parameters
    ----------
    store : path, zarr.Array or h5py.Dataset
        A directory of parquet parts or one parquet file, a zarr array or group, an HDF5 or AnnData file, or
        a .npy file. On a cluster, every worker must be able to open it under the same name.
    dataset : str, optional
        Name of the array within a zarr group or HDF5 file; not needed if only one has two dimensions. CSR
        matrices stored as a group of ``data``, ``indices`` and ``indptr`` count as arrays and are read as
        sparse blocks of rows.

    Returns
    -------
    dask.dataframe.DataFrame, dask.array.Array or numpy.memmap
        For parquet, for zarr and HDF5, and for .npy.

    Raises
    ------
    FileNotFoundError, ValueError
        If there is nothing of that name, or its format is not supported.

    See Also
    --------
    reduce_data : Read the data once for several fits.

    Examples
    --------
    >>> import tempfile, os, numpy as np
    >>> from ufselect.gram import open_blocks
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "table.npy")
    ...     np.save(path, np.ones((4, 3)))
    ...     shape = open_blocks(path).shape
    >>> shape
    (4, 3)
    """
    if is_open_store(store):
        return _from_open(store)
    if not os.fspath(store):
        raise ValueError("X is an empty path; give the name of a file or directory, or the data themselves.")
    path = Path(store)
    if path.is_symlink() and not path.exists():
        raise FileNotFoundError(f"{path} is a link to {path.readlink()}, which does not exist; fix the link.")
    if not path.exists():
        raise FileNotFoundError(f"There is no file or directory {path}; check the name and the folder.")
    suffix = path.suffix.lower()
    with readable(path, "data"):
        if suffix == ".npy":
            return _two_dimensional(open_npy(path), path)
        if suffix in (".h5", ".hdf5", ".hdf", ".h5ad"):
            return _from_open(find_matrix(open_hdf5(path), dataset, path), path)
        if path.is_dir() and any((path / mark).exists() for mark in (".zarray", ".zgroup", "zarr.json")):
            opened = _import_zarr().open(path, mode="r")
            is_array = hasattr(opened, "chunks")
            return _from_open(opened if is_array else find_matrix(opened, dataset, path), path)
        if suffix == ".parquet" or (path.is_dir() and any(path.glob("**/*.parquet"))):
            return import_dask("dask.dataframe").read_parquet([str(part) for part in parts_of(path)])
    raise TableError(
        f"{path} is neither a directory of parquet parts, a zarr store, an HDF5 file (.h5) nor a .npy file; "
        "read other formats with pandas or polars and pass the data frame."
    )


def _two_dimensional(array: Any, path: Path | None) -> Any:
    """Return the array if it has rows and columns, and refuse it otherwise."""
    if array.ndim != 2 or array.shape[1] == 0:
        held = "X holds" if path is None else f"{path} holds"
        raise TableError(f"{held} an array of shape {array.shape}; give one with rows and columns.")
    return array


def _import_zarr() -> Any:
    try:
        return import_dask("zarr")
    except ImportError as error:
        raise ImportError("zarr is needed to open this store: pip install zarr") from error


def _from_open(array: Any, path: Path | None = None) -> Any:
    """Wrap an open array; its blocks are the stored chunks, or multiples of them if they are small."""
    dask_array = import_dask("dask.array")
    if path is not None and is_sparse_group(array):
        return _from_sparse_group(array, path)
    if path is not None:
        check_claim(array.nbytes, path)
    stored = _two_dimensional(array, path).chunks
    if stored is None:
        return dask_array.from_array(array, chunks=("auto", -1))
    chunk_bytes = math.prod(stored) * array.dtype.itemsize
    rows = stored[0] * max(1, BLOCK_BYTES // max(chunk_bytes, 1))
    return dask_array.from_array(array, chunks=(min(rows, max(array.shape[0], 1)), stored[1]))


def _from_sparse_group(group: Any, path: Path) -> Any:
    """Split a stored CSR matrix into blocks of rows of about `BLOCK_BYTES`."""
    if str(group.attrs.get("encoding-type", "csr_matrix")) != "csr_matrix":
        raise TableError(f"{path} stores {group.name} by columns; convert it to CSR first.")
    dask, dask_array = import_dask(), import_dask("dask.array")
    # Programs of 10x Genomics store genes × cells by columns, which are the rows here.
    shape = group["shape"][:][::-1] if "barcodes" in group else group.attrs.get("shape", ())
    shape = [int(size) for size in shape]
    if len(shape) != 2 or min(shape) < 0:
        refuse_damage("it does not say its shape", path)
    check_claim(8 * max(shape), path)
    n_rows, n_columns = shape
    indptr, dtype = np.asarray(group["indptr"][:]), group["data"].dtype
    n_indices, n_values = group["indices"].shape[0], group["data"].shape[0]
    refuse_damage(pointer_damage(indptr, n_rows, n_values), path)
    if not n_indices == n_values == indptr[-1]:
        refuse_damage(f"it stores {n_values} values and {n_indices} indices for {indptr[-1]}", path)
    entry_bytes = dtype.itemsize + group["indices"].dtype.itemsize
    filled = indptr.astype(np.int64) * entry_bytes // BLOCK_BYTES
    cuts = [0, *(np.flatnonzero(np.diff(filled[:-1])) + 1).tolist(), n_rows]
    meta = sparse.csr_array((0, 0), dtype=dtype)
    blocks = []
    for start, stop in pairwise(cuts):
        rows = dask.delayed(_read_sparse_rows)(str(path), group.name, indptr[start : stop + 1], n_columns)
        blocks.append(dask_array.from_delayed(rows, (stop - start, n_columns), meta=meta))
    return dask_array.concatenate(blocks)


def _read_sparse_rows(path: str, name: str, indptr: Any, n_columns: int) -> sparse.csr_array:
    """Open the store again and read the rows between the ends of ``indptr``; runs on a worker."""
    place, entries = Path(path), slice(int(indptr[0]), int(indptr[-1]))
    is_zarr = place.is_dir()
    with readable(place, "zarr" if is_zarr else "HDF5"):
        opened = nullcontext(_import_zarr().open_group(path, mode="r")) if is_zarr else open_hdf5(place)
        with opened as store:
            group = store[name.strip("/") or "/"]  # it may be the root
            values, indices = group["data"][entries], group["indices"][entries]
    refuse_damage(index_damage(indices, n_columns), place)
    return sparse.csr_array((values, indices, indptr - indptr[0]), shape=(indptr.size - 1, n_columns))
