"""A table as it was read: numbers, names, what was left out, and what is missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ufselect._utils.messages import Sentence, Setting, listed
from ufselect.exceptions import TableError

POLICIES = ("median", "drop", "keep", "error")
NOT_NUMBERS = "not numbers"
# Beginnings of notes that also explain why values are missing.
READ_AS_MISSING, SHORT = "Read as missing", "Too short:"
BLOCK_CELLS = 4 << 20  # 32 MiB of float64, so that a few temporary copies fit in any memory


@dataclass(frozen=True)
class ReadOptions:
    """How to read a table; None means to find out.

    Attributes
    ----------
    id_column, label_column : str or None
        Columns that hold row ids and classes.
    impute : {"median", "drop", "keep", "error"} or None
        What to do about missing values: fill them by the column's median, leave out columns that have some,
        or refuse them; "keep" and None leave them as NaN.
    separator, decimal : str or None
        Marks of a text file.
    header : bool or None
        Whether a text file begins with names.
    guess : bool
        Whether to recognise id and label columns that were not named.
    keep_constant : bool
        Whether constant columns stay, as the pixels of images must.
    missing : tuple of str
        Further words of a text file that mean "no value".
    comment : str or None
        What begins a remark in a text file.
    transpose : bool
        Whether the rows of the file are the features.
    sheet : str or None
        Name of a sheet of a workbook; the first without it.
    layer : str or None
        Layer of an h5ad file; the main matrix without it.
    categorical : {"onehot"} or None
        Whether text columns with a few values become groups of columns of zeros and ones; else left out.
    batch_column, weight_column : str or None
        Columns with the batch of each row, and with how much it counts.
    """

    id_column: str | None = None
    label_column: str | None = None
    impute: str | None = None
    separator: str | None = None
    decimal: str | None = None
    header: bool | None = None
    guess: bool = True
    keep_constant: bool = False
    missing: tuple[str, ...] = ()
    comment: str | None = None
    transpose: bool = False
    sheet: str | None = None
    layer: str | None = None
    categorical: str | None = None
    batch_column: str | None = None
    weight_column: str | None = None


@dataclass(frozen=True)
class LeftOut:
    """A column that takes no part in the selection, and why."""

    name: str
    reason: str


@dataclass(frozen=True)
class SourceColumns:
    """Where the columns of a table stand in its file."""

    rows: Any  # TextRows or ParquetRows, whose ``frames`` copies columns as they are written there
    features: tuple[int, ...]
    texts: tuple[int, ...] = ()  # columns that are carried along
    id_position: int | None = None
    label_position: int | None = None


@dataclass(frozen=True)
class Table:
    """Numeric data with everything that belongs to it.

    Attributes
    ----------
    data : ndarray or CSR array of shape (n_samples, n_features)
        The features, in the order of the file; NaN where a value is missing.
    feature_names : list of str
        Their names, all distinct.
    whole : ndarray of bool
        Which features hold whole numbers, so that they are written as such.
    ids, labels : ndarray or None
        The values of the id and the label column.
    id_name, label_name : str or None
        The names of these columns.
    left_out : tuple of LeftOut
        Columns that are no features.
    notes : tuple of str
        What the reader decided by itself, in sentences.
    dialect : Dialect or None
        How a text file was written.
    columns : SourceColumns or None
        Where the columns stand in the file, if they can be copied from there.
    fills : mapping of str to float
        By feature, the value that was filled in for missing ones.
    n_missing : ndarray of int or None
        By feature, how many values are missing in the file, also if they were filled in; None if not counted.
    source : Path or None
        Where the table was read from.
    sha256 : str
        Checksum of the file.
    n_rows : int or None
        Rows of the file, if ``data`` holds only a sample of them.
    batches, weights : ndarray or None
        For each row the batch it belongs to and how much it counts, if columns of these were named.
    groups : tuple of str or None
        For each feature the text column whose value it stands for, None for other features; None if all are.
    """

    data: Any
    feature_names: list[str]
    whole: NDArray[np.bool_]
    ids: NDArray | None = None
    labels: NDArray | None = None
    id_name: str | None = None
    label_name: str | None = None
    left_out: tuple[LeftOut, ...] = ()
    notes: tuple[str, ...] = ()
    dialect: Any = None
    columns: SourceColumns | None = None
    fills: Mapping[str, float] = field(default_factory=dict)
    n_missing: NDArray[np.intp] | None = None
    source: Path | None = None
    sha256: str = ""
    n_rows: int | None = None
    batches: NDArray | None = None
    weights: NDArray | None = None
    groups: tuple[str | None, ...] | None = None
    image_shape: tuple[int, int] | None = None
    image_order: str = "C"

    @property
    def shape(self) -> tuple[int, int]:
        """(n_samples, n_features) of the file, of which ``data`` may be a sample."""
        return (self.data.shape[0] if self.n_rows is None else self.n_rows, self.data.shape[1])

    def without(self, columns: NDArray[np.bool_], reasons: Sequence[str]) -> Table:
        """Return the table without some features; ``reasons`` has one entry for each that goes."""
        if not columns.any():
            return self
        gone, kept = np.flatnonzero(columns), np.flatnonzero(~columns)
        left_out = [LeftOut(self.feature_names[j], why) for j, why in zip(gone, reasons, strict=True)]
        source = self.columns
        if source is not None:
            source = replace(source, features=tuple(source.features[j] for j in kept))
        return replace(
            self,
            data=self.data[:, kept],
            feature_names=[self.feature_names[j] for j in kept],
            whole=self.whole[kept],
            left_out=(*self.left_out, *left_out),
            columns=source,
            n_missing=None if self.n_missing is None else self.n_missing[kept],
            groups=None if self.groups is None else tuple(self.groups[j] for j in kept),
            image_shape=None,
        )

    def with_notes(self, *notes: str) -> Table:
        """Return the table with further notes."""
        return replace(self, notes=(*self.notes, *notes))

    def left_out_sentences(self, with_carried: bool = True) -> list[str]:
        """Return what was left out, one sentence a reason, with what is carried to the output."""
        source = self.columns
        carried = set() if source is None else {source.rows.names[j] for j in source.texts}
        sentences = []
        for reason, count in Counter(column.reason for column in self.left_out).items():
            names = [column.name for column in self.left_out if column.reason == reason]
            sentence = f"Left out {count} column{'s' * (count > 1)} ({reason}): {listed(names)}."
            if with_carried and names[0] in carried:
                they, them = ("They are", "them") if count > 1 else ("It is", "it")
                onehot = (Setting("categorical", "onehot"), f" to select from {them} too, ")
                sentence = Sentence(
                    f"{sentence} {they} copied to the output (",
                    *(onehot if reason == NOT_NUMBERS else ()),
                    Setting("drop_text", True),
                    f" to leave {them} out).",
                )
            sentences.append(sentence)
        return sentences


def distinct_names(names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return names without repeats or blanks, and a note on each kind of change.

    Examples
    --------
    >>> from ufselect.io.table import distinct_names
    >>> distinct_names(["a", "b", "a", ""])[0]
    ['a', 'b', 'a.2', 'column_4']
    """
    stripped = [name.strip() for name in names]
    taken = set(stripped)
    if len(taken) == len(stripped) and "" not in taken:
        return stripped, []
    seen: dict[str, int] = {}
    result, repeated, blank = [], [], 0
    for position, name in enumerate(stripped, start=1):
        if not name:
            blank += 1
            name = f"column_{position}"
            while name in taken:
                name += "_"
        elif name in seen:
            repeated.append(name)
            count = seen[name] + 1
            while f"{name}.{count}" in taken:
                count += 1
            seen[name] = count
            name = f"{name}.{count}"
        taken.add(name)
        seen.setdefault(name, 1)
        result.append(name)
    notes = []
    if repeated:
        which = listed(sorted(set(repeated)))
        notes.append(f"Repeated column names were numbered, as in {repeated[0]}.2: {which}.")
    if blank:
        columns = f"{blank} columns without a name were" if blank > 1 else "1 column without a name was"
        notes.append(f"{columns} named by position.")
    return result, notes


