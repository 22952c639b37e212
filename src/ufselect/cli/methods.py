"""Methods by the names people type."""

from __future__ import annotations

from difflib import get_close_matches

from ufselect.exceptions import TableError
from ufselect.registry import all_selectors
from ufselect.selectors.base import UnsupervisedSelector


def find_method(name: str) -> type[UnsupervisedSelector]:
    """Return a selector by its name; case, hyphens and underscores do not matter.

    Parameters
    ----------
    name : str
        As typed.

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
    methods = all_selectors()
    by_folded_name = {_folded(key): value for key, value in methods.items()}
    if _folded(name) in by_folded_name:
        return by_folded_name[_folded(name)]
    close = get_close_matches(_folded(name), by_folded_name, n=1)
    hint = (
        f"did you mean {by_folded_name[close[0]].__name__}?" if close else f"known are {', '.join(methods)}."
    )
    raise TableError(f"There is no method {name!r}; {hint}")


def on_request() -> list[str]:
    """Return the names of the methods that are not compared unless they are named."""
    return [name for name, method in all_selectors().items() if method.on_request]


def _folded(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "").replace(" ", "")
