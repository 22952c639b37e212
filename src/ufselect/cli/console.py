"""Where things are printed: results on standard output, everything else on standard error."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.status import Status

from ufselect.cli.flags import with_flags


def output() -> Console:
    """Return the console for results."""
    return Console()


def errors() -> Console:
    """Return the console for notes, progress and errors."""
    return Console(stderr=True)


def note(sentences: Iterable[str]) -> None:
    """Print remarks on the way."""
    for sentence in sentences:
        errors().print("·", with_flags(sentence), style="dim", markup=False, highlight=False, soft_wrap=True)


class _IntoStatus(logging.Handler):
    """Shows the last log line beside a spinner."""

    def __init__(self, status: Status, title: str) -> None:
        super().__init__(logging.INFO)
        self._status = status
        self._title = title

    def emit(self, record: logging.LogRecord) -> None:
        self._status.update(f"{self._title} {record.getMessage()}")


@contextmanager
def working(title: str) -> Iterator[Status]:
    """Show that something is under way, with what the library logs about it."""
    logger = logging.getLogger("ufselect")
    level, propagate = logger.level, logger.propagate
    with errors().status(title) as status:
        handler = _IntoStatus(status, title)
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)
        logger.propagate = False
        try:
            yield status
        finally:
            logger.removeHandler(handler)
            logger.setLevel(level)
            logger.propagate = propagate
