"""Unsupervised feature selection: keep the few columns that carry a table's structure, without labels."""

from ufselect.selectors import DSCOFS, MaxVariance, PCALeverage, RandomSubset, dscofs_path

__version__ = "0.1.0"

__all__ = ["DSCOFS", "MaxVariance", "PCALeverage", "RandomSubset", "__version__", "dscofs_path"]
