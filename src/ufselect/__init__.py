"""Unsupervised feature selection: keep the few columns that carry a table's structure, without labels."""

import ast
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ufselect.registry import *  # noqa: F403

__version__ = "0.1.0"

_ROOMS = frozenset(["anndata", "blocks", "datasets", "evaluation", "exceptions", "metrics", "plotting"])


def __getattr__(name: str) -> Any:
    """Import what is asked for: scikit-learn takes two seconds, which no ``--help`` should wait for."""
    if name in _ROOMS:
        return import_module(f"ufselect.{name}")
    if name.startswith("_") and name != "__all__":
        raise AttributeError(f"module 'ufselect' has no attribute {name!r}")
    if name[:1].isupper():  # a class, from the one module that defines it: the registry imports all of them
        for line in ast.parse(Path(__file__).with_name("registry.py").read_text(encoding="utf-8")).body:
            if not isinstance(line, ast.ImportFrom) or not str(line.module).startswith("ufselect."):
                continue
            if any(alias.name == name for alias in line.names):
                return getattr(import_module(str(line.module)), name)
    public = import_module("ufselect.registry").PUBLIC
    if name == "__all__":
        return [*sorted(public), "__version__"]
    if name not in public:
        raise AttributeError(f"module 'ufselect' has no attribute {name!r}")
    return public[name]


def __dir__() -> list[str]:
    return sorted([*__getattr__("__all__"), *_ROOMS])
