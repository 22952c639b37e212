"""Which columns are features, ids, counters, dates, labels or text, and which rows only sum up others."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from shlex import quote
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ufselect._utils.imports import import_extra
from ufselect._utils.validation import listed
from ufselect.exceptions import TableError
from ufselect.io.numbers import MOSTLY, Missing, NumberReader, PlainNumbers, is_whole, read_number
from ufselect.io.table import NOT_NUMBERS, ReadOptions, Table, find_column

ID_NAMES = frozenset([
    "id", "ids", "index", "idx", "name", "names", "sample", "samples", "sampleid", "sample_name", "cell",
    "cells", "barcode", "barcodes", "row", "row_name", "row_names", "rowname", "rownames", "patient",
    "subject", "respondent", "participant", "uuid", "key", "nr", "no", "number", "obs", "observation",
])  # fmt: skip
WAVES = ("wavelength", "wavelengths", "wavenumber", "wavenumbers")
AXIS_NAMES = frozenset(
    ["time", "t", "timestamp", "seconds", "date", "datetime", "zeit", "temps", "tiempo", "frequency", *WAVES]
)
LABEL_NAMES = frozenset([
    "label", "labels", "class", "classes", "target", "targets", "y", "gnd", "category", "group", "cluster",
    "species", "diagnosis", "outcome", "cell_type", "celltype",
])  # fmt: skip
NUMBERED = ("_no", "_nr", "_num", "_number")  # ids after a word such as "sample", else yes or no, and counts
DATE = re.compile(r"(19|20)\d\d(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])")
LOOK_ROWS = 2000  # that decide the roles of columns
COUNTER_ROWS = 8  # so many numbers are in order by chance once in 40 320 tables
# English, German, French, Spanish, Italian, Portuguese and Dutch.
TOTAL = re.compile(
    r"(grand |sub[- ]?|sous-|zwischen|gesamt|end)?(totals?|totale?s?|totaux|totaal|sums?|summen?|gesamt|"
    r"insgesamt|somme|suma|soma|som|somma|mean|average|avg|mittel|mittelwert|durchschnitt|moyenne|media|média|promedio|"
    r"gemiddelde)",
    re.IGNORECASE,
)
STATISTIC = re.compile(
    r"min(imum)?|max(imum)?|median|s\.?d|std\b.*|stdev|sem|r?cv|rsd|n|count|standard (deviation|error)|"
    r"standardabweichung|[ée]cart[- ]type",
    re.IGNORECASE,
)
GENE = re.compile(
    r"ENS[A-Z]{0,4}G\d{5,}(\.\d+)?|AT[1-5CM]G\d{5}|\d+(_[a-z])?_at|cg\d{8}|[NX][MR]_\d+(\.\d+)?"
)
BARCODE = re.compile(r"(\w+[-._:#])?[ACGT]{8,}([-._]\w+)?")
SAMPLE = re.compile(  # accessions, and names with a number
    r"TCGA[-.].*|(s|p|sample|patient|cell|tumou?r|normal|control|gsm|[se]rr)?[ _.-]*\d+",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class ColumnLook:
    """The first rows of a column.

    ``kind`` is "numbers" (for the most part), "words" or "empty"; ``whole`` says that all are whole numbers,
    ``coded`` that none has a decimal mark; ``values`` are those that are not missing.
    """

    kind: str
    whole: bool
    coded: bool
    values: Sequence[Any]

    def numbers(self) -> NDArray:
        """Return the different values as numbers in their order; NaN for those that are none."""
        read = (read_number(str(value).replace(",", "."), ".") for value in dict.fromkeys(self.values))
        return np.array([np.nan if number is None else number[0] for number in read])

    def distinct(self) -> bool:
        return len(set(self.values)) == len(self.values)

    def dates(self) -> bool:
        """Whether these are dates written as numbers, such as 20240131."""
        enough = self.whole and len(self.values) >= COUNTER_ROWS
        return enough and all(DATE.fullmatch(str(value)) for value in self.values)

    def steps(self) -> NDArray:
        """Return the differences of successive whole numbers; none for dates or too few values."""
        enough = self.whole and len(self.values) >= COUNTER_ROWS and not self.dates()
        return np.diff([float(value) for value in self.values]) if enough else np.array([])


def look_at(column: Any, decimal: str, missing: Missing) -> ColumnLook:
    """Look at a column of numbers or text, a pandas series."""
    present = column.dropna()
    if column.dtype.kind in "biuf":
        whole = column.dtype.kind in "iu"
        return ColumnLook("numbers", whole, whole, present.to_numpy())
    texts = np.array(present, dtype=str)
    cells = texts[~missing.where(texts, decimal)].tolist()
    if not cells:
        return ColumnLook("empty", False, False, cells)
    if sum(read_number(cell, decimal) is not None for cell in cells) < MOSTLY * len(cells):
        return ColumnLook("words", False, True, cells)
    coded = not any(mark in cell for cell in cells for mark in ".,")
    return ColumnLook("numbers", all(map(is_whole, cells)), coded, cells)


def plan_columns(
    rows: Any, first: Any, options: ReadOptions, numbers: PlainNumbers
) -> tuple[list[int], dict[int, str], dict[str, int | None], tuple[int, ...]]:
    """Decide by the first block of a text or Parquet file and its numbers what each column is for.

    Returns the positions of the features; those of other columns to copy to the output, with the reason;
    those of ids, labels, batches and weights; and all columns of labels and covariates.
    """
    names, unnamed = rows.names, rows.unnamed
    if first.empty:
        raise TableError("The table has names but no rows of data; check that the whole file was exported.")
    named: dict[str, int | None] = {}
    for role in ("id", "label", "batch", "weight"):
        name = getattr(options, f"{role}_column")
        named[role] = None if name is None else find_column(name, names, role)
    id_position, label_position = named["id"], named["label"]
    labels = [] if label_position is None else [label_position]
    labels += [find_column(name, names, "label") for name in options.carried_columns]
    texts = {
        place: why
        for place, why in ((named["batch"], "batches"), (named["weight"], "weights"))
        if place is not None and place not in (id_position, *labels)
    }
    closer = _positions_to_look_at(rows, numbers)  # at few columns, since this reads each cell
    n_cells = min(LOOK_ROWS, max(50, 400_000 // max(1, len(closer))))  # of each, in a quarter of a second
    for position in closer:
        if position in (id_position, *labels, *texts):
            continue
        look = look_at(first.iloc[:n_cells, position], rows.decimal, rows.missing)
        if options.guess and _is_id(position, names[position], unnamed[position], look):
            if id_position is None:
                id_position = position
                continue
            if look.kind != "words":
                steps = look.steps()
                texts[position] = "row numbers" if steps.size and np.all(np.abs(steps) == 1) else "ids"
                continue
        if options.guess and label_position is None and is_label(names[position], names, look):
            label_position = position
            labels = [position, *labels]
        elif look.kind == "words":
            texts[position] = NOT_NUMBERS
        elif options.guess and look.dates():
            texts[position] = "dates"
    taken = {id_position, *labels, *texts}
    features = [position for position in range(len(names)) if position not in taken]
    return (
        features,
        texts,
        {**named, "id": id_position, "label": label_position},
        tuple(dict.fromkeys(labels)),
    )


def _positions_to_look_at(rows: Any, numbers: PlainNumbers) -> list[int]:
    """Return the columns whose position, name or values suggest ids, labels, words, counters or dates."""
    values = numbers.values[:LOOK_ROWS]
    is_date = np.all(np.isnan(values) | ((values >= 19e6) & (values < 21e6)), axis=0)
    closer = ~numbers.plain | is_date | counters(values)
    closer[0] = True
    for position, folded in enumerate(map(_folded, rows.names)):
        is_named = _is_numbered(folded) or folded in ID_NAMES | LABEL_NAMES
        closer[position] |= rows.unnamed[position] or is_named
    return np.flatnonzero(closer).tolist()


def counters(values: NDArray) -> NDArray[np.bool_]:
    """Return which columns count rows: up or down by one from row to row, in at least eight rows.

    Missing values are ignored.

    Examples
    --------
    >>> import numpy as np
    >>> from ufselect.io.roles import counters
    >>> rows = np.arange(8)
    >>> counters(np.column_stack([rows + 1000, -rows, rows**2])).tolist()
    [True, True, False]
    """
    are_counters = np.zeros(values.shape[1], dtype=bool)
    if len(values) < COUNTER_ROWS:
        return are_counters
    # the first rows rule out nearly all other columns
    steps = np.abs(np.diff(values[:COUNTER_ROWS], axis=0))
    for column in np.flatnonzero(np.all((steps == 1) | np.isnan(steps), axis=0)):
        present = values[~np.isnan(values[:, column]), column]
        steps = np.diff(present)
        are_counters[column] = present.size >= COUNTER_ROWS and bool(
            np.all(steps == 1) or np.all(steps == -1)
        )
    return are_counters


def _folded(name: str) -> str:
    """Return "PassengerId" as "passenger_id"."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name)
    return re.sub(r"[^0-9a-z]+", "_", words.lower()).strip("_")


