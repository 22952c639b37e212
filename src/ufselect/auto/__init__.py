"""Columns that show the clusters of the rows, and a choice without labels."""

from ufselect.auto.partition import PartitionSelector
from ufselect.auto.selector import AutoSelector

__all__ = ["AutoSelector", "PartitionSelector"]