def find_column(asked: str, names: Sequence[str], parameter: str) -> int:
    """Return the position of the column that a parameter names, exactly or but for its case."""
    if asked in names:
        return names.index(asked)
    lowered = [name.lower() for name in names]
    if lowered.count(asked.lower()) == 1:
        return lowered.index(asked.lower())
    close = get_close_matches(asked, names, n=3)
    hint = f"did you mean {', '.join(close)}?" if close else f"the columns are {listed(list(names))}."
    raise TableError(
        Setting(parameter), f" names the column {asked!r}, which the table does not have; {hint}"
    )


class ColumnFacts:
    """What is counted of each column over blocks of rows: missing and infinite values, and the range."""

    def __init__(self, n_columns: int) -> None:
        self.n_rows = 0
        self.missing = np.zeros(n_columns, dtype=np.intp)
        self.infinite = np.zeros(n_columns, dtype=bool)
        self.low, self.high = np.full(n_columns, np.inf), np.full(n_columns, -np.inf)

    def update(self, block: NDArray) -> None:
        """Take in a block of rows."""
        self.n_rows += len(block)
        self.missing += np.isnan(block).sum(axis=0)
        low, high = (
            np.fmin.reduce(block, axis=0, initial=np.inf),
            np.fmax.reduce(block, axis=0, initial=-np.inf),
        )
        present = low <= high  # without a value both are where they began
        self.infinite |= present & (np.isinf(low) | np.isinf(high))
        np.minimum(self.low, low, out=self.low)
        np.maximum(self.high, high, out=self.high)


