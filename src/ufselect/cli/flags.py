"""The flags behind the library's parameters: one place where its sentences are worded for a terminal."""

from __future__ import annotations

from ufselect.io.wording import NO_VALUE, Sentence, Setting

FLAGS = {
    "id_column": "--id",
    "label_column": "--labels",
    "impute": "--impute",
    "separator": "--separator",
    "decimal": "--decimal",
    "header": "--header",
    "guess": "--guess",
    "force": "--force",
}


def flag(setting: Setting) -> str:
    """Return what to type for a setting.

    Examples
    --------
    >>> from ufselect.cli.flags import flag
    >>> from ufselect.io.wording import Setting
    >>> flag(Setting("guess", False)), flag(Setting("impute", "median")), flag(Setting("id_column"))
    ('--no-guess', '--impute median', '--id')
    """
    name = FLAGS[setting.name]
    if setting.value is NO_VALUE or setting.value is True:
        return name
    return f"--no-{name[2:]}" if setting.value is False else f"{name} {setting.value}"


def with_flags(sentence: str) -> str:
    """Return a sentence of the library with flags where it advises parameters."""
    return sentence.worded(flag) if isinstance(sentence, Sentence) else sentence
