"""Containers that NumPy would misunderstand: marks that it drops, and things without rows and columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from typing import Any

import numpy as np
from scipy import sparse

from ufselect.common.sparse_structure import check_sparse

DATES = "Mm"  # kinds of NumPy types


def tabular(X: Any, name: str = "X") -> Any:
    """Return what a user passed as data, with masked entries as NaN.

    Raises
    ------
    TypeError, ValueError
        If it has no rows and columns of numbers, where NumPy would say so in its own terms or not at all, or
        is a sparse matrix whose index arrays are damaged; the message begins with ``name``.
    """
    if X is None or isinstance(X, Mapping | Set | Iterator | bytes):
        raise TypeError(
            f"{name} is of type {type(X).__name__}, which has no rows and columns; give an array, a sparse "
            "matrix or a data frame."
        )
    if hasattr(X, "collect") and not hasattr(X, "__array__"):
        raise TypeError(
            f"{name} is a {type(X).__name__}, whose values are not there yet; call collect() first."
        )
    if sparse.issparse(X) and X.ndim != 2:
        raise ValueError(f"{name} must have two dimensions, rows and columns, not {X.ndim}.")
    check_sparse(X, name)
    if hasattr(X, "columns"):
        _check_frame(X, name)
    elif isinstance(X, np.ndarray):
        _check_type(X.dtype, name)
    return with_gaps(X) if isinstance(X, np.ma.MaskedArray) else X


def with_gaps(values: Any) -> Any:
    """Return a plain array in which masked entries are NaN, as missing values are."""
    if not np.ma.is_masked(values):
        return np.asarray(values)
    return values.astype(np.result_type(values.dtype, np.float16)).filled(np.nan)


def _check_frame(frame: Any, source: str) -> None:
    if not len(frame.columns):
        raise ValueError(f"{source} has no columns, but at least 1 is required.")
    for name, dtype in zip(frame.columns, getattr(frame, "dtypes", ()), strict=False):
        if _is_date(dtype):
            raise TypeError(
                f"{source} holds dates or times in column {str(name)!r}; convert it to numbers or drop it."
            )


def _is_date(dtype: Any) -> bool:
    """Whether a type of NumPy, pandas or polars is one of dates or times."""
    if hasattr(dtype, "is_temporal"):
        return dtype.is_temporal()
    return getattr(dtype, "kind", "") in tuple(DATES)


def _check_type(dtype: np.dtype, name: str) -> None:
    if dtype.names is not None:
        raise TypeError(f"{name} holds records of named fields; make a table of them with pandas.DataFrame.")
    if dtype.kind in DATES:
        raise TypeError(f"{name} holds dates or times; convert its columns to numbers first.")
