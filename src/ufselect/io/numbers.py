"""Numbers as people write them: signs, groups of thousands, currencies, percent, and missing values."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from shlex import quote
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ufselect._utils.validation import listed
from ufselect.exceptions import TableError
from ufselect.io.table import NOT_NUMBERS, READ_AS_MISSING, SOME_WORDS, column_facts

MISSING = frozenset([
    "", "NA", "N/A", "n/a", "NaN", "nan", "-nan", "-NaN", "NULL", "null", "None", "<NA>", "#N/A", "#NA",
    "#N/A N/A", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN", "?", "-", "–", "—", "--", "---", ".", "..",
    "n.a.", "N.A.", "k.A.", "k. A.", "missing", "#DIV/0!", "#VALUE!", "#REF!", "#NUM!", "#NAME?", "#WERT!",
    "#NV", "#BEZUG!", "#ZAHL!",
])  # fmt: skip
# "not determined", "below the limit of detection" and the like: missing, with a note
LAB_TOKENS = frozenset(
    ["ND", "N/D", "nd", "n/d", "n.d.", "N.D.", "n.n.", "n.b.", "LOD", "<LOD", "BDL", "BLQ", "BLOQ", "<LLOQ"]
)
WORDS = {"true": 1.0, "false": 0.0, "inf": np.inf, "+inf": np.inf, "-inf": -np.inf}
WORDS |= {"infinity": np.inf, "+infinity": np.inf, "-infinity": -np.inf}
CODES_FROM = 2.0**53  # above, doubles cannot represent every whole number
GROUP_CELLS = 2**16  # of text that are read together: each column alone takes long in wide tables
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
    bare, marks = bare_number(text)
    if GROUPED[decimal].fullmatch(bare):
        group = next(mark for mark in bare if mark in ",.' ")
        marks.append("a space" if group == " " else group)
        bare = bare.replace(group, "")
    return (float(bare.replace(",", ".")), tuple(marks)) if PLAIN[decimal].fullmatch(bare) else None


def bare_number(cell: str) -> tuple[str, list[str]]:
    """Return a cell without currency, per cent and typographical signs, and the marks that were removed."""
    text, marks = cell.strip(), []
    signed = text.translate(SIGNS)
    if signed[:1] == "-" and text[:1] != "-":
        marks.append(text[0])
    if text[:1] == "(" and text[-1:] == ")":
        signed = f"-{signed[1:-1]}"
        marks.append("()")
    bare = CURRENCY.sub(r"\1", signed)
    if bare != signed:
        marks.append("currency")
    if bare.endswith("%"):
        bare = bare[:-1].rstrip()
        marks.append("%")
    return bare, marks


def is_whole(text: str) -> bool:
    """Whether a cell is written as a whole number."""
    return text.strip().removeprefix("-").isdecimal()


@dataclass(frozen=True)
class Missing:
    """What means "no value" in a table: words, and numbers such as −999 however they are written."""

    words: frozenset[str] = MISSING
    numbers: tuple[float, ...] = ()
    further: tuple[str, ...] = ()  # what was asked for, as it was typed

    @classmethod
    def of(cls, tokens: Sequence[str], decimal: str = ".") -> Missing:
        """Return the usual words and further ones, such as "-999" or "unknown"."""
        read = {token: read_number(token, decimal) or read_number(token, ".") for token in tokens}
        numbers = {token: number[0] for token, number in read.items() if number is not None}
        words = (token for token in tokens if abs(numbers.get(token, np.inf)) > CODES_FROM)
        return cls(MISSING.union(words), tuple(numbers.values()), tuple(tokens))

    def where(self, cells: Iterable[Any], decimal: str = ".") -> NDArray[np.bool_]:
        """Return which cells mean "no value", laboratory tokens included."""
        words = self.words | LAB_TOKENS

        def is_missing(cell: Any) -> bool:
            if cell is None or cell != cell or (text := str(cell).strip()) in words:
                return True
            number = read_number(text, decimal) if self.numbers else None
            return number is not None and number[0] in self.numbers

        return np.array([is_missing(cell) for cell in cells], dtype=bool)

    def removed_from(self, data: Any) -> Any:
        """Return dense or sparse numbers with NaN in place of the numbers that mean "no value"."""
        if not self.numbers:
            return data
        if not sparse.issparse(data):
            return np.where(np.isin(data, self.numbers), data.dtype.type(np.nan), data)
        if 0.0 in self.numbers:
            raise TableError(
                "--na 0 cannot be used: in sparse data, zeros are the values that are not stored."
            )
        data = data.copy()
        data.data = self.removed_from(data.data)
        return data


class PlainNumbers(NamedTuple):
    """The numbers of a data frame, read without a look at single cells.

    A column that holds anything but plain numbers and missing cells is not ``plain``, nor is one with whole
    numbers too large for a double to be exact. A ``whole`` one has only whole numbers, and none is missing.
    """

    values: NDArray
    plain: NDArray[np.bool_]
    whole: NDArray[np.bool_]


def plain_numbers(frame: Any, decimal: str, missing: Missing) -> PlainNumbers:
    """Read the columns of a data frame that hold plain numbers, typed or as text."""
    values = np.full(frame.shape, np.nan)
    plain, whole = np.zeros((2, frame.shape[1]), dtype=bool)
    columns = [column for _, column in frame.items()]
    kinds = np.array([column.dtype.kind for column in columns])
    typed = np.isin(kinds, list("biuf"))
    if typed.any():
        values[:, typed] = frame.loc[:, typed].to_numpy(dtype=np.float64)
        whole[typed] = kinds[typed] != "f"
        plain[typed] = ~(whole[typed] & np.any(np.abs(values[:, typed]) > CODES_FROM, axis=0))
    is_text = np.isin(kinds, list("OU"))
    is_object = np.array([column.dtype == object for column in columns], dtype=bool)
    size = max(1, GROUP_CELLS // max(1, len(frame)))
    for places, read, n_columns in (
        (np.flatnonzero(is_text & is_object), _strings_as_numbers, 1),
        (np.flatnonzero(is_text & ~is_object), _arrow_as_numbers, size),
    ):
        for group in (places[first : first + n_columns] for first in range(0, places.size, n_columns)):
            numbers, absent, whole[group] = read([columns[j] for j in group], decimal, missing)
            odd = (np.isnan(numbers) & ~absent) | (np.abs(numbers) > CODES_FROM)
            values[:, group], plain[group] = numbers.T, ~odd.any(axis=1)
    return PlainNumbers(values, plain, whole)


def _strings_as_numbers(columns: Sequence[Any], decimal: str, missing: Missing) -> tuple[Any, Any, Any]:
    """Return numbers, which cells are missing, and whether all are written as whole, of a Python column.

    The numbers are NaN if any cell is not a plain number.
    """
    numbers, absent = np.full((2, 1, len(columns[0])), np.nan)
    try:
        cells = [cell.strip() for cell in columns[0]]
        absent = np.array([[cell in missing.words for cell in cells]])
        if "_" in "".join(cells) or (decimal == "," and any("." in cell for cell in cells)):
            raise ValueError  # float() takes underscores between digits
        texts = (cell.replace(decimal, ".") for cell in cells)
        numbers = np.array(
            [[np.nan if gone else float(cell) for cell, gone in zip(texts, absent[0], strict=True)]]
        )
    except (AttributeError, ValueError):
        return numbers, np.zeros(numbers.shape, dtype=bool), False
    return numbers, absent, all(map(is_whole, cells))


def _arrow_as_numbers(columns: Sequence[Any], decimal: str, missing: Missing) -> tuple[Any, Any, Any]:
    """Return the same, one row for each column, of columns of text in Arrow, which are read together."""
    import pyarrow
    from pyarrow import compute

    arrays = [column.array.__arrow_array__() for column in columns]
    chunks = [chunk for array in arrays for chunk in getattr(array, "chunks", [array])]
    text = compute.utf8_trim_whitespace(pyarrow.chunked_array(chunks))
    gone = compute.is_in(text, value_set=pyarrow.array(sorted(missing.words)))
    cells = compute.if_else(gone, None, text)
    if decimal == ",":
        has_point = compute.match_substring(cells, ".")
        cells = compute.if_else(has_point, "no number", compute.replace_substring(cells, ",", "."))
    n_rows, shape = len(columns[0]), (len(columns), len(columns[0]))
    numbers, whole = np.full(shape, np.nan), np.zeros(shape[0], dtype=bool)

    def read(first: int, last: int) -> None:
        """Read columns, in halves if some are no numbers."""
        try:
            part = cells.slice(first * n_rows, (last - first) * n_rows)
            numbers[first:last] = compute.cast(part, "float64").to_numpy().reshape(-1, n_rows)
        except pyarrow.ArrowInvalid:
            if (middle := (first + last) // 2) > first:
                read(first, middle)
                read(middle, last)

    read(0, len(columns))
    if np.any(numbers[:, 0] == np.rint(numbers[:, 0])):
        written = compute.fill_null(compute.match_substring_regex(text, "^-?[0-9]+$"), False)
        whole = written.to_numpy().reshape(shape).all(axis=1)
    return numbers, cells.is_null().to_numpy().reshape(shape), whole


class NumberReader:
    """Read some columns of blocks as numbers, and record what was not a plain number."""

    def __init__(self, positions: Sequence[int], decimal: str = ".", missing: Missing | None = None) -> None:
        self.positions, self._decimal, self._missing = list(positions), decimal, missing or Missing()
        self.whole = np.ones(len(self.positions), dtype=bool)  # whether a column holds only whole numbers
        self._too_large: set[int] = set()
        self._obstacles: dict[int, tuple[str, int]] = {}  # by column, the first cell and how many there are
        self._marks: dict[str, set[int]] = {}
        self._tokens: Counter[str] = Counter()
        self._n_rows = 0
        self._coded = np.zeros((len(self._missing.numbers), len(self.positions)), dtype=np.intp)
        self._facts: NDArray | None = None
        self._absent = list(self._missing.further)  # those asked for that no cell had so far

    def read(self, block: Any, numbers: PlainNumbers | None = None) -> NDArray:
        """Return the columns of a data frame as an array; cells that are not numbers become NaN.

        ``numbers`` has the plain numbers of all columns of the frame, if they are known.
        """
        values, plain, whole = numbers or plain_numbers(block, self._decimal, self._missing)
        if len(self.positions) < block.shape[1]:
            values, plain, whole = values[:, self.positions], plain[self.positions], whole[self.positions]
        self.whole &= whole | ~plain
        for place in np.flatnonzero(~plain):
            values[:, place] = self._parsed(int(place), block.iloc[:, self.positions[place]])
        self._n_rows += len(block)
        if self._missing.numbers:
            self._coded += [np.sum(values == number, axis=0) for number in self._missing.numbers]
            values = self._missing.removed_from(values)
            self._facts = column_facts(values, self._facts)
        for token in list(self._absent):
            number = read_number(token, self._decimal) or read_number(token, ".")
            is_counted = number is not None and self._coded[self._missing.numbers.index(number[0])].any()
            if is_counted or any(block[j].astype(str).str.strip().eq(token).any() for j in block):
                self._absent.remove(token)
        self.whole &= ~np.isnan(values).any(axis=0)
        return values

    def _parsed(self, place: int, column: Any) -> NDArray:
        position = self.positions[place]
        if column.dtype.kind in "iu":
            self._too_large.add(position)
            return np.full(len(column), np.nan)
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
            elif text in LAB_TOKENS and text not in self._missing.words:
                self._tokens[text] += int(count)
            elif text not in self._missing.words:
                read = read_number(text, self._decimal)
                if read is None:
                    self._meet(position, cell, int(count))
                    continue
                values[number] = read[0]
                for mark in read[1]:
                    self._marks.setdefault(mark, set()).add(position)
                if not is_whole(text):
                    self.whole[place] &= text.lower() in WORDS
                elif abs(read[0]) > CODES_FROM:
                    self._too_large.add(position)
        return values[codes]

    def _meet(self, position: int, example: str, cells: int) -> None:
        first, count = self._obstacles.get(position, (example, 0))
        self._obstacles[position] = (first, count + cells)

    def not_features(self) -> dict[int, str]:
        """Return, after all rows have been read, the columns that are not numbers, and why."""
        large = dict.fromkeys(self._too_large, "whole numbers too large to be distinct as floats")
        words = {
            position: SOME_WORDS if self._is_mostly_numbers(position) else NOT_NUMBERS
            for position in self._obstacles
        }
        return {**words, **large}

    def _is_mostly_numbers(self, position: int) -> bool:
        return self._obstacles[position][1] <= (1 - MOSTLY) * self._n_rows

    def doubts(self, names: Sequence[str]) -> list[str]:
        """Return which columns are lost for a few words among their numbers, one sentence each."""
        doubts = []
        for position, (example, cells) in sorted(self._obstacles.items()):
            if self._is_mostly_numbers(position):
                why, them = ("the cell", "it") if cells == 1 else (f"{cells} cells such as", "them")
                doubts.append(
                    f"{names[position]} is mostly numbers but was left out because of {why} {example!r}; "
                    f"correct {them}, or use --na {quote(example)} to read {them} as missing."
                )
        return doubts

    def notes(self, names: Sequence[str]) -> list[str]:
        """Return what was removed from cells or read as missing, one sentence each."""
        notes: list[str] = []
        for mark, positions in self._marks.items():
            where = listed([names[position] for position in sorted(positions)])
            signs = {"currency": "Currency signs", "%": "Percent signs", "()": "Parentheses"}
            words = f"{signs[mark]} were" if mark in signs else f'"{mark}" was'
            if mark in ("−", "–", "()"):
                notes.append(f"{words} read as a minus sign in {where}.")
            else:
                words = "Spaces between thousands were" if mark == "a space" else words
                notes.append(f"{words} removed from the numbers of {where}.")
        if self._tokens:
            counts = listed([f"{token} ({count})" for token, count in self._tokens.most_common()])
            notes.append(f"{READ_AS_MISSING} values: {counts}.")
        notes += [f"--na {quote(token)} occurs nowhere in the table." for token in self._absent]
        for code, removed in zip(self._missing.numbers, self._coded, strict=True):
            assert self._facts is not None
            _, low, high = self._facts
            usual = (removed > 0) & np.where(code > 0, 2 * high >= code, 2 * low <= code)
            if usual.any():
                cells = [f"{names[self.positions[j]]} ({removed[j]})" for j in np.flatnonzero(usual)]
                notes.append(f"{code:g} was read as missing among values of its size too: {listed(cells)}.")
        return notes