def _is_numbered(folded: str) -> bool:
    return folded.endswith(("_id", *NUMBERED)) or folded.startswith("unnamed_")


def _is_id(position: int, name: str, unnamed: bool, look: ColumnLook) -> bool:
    """Whether a column holds row ids: by its name, its position, or because it counts rows."""
    folded = _folded(name)
    if look.kind == "empty":
        return False
    if not look.coded:  # times of measurements, and ids that pandas has written as floats
        numbers = look.numbers()
        steps = np.diff(numbers)
        in_order = bool(np.all(steps > 0) or np.all(steps < 0))
        is_axis = position == 0 and folded.partition("_")[0] in AXIS_NAMES and in_order  # or time_s
        return look.distinct() and (is_axis or (folded in ID_NAMES and bool(np.all(numbers % 1 == 0))))
    if folded in ID_NAMES or (_is_numbered(folded) and not folded.endswith(NUMBERED)):
        return True
    if folded.rpartition("_")[0] in ID_NAMES and folded.endswith(NUMBERED) and look.distinct():
        return True
    if unnamed and name.startswith("__index_level_"):  # as pandas writes an index to Parquet
        return True
    if position == 0 and (unnamed or (look.kind == "words" and look.distinct())):
        return True
    steps = look.steps()
    if steps.size == 0:
        return False
    in_order = bool(np.all(steps > 0) or np.all(steps < 0))
    counts = in_order and bool(np.all(np.abs(steps) == 1))
    return counts or (position == 0 and in_order)


