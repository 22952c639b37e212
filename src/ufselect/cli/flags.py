"""The flags behind the library's parameters: one place where its sentences are worded for a terminal."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ufselect.common.wording import Setting

# all others are called as their parameter is
FLAGS = {
    "id_column": "--id",
    "label_column": "--labels",
    "missing": "--na",
    "batch_column": "--batch",
    "weight_column": "--weights",
}


def flag(setting: Setting) -> str:
    """Return what to type for a setting.

    Examples
    --------
    >>> from ufselect.cli.flags import flag
    >>> from ufselect.common.wording import Setting
    >>> flag(Setting("guess", False)), flag(Setting("impute", "median")), flag(Setting("id_column"))
    ('--no-guess', '--impute median', '--id')
    """
    from ufselect.common.wording import NO_VALUE

    name = FLAGS.get(setting.name, f"--{setting.name.replace('_', '-')}")
    if setting.value is NO_VALUE or setting.value is True:
        return name
    return f"--no-{name[2:]}" if setting.value is False else f"{name} {shlex.quote(str(setting.value))}"


def with_flags(sentence: str) -> str:
    """Return a sentence of the library with flags where it advises parameters."""
    worded = getattr(sentence, "worded", None)
    return sentence if worded is None else worded(flag)
