"""Keys of stored rows: names of data, parameters and subsets that are equal exactly when the things are."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

# 64 bits: among a million rows two names meet by chance with probability 3e-8.
DIGITS = 16


class Params(Mapping[str, Any]):
    """Parameters of one fit: numbers and words by name, in the order of the names, fit to be a key.

    Parameters
    ----------
    values : mapping
        The parameters; NumPy scalars become Python's own.

    Examples
    --------
    >>> from ufselect.evaluation.keys import Params
    >>> point = Params({"mu_row": 0.1, "init": "pca"})
    >>> point["init"], str(point)
    ('pca', '{"init": "pca", "mu_row": 0.1}')
    >>> {point: 1}[Params({"init": "pca", "mu_row": 0.1})]
    1
    """

    def __init__(self, values: Mapping[str, Any] | None = None) -> None:
        self._values = {name: _plain(value) for name, value in sorted((values or {}).items())}

    @classmethod
    def from_json(cls, text: str) -> Params:
        """Return the parameters that ``str`` wrote."""
        return cls(json.loads(text))

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Params) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    def __str__(self) -> str:
        return json.dumps(self._values)

    def __repr__(self) -> str:
        return f"Params({self._values})"


def data_key(X: NDArray, y: NDArray) -> str:
    """Return a short SHA-256 of the values, the shape and the classes."""
    digest = hashlib.sha256(f"{X.shape}".encode())
    digest.update(np.ascontiguousarray(X + 0.0, dtype="<f8").tobytes())
    digest.update(np.ascontiguousarray(np.unique(y, return_inverse=True)[1], dtype="<i8").tobytes())
    return digest.hexdigest()[:DIGITS]


def subset_key(features: NDArray) -> str:
    """Return a short SHA-256 of a set of features, whatever their order."""
    return hashlib.sha256(np.sort(features).astype("<i8").tobytes()).hexdigest()[:DIGITS]


def _plain(value: Any) -> Any:
    """Turn NumPy scalars into Python's own, and refuse what a row cannot hold."""
    if isinstance(value, np.generic):
        return value.item()
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise TypeError(f"A parameter of type {type(value).__name__} cannot be stored; use numbers and words.")
