"""A table as it was read: numbers, names, columns that were left out, and missing values."""

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

from ufselect._utils.validation import listed
from ufselect.exceptions import TableError

NOT_NUMBERS, SOME_WORDS = "not numbers", "words among its numbers"
# Beginnings of notes that also explain why values are missing.
READ_AS_MISSING, SHORT = "Read as missing", "Too short:"
# Options of the command line, for which tables are read, that name a column by its role.
FLAGS = {"id": "--id", "label": "--labels", "batch": "--batch", "weight": "--weights"}
# Numbers that often mean "no value": -7 to -9, 97 to 99, 997 to 999 and so on.
MISSING_CODES = [
    sign * (10**k - far) for sign in (-1, 1) for k in range(1, 6) for far in (1, 2, 3) if sign < 0 or k > 1
]
BLOCK_CELLS = 4 << 20  # 32 MiB of float64, small enough for a few temporary copies


@dataclass(frozen=True)
class ReadOptions:
    """How to read a table; None means to detect it."""

    id_column: str | None = None
    label_column: str | None = None
    carried_columns: tuple[str, ...] = ()  # further labels and covariates, which are copied to the output
    impute: str | None = None  # "median", "drop" or "error"; "keep" and None leave missing values as NaN
    separator: str | None = None
    decimal: str | None = None
    header: bool | None = None  # whether a text file begins with names
    guess: bool = True  # whether to recognise id and label columns that were not named
    keep_constant: bool = False  # as the pixels of images must be
    missing: tuple[str, ...] = ()  # words and numbers that mean "no value" too, such as "-999"
    skip_rows: int | None = None  # lines above the names in a text file or workbook
    comment: str | None = None  # mark that begins a comment in a text file
    transpose: bool = False  # whether the rows of the file are the features
    sheet: str | None = None  # of a workbook; the first without it
    layer: str | None = None  # of an h5ad file, the main matrix without it; of a 10x h5 file, the genome
    categorical: str | None = None  # "onehot": text columns with a few values become groups of columns;
    # "ordinal": answers on a scale become whole numbers
    orders: tuple[tuple[str, ...], ...] = ()  # scales from least to most, beside those that are known
    batch_column: str | None = None
    weight_column: str | None = None  # how much each row counts


@dataclass(frozen=True)
class LeftOut:
    """A column that is not used for the selection, and why."""

    name: str
    reason: str
    value: float | None = None  # of a constant column


@dataclass(frozen=True)
class SourceColumns:
    """Positions of the columns of a table in its file."""

    rows: Any  # TextRows or ParquetRows, whose ``blocks`` copies columns as they are written there
    features: tuple[int, ...]
    texts: tuple[int, ...] = ()  # columns that are only copied to the output
    id_position: int | None = None
    labels: tuple[int, ...] = ()  # labels and covariates, which follow the features in the output


