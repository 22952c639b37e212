"""What is done to a table before a method sees it: logarithms of counts, and variance 1."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ufselect.cli.units import Units, check_range, look_at_units
from ufselect.exceptions import TableError
from ufselect.gram.dense import FormedGram
from ufselect.io.table import Table

NORMALIZATIONS = ("none", "log")


@dataclass(frozen=True)
class Prepared:
    """Data as a method sees them.

    Attributes
    ----------
    data : ndarray or CSR array
        The rows; a sample of them where the whole is known by its Gram matrix.
    units : Units
        What was found of the table's units.
    scale : {"standard", "none"}
        What was done.
    reason : str
        Why, in a sentence.
    means, deviations : ndarray of shape (n_features,)
        Of the columns before scaling.
    gram : FormedGram or None
        The Gram matrix of all rows, where they are not in memory.
    """

    data: Any
    units: Units
    scale: str
    reason: str
    means: NDArray
    deviations: NDArray
    gram: FormedGram | None = None


# The Gram matrix of all rows was made from values as they are; normalising the sample alone would mislead.
NOT_STREAMED = "--normalize needs the table in memory; normalise the counts before, or leave it out."


@dataclass(frozen=True)
class AllRows:
    """What is known of all rows of a table that is not in memory."""

    gram: FormedGram
    means: NDArray
    deviations: NDArray


def prepared(
    table: Table, scale: str = "auto", normalize: str = "none", all_rows: AllRows | None = None
) -> Prepared:
    """Return the data of a table, normalised and scaled as asked.

    ``all_rows`` tells of the rows behind a table that holds a sample.

    Raises
    ------
    TableError
        If values are beyond the range in which they can be squared, are no counts, or are to be normalised
        though only a sample of the rows is at hand.
    """
    if all_rows is not None and normalize != "none":
        raise TableError(NOT_STREAMED)
    check_range(table.data, table.feature_names)
    data = log_counts(table.data) if normalize == "log" else table.data
    units = look_at_units(data, table.feature_names)
    used, reason = decided(scale, units)
    if all_rows is None:
        ready = Prepared(data, units, used, reason, *_moments(data))
    else:
        ready = Prepared(data, units, used, reason, all_rows.means, all_rows.deviations, all_rows.gram)
    return _standard(ready) if used == "standard" else ready


def decided(scale: str, units: Units) -> tuple[str, str]:
    """Return whether to scale, and why."""
    if scale == "none":
        return "none", "Columns are used as they are, as asked."
    if scale == "standard":
        return "standard", "Every column is given mean 0 and variance 1, as asked."
    if units.differ:
        return "standard", f"Units differ: {units.sentence}; so every column is given mean 0 and variance 1."
    return "none", "Columns have comparable units and are used as they are."


def log_counts(data: Any) -> Any:
    """Return log(1 + x) of rows that were brought to the median total; zeros stay zeros.

    Raises
    ------
    TableError
        If values are negative.
    """
    if data.min() < 0:
        raise TableError("--normalize log is for counts, but there are negative values; leave it out.")
    totals = np.asarray(data.sum(axis=1)).ravel().astype(np.float64)
    factors = np.median(totals[totals > 0]) / np.where(totals > 0, totals, 1.0)
    if sparse.issparse(data):
        return (sparse.diags_array(factors) @ data).log1p().tocsr()
    return np.log1p(data * factors[:, None])


def _moments(data: Any) -> tuple[NDArray, NDArray]:
    if not sparse.issparse(data):
        return data.mean(axis=0, dtype=np.float64), data.std(axis=0, dtype=np.float64)
    mean = np.asarray(data.mean(axis=0, dtype=np.float64)).ravel()
    square = np.asarray(data.multiply(data).mean(axis=0, dtype=np.float64)).ravel()
    return mean, np.sqrt(np.maximum(square - mean**2, 0.0))


def _standard(ready: Prepared) -> Prepared:
    """Give columns variance 1; sparse data are not shifted, so that they stay sparse."""
    divisors = np.where(ready.deviations > 0, ready.deviations, 1.0)
    if ready.gram is not None:
        gram = ready.gram
        matrix = gram.matrix * (gram.scale / divisors)[:, None] * (gram.scale / divisors)
        ready = replace(ready, gram=FormedGram(matrix, gram.n_samples, 1.0))
    if sparse.issparse(ready.data):
        return replace(ready, data=(ready.data @ sparse.diags_array(1 / divisors)).tocsr())
    return replace(ready, data=(ready.data - ready.means) / divisors)