def is_label(name: str, names: Sequence[str], look: ColumnLook) -> bool:
    """Whether a column holds classes: a usual name, words or whole numbers, two rows per value on average."""
    folded, values = name.lower(), set(look.values)
    if folded not in LABEL_NAMES or not 1 < len(values) <= len(look.values) // 2:
        return False
    if folded == "y" and {"x", "z"} & {other.lower() for other in names}:
        return False  # a coordinate
    # or 0.0 and 1.0, as pandas writes codes with gaps
    return look.kind == "words" or look.whole or bool(np.all(look.numbers() % 1 == 0))


def role_notes(table: Table, options: ReadOptions) -> list[str]:
    """Return notes on columns recognised as ids or labels, and on tables that may need transposing."""
    notes = []
    for name, asked, flag, role in (
        (table.id_name, options.id_column, "--id", "the row id"),
        (table.label_name, options.label_column, "--labels", "the labels and not used for the selection"),
    ):
        if name is not None and asked is None:
            notes.append(f"{name} is taken as {role} ({flag} to name another, --no-guess for none).")
    alike = [name for name in table.feature_names if name.lower() in LABEL_NAMES and name.lower() != "y"]
    if table.label_name is None and options.guess and alike:
        words = f"{alike[0]} holds no classes, so it is one of the columns to select from"
        notes.append(f"{words} (--exclude {quote(alike[0])} to leave it out).")
    if table.batches is not None and (alone := int(np.sum(table.batches == ""))):
        rows = "1 row without a value forms" if alone == 1 else f"{alone} rows without a value form"
        notes.append(f"{options.batch_column}: {rows} a batch.")
    return notes


def role_doubts(table: Table, options: ReadOptions) -> list[str]:
    """Return what may make a selection from these columns useless: rows that are genes, or a total."""
    doubts: list[str] = []
    if not options.guess:
        return doubts
    if table.ids is not None and _are_features(table.id_name or "", table.ids[:1000], table.feature_names):
        what = "wavelengths" if table.id_name and table.id_name.lower().startswith("wave") else "genes"
        doubts.append(f"Rows look like {what} and columns like samples; --transpose swaps them.")
    totals = [name for name in table.feature_names if TOTAL.fullmatch(name.strip(" :*."))]
    for name in totals[:1]:
        doubts.append(f"{name} looks like a total of other columns; --exclude {quote(name)} leaves it out.")
    return doubts


def _are_features(id_name: str, ids: Any, names: Sequence[str]) -> bool:
    """Whether ids name genes or wavelengths, and columns do not, or columns are barcodes of cells."""
    if names and all(BARCODE.fullmatch(name) for name in names):
        return True
    if any(GENE.fullmatch(name) for name in names[:20]):
        return False
    words = [str(value) for value in ids]
    if {"gene", "genes", "symbol", *WAVES} & {*_folded(id_name).split("_")}:
        return True
    if sum(GENE.fullmatch(word) is not None for word in words) > 0.8 * len(words):
        return True
    # symbols such as TP53 and BRCA1 differ in their letters, and many end in a number
    stems = {word.rstrip("0123456789") for word in words}
    numbered = sum(word.isupper() and word[-1].isdigit() for word in words)
    are_symbols = len(stems) > 0.4 * len(words) and numbered > 0.3 * len(words)
    return are_symbols and all(SAMPLE.fullmatch(name) for name in names)


