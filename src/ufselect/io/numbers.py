"""Numbers as people write them: signs, groups of thousands, currencies, percent, and what means "missing"."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

MISSING = frozenset([
    "", "NA", "N/A", "n/a", "NaN", "nan", "-nan", "-NaN", "NULL", "null", "None", "<NA>", "#N/A", "#NA",
    "#N/A N/A", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN", "?", "-", "–", "—", "--", "---", ".", "..",
    "n.a.", "N.A.", "k.A.", "k. A.", "missing", "#DIV/0!", "#VALUE!", "#REF!", "#NUM!", "#NAME?", "#WERT!",
    "#NV", "#BEZUG!", "#ZAHL!",
])  # fmt: skip
# "not determined", "below the limit of detection" and the like: missing, but the reader says so
LAB_TOKENS = frozenset(
    ["ND", "N/D", "nd", "n/d", "n.d.", "N.D.", "LOD", "<LOD", "BDL", "BLQ", "BLOQ", "<LLOQ"]
)
TRUTH = {"True": 1.0, "TRUE": 1.0, "true": 1.0, "False": 0.0, "FALSE": 0.0, "false": 0.0}
CODES_FROM = 2.0**53  # from here on, doubles do not tell neighbouring whole numbers apart

SIGNS = str.maketrans({"−": "-", "–": "-", "\u00a0": " ", "\u202f": " ", "\u2009": " ", "’": "'"})
CURRENCY = re.compile(r"^([+-]?)\s*(?:[$€£¥₹]|USD|EUR|GBP|CHF|JPY)\s*|\s*(?:[$€£¥₹]|USD|EUR|GBP|CHF|JPY)$")
PLAIN = {
    ".": re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?"),
    ",": re.compile(r"[+-]?(\d+,?\d*|,\d+)([eE][+-]?\d+)?"),
}
GROUPED = {
    ".": re.compile(r"[+-]?\d{1,3}([,' ]\d{3})+(\.\d+)?"),
    ",": re.compile(r"[+-]?\d{1,3}([.' ]\d{3})+(,\d+)?"),
}


@dataclass(frozen=True)
class Read:
    """A number, with the marks that were taken off it."""

    value: float
    marks: tuple[str, ...] = ()


def read_number(cell: str, decimal: str) -> Read | None:
    """Return the number that a cell holds, or None.

    Examples
    --------
    >>> from ufselect.io.numbers import read_number
    >>> [read_number(cell, ".").value for cell in ("−0.5", "$1,234.5", "3 %")]
    [-0.5, 1234.5, 3.0]
    >>> read_number("850.772", ",").value, read_number("1.5", ",")
    (850772.0, None)
    """
    text = cell.strip()
    if PLAIN[decimal].fullmatch(text):
        return Read(_float(text, decimal))
    if text in TRUTH:
        return Read(TRUTH[text])
    marks = []
    signed = text.translate(SIGNS)
    if signed[:1] == "-" and text[:1] != "-":
        marks.append(text[0])
    bare = CURRENCY.sub(r"\1", signed)
    if bare != signed:
        marks.append("currency")
    if bare.endswith("%"):
        bare = bare[:-1].rstrip()
        marks.append("%")
    if GROUPED[decimal].fullmatch(bare):
        group = next(mark for mark in bare if mark in ",.' ")
        marks.append("a space" if group == " " else group)
        bare = bare.replace(group, "")
    return Read(_float(bare, decimal), tuple(marks)) if PLAIN[decimal].fullmatch(bare) else None


def _float(text: str, decimal: str) -> float:
    return float(text.replace(",", ".")) if decimal == "," else float(text)


def is_whole(text: str) -> bool:
    """Whether a cell is written as a whole number."""
    return text.strip().removeprefix("-").isdecimal()


@dataclass
class Obstacle:
    """What stood in the way of reading a column as numbers: the first such cell, and how many there are."""

    example: str
    cells: int = 0


@dataclass
class NumberReader:
    """Turns blocks of cells into numbers, column by column, and remembers what it met.

    Parameters
    ----------
    positions : sequence of int
        The columns to read.
    decimal : str
        The decimal mark.
    missing : frozenset of str
        Cells that mean "no value".

    Attributes
    ----------
    obstacles : dict of int to Obstacle
        By column that holds something else than numbers.
    marks : dict of str to set of int
        Marks that were taken off numbers, with their columns.
    tokens : Counter
        Laboratory tokens that were read as missing.
    whole : dict of int to bool
        Whether a column holds whole numbers alone.
    codes : set of int
        Columns of whole numbers that a double cannot tell apart.
    """

    positions: Sequence[int]
    decimal: str = "."
    missing: frozenset[str] = MISSING
    obstacles: dict[int, Obstacle] = field(default_factory=dict)
    marks: dict[str, set[int]] = field(default_factory=dict)
    tokens: Counter[str] = field(default_factory=Counter)
    whole: dict[int, bool] = field(default_factory=dict)
    codes: set[int] = field(default_factory=set)
    n_rows: int = 0

    def read(self, block: Any, dtype: Any = np.float64) -> NDArray:
        """Return the columns of a data frame as an array; what is no number becomes NaN."""
        kinds = np.array([dtype.kind for dtype in block.dtypes])[list(self.positions)]
        numeric = np.isin(kinds, list("biuf"))
        if numeric.all():
            chosen = block if len(kinds) == block.shape[1] else block.iloc[:, list(self.positions)]
            values = chosen.to_numpy(dtype=dtype)
        else:
            values = np.empty((len(block), len(kinds)), dtype=dtype)
            values[:, numeric] = block.iloc[:, np.asarray(self.positions)[numeric]].to_numpy(dtype=dtype)
        self._look_at_whole_numbers(values, np.isin(kinds, list("biu")), numeric)
        for place in np.flatnonzero(~numeric).tolist():
            values[:, place] = self._parsed(self.positions[place], block.iloc[:, self.positions[place]])
        self.n_rows += len(block)
        return values

    def share_of_numbers(self, position: int) -> float:
        """Return how much of a column is not in the way of reading it."""
        return 1 - self.obstacles[position].cells / max(1, self.n_rows)

    def _look_at_whole_numbers(self, values: NDArray, whole: NDArray, numeric: NDArray) -> None:
        for place in np.flatnonzero(numeric & ~whole).tolist():
            self.whole[self.positions[place]] = False
        for place in np.flatnonzero(whole).tolist():
            self.whole.setdefault(self.positions[place], True)
            if len(values) and np.abs(values[:, place]).max() > CODES_FROM:
                self.codes.add(self.positions[place])

    def _parsed(self, position: int, column: Any) -> NDArray:
        if not _is_text(column):
            self._meet(position, str(column.dtype), len(column))
            return np.full(len(column), np.nan)
        values = np.full(len(column), np.nan)
        whole = True
        for row, cell in enumerate(column):
            if not isinstance(cell, str):
                if isinstance(cell, bool | int | float | np.number):
                    values[row] = cell
                continue
            text = cell.strip()
            if text in self.missing:
                continue
            if text in LAB_TOKENS:
                self.tokens[text] += 1
                continue
            number = read_number(text, self.decimal)
            if number is None:
                self._meet(position, cell, 1)
                continue
            values[row] = number.value
            whole = whole and is_whole(text)
            if is_whole(text) and abs(number.value) > CODES_FROM:
                self.codes.add(position)
            for mark in number.marks:
                self.marks.setdefault(mark, set()).add(position)
        whole = whole and not np.isnan(values).any()
        self.whole[position] = self.whole.get(position, True) and whole
        return values

    def _meet(self, position: int, example: str, cells: int) -> None:
        self.obstacles.setdefault(position, Obstacle(example)).cells += cells


def _is_text(column: Any) -> bool:
    return column.dtype.kind in "OUT" or str(column.dtype).startswith("string")


def is_missing(cells: Iterable[Any], missing: frozenset[str]) -> NDArray[np.bool_]:
    """Tell which cells mean "no value", laboratory tokens among them."""
    empty = missing | LAB_TOKENS
    return np.array(
        [cell != cell or cell is None or str(cell).strip() in empty for cell in cells], dtype=bool
    )
