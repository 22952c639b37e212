"""Which features a selector would choose again: stability selection around any selector."""

from ufselect.stability.error_bound import ErrorBound, error_bound
from ufselect.stability.selector import StableSelector

__all__ = ["ErrorBound", "StableSelector", "error_bound"]
