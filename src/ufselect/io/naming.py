"""Names of columns: made distinct, and found."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from ufselect.common.wording import Setting, listed
from ufselect.exceptions import TableError


def distinct_names(names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return names without repeats or blanks, and a note on each kind of change.

    Examples
    --------
    >>> from ufselect.io.naming import distinct_names
    >>> distinct_names(["a", "b", "a", ""])[0]
    ['a', 'b', 'a.2', 'column_4']
    """
    taken = {name.strip() for name in names}
    seen: dict[str, int] = {}
    result, repeated, blank = [], [], 0
    for position, name in enumerate((name.strip() for name in names), start=1):
        if not name:
            blank += 1
            name = _free(f"column_{position}", taken)
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
        notes.append(
            f"{blank} column{'s' * (blank > 1)} without a name {'were' if blank > 1 else 'was'} "
            "named by position."
        )
    return result, notes


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    return name


def find_column(asked: str, names: Sequence[str], parameter: str) -> int:
    """Return the position of the column that a parameter names, exactly or but for its case.

    Raises
    ------
    TableError
        If there is none, with the nearest names.
    """
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