def batch_labels(values: Any) -> NDArray | None:
    """Return the batch of each row as text, "" for rows without one; None without such a column."""
    if values is None:
        return None
    return np.where(Missing().where(values), "", [str(cell).strip() for cell in values])


def row_weights(values: Any, name: str | None, decimal: str = ".") -> NDArray | None:
    """Return the weight of each row as a number; None without such a column."""
    if values is None:
        return None
    pandas = import_extra("pandas", "Reading weights", "cli")
    weights = NumberReader([0], decimal).read(pandas.DataFrame({0: values}))[:, 0]
    bad = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if bad.size:
        raise TableError(
            f"{name} holds {str(values[bad[0]])!r} in row {bad[0] + 1}, which is not a weight; weights are "
            "numbers of at least 0."
        )
    if np.sum(weights > 0) < 2:
        raise TableError(f"Fewer than two rows have a weight above 0 in {name}; name another column.")
    return weights


@dataclass(frozen=True)
class KeptRows:
    """The rows of a file without some of them."""

    rows: Any
    kept: NDArray[np.bool_]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.rows, name)

    def blocks(self, *arguments: Any) -> Any:
        """Yield the blocks of the file without these rows."""
        start = 0
        for frame in self.rows.blocks(*arguments):
            yield frame[self.kept[start : start + len(frame)]]
            start += len(frame)


def summary_rows(table: Table) -> NDArray:
    """Return rows that any column of text calls total, sum or mean, or that are the sum of all others.

    A row is the sum of all others if it agrees with it within a thousandth in most columns. Below the table,
    rows called minimum or deviation are meant too.
    """
    n_rows = table.shape[0]
    is_summary = np.zeros(n_rows, dtype=bool)
    columns = [table.ids, table.labels]
    if table.columns is not None and table.columns.texts:
        blocks = [block.to_numpy(dtype=object) for block in table.columns.rows.blocks(table.columns.texts)]
        columns += list(np.concatenate(blocks).T)
    for cells in columns:
        if cells is not None and np.asarray(cells).dtype.kind not in "iufb":
            names = [str(cell).strip(" :*.%") for cell in cells]
            is_called = np.array([TOTAL.fullmatch(name) is not None for name in names])
            below = list(takewhile(_is_statistic, reversed(names)))
            if len(set(below)) == len(below) > 1:  # alone SD may be South Dakota; many N are a class
                is_called[-len(below) :] = True
            is_summary |= is_called & (is_called.mean() < 0.2)  # else these are answers, or kinds of rows
    if isinstance(table.data, np.ndarray) and n_rows > 3:
        data = np.nan_to_num(np.where(is_summary[:, None], 0.0, table.data))
        others = data.sum(axis=0) - data
        size = np.abs(data).sum(axis=0)
        agrees = np.abs(others - data) <= 1e-3 * np.maximum(np.abs(data), 1e-9 * size)
        is_summary |= np.mean(agrees & (np.abs(data) > 0), axis=1) > 0.5
    # most rows called so are not summaries of the others
    return np.flatnonzero(is_summary) if is_summary.mean() < 0.2 else np.empty(0, dtype=np.intp)


def _is_statistic(name: str) -> bool:
    return TOTAL.fullmatch(name) is not None or STATISTIC.fullmatch(name) is not None


def without_summaries(table: Table) -> Table:
    """Return a table in memory without the rows that sum up others, which are named in its doubts."""
    rows = summary_rows(table) if table.n_rows is None else np.empty(0, dtype=np.intp)
    if not rows.size:
        return table
    kept = np.ones(table.shape[0], dtype=bool)
    kept[rows] = False
    names = [str(row + 1) if table.ids is None else str(table.ids[row]) for row in rows]
    is_one = rows.size == 1
    what = "a total or mean" if is_one else "totals or means"
    said = f"Left out row{'s' * (not is_one)} {listed(names)}, {what} of the others by name or by values; "
    said += f"--no-guess keeps {'it' if is_one else 'them'}."
    per_row = ("data", "ids", "labels", "batches", "weights", "filled")
    fewer = {name: getattr(table, name)[kept] for name in per_row if getattr(table, name) is not None}
    if table.columns is not None:
        fewer["columns"] = replace(table.columns, rows=KeptRows(table.columns.rows, kept))
    return replace(table, doubts=(said, *table.doubts), **fewer)
