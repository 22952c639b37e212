# ruff: noqa: F405
"""Unsupervised feature selection: keep the few columns that carry a table's structure, without labels."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ufselect.public import *  # noqa: F403

__version__ = "0.1.0"

__all__ = [
    "DSCOFS",
    "FSPCA",
    "RNE",
    "SOGFS",
    "SPCAFS",
    "SPCAPSD",
    "TSFS",
    "UDFS",
    "AutoSelector",
    "ConstrainedDSCOFS",
    "DOptimalLeverage",
    "DSCOFSPath",
    "Fitted",
    "GramSelector",
    "GraphClustering",
    "GreedyProjection",
    "LaplacianScore",
    "MaxVariance",
    "PCALeverage",
    "PartitionSelector",
    "RandomSubset",
    "RebuildSelector",
    "Reconstructor",
    "StableSelector",
    "UnsupervisedSelector",
    "__version__",
    "dscofs_path",
]

_ROOMS = frozenset([
    "anndata", "auto", "blocks", "datasets", "evaluation", "exceptions", "gram", "graphs", "io", "metrics",
    "plotting", "registry", "report", "reproduction", "selectors", "sets", "solvers", "stability",
])  # fmt: skip


def __getattr__(name: str) -> Any:
    """Import what is asked for: scikit-learn takes two seconds, which no ``--help`` should wait for."""
    if name in _ROOMS:
        return import_module(f"ufselect.{name}")
    if name in __all__:
        return getattr(import_module("ufselect.public"), name)
    raise AttributeError(f"module 'ufselect' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, *_ROOMS])
