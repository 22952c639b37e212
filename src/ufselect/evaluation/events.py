"""What is running, how much is done, how long it will take."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

logger = logging.getLogger("ufselect.evaluation")
Pair = TypeVar("Pair", bound=tuple)


@dataclass(frozen=True)
class Event:
    """One step of a long run.

    Attributes
    ----------
    dataset, stage, what : str
        Where the run is.
    done, total : int
        Tasks of this stage.
    elapsed, left : float
        Seconds since the stage began, and the estimate of what remains of it.
    """

    dataset: str
    stage: str
    what: str
    done: int
    total: int
    elapsed: float
    left: float

    def __str__(self) -> str:
        return (
            f"{self.dataset}: {self.stage} {self.done}/{self.total}, {self.elapsed:.0f} s gone, "
            f"about {self.left:.0f} s left ({self.what})"
        )


Listener = Callable[[Event], None]


def to_log(event: Event) -> None:
    """Write an event to the logger ``ufselect.evaluation``."""
    logger.info("%s", event)


def to_terminal(event: Event) -> None:
    """Log an event and keep one line of the terminal up to date with it."""
    to_log(event)
    if sys.stderr.isatty():
        end = "\n" if event.done == event.total else ""
        sys.stderr.write(f"\r\x1b[2K{str(event)[:118]}{end}")
        sys.stderr.flush()


def as_listener(progress: Listener | bool | None) -> Listener:
    """Turn the argument ``progress`` into a function of events."""
    if callable(progress):
        return partial(_to_log_and, progress)
    return to_terminal if progress else to_log


def _to_log_and(listener: Listener, event: Event) -> None:
    """Tell a caller's function, and keep the log complete."""
    to_log(event)
    listener(event)


def watched(
    pairs: Iterable[Pair], total: int, dataset: str, stage: str, listener: Listener
) -> Iterator[Pair]:
    """Pass pairs of task and result on, and tell the listener after each has been dealt with."""
    start = time.monotonic()
    for done, pair in enumerate(pairs, 1):
        yield pair
        elapsed = time.monotonic() - start
        what = getattr(pair[0], "title", stage)
        listener(Event(dataset, stage, what, done, total, elapsed, elapsed / done * (total - done)))
