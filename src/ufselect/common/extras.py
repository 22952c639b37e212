"""Optional packages: imported when needed, and named with the line that installs them."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType


def import_extra(module: str, purpose: str, extra: str) -> ModuleType:
    """Import an optional module.

    Raises
    ------
    ImportError
        If it is not installed, with the line to type.
    """
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise ImportError(f'{purpose} needs {package}: pip install "ufselect[{extra}]".') from error
