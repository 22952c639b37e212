"""Methods by the names people type."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches

from ufselect.io.errors import TableError
from ufselect.registry import all_selectors
from ufselect.selectors.base import UnsupervisedSelector

Methods = Mapping[str, type[UnsupervisedSelector]]


def find_method(name: str, methods: Methods | None = None) -> type[UnsupervisedSelector]:
    """Return a selector by its name; case, hyphens and underscores do not matter.

    Parameters
    ----------
    name : str
        As typed.
    methods : mapping, optional
        Selectors by class name; those of the registry without it.

    Raises
    ------
    TableError
        If there is none, with the nearest.

    Examples
    --------
    >>> from ufselect.cli.methods import find_method
    >>> find_method("max-variance").__name__
    'MaxVariance'
    """
    methods = all_selectors() if methods is None else methods
    known = {_folded(key): value for key, value in methods.items()}
    if _folded(name) in known:
        return known[_folded(name)]
    close = get_close_matches(_folded(name), known, n=1)
    hint = f"did you mean {known[close[0]].__name__}?" if close else f"known are {', '.join(methods)}."
    raise TableError(f"There is no method {name!r}; {hint}")


def _folded(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "").replace(" ", "")
