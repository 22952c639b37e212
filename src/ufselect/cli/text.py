"""Printing: results on standard output, everything else on standard error."""

from __future__ import annotations

import logging
import signal
import sys
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from rich.console import Console, Group
    from rich.text import Text


def output(stderr: bool = False) -> Console:
    """Return the console for results, or on standard error that for everything else."""
    from rich.console import Console

    class Output(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError  # its reader, such as head, has seen enough; rich would end with 1

    return Output(stderr=stderr, highlight=False)


def takes_unicode() -> bool:
    """Whether standard output can show every character."""
    return (getattr(sys.stdout, "encoding", None) or "").lower().replace("-", "").startswith("utf")


def plain_text(text: str) -> str:
    r"""Return text with control characters escaped, so that it cannot steer a terminal.

    Examples
    --------
    >>> from ufselect.cli.text import plain_text
    >>> print(plain_text("a\x1b[31mb"))
    a\x1b[31mb
    """
    return "".join(
        character if unicodedata.category(character) not in ("Cc", "Cf", "Cs") else ascii(character)[1:-1]
        for character in text
    )


def short_name(name: str, longest: int = 48) -> str:
    """Return a name with its middle cut out if it is long."""
    shown = plain_text(name)
    if len(shown) <= longest:
        return shown
    half = (longest - 1) // 2
    return f"{shown[:half]}…{shown[-half:]}"


def say(sentence: str, **style: Any) -> None:
    """Print a sentence on standard error, on one line."""
    typer.secho(plain_text(" ".join(sentence.split())), err=True, **style)


def note(sentences: Iterable[str]) -> None:
    """Print remarks."""
    mark = "·" if takes_unicode() else "-"
    for sentence in sentences:
        say(f"{mark} {sentence}", dim=True)


def doubt(sentences: Iterable[str]) -> None:
    """Print, before the result, what may make it wrong."""
    for sentence in sentences:
        say(sentence, fg="yellow")


def tell(console: Console, text: str) -> None:
    """Print a sentence of the result, in ASCII on a terminal without Unicode."""
    if not takes_unicode():
        text = text.replace("±", "+/-").replace("…", "...").replace("−", "-")
    console.print(plain_text(text), markup=False, soft_wrap=True)


class _Progress(logging.Handler):
    """Show what is logged."""

    def __init__(self, show: Callable[[str], None]) -> None:
        super().__init__(logging.INFO)
        self.show = show

    def emit(self, record: logging.LogRecord) -> None:
        self.show(record.getMessage())


@contextmanager
def working(title: str) -> Iterator[None]:
    """Show a status line with what the library logs; what is interrupted from here on ends in order."""
    if getattr(signal.getsignal(signal.SIGINT), "__name__", "") == "end_at_once":
        signal.signal(signal.SIGINT, signal.default_int_handler)
    logger = logging.getLogger("ufselect")
    level, propagate = logger.level, logger.propagate
    with output(stderr=True).status(title) as status:
        handler = _Progress(lambda message: status.update(f"{title} {message}"))
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)
        logger.propagate = False
        try:
            yield
        finally:
            logger.removeHandler(handler)
            logger.setLevel(level)
            logger.propagate = propagate


def grid(
    title: str | None, columns: Sequence[str], rows: Iterable[Sequence[Any]], caption: str | None = None
) -> Group:
    """Return a table for the terminal; columns whose title ends in ``>`` are right-aligned."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Group
    from rich.table import Table as Grid
    from rich.text import Text

    table = Grid(box=SIMPLE_HEAD)
    for name in columns:
        table.add_column(name.rstrip(">"), justify="right" if name.endswith(">") else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(plain_text(str(cell))) for cell in row))
    above = [Text(title, style="bold")] if title else []
    return Group(*above, table, *([Text(caption)] if caption else []))


def pixel_map(support: NDArray, shape: tuple[int, int], order: str = "C") -> Text:
    """Return the selected pixels as a picture of characters."""
    from rich.text import Text

    full, empty = ("██", "··") if takes_unicode() else ("##", "..")
    text = Text()
    for row in support.reshape(shape, order=order):  # type: ignore[call-overload]
        for is_selected in row:
            text.append(full if is_selected else empty, style="cyan" if is_selected else "dim")
        text.append("\n")
    return text


def figure(value: Any, digits: int = 3) -> str:
    """Return a number for a table; an empty text for NaN and anything else."""
    return f"{value:z.{digits}f}" if isinstance(value, int | float) and value == value else ""


def percent(share: float) -> str:
    """Return a share in per cent."""
    return f"{100 * share:z.0f} %"
