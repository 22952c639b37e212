"""Mistakes that show before anything heavy is imported or read."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path

from ufselect.exceptions import TableError


def check_data(name: str) -> None:
    """Refuse a table that is neither a file nor a data set.

    Raises
    ------
    TableError
        With the nearest name.
    """
    from ufselect.datasets.catalogue import names

    if name == "-" or Path(name).exists() or name in names():
        return
    close = get_close_matches(name.lower(), names(), n=1)
    advice = f"did you mean the data set {close[0]}?" if close else "check the name and the folder."
    raise TableError(f"There is no file {name}; {advice}")


def check_files(paths: Iterable[Path | None], force: bool, data: str | None) -> None:
    """Refuse outputs that could not be written."""
    from ufselect.io.files import check_outputs

    named = [path for path in paths if path is not None and str(path) != "-"]
    check_outputs(named, force, None if data is None else Path(data))
