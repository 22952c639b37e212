"""The selectors: one method a file."""

from ufselect.selectors.baselines import MaxVariance, PCALeverage, RandomSubset
from ufselect.selectors.dscofs import DSCOFS
from ufselect.selectors.path import DSCOFSPath, dscofs_path
from ufselect.selectors.registry import all_selectors

__all__ = ["DSCOFS", "DSCOFSPath", "MaxVariance", "PCALeverage", "RandomSubset", "all_selectors", "dscofs_path"]
