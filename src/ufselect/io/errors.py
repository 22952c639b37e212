"""What goes wrong with files, said in one sentence with the remedy."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from ufselect.io.wording import Sentence, Setting


class TableError(ValueError):
    """A file cannot be read or written as asked.

    Attributes
    ----------
    sentence : Sentence
        What is wrong and what to do; its settings can be worded as flags.
    """

    def __init__(self, *parts: str | Setting) -> None:
        self.sentence = Sentence(*parts)
        super().__init__(self.sentence)


def need(package: str, purpose: str, extra: str) -> ModuleType:
    """Import an optional package, or say how to install it.

    Raises
    ------
    ImportError
        With the line to type.
    """
    try:
        return import_module(package)
    except ImportError as error:
        name = package.partition(".")[0]
        raise ImportError(f'{purpose} needs {name}: pip install "ufselect[{extra}]".') from error
