"""Names of columns as a terminal can show them."""

from __future__ import annotations

import unicodedata

LONGEST_NAME = 48  # with rank, score and bar that fits a terminal of 80


def plain_text(text: str) -> str:
    r"""Return text that cannot steer a terminal: control characters as they are written in code.

    Examples
    --------
    >>> from ufselect.cli.names import plain_text
    >>> print(plain_text("a\x1b[31mb"))
    a\x1b[31mb
    """
    return "".join(
        character if unicodedata.category(character) not in ("Cc", "Cf", "Cs") else ascii(character)[1:-1]
        for character in text
    )


def short_name(name: str, longest: int = LONGEST_NAME) -> str:
    """Return a name for a line of text, its middle left out if it is long."""
    shown = plain_text(name)
    if len(shown) <= longest:
        return shown
    half = (longest - 1) // 2
    return f"{shown[:half]}…{shown[-half:]}"
