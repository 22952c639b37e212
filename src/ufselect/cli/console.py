"""Where things are printed: results on standard output, everything else on standard error."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ufselect.cli.flags import with_flags

if TYPE_CHECKING:
    from rich.console import Console
    from rich.status import Status


def output() -> Console:
    """Return the console for results."""
    from rich.console import Console

    return Console()


def errors() -> Console:
    """Return the console for notes, progress and errors."""
    from rich.console import Console

    return Console(stderr=True)


def takes_unicode() -> bool:
    """Whether standard output can show every character."""
    return (getattr(sys.stdout, "encoding", None) or "").lower().replace("-", "").startswith("utf")


def marks(text: str) -> str:
    """Return text with marks that a terminal without Unicode can show."""
    return text if takes_unicode() else text.replace("±", "+/-").replace("…", "...").replace("−", "-")


def allow_any_text() -> None:
    """Let both streams write what their encoding lacks as escapes instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def say(sentence: str, style: str | None = None) -> None:
    """Print a sentence of the library on standard error, with flags for parameters, on one line."""
    from ufselect.cli.names import plain_text

    text = plain_text(" ".join(with_flags(sentence).split()))
    if sys.stderr.isatty():
        errors().print(text, style=style, markup=False, highlight=False, soft_wrap=True)
    else:  # without colours there is nothing to import for
        sys.stderr.write(f"{text}\n")


def note(sentences: Iterable[str]) -> None:
    """Print remarks on the way."""
    mark = "·" if takes_unicode() else "-"
    for sentence in sentences:
        say(f"{mark} {with_flags(sentence)}", style="dim")


class _IntoStatus(logging.Handler):
    """Shows the last log line beside a spinner."""

    def __init__(self, status: Status, title: str) -> None:
        super().__init__(logging.INFO)
        self._status = status
        self._title = title

    def emit(self, record: logging.LogRecord) -> None:
        self._status.update(f"{self._title} {record.getMessage()}")


@contextmanager
def working(title: str) -> Iterator[Any]:
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
