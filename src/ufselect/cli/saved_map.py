"""The map to all columns that ``select --save-map`` stores beside the record."""

from __future__ import annotations

import hashlib
import io
import warnings
import zlib
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from ufselect.exceptions import DominatedByUnitsWarning, TableError
from ufselect.pipeline import Run, row_metadata
from ufselect.reconstruct.kernel import ColumnMap
from ufselect.reconstruct.reconstructor import Reconstructor

# The dimensions of each array: d columns, r of them selected, l landmark rows. If the map is linear, the last
# three of its arrays have no rows.
SHAPES = {
    "columns": "r", "mean": "d", "weights": "rd", "covariance": "rr", "ridge": "", "landmarks": "lr",
    "unit": "", "reach": "", "width": "", "offset": "bd", "slope": "kd", "coefficients": "md",
    "names": "d", "means": "d", "centre": "d", "scale": "d", "standard_deviations": "d", "column_errors": "d",
}  # fmt: skip
POSITIVE = {"unit", "reach", "width", "scale"}
NON_NEGATIVE = {"ridge", "standard_deviations", "column_errors"}


def map_of(run: Run, name: str) -> tuple[bytes, dict[str, Any]]:
    """Return the map to all columns as an .npz file, and its entry in the record.

    The file holds only arrays of numbers and names, so that reading it runs no code: those of ``ColumnMap``;
    the means and deviations that convert the table's units to its; names; and, in the table's units, the
    standard deviation of each column's error.
    """
    request, scaler = run.request, run.scaler
    obstacles = {
        "--normalize needs all columns of a new row": request.normalize != "none",
        "--batch and --weights treat rows differently, but the map treats all alike": row_metadata(run.table),
        "--categorical makes columns that a new table does not have": run.table.groups is not None,
    }
    for reason, holds in obstacles.items():
        if holds:
            raise TableError(f"--save-map cannot be used here: {reason}; leave one option out.")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DominatedByUnitsWarning)  # said with what was assumed
        fitted = Reconstructor(run.selected).fit(run.data)
    n_features = run.table.shape[1]
    centre, scale = np.zeros(n_features), np.ones(n_features)
    if scaler.is_scaled_:
        centre, scale = scaler.mean_, scaler.scale_
    arrays = {
        **vars(fitted.column_map_),
        "names": np.array(run.table.feature_names, dtype=str),
        "means": scaler.mean_,
        "centre": centre,
        "scale": scale * fitted.unit_,
        "standard_deviations": fitted.standard_deviations_ * scale,
        "column_errors": fitted.column_errors_,
    }
    stored = io.BytesIO()
    np.savez_compressed(stored, **arrays)
    facts = {
        "file": name,
        "sha256": hashlib.sha256(stored.getvalue()).hexdigest(),
        "regressor": fitted.regressor_,
        "reason": fitted.reason_,
        "score": fitted.score_,
    }
    return stored.getvalue(), facts


def read_map(path: Path, record: Mapping[str, Any]) -> tuple[ColumnMap, dict[str, NDArray]]:
    """Return the map that a record names, and the arrays beside it, if all of them are sound."""
    if "map" not in record:
        raise TableError(f"{path} has no map; run ufselect select again with --save-map.")
    place = path.parent / record["map"]["file"]
    if not place.is_file():
        raise TableError(f"The map of {path} is not at {place}; put it there.")
    content = place.read_bytes()
    if hashlib.sha256(content).hexdigest() != record["map"]["sha256"]:
        raise TableError(f"{place} is not the map of {path}; run ufselect select again with --save-map.")
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
        fault = _fault(arrays)
    except (ValueError, KeyError, OSError, EOFError, BadZipFile, zlib.error) as error:
        fault = str(error)
    if fault:
        raise TableError(f"{place} is damaged: {fault}. Run ufselect select again with --save-map.")
    return ColumnMap(**{each.name: arrays.pop(each.name) for each in fields(ColumnMap)}), arrays


def _fault(arrays: Mapping[str, NDArray]) -> str:
    """Say what is wrong with the arrays of a map, or return an empty text."""
    sizes: dict[str, int] = {}
    for name, axes in SHAPES.items():
        values = arrays.get(name)
        kind = "U" if name == "names" else "iu" if name == "columns" else "f"
        if values is None or values.dtype.kind not in kind or values.ndim != len(axes):
            return f"{name} is not what a map has"
        for axis, size in zip(axes, values.shape, strict=True):
            if sizes.setdefault(axis, size) != size:
                return f"{name} has another size than the other arrays"
        if kind != "f":
            continue
        is_sound = ~np.isnan(values) & (np.abs(values) < 1e200) | (name in ("reach", "ridge")) & (values > 0)
        if name in POSITIVE:
            is_sound &= values > 0
        elif name in NON_NEGATIVE:
            is_sound &= values >= 0
        if not is_sound.all():
            return f"{name} has numbers that no map has"
    columns = arrays["columns"]
    if np.any(np.diff(columns) <= 0) or not (columns.size and 0 <= columns[0] <= columns[-1] < sizes["d"]):
        return "the selected columns are not among all"
    return "" if len({*arrays["names"]}) == sizes["d"] else "names repeat"
