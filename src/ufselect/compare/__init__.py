"""Compare methods on labelled data, with baselines, resumable runs and tables."""

from ufselect.compare.compare import Comparison, compare
from ufselect.compare.methods import Protocol

__all__ = ["Comparison", "Protocol", "compare"]
