"""The selectors: one method a file."""

from ufselect.selectors.baselines import MaxVariance

__all__ = ["MaxVariance"]
