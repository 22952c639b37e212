"""A moment by which work is to end: loops ask, and stop when it has passed."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_deadline: ContextVar[float | None] = ContextVar("deadline", default=None)


class OutOfTimeError(Exception):
    """The moment by which work was to end has passed."""


def now() -> float:
    """Return the moment, in seconds."""
    return time.perf_counter()


@contextmanager
def ending_by(moment: float | None) -> Iterator[None]:
    """Let loops that ask raise :class:`OutOfTimeError` after a moment; None lets them go on."""
    token = _deadline.set(moment)
    try:
        yield
    finally:
        _deadline.reset(token)


def check_time() -> None:
    """Raise if there is a moment by which work is to end and it has passed; called once an iteration.

    Raises
    ------
    OutOfTimeError
        If it has.
    """
    moment = _deadline.get()
    if moment is not None and now() > moment:
        raise OutOfTimeError
