"""Evaluation: protocol, grids, resumable runs, tables and statistics; any method on any labelled data."""

from ufselect.evaluation.compare import Comparison, compare
from ufselect.evaluation.protocol import Protocol
from ufselect.evaluation.store import ResultStore, StoreError

__all__ = ["Comparison", "Protocol", "ResultStore", "StoreError", "compare"]
