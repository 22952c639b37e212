"""Evaluation: protocol, grids, resumable runs, tables and statistics."""

from ufselect.evaluation.compare import Comparison, compare
from ufselect.evaluation.protocol import Protocol
from ufselect.evaluation.record import Study
from ufselect.evaluation.store import ResultStore
from ufselect.evaluation.study import reproduce

__all__ = ["Comparison", "Protocol", "ResultStore", "Study", "compare", "reproduce"]
