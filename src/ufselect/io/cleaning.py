"""Missing, infinite and constant columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ufselect.common.wording import Sentence, Setting, listed
from ufselect.exceptions import TableError
from ufselect.io.short_lines import SHORT
from ufselect.io.table import Table

POLICIES = ("median", "drop", "keep")
READ_AS_MISSING = "Read as missing"
BLOCK_CELLS = 4 << 20  # 32 MiB of float64, so that a few temporary copies fit in any memory


def clean(table: Table, impute: str | None = None, keep_constant: bool = False) -> Table:
    """Return the table without empty and constant columns and without missing values.

    Parameters
    ----------
    table : Table
        As read.
    impute : {"median", "drop", "keep"} or None
        Fill missing values by the column's median, leave out columns that have some, keep the gaps for a
        method that works around them, or refuse them.
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
    facts = ColumnFacts(table.shape[1])
    step = max(1, BLOCK_CELLS // table.shape[1])
    for start in range(0, table.shape[0], step):
        block = table.data[start : start + step]
        facts.update(block.toarray() if sparse.issparse(block) else block)
    gone, reasons = check_facts(table, facts, impute, keep_constant)
    cleaned = table.without(gone, reasons)
    missing = facts.missing[~gone]
    if not missing.any():
        return cleaned
    return cleaned.with_notes(gaps_note(missing)) if impute == "keep" else _filled(cleaned, missing)


def gaps_note(missing: NDArray) -> str:
    """Return what is kept of missing values, from their number in each column."""
    return f"{_counted(missing)} left as {'they are' if missing.sum() > 1 else 'it is'}, and copied so."


def _counted(missing: NDArray) -> str:
    count, columns = int(missing.sum()), int((missing > 0).sum())
    return (
        f"{count} missing value{'s' * (count > 1)} in {columns} column{'s' * (columns > 1)} "
        f"{'were' if count > 1 else 'was'}"
    )


class ColumnFacts:
    """What is counted of each column over blocks of rows.

    Attributes
    ----------
    missing : ndarray of int
        Missing values.
    infinite : ndarray of bool
        Whether any value is infinite.
    low, high : ndarray
        The range of the others.
    """

    def __init__(self, n_columns: int) -> None:
        self.n_rows = 0
        self.missing = np.zeros(n_columns, dtype=np.intp)
        self.infinite = np.zeros(n_columns, dtype=bool)
        self.low, self.high = np.full(n_columns, np.inf), np.full(n_columns, -np.inf)

    def update(self, block: NDArray) -> None:
        """Take in a block of rows."""
        self.n_rows += len(block)
        self.missing += np.isnan(block).sum(axis=0)
        self.infinite |= np.isinf(block).any(axis=0)
        np.minimum(self.low, np.fmin.reduce(block, axis=0, initial=np.inf), out=self.low)
        np.maximum(self.high, np.fmax.reduce(block, axis=0, initial=-np.inf), out=self.high)


def check_facts(
    table: Table,
    facts: ColumnFacts,
    impute: str | None,
    keep_constant: bool,
    unreadable: Mapping[int, str] | None = None,
) -> tuple[NDArray[np.bool_], list[str]]:
    """Return which features have to go, and why each of them; ``unreadable`` go anyway.

    Raises
    ------
    TableError
        If values are missing and nothing was said about them, or infinite, or nothing is left.
    """
    if facts.n_rows < 2:
        raise TableError("The table has a single row; features are chosen by how they vary, so give more.")
    why = dict(unreadable or {})
    readable = np.array([j not in why for j in range(facts.missing.size)], dtype=bool)
    if np.any(facts.infinite & readable):
        names = [table.feature_names[j] for j in np.flatnonzero(facts.infinite & readable)]
        raise TableError(f"Infinite values stand in {listed(names)}; correct them or remove these columns.")
    empty = facts.missing == facts.n_rows
    constant = ~empty & ~(facts.high > facts.low)
    incomplete = (facts.missing > 0) & ~empty & (keep_constant | ~constant) & readable
    if incomplete.any() and impute is None:
        raise TableError(_missing_sentence(table, facts.missing, incomplete))
    gone = empty | (constant & (not keep_constant)) | (incomplete if impute == "drop" else False) | ~readable
    words = np.where(empty, "empty", np.where(constant, "constant", "missing values"))
    reasons = [why.get(int(j), str(words[j])) for j in np.flatnonzero(gone)]
    if gone.all():
        raise TableError(_nothing_left(table.without(gone, reasons)))
    return gone, reasons


def _filled(table: Table, missing: NDArray) -> Table:
    if sparse.issparse(table.data):
        raise TableError(
            "Missing values in sparse data cannot be filled; set them to 0 or use ",
            Setting("impute", "drop"),
            ".",
        )
    data = np.array(table.data)
    fills = {}
    for column in np.flatnonzero(missing):
        values = data[:, column]
        fills[table.feature_names[column]] = float(np.nanmedian(values))
        values[np.isnan(values)] = fills[table.feature_names[column]]
    return replace(table, data=data, fills=fills).with_notes(
        f"{_counted(missing)} filled by the column's median."
    )


def _missing_sentence(table: Table, missing: NDArray, incomplete: NDArray) -> Sentence:
    columns = np.flatnonzero(incomplete)
    worst = columns[np.argsort(-missing[columns], kind="stable")]
    names = [f"{table.feature_names[j]} ({missing[j]})" for j in worst]
    one = columns.size == 1
    return Sentence(
        f"Values are missing in {columns.size} of {table.shape[1]} numeric columns: {listed(names)}; add ",
        Setting("impute", "median"),
        " to fill them, ",
        Setting("impute", "drop"),
        f" to leave {'that column' if one else 'those columns'} out, or ",
        Setting("impute", "keep"),
        " for a method that works around them, such as DSCOFS.",
        *(f" {note}" for note in table.notes if note.startswith((READ_AS_MISSING, SHORT))),
    )


def _nothing_left(table: Table) -> Sentence:
    return Sentence(
        " ".join(["No numeric column with varying values is left.", *table.left_out_sentences(False)]),
        " Check the separator and the decimal mark (",
        Setting("separator"),
        ", ",
        Setting("decimal"),
        ").",
    )
