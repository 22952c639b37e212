"""Choosing method, parameters and features without labels."""

from ufselect.auto.criteria import neighbour_agreement, neighbour_graph
from ufselect.auto.partition import PartitionSelector
from ufselect.auto.selector import AutoSelector

__all__ = ["AutoSelector", "PartitionSelector", "neighbour_agreement", "neighbour_graph"]
