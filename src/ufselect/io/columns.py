"""Columns that users name: lists, patterns, and files with a line for each column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np

from ufselect._utils.validation import listed
from ufselect.exceptions import TableError
from ufselect.io.numbers import read_number
from ufselect.io.read import open_rows
from ufselect.io.table import ReadOptions, Table


def names_in(texts: Sequence[str] | None, flag: str) -> tuple[str, ...]:
    """Return the values of a flag, with the lines of a file in place of its name.

    A value is a file if such a file exists or if it begins with @. Empty lines and those that begin with #
    are ignored.
    """
    asked: list[str] = []
    for text in texts or ():
        path = Path(text.removeprefix("@"))
        if path.is_file():
            lines = (line.strip() for line in path.read_text(encoding="utf-8-sig").splitlines())
            asked += [line for line in lines if line and not line.startswith("#")]
        elif text.startswith("@"):
            raise TableError(f"There is no file {path} for {flag}; it should have one column name per line.")
        else:
            asked.append(text)
    return tuple(dict.fromkeys(asked))


def by_name(path: Path, are_numbers: bool) -> dict[str, Any]:
    """Return what a file says of columns, by name: a number, several, or a text; a header may come first."""
    rows = open_rows(path, ReadOptions(header=False, guess=False, skip_rows=0))
    lines = [line for block in rows.blocks() for line in block.to_numpy(dtype=object).tolist()]
    if not lines or len(lines[0]) < 2:
        raise TableError(f"{path} must have a column's name and a value on each line, as in s1,250.")
    values: dict[str, Any] = {}
    for place, (name, *cells) in enumerate(lines):
        numbers = [number[0] for cell in cells if (number := read_number(cell, rows.decimal)) is not None]
        if name.strip() in values:
            raise TableError(f"{path} names {name.strip()} more than once; give one line for each column.")
        if not are_numbers:
            values[name.strip()] = cells[0].strip() or None
        elif len(numbers) == len(cells):
            values[name.strip()] = numbers[0] if len(numbers) == 1 else numbers
        elif place:
            raise TableError(f"{path} has {', '.join(cells)!r} for {name}, which is not a number.")
        else:
            values[name.strip()] = ", ".join(cells)  # a header, unless the table has such a column
    return values


def in_order(values: Mapping[str, Any], table: Table, flag: str) -> list[Any]:
    """Return what is said of each column in the order of the table; only regions may lack columns."""
    others = {column.name for column in table.left_out} | {table.id_name, table.label_name}
    said = {name: value for name, value in values.items() if name not in others}
    first = next(iter(said), "")
    if isinstance(said.get(first), str):
        if first not in table.feature_names:
            del said[first]  # a header
        elif flag != "--regions":
            raise TableError(f"{flag} has {said[first]!r} for {first}, which is not a number.")
    if flag == "--regions":
        said = dict.fromkeys(table.feature_names) | said
    unknown = [name for name in said if name not in table.feature_names]
    absent = [name for name in table.feature_names if name not in said]
    if unknown:
        raise TableError(f"{flag} names {listed(unknown)}, which the table does not have; correct the names.")
    if absent:
        raise TableError(f"{flag} says nothing of {listed(absent)}; add a line for each.")
    return [said[name] for name in table.feature_names]


def columns_named(asked: Sequence[str], table: Table, flag: str) -> list[int]:
    """Return the sorted positions of the columns that match names and patterns such as ``MT-*``.

    A text may hold several names separated by commas. The name of a text column matches its one-hot columns.
    Excluding a column that was left out of the table anyway is no error.
    """
    places = {name: place for place, name in enumerate(table.feature_names)}
    left_out = {column.name: column.reason for column in table.left_out}
    roles = ((table.id_name, "the row id"), (table.label_name, "the labels"))
    left_out |= {name: role for name, role in roles if name is not None}
    known = {*places, *left_out, *(group for group in table.groups or () if group is not None)}
    named: set[int] = set()
    unknown: list[str] = []
    for text in asked:
        parts = [part.strip() for part in text.split(",") if part.strip()] or [repr(text)]
        for name in [text] if text in known else parts:
            if name in places:
                matches = [places[name]]
            elif any(mark in name for mark in "*?["):
                matches = [place for known, place in places.items() if fnmatchcase(known, name)]
            else:
                matches = [place for place, group in enumerate(table.groups or ()) if group == name]
            if not matches and not (flag == "--exclude" and name in left_out):
                if name in left_out:
                    raise TableError(
                        f"{flag} {name} is not possible: that column was left out ({left_out[name]})."
                    )
                unknown.append(name)
            named.update(matches)
    if unknown:
        near = get_close_matches(unknown[0], table.feature_names, n=1)
        hint = (
            f"did you mean {near[0]}?"
            if near
            else "check the spelling, capitals included, or the name of the file."
        )
        match = "matches" if len(unknown) == 1 else "match"
        raise TableError(f"{flag} {listed(unknown)} {match} no column of the table; {hint}")
    return sorted(named)


def without_named(table: Table, exclude: Sequence[str]) -> Table:
    """Return the table without the columns that ``--exclude`` names."""
    columns = columns_named(exclude, table, "--exclude")
    if len(columns) == table.shape[1]:
        raise TableError("--exclude names every column of the table; leave some to select from.")
    return table.without(np.isin(np.arange(table.shape[1]), columns), ["excluded"] * len(columns))
