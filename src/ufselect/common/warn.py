"""Warnings that point at the line of the user's code, however deep the call that finds the reason."""

from __future__ import annotations

import sys
import warnings

OURS = ("ufselect.", "sklearn.")


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn at the innermost frame outside this package and scikit-learn, which may stand between."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and f"{frame.f_globals.get('__name__')}.".startswith(OURS):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
