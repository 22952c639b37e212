"""Which program made a result: the code that it ran through and the libraries below it.

A stored row carries this name in its key. Changing a line that a method's fit may run through gives the
method a new name, and its rows are computed anew; rows of methods that do not import the line stay valid.
"""

from __future__ import annotations

import ast
import hashlib
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from uuid import uuid4

import numpy as np
import scipy
import sklearn

import ufselect
from ufselect.evaluation.keys import DIGITS

PACKAGE = "ufselect"
# Stands for code without a file, such as a class typed into a notebook: equal within a session only.
SESSION = uuid4().hex


@cache
def program_of(modules: tuple[str, ...], alone: tuple[str, ...] = ()) -> str:
    """Name the program that some modules make up with all of this package that they import.

    Parameters
    ----------
    modules : tuple of str
        Names of modules; what they import of this package counts too, directly and indirectly.
    alone : tuple of str
        Names of modules that count without their imports.

    Returns
    -------
    str
        Versions, and a digest of the source code.

    Examples
    --------
    >>> from ufselect.evaluation.program import program_of
    >>> variance = program_of(("ufselect.selectors.baselines",))
    >>> variance == program_of(("ufselect.selectors.baselines",))
    True
    >>> variance == program_of(("ufselect.selectors.sogfs",))
    False
    """
    reached = frozenset(alone).union(*(reach(name) for name in modules))
    digest = hashlib.sha256()
    for name in sorted(reached):
        digest.update(f"{name}\n{_source(name)}".encode())
    return f"{software_versions()}, code {digest.hexdigest()[:DIGITS]}"


def software_versions() -> str:
    """Name the versions on which numbers depend."""
    return (
        f"ufselect {ufselect.__version__}, numpy {np.__version__}, scipy {scipy.__version__}, "
        f"scikit-learn {sklearn.__version__}"
    )


@cache
def reach(module: str) -> frozenset[str]:
    """Return a module and all modules of this package that it imports, directly or indirectly."""
    found: set[str] = set()
    waiting = {module}
    while waiting:
        name = waiting.pop()
        found.add(name)
        waiting |= _imports(name) - found
    return frozenset(found)


@cache
def _imports(module: str) -> frozenset[str]:
    """Return the modules of this package that a module names in its import statements."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(_source(module))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return frozenset(name for name in names if name.split(".")[0] == PACKAGE and _is_module(name))


def _is_module(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:  # the part before the last dot is no package: a name in a module
        return False


@cache
def _source(module: str) -> str:
    try:
        spec = find_spec(module)
    except ValueError:  # ``__main__`` of a session
        spec = None
    if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
        return f"# {SESSION}"
    return Path(spec.origin).read_text(encoding="utf-8")
