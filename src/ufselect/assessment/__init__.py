"""How good a selection is on rows that it has not seen."""

from ufselect.assessment.held_out import Assessment, assess
from ufselect.assessment.stable import StableSelector

__all__ = ["Assessment", "StableSelector", "assess"]