@dataclass(frozen=True)
class Table:
    """Numeric data with everything that belongs to it."""

    data: Any  # array or CSR array of shape (n_samples, n_features); NaN where a value is missing
    feature_names: list[str]  # all distinct
    whole: NDArray[np.bool_]  # which features hold whole numbers, so that they are written as such
    ids: NDArray | None = None
    labels: NDArray | None = None
    id_name: str | None = None
    label_name: str | None = None
    left_out: tuple[LeftOut, ...] = ()
    notes: tuple[str, ...] = ()  # what the reader decided by itself
    doubts: tuple[str, ...] = ()  # what may make the whole result wrong, and is said first
    dialect: Any = None  # how a text file was written
    columns: SourceColumns | None = None  # positions in the file, if columns can be copied from there
    fills: Mapping[str, float] = field(default_factory=dict)  # by feature, what was filled in for NaN
    filled: NDArray[np.bool_] | None = None  # which values of ``data`` were filled in
    n_missing: NDArray[np.intp] | None = None  # by feature, in the file
    source: Path | None = None
    sha256: str = ""
    n_rows: int | None = None  # of the file, if ``data`` holds only a sample of them
    gram: Any = None  # if so, the Gram matrix of all rows, a FormedGram,
    means: Any = None  # and their means
    batches: NDArray | None = None
    weights: NDArray | None = None
    groups: tuple[str | None, ...] | None = None  # for each one-hot feature its text column
    added: Mapping[str, NDArray] = field(default_factory=dict)  # columns to write behind all others
    image_shape: tuple[int, int] | None = None
    image_order: str = "C"

    @property
    def shape(self) -> tuple[int, int]:
        """(n_samples, n_features) of the file, of which ``data`` may be a sample."""
        return (self.data.shape[0] if self.n_rows is None else self.n_rows, self.data.shape[1])

    def without(
        self, columns: NDArray[np.bool_], reasons: Sequence[str], values: NDArray | None = None
    ) -> Table:
        """Return the table without some features; ``reasons`` has one entry for each of these.

        ``values`` has the value of each feature, if it is constant.
        """
        if not columns.any():
            return self
        gone, kept = np.flatnonzero(columns), np.flatnonzero(~columns)
        left_out = [
            LeftOut(
                self.feature_names[j],
                why,
                float(values[j]) if values is not None and why == "constant" else None,
            )
            for j, why in zip(gone, reasons, strict=True)
        ]
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
            filled=None if self.filled is None else self.filled[:, kept],
            n_missing=None if self.n_missing is None else self.n_missing[kept],
            groups=None if self.groups is None else tuple(self.groups[j] for j in kept),
            image_shape=None,
        )

    def lost_columns(self) -> list[str]:
        """Return a sentence if most columns were left out because they hold no numbers."""
        lost = [column.name for column in self.left_out if column.reason in (NOT_NUMBERS, SOME_WORDS)]
        if len(lost) <= self.shape[1]:
            return []
        count = self.shape[1]
        sentence = f"Only {count} of {count + len(lost)} columns" if count else "No column"
        sentence += f" can be selected from: {len(lost)} do not hold numbers"
        if self.columns is not None and lost[0] in self.columns.rows.names:
            from ufselect.io.numbers import read_number  # which imports this module

            rows = self.columns.rows
            cells = rows.first()[rows.names.index(lost[0])]
            words = (cell for cell in cells if read_number(str(cell), rows.decimal) is None)
            words = (cell for cell in words if str(cell).strip() not in rows.missing.words)
            sentence += f" ({lost[0]} holds {str(next(words, cells.iloc[0]))!r})"
        return [f"{sentence}."]

    def with_notes(self, *notes: str) -> Table:
        """Return the table with further notes."""
        return replace(self, notes=(*self.notes, *notes))

    def with_doubts(self, *doubts: str) -> Table:
        """Return the table with further remarks that are said before the result."""
        return replace(self, doubts=(*self.doubts, *doubts))

    def left_out_sentences(self, is_written: bool = False) -> list[str]:
        """Return what was left out, one sentence per reason, and if it is written what is copied to there."""
        source = self.columns
        carried = set() if source is None else {source.rows.names[j] for j in source.texts}
        sentences = []
        for reason, count in Counter(column.reason for column in self.left_out).items():
            names = [column.name for column in self.left_out if column.reason == reason]
            is_copied, hints = is_written and names[0] in carried, []
            if reason in ("batches", "weights") and not is_written:
                continue  # they were named, and are used
            if reason == NOT_NUMBERS and names[0] in carried:
                hints.append("--categorical onehot or ordinal to select from")
            if is_copied:
                hints.append("--drop-text to leave out")
            hint = f" ({', '.join(hints)})" if hints else ""
            start = "Only copied to the output:" if is_copied else "Left out"
            sentence = f"{start} {count} column{'s' * (count > 1)} ({reason}): {listed(names)}{hint}."
            if is_written and reason == "excluded":
                sentence += f" --labels keeps {'them' if count > 1 else 'it'} in the output."
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
    result, seen, renamed = list(stripped), Counter[str](), dict[str, str]()
    for place, name in enumerate(stripped):
        seen[name] += 1
        if not name:
            result[place] = f"column_{place + 1}"
            while result[place] in taken:
                result[place] += "_"
        elif seen[name] > 1:
            while f"{name}.{seen[name]}" in taken:
                seen[name] += 1
            result[place] = f"{name}.{seen[name]}"
            renamed.setdefault(name, result[place])
        taken.add(result[place])
    notes, blank = [], seen[""]
    if renamed:
        example, which = next(iter(renamed.values())), listed(sorted(renamed))
        notes.append(f"Repeated column names were numbered, as in {example}: {which}.")
    if blank:
        columns = f"{blank} columns without a name were" if blank > 1 else "1 column without a name was"
        notes.append(f"{columns} named by position.")
    return result, notes


