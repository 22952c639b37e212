"""Data that are not in memory, on their way into a selector."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import validate_data

from ufselect.blocks import (
    GramAccumulator,
    ReducedData,
    ReductionSummary,
    block_source,
    open_blocks,
)
from ufselect.blocks.dask import check_collection, is_dask, is_frame
from ufselect.blocks.open import is_store
from ufselect.blocks.reduce import MAX_ORDER
from ufselect.common.seeds import generator
from ufselect.common.warn import warn_user
from ufselect.exceptions import ApproximationWarning

# The neighbour graph takes n² d operations, so n is bounded; the bytes bound the memory of wide data.
SAMPLE_ROWS = 10_000
SAMPLE_BYTES = 2**30
# Sine of the angle to the true leading subspace from which on a ranking is not to be trusted.
TRUSTED_ERROR = 0.1


def open_if_stored(X: Any) -> Any:
    """Open paths, zarr arrays and HDF5 datasets; return anything else as it is."""
    return open_blocks(X) if is_store(X) else X


@contextmanager
def naming_the_store(X: Any) -> Iterator[None]:
    """Add the name of a store to what is said of its blocks."""
    try:
        yield
    except ValueError as error:
        if not isinstance(X, str | PathLike) or not str(error).startswith("Block "):
            raise
        raise ValueError(f"{X}: {error}") from error


def check_columns(selector: Any, X: Any, *, reset: bool) -> int:
    """Check, or with ``reset`` remember, number and names of the features; return their number.

    Raises
    ------
    TypeError, ValueError
        If a dask collection has no rows and columns, or does not know the number of its columns.
    """
    if is_dask(X):
        check_collection(X)
    if is_dask(X) and is_frame(X):
        stand_in = X._meta
    else:
        n_features = X.n_features if hasattr(X, "n_features") else _width(X)
        stand_in = np.empty((1, int(n_features)))
    validate_data(selector, stand_in, skip_check_array=True, reset=reset)
    return stand_in.shape[1]


def _width(array: Any) -> int:
    """Return the number of columns of an array on disk or on a cluster, or of an operator."""
    if len(array.shape) != 2:
        raise ValueError(f"X must have two dimensions, rows and columns, not {len(array.shape)}.")
    if array.shape[1] == 0:
        raise ValueError("X has no columns, but at least 1 is required.")
    return array.shape[1]


def sample_rows(X: Any, random_state: Any) -> Any:
    """Return a sample of the rows of a dask collection, in memory and in order."""
    return sample_with_rows(X, random_state)[0]


def sample_with_rows(X: Any, random_state: Any) -> tuple[Any, NDArray, int]:
    """Return the same, the places of these rows, and the number of all rows."""
    source = block_source(X)
    n_rows = source.count_rows()
    count = min(n_rows, SAMPLE_ROWS, max(2, SAMPLE_BYTES // (source.n_features * source.dtype.itemsize)))
    rows = np.sort(generator(random_state).choice(n_rows, count, replace=False))
    return source.sample(rows), rows, n_rows


def accumulate(
    earlier: GramAccumulator | None, batch: Any, sample_weight: Any = None, labels: Any = None
) -> GramAccumulator:
    """Return a new accumulator with the rows of an earlier one and those of a batch.

    Raises
    ------
    ValueError
        If the batch has too many features for a matrix of that order.
    """
    if batch.shape[1] > MAX_ORDER:
        raise ValueError(
            f"partial_fit holds a matrix of n_features² numbers, so it takes at most {MAX_ORDER} features, "
            f"not {batch.shape[1]}; keep fewer with MaxVariance first."
        )
    accumulator = GramAccumulator()
    accumulator = accumulator if earlier is None else accumulator.merge(earlier)
    return accumulator.update(batch, sample_weight, labels)


def summarise_reduction(reduced: ReducedData, n_components: int | None) -> ReductionSummary:
    """Return how data were reduced, warning when a ranking by so many components cannot be trusted."""
    summary = reduced.summary(n_components)
    if summary.subspace_error > TRUSTED_ERROR:
        warn_user(
            f"The low-rank factor of X may miss its {n_components} leading components (estimated error "
            f"{summary.subspace_error:.2g} of 1), so the ranking is not to be trusted; ask for fewer "
            f"components, or keep at most {MAX_ORDER} features with MaxVariance first.",
            ApproximationWarning,
        )
    return summary


def select_columns(X: Any, support: Any) -> Any:
    """Return the selected columns of a dask collection, still lazy."""
    columns = np.flatnonzero(support)
    if is_frame(X):
        return X[[X.columns[column] for column in columns]]
    return X[:, columns]
