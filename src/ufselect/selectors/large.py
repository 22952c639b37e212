"""Data that are not in memory, on their way into a selector."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

from ufselect.blocks import (
    GramAccumulator,
    ReducedData,
    ReductionSummary,
    block_source,
    is_out_of_core,
    open_blocks,
    reduce_data,
)
from ufselect.blocks.dask import is_dask, is_frame
from ufselect.blocks.open import is_store
from ufselect.blocks.reduce import MAX_ORDER
from ufselect.common.seeds import generator

SAMPLE_ROWS = 10_000
SAMPLE_BYTES = 2**30
TRUSTED_ERROR = 0.1


class ApproximationWarning(UserWarning):
    """A low-rank factor is too coarse for the ranking to be trusted."""


def open_if_stored(X: Any) -> Any:
    """Open paths, zarr arrays and HDF5 datasets; return anything else as it is."""
    return open_blocks(X) if is_store(X) else X


def goes_out_of_core(selector: Any, X: Any) -> bool:
    """Tell whether a fit on X starts with a reduction of it.

    Raises
    ------
    TypeError
        If X is not in memory and the selector needs it there.
    """
    if not is_out_of_core(X):
        return False
    if isinstance(X, np.memmap) and selector.reduces_to != "gram":
        return False
    if selector.reduces_to == "gram" or (selector.reduces_to == "rows" and is_dask(X)):
        return True
    raise TypeError(
        f"{type(selector).__name__} needs the data in memory: pass X.compute() or a sample of its rows, or "
        "use a selector that works through the Gram matrix, such as DSCOFS."
    )


def check_columns(selector: Any, X: Any, *, reset: bool) -> int:
    """Check, or with ``reset`` remember, number and names of the features; return their number."""
    if is_dask(X) and is_frame(X):
        stand_in = X._meta
    else:
        n_features = X.n_features if hasattr(X, "n_features") else X.shape[1]
        stand_in = np.empty((1, int(n_features)))
    validate_data(selector, stand_in, skip_check_array=True, reset=reset)
    return stand_in.shape[1]


def reduce_for(selector: Any, X: Any) -> Any:
    """Return what the selector's ``_fit`` works on: the Gram operator of the data, or a sample of rows."""
    if selector.reduces_to == "gram":
        wanted = getattr(selector, "n_components", None)
        return reduce_data(X, wanted if isinstance(wanted, int) else None)
    source = block_source(X)
    n_rows = source.count_rows()
    count = min(n_rows, SAMPLE_ROWS, max(2, SAMPLE_BYTES // (source.n_features * source.dtype.itemsize)))
    seed = getattr(selector, "random_state", None)
    rows = generator(0 if seed is None else seed).choice(n_rows, count, replace=False)
    return check_array(
        source.sample(np.sort(rows)),
        accept_sparse="csr",
        dtype=[np.float64, np.float32],
        ensure_min_samples=2,
    )


def accumulate(earlier: GramAccumulator | None, batch: Any) -> GramAccumulator:
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
    return (accumulator if earlier is None else accumulator.merge(earlier)).update(batch)


def summarise_reduction(X: Any, attributes: Any) -> ReductionSummary | None:
    """Return how data were reduced, warning when the ranking cannot be trusted; None for data in memory."""
    if not isinstance(X, ReducedData):
        return None
    n_components = attributes.get("n_components_")
    summary = X.summary(n_components)
    if summary.subspace_error > TRUSTED_ERROR:
        warnings.warn(
            f"The low-rank factor of X may miss its {n_components} leading components (estimated error "
            f"{summary.subspace_error:.2g} of 1), so the ranking is not to be trusted; ask for fewer "
            f"components, or keep at most {MAX_ORDER} features with MaxVariance first.",
            ApproximationWarning,
            stacklevel=5,
        )
    return summary


def select_columns(X: Any, support: Any) -> Any:
    """Return the selected columns of a dask collection, still lazy."""
    columns = np.flatnonzero(support)
    if is_frame(X):
        return X[[X.columns[column] for column in columns]]
    return X[:, columns]
