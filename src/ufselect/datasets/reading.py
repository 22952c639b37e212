"""Data and labels of the published files, whatever their arrays are called."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ufselect.io.arrays import DATA_NAMES, LABEL_NAMES, stored_arrays, turned_to


def read_labelled(path: Path) -> tuple[NDArray, NDArray]:
    """Return the data, float64 and n_samples × n_features, and the labels, int64, of a file.

    Raises
    ------
    ValueError
        If the file is damaged, holds Python or MATLAB objects, or its data and labels cannot be told apart.
    """
    data, labels = _data_and_labels(stored_arrays(path), path)
    labels = _integer_labels(labels, path)
    turned = turned_to(labels, data)
    if turned is None:
        raise ValueError(f"{path} holds {labels.size} labels for data of shape {data.shape}.")
    return np.ascontiguousarray(turned, dtype=np.float64), labels


def _data_and_labels(stored: Mapping[str, Any], path: Path) -> tuple[NDArray, NDArray]:
    """Find the two arrays by their usual names, else by their shapes."""
    arrays = {name: _numbers(value, name, path) for name, value in stored.items()}
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


def _only(arrays: dict[str, NDArray], fits: Callable[[NDArray], bool]) -> NDArray | None:
    """Take out the one array that fits, if there is exactly one."""
    names = [name for name, value in arrays.items() if fits(value)]
    return arrays.pop(names[0]) if len(names) == 1 else None


def _numbers(value: Any, name: str, path: Path) -> NDArray:
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
