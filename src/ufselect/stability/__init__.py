"""Which features a selector would choose again: stability selection around any selector."""

from ufselect.stability.error_bound import ErrorBound, error_bound
from ufselect.stability.half_samples import SEED_LIMIT, with_seed
from ufselect.stability.selector import StableSelector

__all__ = ["SEED_LIMIT", "ErrorBound", "StableSelector", "error_bound", "with_seed"]
