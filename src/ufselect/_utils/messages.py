"""Warnings at the caller's line, and names for sentences."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_muted: ContextVar[tuple[type[Warning], ...]] = ContextVar("muted", default=())


@contextmanager
def without_warnings(*categories: type[Warning]) -> Iterator[None]:
    """Suppress our own warnings of some categories in this thread.

    ``warnings.catch_warnings`` sets the filters of the whole process; if threads overlap, one may restore
    the filters that another has set, and these then stay.
    """
    token = _muted.set(_muted.get() + categories)
    try:
        yield
    finally:
        _muted.reset(token)


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn at the innermost frame outside this package and scikit-learn."""
    if issubclass(category, _muted.get()):
        return
    level, frame = 2, sys._getframe(1)
    ours = ("ufselect.", "sklearn.")
    while frame.f_back is not None and f"{frame.f_globals.get('__name__')}.".startswith(ours):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def listed(names: list[str], most: int = 5) -> str:
    """Return names for a sentence: the first few, and how many more there are."""
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
