"""Tables in array files: npy, npz and mat. Nothing is ever unpickled."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.io import loadmat

from ufselect._utils.validation import listed
from ufselect.exceptions import TableError
from ufselect.io.files import check_stored
from ufselect.io.table import ReadOptions, Table, distinct_names
from ufselect.io.trial import try_file

DATA_NAMES = ("X", "fea", "data", "features", "A", "x")
LABEL_NAMES = ("y", "Y", "gnd", "label", "labels", "target", "class", "classes")
NAME_NAMES = ("feature_names", "names", "columns", "var_names", "genes")
ID_NAMES = ("ids", "id", "index", "obs_names", "sample_names")


@contextmanager
def _without_pickles(path: Path) -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        raise TableError(
            f"{path} is damaged or holds pickled Python objects, which are never loaded because they can "
            "run code; store plain numeric arrays."
        ) from error


def stored_arrays(path: Path) -> dict[str, Any]:
    """Return the arrays of an npy, npz or mat file by name; a single array or sparse matrix is X."""
    kind = path.suffix.lower()
    if kind == ".npy":
        with _without_pickles(path):
            return {"X": np.load(path, allow_pickle=False)}
    if kind == ".npz":
        with _without_pickles(path), path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
        if arrays.keys() >= {"format", "shape", "data"}:  # what scipy.sparse.save_npz writes
            return {"X": check_stored(sparse.load_npz(path), path)}
        return arrays
    try_file(path)
    try:
        stored = loadmat(path, spmatrix=False)
    except NotImplementedError as error:
        words = f"{path} is in MATLAB's 7.3 format; store it again in MATLAB with save(…, '-v7')."
        raise TableError(words) from error
    return {name: check_stored(value, path) for name, value in stored.items() if not name.startswith("__")}


def turned_to(labels: NDArray, data: Any) -> Any | None:
    """Return the data with one row per label, transposed if necessary; None if neither way fits."""
    if labels.size == data.shape[0]:
        return data
    return data.T if labels.size == data.shape[1] else None


def read_arrays(path: Path, options: ReadOptions) -> Table:
    """Read the arrays of a file by their usual names: X, y, feature_names, ids."""
    arrays = stored_arrays(path)
    for name, value in arrays.items():
        if not sparse.issparse(value) and value.dtype == object:  # a MATLAB cell of words
            arrays[name] = np.array(["".join(map(str, np.ravel(cell))) for cell in value.ravel()])
    tables = [
        name
        for name, value in arrays.items()
        if np.ndim(value) == 2 and value.dtype.kind in "biuf" and (min(value.shape) > 1 or name in DATA_NAMES)
    ]
    usual = [name for name in DATA_NAMES if name in tables]
    if not usual and len(tables) != 1:
        raise TableError(
            f"{path} must hold one two-dimensional array of numbers named X; it holds "
            f"{listed([f'{name} {np.shape(value)}' for name, value in arrays.items()]) or 'nothing'}."
        )
    data_name = (usual or tables)[0]
    data = arrays.pop(data_name)
    data = data.T if options.transpose else data
    label_name = options.label_column or next((name for name in LABEL_NAMES if name in arrays), None)
    labels = None
    for asked in (label_name, *options.carried_columns):
        if asked is not None and asked not in arrays:
            words = f"{path} holds no label array {asked!r}"
            raise TableError(f"{words}; it has {listed(list(arrays)) or 'only X'}.")
    if label_name is not None:
        labels = np.ravel(arrays[label_name])
        turned = turned_to(labels, data)
        if turned is None:
            words = f"{path} holds {labels.size} labels for {data.shape[0]} rows"
            raise TableError(f"{words}; store one label per row.")
        data = turned

    def fitting(usual: tuple[str, ...], size: int) -> NDArray | None:
        return next((np.ravel(arrays[key]) for key in usual if np.size(arrays.get(key, ())) == size), None)

    written, ids = fitting(NAME_NAMES, data.shape[1]), fitting(ID_NAMES, data.shape[0])
    names = [f"feature_{j}" for j in range(1, data.shape[1] + 1)] if written is None else map(str, written)
    names, notes = distinct_names(list(names))
    whole = np.full(data.shape[1], data.dtype.kind in "biu")
    data = sparse.csr_array(data) if sparse.issparse(data) else data
    return Table(
        data=data if data.dtype in (np.float32, np.float64) else data.astype(np.float64),
        feature_names=names,
        whole=whole,
        ids=ids,
        id_name=None if ids is None else "id",
        labels=labels,
        label_name=label_name,
        notes=(*([f"Features are read from the array {data_name}."] if arrays else []), *notes),
    )
