"""Select a small, informative subset of columns from unlabelled data."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ufselect.registry import *  # noqa: F403

__version__ = "0.1.0"

_ROOMS = frozenset(
    ["anndata", "blocks", "datasets", "evaluation", "exceptions", "metrics", "plotting", "preprocessing"]
)


def __getattr__(name: str) -> Any:
    """Import what is asked for: scikit-learn takes two seconds, which no ``--help`` should wait for."""
    if name in _ROOMS:
        return import_module(f"ufselect.{name}")
    if name.startswith("_") and name != "__all__":
        raise AttributeError(f"module 'ufselect' has no attribute {name!r}")
    if name.endswith("Display"):
        return getattr(import_module("ufselect.plotting"), name)
    public = import_module("ufselect.registry").PUBLIC
    if name == "__all__":
        return [*sorted(public), "__version__"]
    if name not in public:
        raise AttributeError(f"module 'ufselect' has no attribute {name!r}")
    return public[name]


def __dir__() -> list[str]:
    return sorted([*__getattr__("__all__"), *_ROOMS])
