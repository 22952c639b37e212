"""Compare methods on labelled data, with baselines, resumable runs and tables."""

from ufselect.evaluation.compare import Comparison, compare
from ufselect.evaluation.protocol import Protocol

__all__ = ["Comparison", "Protocol", "compare"]
