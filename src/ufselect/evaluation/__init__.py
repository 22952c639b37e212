"""Evaluation: protocol, grids, resumable runs, tables and statistics."""

from ufselect.evaluation.compare import Comparison, compare
from ufselect.evaluation.protocol import Protocol
from ufselect.evaluation.store import ResultStore
from ufselect.evaluation.study import Study, reproduce

__all__ = ["Comparison", "Protocol", "ResultStore", "Study", "compare", "reproduce"]
