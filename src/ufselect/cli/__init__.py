"""The command line: ``ufselect`` and ``python -m ufselect``."""

from __future__ import annotations

import signal
import sys
from importlib.util import find_spec
from typing import Any


def main() -> None:
    """Run the command line and end the program with its exit code."""

    def end(number: int, frame: Any) -> None:
        raise SystemExit(128 + number)  # in order, so that unfinished files are removed

    signal.signal(signal.SIGTERM, end)
    absent = [name for name in ("typer", "rich") if find_spec(name) is None]
    if absent:
        sys.stderr.write(f'The command line needs {" and ".join(absent)}: pip install "ufselect[cli]"\n')
        raise SystemExit(1)
    from ufselect.cli.app import run

    raise SystemExit(run(sys.argv[1:]))
