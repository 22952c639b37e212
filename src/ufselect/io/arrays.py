"""Tables in array files: npy, npz and mat. Nothing is ever unpickled."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.io import loadmat

from ufselect.io.errors import TableError, listed
from ufselect.io.naming import distinct_names
from ufselect.io.table import Table

DATA_NAMES = ("X", "fea", "data", "features", "A", "x")
LABEL_NAMES = ("y", "Y", "gnd", "label", "labels", "target", "class", "classes")
NAME_NAMES = ("feature_names", "names", "columns", "var_names", "genes")
ID_NAMES = ("ids", "id", "index", "obs_names", "sample_names")
SPARSE_KEYS = {"format", "shape", "data"}


def read_npy(path: Path, label_array: str | None = None) -> Table:
    """Read one two-dimensional array."""
    if label_array is not None:
        raise TableError(f"{path} holds one array and so no labels; drop --labels, or store X and y as .npz.")
    try:
        data = np.load(path, allow_pickle=False)
    except ValueError as error:
        raise TableError(_pickle_sentence(path)) from error
    return _table({"X": data}, path, None)


def read_npz(path: Path, label_array: str | None = None) -> Table:
    """Read the arrays of an npz file by their usual names: X, y, feature_names, ids."""
    try:
        with np.load(path, allow_pickle=False) as stored:
            if set(stored.files) >= SPARSE_KEYS:
                return _table({"X": sparse.load_npz(path)}, path, label_array)
            arrays = {name: stored[name] for name in stored.files}
    except ValueError as error:
        raise TableError(_pickle_sentence(path)) from error
    except (EOFError, AttributeError, OSError) as error:
        if isinstance(error, FileNotFoundError | PermissionError):
            raise
        raise TableError(f"{path} is not a readable .npz file; write it again.") from error
    return _table(arrays, path, label_array)


def read_mat(path: Path, label_array: str | None = None) -> Table:
    """Read the variables of a MATLAB file by their usual names."""
    try:
        stored = loadmat(path)
    except NotImplementedError as error:
        raise TableError(
            f"{path} is in MATLAB's 7.3 format; store it again in MATLAB with save(…, '-v7')."
        ) from error
    except OSError:
        raise
    except Exception as error:
        raise TableError(f"{path} is not a readable .mat file; write it again.") from error
    variables = {name: _plain(value) for name, value in stored.items() if not name.startswith("__")}
    return _table(variables, path, label_array)


def _pickle_sentence(path: Path) -> str:
    return (
        f"{path} is damaged or holds pickled Python objects, which are never loaded because they can run "
        "code; store plain numeric arrays."
    )


def _plain(value: Any) -> Any:
    """Return a MATLAB cell of words as an array of words."""
    if not sparse.issparse(value) and value.dtype == object:
        return np.array(["".join(map(str, np.ravel(cell))) for cell in value.ravel()])
    return value


def _table(arrays: Mapping[str, Any], path: Path, label_array: str | None) -> Table:
    data_name = _data_name(arrays, path)
    data = arrays[data_name]
    label_name = _label_name(arrays, data_name, label_array, path)
    labels = None if label_name is None else np.ravel(arrays[label_name])
    if labels is not None and labels.size != data.shape[0]:
        if labels.size != data.shape[1]:
            raise TableError(
                f"{path} holds {labels.size} labels for {data.shape[0]} rows; they must be as many."
            )
        data = data.T
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
    known = [name for name in DATA_NAMES if name in tables]
    if known or len(tables) == 1:
        return (known or tables)[0]
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
