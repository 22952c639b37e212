"""Reading data and labels from .npz and .mat files, without ever unpickling."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.io import loadmat

DATA_NAMES = ("X", "fea", "data", "features", "A", "x")
LABEL_NAMES = ("y", "Y", "gnd", "label", "labels", "target", "class", "classes")


def read_arrays(path: Path) -> tuple[NDArray, NDArray]:
    """Return the data, float64 and n_samples × n_features, and the labels, int64, of a file.

    Raises
    ------
    ValueError
        If the file is damaged, holds Python or MATLAB objects, or its data and labels cannot be told apart.
    """
    stored = _read_npz(path) if path.suffix.lower() == ".npz" else _read_mat(path)
    data, labels = _data_and_labels(stored, path)
    labels = _integer_labels(labels, path)
    if data.shape[0] != labels.size:
        if data.shape[1] != labels.size:
            raise ValueError(f"{path} holds {labels.size} labels for data of shape {data.shape}.")
        data = data.T
    return np.ascontiguousarray(data, dtype=np.float64), labels


def _read_npz(path: Path) -> dict[str, NDArray]:
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
            return {name: stored[name] for name in stored.files}
    except ValueError as error:
        raise ValueError(
            f"{path} is no .npz file or holds pickled Python objects, which are never loaded because they "
            "can run code; store X and y as plain numeric arrays."
        ) from error
    except Exception as error:
        raise ValueError(f"{path} is not a readable .npz file: {error}") from error


def _read_mat(path: Path) -> dict[str, Any]:
    try:
        stored = loadmat(path)
    except NotImplementedError as error:
        raise ValueError(
            f"{path} is in MATLAB's 7.3 format; store it again in MATLAB with save(…, '-v7')."
        ) from error
    except Exception as error:
        raise ValueError(f"{path} is not a readable .mat file: {error}") from error
    return {name: value for name, value in stored.items() if not name.startswith("__")}


def _data_and_labels(stored: Mapping[str, Any], path: Path) -> tuple[NDArray, NDArray]:
    """Find the two arrays by their usual names, else by their shapes."""
    arrays = {name: _plain(value, name, path) for name, value in stored.items()}
    data = next((arrays.pop(name) for name in DATA_NAMES if name in arrays), None)
    labels = next((arrays.pop(name) for name in LABEL_NAMES if name in arrays), None)
    if data is None:
        data = _only(arrays, lambda a: a.ndim == 2 and min(a.shape) > 1)
    if labels is None:
        labels = _only(arrays, lambda a: a.ndim == 1 or (a.ndim == 2 and min(a.shape) == 1))
    if data is not None and labels is None and not arrays and data.ndim == 2 and data.shape[1] > 1:
        data, labels = data[:, :-1], data[:, -1]  # one table with the labels as its last column
    if data is None or labels is None or data.ndim != 2:
        raise ValueError(
            f"{path} must hold a two-dimensional array X and a label array y; "
            f"found {', '.join(stored) or 'nothing'}."
        )
    return data, labels


def _only(arrays: dict[str, NDArray], fits: Any) -> NDArray | None:
    """Take out the one array that fits, if there is exactly one."""
    names = [name for name, value in arrays.items() if fits(value)]
    return arrays.pop(names[0]) if len(names) == 1 else None


def _plain(value: Any, name: str, path: Path) -> NDArray:
    """Return a variable as a numeric array."""
    if sparse.issparse(value):
        return value.toarray()
    array = np.asarray(value)
    if array.dtype.kind not in "biuf":
        raise ValueError(
            f"{name} in {path} holds {array.dtype} values; store X and y as plain numeric arrays."
        )
    return array


def _integer_labels(labels: NDArray, path: Path) -> NDArray:
    flat = labels.ravel()
    if not np.all(np.isfinite(flat)) or np.any(flat != np.rint(flat)):
        raise ValueError(f"The labels in {path} are not whole numbers.")
    return flat.astype(np.int64)
