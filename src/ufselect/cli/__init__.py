"""The command line: ``ufselect`` and ``python -m ufselect``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.util import find_spec

NEEDED = ("typer", "rich")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and end the program with its exit code."""
    absent = [name for name in NEEDED if find_spec(name) is None]
    if absent:
        sys.stderr.write(f'The command line needs {" and ".join(absent)}: pip install "ufselect[cli]"\n')
        raise SystemExit(1)
    try:
        from ufselect.cli.app import run
    except KeyboardInterrupt:
        sys.stderr.write("Interrupted; nothing was written.\n")
        raise SystemExit(130) from None
    raise SystemExit(run(list(sys.argv[1:] if arguments is None else arguments)))
