"""Choosing method, parameters and features without labels."""

from ufselect.auto.clustering import GraphClustering
from ufselect.auto.partition import PartitionSelector
from ufselect.auto.selector import AutoSelector

__all__ = ["AutoSelector", "GraphClustering", "PartitionSelector"]
