"""Names for data, parameters, subsets and software that are equal exactly when the things are."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy
import sklearn
from numpy.typing import NDArray

import ufselect

DIGITS = 16


def data_hash(X: NDArray, y: NDArray) -> str:
    """Return a short SHA-256 of the values, the shape and the classes."""
    digest = hashlib.sha256(f"{X.shape}".encode())
    digest.update(np.ascontiguousarray(X + 0.0, dtype="<f8").tobytes())
    digest.update(np.ascontiguousarray(np.unique(y, return_inverse=True)[1], dtype="<i8").tobytes())
    return digest.hexdigest()[:DIGITS]


def features_hash(features: NDArray) -> str:
    """Return a short SHA-256 of a set of features, whatever their order."""
    return hashlib.sha256(np.sort(features).astype("<i8").tobytes()).hexdigest()[:DIGITS]


def canonical(params: Mapping[str, Any]) -> str:
    """Write parameters as JSON with sorted names."""
    return json.dumps(params, sort_keys=True, default=_plain)


def software_versions() -> str:
    """Name the versions on which the numbers depend."""
    return (
        f"ufselect {ufselect.__version__}, numpy {np.__version__}, scipy {scipy.__version__}, "
        f"scikit-learn {sklearn.__version__}"
    )


def _plain(value: Any) -> Any:
    """Turn NumPy scalars into Python's own."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"A parameter of type {type(value).__name__} cannot be stored; use numbers and words.")
