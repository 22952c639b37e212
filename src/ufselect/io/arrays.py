"""Tables in array files: npy, npz and mat. Nothing is ever unpickled."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.io import loadmat

from ufselect.common.wording import Setting, listed
from ufselect.exceptions import TableError
from ufselect.io.damage import readable, refuse_large_archive
from ufselect.io.mat_structure import check_mat
from ufselect.io.naming import distinct_names
from ufselect.io.stores import check_stored, refuse_damage
from ufselect.io.table import Table

DATA_NAMES = ("X", "fea", "data", "features", "A", "x")
LABEL_NAMES = ("y", "Y", "gnd", "label", "labels", "target", "class", "classes")
NAME_NAMES = ("feature_names", "names", "columns", "var_names", "genes")
ID_NAMES = ("ids", "id", "index", "obs_names", "sample_names")
SPARSE_KEYS = {"format", "shape", "data"}  # what scipy.sparse.save_npz writes


def stored_arrays(path: Path) -> dict[str, Any]:
    """Return the arrays of an npy, npz or mat file by name; that of npy, and a sparse matrix, is X.

    Raises
    ------
    TableError
        If the file is damaged or holds Python objects.
    """
    readers = {".npy": _npy_array, ".npz": _npz_arrays, ".mat": _mat_arrays}
    return readers[path.suffix.lower()](path)


def open_npy(path: Path) -> NDArray:
    """Open one array on disk; its values are read when they are used.

    Raises
    ------
    TableError
        If the file is damaged or holds Python objects.
    """
    with readable(path, ".npy"):
        try:
            return np.load(path, mmap_mode="r", allow_pickle=False)
        except ValueError as error:
            raise TableError(_pickle_sentence(path)) from error


def _npy_array(path: Path) -> dict[str, Any]:
    return {"X": np.array(open_npy(path))}


def _npz_arrays(path: Path) -> dict[str, Any]:
    arrays = _npz_members(path)
    if not arrays.keys() >= SPARSE_KEYS:
        return arrays
    if "indptr" in arrays and np.size(arrays.get("indices", ())) != np.max(arrays["indptr"], initial=0):
        refuse_damage("its indptr does not end where its entries do", path)
    with readable(path, ".npz"):
        matrix = sparse.load_npz(path)
    return {"X": check_stored(matrix, path)}


def _npz_members(path: Path) -> dict[str, Any]:
    with readable(path, ".npz"):
        refuse_large_archive(path, "store the array as .npy, which is read by blocks")
        try:
            with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
                return {name: stored[name] for name in stored.files}
        except ValueError as error:
            raise TableError(_pickle_sentence(path)) from error


def _mat_arrays(path: Path) -> dict[str, Any]:
    try:
        with readable(path, ".mat"):
            check_mat(path)
            stored = loadmat(path)
    except TableError as error:
        if isinstance(error.__cause__, NotImplementedError):
            raise TableError(
                f"{path} is in MATLAB's 7.3 format; store it again in MATLAB with save(…, '-v7')."
            ) from error
        raise
    return {name: check_stored(value, path) for name, value in stored.items() if not name.startswith("__")}


def _pickle_sentence(path: Path) -> str:
    return (
        f"{path} is damaged or holds pickled Python objects, which are never loaded because they can run "
        "code; store plain numeric arrays."
    )


def read_arrays(path: Path, label_array: str | None = None, transpose: bool = False) -> Table:
    """Read the arrays of a file by their usual names: X, y, feature_names, ids.

    Raises
    ------
    TableError
        If there is no one table of numbers, or labels do not fit it.
    """
    if label_array is not None and path.suffix.lower() == ".npy":
        raise TableError(
            f"{path} holds one array and so no labels; drop ",
            Setting("label_column"),
            ", or store X and y as .npz.",
        )
    arrays = {name: _words(value) for name, value in stored_arrays(path).items()}
    if transpose:
        name = _data_name(arrays, path)
        arrays[name] = arrays[name].T
    return _table(arrays, path, label_array)


def turned_to(labels: NDArray, data: Any) -> Any | None:
    """Return the data with one row for each label, transposed if need be; None if neither way fits."""
    if labels.size == data.shape[0]:
        return data
    return data.T if labels.size == data.shape[1] else None


def _words(value: Any) -> Any:
    """Return a MATLAB cell of words as an array of words."""
    if not sparse.issparse(value) and value.dtype == object:
        return np.array(["".join(map(str, np.ravel(cell))) for cell in value.ravel()])
    return value


def _table(arrays: Mapping[str, Any], path: Path, label_array: str | None) -> Table:
    data_name = _data_name(arrays, path)
    data = arrays[data_name]
    label_name = _label_name(arrays, data_name, label_array, path)
    labels = None if label_name is None else np.ravel(arrays[label_name])
    if labels is not None:
        turned = turned_to(labels, data)
        if turned is None:
            raise TableError(
                f"{path} holds {labels.size} labels for {data.shape[0]} rows; they must be as many."
            )
        data = turned
    names, name_notes = _names(arrays, data.shape[1])
    ids_name = next(
        (name for name in ID_NAMES if name in arrays and np.size(arrays[name]) == data.shape[0]), None
    )
    whole = np.full(data.shape[1], data.dtype.kind in "biu")
    return Table(
        data=_floats(data),
        feature_names=names,
        whole=whole,
        ids=None if ids_name is None else np.ravel(arrays[ids_name]),
        id_name=None if ids_name is None else "id",
        labels=labels,
        label_name=label_name,
        notes=(f"Features are read from the array {data_name}.", *name_notes)
        if len(arrays) > 1
        else tuple(name_notes),
    )


def _data_name(arrays: Mapping[str, Any], path: Path) -> str:
    tables = [
        name
        for name, value in arrays.items()
        if np.ndim(value) == 2 and value.dtype.kind in "biuf" and (min(value.shape) > 1 or name in DATA_NAMES)
    ]
    usual = [name for name in DATA_NAMES if name in tables]
    if usual or len(tables) == 1:
        return (usual or tables)[0]
    raise TableError(
        f"{path} must hold one two-dimensional array of numbers named X; it holds "
        f"{listed([f'{name} {np.shape(value)}' for name, value in arrays.items()]) or 'nothing'}."
    )


def _label_name(arrays: Mapping[str, Any], data_name: str, asked: str | None, path: Path) -> str | None:
    if asked is not None:
        if asked not in arrays or asked == data_name:
            others = [name for name in arrays if name != data_name]
            raise TableError(f"{path} holds no label array {asked!r}; it has {listed(others) or 'only X'}.")
        return asked
    return next((name for name in LABEL_NAMES if name in arrays and name != data_name), None)


def _names(arrays: Mapping[str, Any], n_features: int) -> tuple[list[str], list[str]]:
    for name in NAME_NAMES:
        if name in arrays and np.size(arrays[name]) == n_features:
            return distinct_names([str(value) for value in np.ravel(arrays[name])])
    return [f"feature_{j}" for j in range(1, n_features + 1)], []


def _floats(data: Any) -> NDArray | sparse.csr_array:
    if sparse.issparse(data):
        data = sparse.csr_array(data)
    return data if data.dtype in (np.float32, np.float64) else data.astype(np.float64)
