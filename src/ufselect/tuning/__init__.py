"""Choosing method, parameters and features without labels."""

from ufselect.tuning.auto import AutoSelector
from ufselect.tuning.criteria import neighbour_agreement, neighbour_graph
from ufselect.tuning.partition import PartitionSelector

__all__ = ["AutoSelector", "PartitionSelector", "neighbour_agreement", "neighbour_graph"]
