"""Columns that people name on the command line: by name, by pattern, or in a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np

from ufselect.common.wording import listed
from ufselect.exceptions import TableError
from ufselect.io.table import Table

PATTERN_MARKS = "*?["


def named_in(texts: Sequence[str] | None, flag: str) -> tuple[str, ...]:
    """Return what was typed after a flag, with the lines of a file in place of its name.

    A file is one that exists, or whose name stands after @; empty lines and those that begin with # are
    passed over.

    Raises
    ------
    TableError
        If a file named after @ is not there.
    """
    found: list[str] = []
    for text in texts or ():
        path = Path(text.removeprefix("@"))
        if path.is_file():
            lines = (line.strip() for line in path.read_text(encoding="utf-8-sig").splitlines())
            found += [line for line in lines if line and not line.startswith("#")]
        elif text.startswith("@"):
            raise TableError(f"There is no file {path} for {flag}; it should have one column name a line.")
        else:
            found.append(text)
    return tuple(dict.fromkeys(found))


def columns_named(wished: Sequence[str], table: Table, flag: str) -> list[int]:
    """Return the positions of the columns that names and patterns such as ``MT-*`` mean, in order.

    A name of a text column means the columns that its values have become. Excluding what was left out of the
    table anyway needs nothing.

    Raises
    ------
    TableError
        If there is no such column.
    """
    names = table.feature_names
    places = {name: place for place, name in enumerate(names)}
    left_out = {column.name: column.reason for column in table.left_out}
    found: set[int] = set()
    for wish in wished:
        if wish in places:
            matches = [places[wish]]
        elif any(mark in wish for mark in PATTERN_MARKS):
            matches = [place for name, place in places.items() if fnmatchcase(name, wish)]
        else:
            matches = [place for place, group in enumerate(table.groups or ()) if group == wish]
        if not matches and not (flag == "--exclude" and wish in left_out):
            raise TableError(_unknown(wish, names, left_out, flag))
        found.update(matches)
    return sorted(found)


def _unknown(wish: str, names: list[str], left_out: dict[str, str], flag: str) -> str:
    if wish in left_out:
        return f"{flag} {wish} cannot be met: that column was left out ({left_out[wish]})."
    near = get_close_matches(wish, names, n=1)
    hint = f"did you mean {near[0]}?" if near else "check the spelling, capitals included."
    return f"{flag} {wish} matches no column of the table; {hint}"


@dataclass(frozen=True)
class ColumnWishes:
    """What is asked of the columns of a table, by position."""

    keep: list[int]
    exclude: list[int]
    groups: tuple[str | None, ...] | None
    max_correlation: float | None

    @property
    def as_parameters(self) -> dict[str, Any]:
        """Those that are asked for, as parameters of a selector."""
        asked: dict[str, Any] = {
            "keep": self.keep or None,
            "exclude": self.exclude or None,
            "groups": self.groups,
            "max_correlation": self.max_correlation,
        }
        return {name: value for name, value in asked.items() if value is not None}

    def n_units(self, n_features: int) -> int:
        """Return how many columns, or groups of them, there are to choose from."""
        left = np.setdiff1d(np.arange(n_features), self.exclude)
        if self.groups is None:
            return int(left.size)
        labels = [self.groups[j] for j in left]
        return labels.count(None) + len({label for label in labels if label is not None})


def wishes_for(
    table: Table, keep: Sequence[str], exclude: Sequence[str], max_correlation: float | None
) -> ColumnWishes:
    """Find the columns that were named.

    Raises
    ------
    TableError
        If one is not there, or is named for both.
    """
    kept = columns_named(keep, table, "--keep")
    excluded = columns_named(exclude, table, "--exclude")
    both = [table.feature_names[j] for j in kept if j in set(excluded)]
    if both:
        raise TableError(f"--keep and --exclude both name {listed(both)}; drop it from one of them.")
    limit = None if max_correlation is None or max_correlation >= 1 else max_correlation
    return ColumnWishes(kept, excluded, table.groups, limit)