def clean(table: Table, impute: str | None = None, keep_constant: bool = False) -> Table:
    """Return the table without empty and constant columns, its missing values counted and dealt with."""
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
    cleaned = replace(table, n_missing=facts.missing).without(gone, reasons)
    missing = facts.missing[~gone]
    if not missing.any():
        return cleaned
    if impute != "median":
        return cleaned.with_notes(gaps_note(missing))
    if sparse.issparse(table.data):
        raise TableError(
            "Missing values in sparse data cannot be filled; set them to 0 or use ",
            Setting("impute", "drop"),
            ".",
        )
    data, fills = np.array(cleaned.data), {}
    for column in np.flatnonzero(missing):
        values = data[:, column]
        fills[cleaned.feature_names[column]] = float(np.nanmedian(values))
        values[np.isnan(values)] = fills[cleaned.feature_names[column]]
    note = f"{_counted(missing)} filled by the column's median."
    return replace(cleaned, data=data, fills=fills).with_notes(note)


def gaps_note(missing: NDArray) -> str:
    """Return what is kept of missing values, from their number in each column."""
    return f"{_counted(missing)} left as {'they are' if missing.sum() > 1 else 'it is'}, and copied so."


def _counted(missing: NDArray) -> str:
    count, columns = int(missing.sum()), int((missing > 0).sum())
    words = f"{count} missing value{'s' * (count > 1)} in {columns} column{'s' * (columns > 1)}"
    return f"{words} {'were' if count > 1 else 'was'}"


def check_facts(
    table: Table,
    facts: ColumnFacts,
    impute: str | None,
    keep_constant: bool,
    unreadable: Mapping[int, str] | None = None,
) -> tuple[NDArray[np.bool_], list[str]]:
    """Return which features have to go, and why each of them; ``unreadable`` go anyway."""
    if facts.n_rows < 2:
        raise TableError("The table has a single row; columns are selected by how they vary, so give more.")
    why = dict(unreadable or {})
    readable = np.ones(facts.missing.size, dtype=bool)
    readable[list(why)] = False
    if np.any(facts.infinite & readable):
        names = [table.feature_names[j] for j in np.flatnonzero(facts.infinite & readable)]
        raise TableError(f"There are infinite values in {listed(names)}; correct them or drop these columns.")
    empty = facts.missing == facts.n_rows
    constant = ~empty & ~(facts.high > facts.low)
    incomplete = (facts.missing > 0) & ~empty & (keep_constant | ~constant) & readable
    if incomplete.any() and impute == "error":
        raise TableError(_missing_sentence(table, facts.missing, np.flatnonzero(incomplete)))
    gone = empty | (constant & (not keep_constant)) | (incomplete if impute == "drop" else False) | ~readable
    words = np.where(empty, "empty", np.where(constant, "constant", "missing values"))
    reasons = [why.get(int(j), str(words[j])) for j in np.flatnonzero(gone)]
    if gone.all():
        raise TableError(_nothing_left(table.without(gone, reasons)))
    return gone, reasons


def _missing_sentence(table: Table, missing: NDArray, columns: NDArray) -> Sentence:
    worst = columns[np.argsort(-missing[columns], kind="stable")]
    names = [f"{table.feature_names[j]} ({missing[j]})" for j in worst]
    return Sentence(
        f"Values are missing in {columns.size} of {table.shape[1]} numeric columns: {listed(names)}; add ",
        Setting("impute", "median"),
        " to fill them, ",
        Setting("impute", "drop"),
        f" to leave {'that column' if columns.size == 1 else 'those columns'} out, or ",
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


def with_categories(table: Table, most_values: int = 50) -> Table:
    """Return the table with a column of zeros and ones for each value of its text columns.

    Columns of one text column are a group. A text column with a single value, with more than ``most_values``,
    or with values that stand in fewer than two rows on average stays left out. A missing value is zero in
    all of them.
    """
    source = table.columns
    reasons = {column.name: column.reason for column in table.left_out}
    if source is None or sparse.issparse(table.data):
        return table
    positions = [j for j in source.texts if reasons.get(source.rows.names[j]) == NOT_NUMBERS]
    frames = list(source.rows.frames(positions)) if positions else []
    names: list[str] = []
    blocks, texts = [table.data], []
    groups: list[str | None] = [None] * table.shape[1]
    for j in positions:
        cells = np.concatenate([frame[j].to_numpy(dtype=object) for frame in frames])
        present = np.array(
            [cell == cell and str(cell).strip() not in source.rows.missing for cell in cells], dtype=bool
        )
        values = np.unique(cells[present].astype(str))
        if 1 < values.size <= min(most_values, cells.size // 2):
            texts.append(source.rows.names[j])
            blocks.append((present & (cells.astype(str) == values[:, None])).T.astype(table.data.dtype))
            names += [f"{texts[-1]}={value}" for value in values]
            groups += [texts[-1]] * values.size
    clash = set(names) & set(table.feature_names)
    if clash:
        raise TableError(f"The table has a column {min(clash)} already, a value of a text column; rename it.")
    if not texts:
        return table
    note = (
        f"{listed(texts)} became {len(names)} columns of zeros and ones, one for each value; those of one "
        "text column are selected together and count as one."
    )
    return replace(
        table,
        data=np.hstack(blocks),
        feature_names=[*table.feature_names, *names],
        whole=np.append(table.whole, np.ones(len(names), dtype=bool)),
        groups=tuple(groups),
        left_out=tuple(column for column in table.left_out if column.name not in texts),
        columns=None,  # these columns do not stand in the file
    ).with_notes(note)
