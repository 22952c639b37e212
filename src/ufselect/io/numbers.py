"""Numbers as people write them: signs, groups of thousands, currencies, percent, and missing values."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from shlex import quote
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ufselect._utils.messages import listed
from ufselect.io.table import NOT_NUMBERS, READ_AS_MISSING

MISSING = frozenset([
    "", "NA", "N/A", "n/a", "NaN", "nan", "-nan", "-NaN", "NULL", "null", "None", "<NA>", "#N/A", "#NA",
    "#N/A N/A", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN", "?", "-", "–", "—", "--", "---", ".", "..",
    "n.a.", "N.A.", "k.A.", "k. A.", "missing", "#DIV/0!", "#VALUE!", "#REF!", "#NUM!", "#NAME?", "#WERT!",
    "#NV", "#BEZUG!", "#ZAHL!",
])  # fmt: skip
# "not determined", "below the limit of detection" and the like: missing, with a note
LAB_TOKENS = frozenset(
    ["ND", "N/D", "nd", "n/d", "n.d.", "N.D.", "LOD", "<LOD", "BDL", "BLQ", "BLOQ", "<LLOQ"]
)
WORDS = {"true": 1.0, "false": 0.0, "inf": np.inf, "+inf": np.inf, "-inf": -np.inf}
WORDS |= {"infinity": np.inf, "+infinity": np.inf, "-infinity": -np.inf}
CODES_FROM = 2.0**53  # above, doubles cannot represent every whole number
MOSTLY = 0.5  # with a larger share of numbers, the words are the mistake

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


def read_number(cell: str, decimal: str) -> tuple[float, tuple[str, ...]] | None:
    """Return the number in a cell and the marks that were removed from it, or None.

    Examples
    --------
    >>> from ufselect.io.numbers import read_number
    >>> [read_number(cell, ".")[0] for cell in ("−0.5", "$1,234.5", "3 %")]
    [-0.5, 1234.5, 3.0]
    >>> read_number("850.772", ","), read_number("1.5", ",")
    ((850772.0, ('.',)), None)
    """
    text = cell.strip()
    if PLAIN[decimal].fullmatch(text):
        return float(text.replace(",", ".")), ()
    if text.lower() in WORDS:
        return WORDS[text.lower()], ()
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
    return (float(bare.replace(",", ".")), tuple(marks)) if PLAIN[decimal].fullmatch(bare) else None


def is_whole(text: str) -> bool:
    """Whether a cell is written as a whole number."""
    return text.strip().removeprefix("-").isdecimal()


def is_missing(cells: Iterable[Any], missing: frozenset[str] = MISSING) -> NDArray[np.bool_]:
    """Return which cells mean "no value", laboratory tokens included."""
    empty = missing | LAB_TOKENS
    return np.array(
        [cell is None or cell != cell or str(cell).strip() in empty for cell in cells], dtype=bool
    )


class NumberReader:
    """Read some columns of blocks as numbers, and record what was not a plain number."""

    def __init__(
        self, positions: Sequence[int], decimal: str = ".", missing: frozenset[str] = MISSING
    ) -> None:
        self.positions, self._decimal, self._missing = list(positions), decimal, missing
        self.whole = np.ones(len(self.positions), dtype=bool)  # whether a column holds only whole numbers
        self._codes: set[int] = set()
        self._obstacles: dict[int, tuple[str, int]] = {}  # by column, the first cell and how many there are
        self._marks: dict[str, set[int]] = {}
        self._tokens: Counter[str] = Counter()
        self._n_rows = 0

    def read(self, block: Any, dtype: Any = np.float64) -> NDArray:
        """Return the columns of a data frame as an array; cells that are not numbers become NaN."""
        chosen = block if len(self.positions) == block.shape[1] else block.iloc[:, self.positions]
        kinds = np.array([kind.kind for kind in chosen.dtypes])
        numeric, counted = np.isin(kinds, list("biuf")), np.isin(kinds, list("biu"))
        if numeric.all():
            values = chosen.to_numpy(dtype=dtype)
        else:
            values = np.empty(chosen.shape, dtype=dtype)
            values[:, numeric] = chosen.loc[:, numeric].to_numpy(dtype=dtype)
        self.whole &= ~numeric | counted
        if counted.any() and len(values):
            large = np.abs(values[:, counted]).max(axis=0) > CODES_FROM
            self._codes.update(self.positions[place] for place in np.flatnonzero(counted)[large])
        for place in np.flatnonzero(~numeric):
            values[:, place] = self._parsed(int(place), chosen.iloc[:, place])
        self._n_rows += len(block)
        return values

    def _parsed(self, place: int, column: Any) -> NDArray:
        position = self.positions[place]
        if column.dtype.kind not in "OUT" and not str(column.dtype).startswith("string"):
            self._meet(position, str(column.dtype), len(column))
            return np.full(len(column), np.nan)
        codes, cells = column.factorize()
        counts = np.bincount(codes[codes >= 0], minlength=len(cells))
        values = np.full(len(cells) + 1, np.nan)  # the last is that of missing cells, whose code is −1
        for number, (cell, count) in enumerate(zip(cells, counts, strict=True)):
            text = cell.strip() if isinstance(cell, str) else cell
            if not isinstance(text, str):
                values[number] = text if isinstance(text, bool | int | float | np.number) else np.nan
            elif text in LAB_TOKENS and text not in self._missing:
                self._tokens[text] += int(count)
            elif text not in self._missing:
                found = read_number(text, self._decimal)
                if found is None:
                    self._meet(position, cell, int(count))
                    continue
                values[number] = found[0]
                for mark in found[1]:
                    self._marks.setdefault(mark, set()).add(position)
                if not is_whole(text):
                    self.whole[place] = False
                elif abs(found[0]) > CODES_FROM:
                    self._codes.add(position)
        read = values[codes]
        self.whole[place] &= not np.isnan(read).any()
        return read

    def _meet(self, position: int, example: str, cells: int) -> None:
        first, count = self._obstacles.get(position, (example, 0))
        self._obstacles[position] = (first, count + cells)

    def not_features(self) -> dict[int, str]:
        """Return, after all rows have been read, the columns that are not numbers, and why."""
        codes = dict.fromkeys(self._codes, "whole numbers too large to be distinct as floats")
        return {**dict.fromkeys(self._obstacles, NOT_NUMBERS), **codes}

    def notes(self, names: Sequence[str]) -> list[str]:
        """Return what was removed from cells, read as missing or refused, one sentence each."""
        notes: list[str] = []
        for position, (example, cells) in sorted(self._obstacles.items()):
            if cells <= (1 - MOSTLY) * self._n_rows:
                why, them = ("the cell", "it") if cells == 1 else (f"{cells} cells such as", "them")
                notes.append(
                    f"{names[position]} is mostly numbers but was left out because of {why} {example!r}; "
                    f"correct {them}, or use --na {quote(example)} to read {them} as missing."
                )
        for mark, positions in self._marks.items():
            where = listed([names[position] for position in sorted(positions)])
            words = {"currency": "Currency signs were", "%": "Percent signs were"}.get(mark, f'"{mark}" was')
            if mark in "−–":
                notes.append(f"{words} read as a minus sign in {where}.")
            else:
                words = "Spaces between thousands were" if mark == "a space" else words
                notes.append(f"{words} removed from the numbers of {where}.")
        if self._tokens:
            counts = listed([f"{token} ({count})" for token, count in self._tokens.most_common()])
            notes.append(f"{READ_AS_MISSING} values: {counts}.")
        return notes
