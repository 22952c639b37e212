"""Select columns for a goal, without labels."""

from ufselect.auto.partition import PartitionSelector
from ufselect.auto.selector import AutoSelector

__all__ = ["AutoSelector", "PartitionSelector"]