def find_column(asked: str, names: Sequence[str], role: str) -> int:
    """Return the position of the column that is named for a role; case is ignored if that is unique."""
    if asked in names:
        return names.index(asked)
    lowered = [name.lower() for name in names]
    if lowered.count(asked.lower()) == 1:
        return lowered.index(asked.lower())
    close = get_close_matches(asked, names, n=3)
    hint = f"did you mean {', '.join(close)}?" if close else f"the columns are {listed(list(names))}."
    raise TableError(f"{FLAGS[role]} names the column {asked!r}, which the table does not have; {hint}")


def dense(block: Any) -> NDArray:
    """Return dense or sparse rows as an array."""
    return block.toarray() if sparse.issparse(block) else np.asarray(block)


def column_facts(block: NDArray, earlier: NDArray | None = None) -> NDArray:
    """Return missing values, smallest and largest value of each column, including earlier rows."""
    missing, low, high = np.isnan(block).sum(axis=0), np.fmin.reduce(block), np.fmax.reduce(block)
    if earlier is not None:
        missing = missing + earlier[0]
        low, high = np.fmin(low, earlier[1]), np.fmax(high, earlier[2])
    return np.array([missing, low, high], dtype=np.float64)


def clean(
    table: Table, impute: str | None = None, keep_constant: bool = False, facts: NDArray | None = None
) -> Table:
    """Return the table without empty and constant columns, with missing values counted and treated.

    ``facts`` are the ``column_facts`` of all rows if the table holds a sample of them.
    """
    if min(table.shape) == 0:
        raise TableError(_nothing_left(table))
    if facts is None:
        step = max(1, BLOCK_CELLS // table.shape[1])
        for start in range(0, table.shape[0], step):
            facts = column_facts(dense(table.data[start : start + step]), facts)
    assert facts is not None
    if table.shape[0] < 2:
        raise TableError(
            "The table has a single row; columns are selected by how they vary, so give more rows."
        )
    n_missing, (low, high) = facts[0].astype(np.intp), facts[1:]
    empty = n_missing == table.shape[0]
    infinite = np.isinf(low) | np.isinf(high)
    if infinite.any():
        names = [table.feature_names[j] for j in np.flatnonzero(infinite)]
        raise TableError(
            f"There are infinite values in {listed(names)}; correct them or remove these columns."
        )
    constant = ~empty & ~(high > low)
    incomplete = (n_missing > 0) & ~empty & (keep_constant | ~constant)
    if incomplete.any() and impute == "error":
        columns = np.flatnonzero(incomplete)
        worst = columns[np.argsort(-n_missing[columns], kind="stable")]
        names = [f"{table.feature_names[j]} ({n_missing[j]})" for j in worst]
        them = "that column" if columns.size == 1 else "those columns"
        words = (
            f"Values are missing in {columns.size} of {table.shape[1]} numeric columns: {listed(names)}; add "
            f"--impute median to fill them, --impute drop to leave {them} out, or --impute keep for a "
            "method that works around them, such as DSCOFS."
        )
        why = (note for note in table.notes if note.startswith((READ_AS_MISSING, SHORT)))
        raise TableError(" ".join([words, *why]))
    gone = empty | (constant & (not keep_constant)) | (incomplete & (impute == "drop"))
    reasons = np.where(empty, "empty", np.where(constant, "constant", "missing values"))[gone].tolist()
    cleaned, missing = replace(table, n_missing=n_missing).without(gone, reasons, low), n_missing[~gone]
    if gone.all():
        raise TableError(_nothing_left(cleaned))
    cleaned = cleaned.with_doubts(*cleaned.lost_columns(), *_code_doubts(cleaned, low[~gone], high[~gone]))
    if not missing.any():
        return cleaned
    if impute != "median":
        return cleaned.with_notes(kept_missing_note(missing))
    if sparse.issparse(table.data):
        raise TableError(
            "Missing values in sparse data cannot be filled; set them to 0 or use --impute drop."
        )
    data, fills, filled = np.array(cleaned.data), {}, np.isnan(cleaned.data)
    for column in np.flatnonzero(missing):
        fill = float(np.nanmedian(data[:, column]))
        fills[cleaned.feature_names[column]] = data[filled[:, column], column] = fill
    where = "" if table.n_rows is None else " in the sample"
    note = f"{_counted(missing)} filled by the column's median{where}."
    return replace(cleaned, data=data, fills=fills, filled=filled).with_notes(note)


def _code_doubts(table: Table, low: NDArray, high: NDArray) -> list[str]:
    """Return a hint for repeated numbers such as 99 and -999 that lie far outside the rest of a column."""
    seen: dict[float, list[tuple[str, float, float]]] = {}
    for j in np.flatnonzero(np.isin(low, MISSING_CODES) | np.isin(high, MISSING_CODES)):
        column = dense(table.data[:, [j]])
        codes = [code for code in MISSING_CODES if np.sum(column == code) > 1]
        others = column[~np.isin(column, codes) & ~np.isnan(column)]
        least, most = others.min(initial=np.inf), others.max(initial=-np.inf)
        for code in codes if others.size else ():
            if 2 * most < code if code > 0 else 2 * least > code:
                seen.setdefault(code, []).append((table.feature_names[j], least, most))
    doubts = []
    for code, columns in seen.items():
        names, lows, highs = zip(*columns, strict=True)
        others = f"{min(lows):.6g} to {max(highs):.6g}"
        doubts.append(
            f"{code:g} lies outside {others} in {listed(list(names))}; if it means missing, add --na "
            f"{code:g}."
        )
    return doubts


def kept_missing_note(missing: NDArray) -> str:
    """Return a note that missing values are kept, from their number in each column."""
    return f"{_counted(missing)} left as {'they are' if missing.sum() > 1 else 'it is'}."


def _counted(missing: NDArray) -> str:
    count, columns = int(missing.sum()), int((missing > 0).sum())
    words = f"{count} missing value{'s' * (count > 1)} in {columns} column{'s' * (columns > 1)}"
    return f"{words} {'were' if count > 1 else 'was'}"


def _nothing_left(table: Table) -> str:
    why = table.lost_columns() or ["No numeric column with varying values is left."]
    why += table.left_out_sentences()
    if table.left_out and all(column.reason == "missing values" for column in table.left_out):
        return " ".join([*why, "Use --impute median or --impute keep."])
    if table.dialect is None:
        return " ".join(why)
    if table.columns is not None and table.columns.rows.path.suffix.lower() == ".xlsx":
        why.append("Check that the sheet begins with the column names (--sheet, --skip-rows).")
    else:
        why.append("Check the separator and the decimal mark (--separator, --decimal), and that the column ")
        why[-1] += "names are the first line (--skip-rows)."
    return " ".join(why)
