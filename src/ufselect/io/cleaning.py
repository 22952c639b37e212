"""Missing, infinite and constant columns."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ufselect.io.errors import TableError
from ufselect.io.table import Table
from ufselect.io.wording import Sentence, Setting, listed

POLICIES = ("median", "drop")
BLOCK_CELLS = 4 << 20  # 32 MiB of float64, so that a few temporary copies fit in any memory


def clean(table: Table, impute: str | None = None, keep_constant: bool = False) -> Table:
    """Return the table without empty and constant columns and without missing values.

    Parameters
    ----------
    table : Table
        As read.
    impute : {"median", "drop"} or None
        Fill missing values by the column's median, leave out columns that have some, or refuse them.
    keep_constant : bool
        Whether constant columns stay.

    Raises
    ------
    TableError
        If values are missing and nothing was said about them, or infinite, or nothing is left.
    """
    if impute is not None and impute not in POLICIES:
        raise TableError(
            f"The policy for missing values must be one of {', '.join(POLICIES)}, not {impute!r}."
        )
    if min(table.shape) == 0:
        raise TableError(_nothing_left(table))
    if table.shape[0] < 2:
        raise TableError("The table has a single row; features are chosen by how they vary, so give more.")
    missing, infinite, low, high = _column_facts(table.data)
    if infinite.any():
        names = [table.feature_names[j] for j in np.flatnonzero(infinite)]
        raise TableError(f"Infinite values stand in {listed(names)}; correct them or remove these columns.")
    n_rows = table.shape[0]
    empty = missing == n_rows
    constant = ~empty & ~(high > low)
    incomplete = (missing > 0) & ~empty & (keep_constant | ~constant)
    if incomplete.any() and impute is None:
        raise TableError(_missing_sentence(table, missing, incomplete))
    reasons = np.where(empty, "empty", np.where(constant, "constant", "missing values"))
    gone = empty | (constant & (not keep_constant)) | (incomplete if impute == "drop" else False)
    cleaned = table.without(gone, [str(reason) for reason in reasons[gone]])
    if impute == "median" and incomplete.any():
        cleaned = _filled(cleaned, missing[~gone])
    if cleaned.shape[1] == 0:
        raise TableError(_nothing_left(cleaned))
    return cleaned


def _column_facts(data: Any) -> tuple[NDArray, NDArray, NDArray, NDArray]:
    """Return, for each column, missing values, whether any is infinite, and the range of the others."""
    n_rows, n_columns = data.shape
    missing = np.zeros(n_columns, dtype=np.intp)
    infinite = np.zeros(n_columns, dtype=bool)
    low, high = np.full(n_columns, np.inf), np.full(n_columns, -np.inf)
    step = max(1, BLOCK_CELLS // n_columns)
    for start in range(0, n_rows, step):
        block = data[start : start + step]
        block = block.toarray() if sparse.issparse(block) else block
        missing += np.isnan(block).sum(axis=0)
        infinite |= np.isinf(block).any(axis=0)
        np.minimum(low, np.fmin.reduce(block, axis=0, initial=np.inf), out=low)
        np.maximum(high, np.fmax.reduce(block, axis=0, initial=-np.inf), out=high)
    return missing, infinite, low, high


def _filled(table: Table, missing: NDArray) -> Table:
    if sparse.issparse(table.data):
        raise TableError(
            "Missing values in sparse data cannot be filled; set them to 0 or use ",
            Setting("impute", "drop"),
            ".",
        )
    data = np.array(table.data)
    for column in np.flatnonzero(missing):
        values = data[:, column]
        values[np.isnan(values)] = np.nanmedian(values)
    count, columns = int(missing.sum()), int((missing > 0).sum())
    note = (
        f"{count} missing value{'s' * (count > 1)} in {columns} column{'s' * (columns > 1)} "
        f"{'were' if count > 1 else 'was'} filled by the column's median."
    )
    return replace(table, data=data).with_notes(note)


def _missing_sentence(table: Table, missing: NDArray, incomplete: NDArray) -> Sentence:
    columns = np.flatnonzero(incomplete)
    worst = columns[np.argsort(-missing[columns], kind="stable")]
    names = [f"{table.feature_names[j]} ({missing[j]})" for j in worst]
    one = columns.size == 1
    return Sentence(
        f"Values are missing in {columns.size} of {table.shape[1]} numeric columns: {listed(names)}; add ",
        Setting("impute", "median"),
        " to fill them, or ",
        Setting("impute", "drop"),
        f" to leave {'that column' if one else 'those columns'} out.",
    )


def _nothing_left(table: Table) -> Sentence:
    return Sentence(
        " ".join(["No numeric column with varying values is left.", *table.left_out_sentences()]),
        " Check the separator and the decimal mark (",
        Setting("separator"),
        ", ",
        Setting("decimal"),
        ").",
    )
