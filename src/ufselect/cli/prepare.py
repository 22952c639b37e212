"""What is done to a table before a method sees it: logarithms of counts, and variance 1."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ufselect.cli.moments import moments
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
        Of the columns before scaling; deviations from the mean of the row's batch where there are batches.
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


@dataclass(frozen=True)
class AllRows:
    """What is known of all rows of a table that is not in memory.

    Attributes
    ----------
    gram : FormedGram
        Of all rows, normalised if that was asked for.
    means, deviations : ndarray of shape (n_features,)
        Of the same.
    total : float or None
        The total to which rows of counts were brought.
    """

    gram: FormedGram
    means: NDArray
    deviations: NDArray
    total: float | None = None


def prepared(
    table: Table, scale: str = "auto", normalize: str = "none", all_rows: AllRows | None = None
) -> Prepared:
    """Return the data of a table, normalised and scaled as asked.

    ``all_rows`` tells of the rows behind a table that holds a sample.

    Raises
    ------
    TableError
        If values are beyond the range in which they can be squared, or are no counts.
    """
    check_range(table.data, table.feature_names)
    total = None if all_rows is None else all_rows.total
    data = log_counts(table.data, total) if normalize == "log" else table.data
    units = look_at_units(data, table.feature_names)
    used, reason = decided(scale, units)
    if all_rows is None:
        ready = Prepared(data, units, used, reason, *moments(data, table.weights, table.batches))
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


def log_counts(data: Any, total: float | None = None) -> Any:
    """Return log(1 + x) of rows that were brought to a total, their median without it; zeros stay zeros.

    Raises
    ------
    TableError
        If values are negative or missing.
    """
    lowest = data.min()
    if not lowest >= 0:
        found = "values are missing" if np.isnan(lowest) else "there are negative values"
        raise TableError(f"--normalize log is for counts, but {found}; leave it out.")
    totals = row_totals(data)
    if total is None:
        total = median_total(totals)
    factors = total / np.where(totals > 0, totals, 1.0)
    if sparse.issparse(data):
        return (sparse.diags_array(factors) @ data).log1p().tocsr()
    return np.log1p(data * factors[:, None])


def row_totals(data: Any) -> NDArray:
    """Return the sum of each row."""
    return np.asarray(data.sum(axis=1)).ravel().astype(np.float64)


def median_total(totals: NDArray) -> float:
    """Return the median total of rows that hold anything."""
    filled = totals[totals > 0]
    return float(np.median(filled)) if filled.size else 1.0


def _standard(ready: Prepared) -> Prepared:
    """Give columns variance 1; sparse data are not shifted, so that they stay sparse."""
    divisors = np.where(ready.deviations > 0, ready.deviations, 1.0)
    if ready.gram is not None:
        gram = ready.gram
        matrix = gram.matrix * (gram.scale / divisors)[:, None] * (gram.scale / divisors)
        scaled = FormedGram(matrix, gram.n_samples, 1.0)
        scaled.missing = gram.missing
        ready = replace(ready, gram=scaled)
    if sparse.issparse(ready.data):
        return replace(ready, data=(ready.data @ sparse.diags_array(1 / divisors)).tocsr())
    return replace(ready, data=(ready.data - ready.means) / divisors)
