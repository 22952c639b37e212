"""Sentences that advise a setting, worded for the library or by whoever shows them.

The library names parameters, as in ``impute='median'``; the command line shows the same sentence with
``--impute median`` in its place.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

OURS = ("ufselect.", "sklearn.")


_muted: ContextVar[tuple[type[Warning], ...]] = ContextVar("muted", default=())


@contextmanager
def without_warnings(*categories: type[Warning]) -> Iterator[None]:
    """Leave out our own warnings of some categories in this thread.

    ``warnings.catch_warnings`` sets the filters of the whole process; where threads overlap, one restores
    what another has set and leaves it behind.
    """
    token = _muted.set(_muted.get() + categories)
    try:
        yield
    finally:
        _muted.reset(token)


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn at the innermost frame outside this package and scikit-learn, which may stand between."""
    if issubclass(category, _muted.get()):
        return
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and f"{frame.f_globals.get('__name__')}.".startswith(OURS):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


NO_VALUE = object()


@dataclass(frozen=True)
class Setting:
    """A parameter that a sentence advises, with the value to give it where there is one.

    Examples
    --------
    >>> from ufselect._utils.messages import Setting
    >>> f"use {Setting('impute', 'median')} or name {Setting('id_column')}"
    "use impute='median' or name id_column"
    """

    name: str
    value: Any = NO_VALUE

    def __str__(self) -> str:
        return self.name if self.value is NO_VALUE else f"{self.name}={self.value!r}"


class Sentence(str):
    """Text that remembers which of its parts are settings.

    Examples
    --------
    >>> from ufselect._utils.messages import Sentence, Setting
    >>> sentence = Sentence("Add ", Setting("impute", "drop"), " to leave it out.")
    >>> sentence.worded(lambda setting: f"--{setting.name} {setting.value}")
    'Add --impute drop to leave it out.'
    """

    parts: tuple[str | Setting, ...]

    def __new__(cls, *parts: str | Setting) -> Sentence:
        flat: list[str | Setting] = []
        for part in parts:
            flat.extend(part.parts if isinstance(part, Sentence) else [part])
        sentence = super().__new__(cls, "".join(map(str, flat)))
        sentence.parts = tuple(flat)
        return sentence

    def __getnewargs__(self) -> tuple[str | Setting, ...]:  # type: ignore[override]
        return self.parts

    def worded(self, word: Callable[[Setting], str]) -> str:
        """Return the text with each setting as ``word`` says it."""
        return "".join(word(part) if isinstance(part, Setting) else part for part in self.parts)


def listed(names: list[str], most: int = 5) -> str:
    """Return names for a sentence, the first few and how many more."""
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
