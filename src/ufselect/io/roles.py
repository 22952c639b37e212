"""Which columns are features, and which are ids, labels or text that is carried along."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ufselect.io.naming import find_column
from ufselect.io.numbers import MISSING, is_missing, is_whole, read_number

ID_NAMES = frozenset([
    "id", "ids", "index", "idx", "name", "names", "sample", "samples", "sampleid", "sample_name", "cell",
    "cells", "barcode", "barcodes", "row", "row_name", "row_names", "rowname", "rownames", "patient",
    "subject", "uuid", "key", "nr", "no", "number", "obs", "observation",
])  # fmt: skip
LABEL_NAMES = frozenset([
    "label", "labels", "class", "classes", "target", "targets", "y", "gnd", "category", "group", "cluster",
    "species", "diagnosis", "outcome", "cell_type", "celltype",
])  # fmt: skip
DATE = re.compile(r"(19|20)\d\d(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])")
BATCH, WEIGHTS = "batches", "weights"  # why such columns are no features
FEWEST_ROWS_A_CLASS = 2  # on average; with fewer, values are ids or measurements
COUNTER_POSITIONS = 3  # programs write a row number first, or right after an id
COUNTER_ROWS = 8  # that many numbers are in order by chance once in 40 320 tables
MOSTLY = 0.5  # more numbers than words: then the words are the mistake


@dataclass(frozen=True)
class ColumnRoles:
    """What the user said about columns: names of those that are no features, and whether to guess others."""

    id_column: str | None = None
    label_column: str | None = None
    guess: bool = True
    batch_column: str | None = None
    weight_column: str | None = None


@dataclass(frozen=True)
class ColumnPlan:
    """What each column is for.

    Attributes
    ----------
    names : list of str
        Of all columns.
    features : list of int
        Positions of columns to choose from.
    id_position, label_position : int or None
        Of the row ids and the classes.
    texts : dict of int to str
        Positions of columns that are carried along, and why they are no features.
    batch_position, weight_position : int or None
        Of the batch and the weight of each row; they are carried along too.
    """

    names: list[str]
    features: list[int]
    id_position: int | None
    label_position: int | None
    texts: dict[int, str] = field(default_factory=dict)
    batch_position: int | None = None
    weight_position: int | None = None


@dataclass(frozen=True)
class ColumnLook:
    """The first rows of a column.

    Attributes
    ----------
    kind : {"numbers", "words", "empty"}
        Numbers for the most part, mostly words, or nothing.
    whole : bool
        Whether all are whole numbers.
    coded : bool
        Whether none has a decimal mark, so that they can be codes.
    values : sequence
        What is not missing.
    """

    kind: str
    whole: bool
    coded: bool
    values: Sequence[Any]

    def distinct(self) -> bool:
        return len(set(self.values)) == len(self.values)

    def dates(self) -> bool:
        """Whether these are dates written as numbers, such as 20240131."""
        enough = self.whole and len(self.values) >= COUNTER_ROWS
        return enough and all(DATE.fullmatch(str(value)) for value in self.values)

    def steps(self) -> Any:
        """Return the differences of neighbouring whole numbers, none if there are too few to tell."""
        if not self.whole or len(self.values) < COUNTER_ROWS:
            return np.array([])
        return np.diff([float(value) for value in self.values])


def look_at_text(cells: Sequence[str], decimal: str, missing: frozenset[str] = MISSING) -> ColumnLook:
    """Look at cells of text."""
    present = [cell for cell, gone in zip(cells, is_missing(cells, missing), strict=True) if not gone]
    if not present:
        return ColumnLook("empty", False, False, present)
    read = sum(read_number(cell, decimal) is not None for cell in present)
    if read < MOSTLY * len(present):
        return ColumnLook("words", False, True, present)
    coded = not any(mark in cell for cell in present for mark in ".,")
    return ColumnLook("numbers", all(map(is_whole, present)), coded, present)


def look_at_typed(values: Any) -> ColumnLook:
    """Look at a column of a typed table, a pandas series."""
    present = values.dropna()
    if getattr(values.dtype, "kind", "O") in "biuf":
        whole = values.dtype.kind in "iu"
        return ColumnLook("numbers", whole, whole, present.to_numpy())
    return ColumnLook("words" if len(present) else "empty", False, True, [str(value) for value in present])


def plan_columns(
    looks: Sequence[ColumnLook], names: list[str], unnamed: Sequence[bool], roles: ColumnRoles
) -> ColumnPlan:
    """Decide what each column is for.

    Raises
    ------
    TableError
        If a column that the user named is not there.
    """
    label_position = _named(roles.label_column, names, "label_column")
    id_position = _named(roles.id_column, names, "id_column")
    batch_position = _named(roles.batch_column, names, "batch_column")
    weight_position = _named(roles.weight_column, names, "weight_column")
    told = {batch_position: BATCH, weight_position: WEIGHTS}
    texts = {
        place: why
        for place, why in told.items()
        if place is not None and place not in (id_position, label_position)
    }
    for position, (look, name) in enumerate(zip(looks, names, strict=True)):
        if position in (id_position, label_position, *texts):
            continue
        if roles.guess and _is_id(position, name, unnamed[position], look):
            if id_position is None:
                id_position = position
                continue
            if look.kind != "words":
                texts[position] = "row numbers"
                continue
        if roles.guess and label_position is None and is_label(name, names, look):
            label_position = position
        elif look.kind == "words":
            texts[position] = "not numbers"
        elif roles.guess and look.dates():
            texts[position] = "dates"
    taken = {id_position, label_position, *texts}
    features = [position for position in range(len(names)) if position not in taken]
    return ColumnPlan(names, features, id_position, label_position, texts, batch_position, weight_position)


def _named(asked: str | None, names: list[str], parameter: str) -> int | None:
    return None if asked is None else find_column(asked, names, parameter)


def _folded(name: str) -> str:
    """Return "PassengerId" as "passenger_id"."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name)
    return re.sub(r"[^0-9a-z]+", "_", words.lower()).strip("_")


def _is_id(position: int, name: str, unnamed: bool, look: ColumnLook) -> bool:
    """Whether a column names rows: by its name, or by standing first, or by counting rows."""
    if look.kind == "empty" or not look.coded:
        return False
    folded = _folded(name)
    if folded in ID_NAMES or folded.endswith("_id") or folded.startswith("unnamed_"):
        return True
    if position == 0 and (unnamed or (look.kind == "words" and look.distinct())):
        return True
    steps = look.steps()
    if position >= COUNTER_POSITIONS or steps.size == 0:
        return False
    in_order = bool(np.all(steps > 0) or np.all(steps < 0))
    return in_order and (position == 0 or bool(np.all(np.abs(steps) == 1)))


def is_label(name: str, names: Sequence[str], look: ColumnLook) -> bool:
    """Whether a column holds classes: by name, text or whole numbers, few distinct values."""
    folded = name.lower()
    if folded not in LABEL_NAMES or (look.kind != "words" and not look.whole):
        return False
    if folded == "y" and {"x", "z"} & {other.lower() for other in names}:
        return False  # a coordinate
    return 1 < len(set(look.values)) <= len(look.values) // FEWEST_ROWS_A_CLASS
