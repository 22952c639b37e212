"""Unsupervised feature selection: keep the few columns that carry a table's structure, without labels."""

from ufselect.selectors import MaxVariance

__version__ = "0.1.0"

__all__ = ["MaxVariance", "__version__"]
