"""What goes wrong with files, said in one sentence with the remedy."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType


class TableError(ValueError):
    """A file cannot be read or written as asked."""


def need(package: str, purpose: str, extra: str) -> ModuleType:
    """Import an optional package, or say how to install it.

    Raises
    ------
    ImportError
        With the line to type.
    """
    try:
        return import_module(package)
    except ImportError as error:
        name = package.partition(".")[0]
        raise ImportError(f'{purpose} needs {name}: pip install "ufselect[{extra}]".') from error


def listed(names: list[str], most: int = 5) -> str:
    """Return names for a sentence, the first few and how many more."""
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
