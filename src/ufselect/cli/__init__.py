"""The command line: ``ufselect`` and ``python -m ufselect``."""

from __future__ import annotations

import os
import signal
import sys
from importlib.util import find_spec
from typing import Any


def main() -> None:
    """Run the command line and end the program with its exit code."""

    def end(number: int, frame: Any) -> None:
        raise SystemExit(128 + number)  # in order, so that unfinished files are removed

    def end_at_once(number: int, frame: Any) -> None:
        os.write(2, b"Interrupted; nothing was written.\n")
        os._exit(128 + number)

    signal.signal(signal.SIGTERM, end)
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        # modules that are being imported may swallow an exception; reading the table sets the usual handler
        signal.signal(signal.SIGINT, end_at_once)
    os.environ["MPLBACKEND"] = "agg"  # figures go to files
    absent = [name for name in ("typer", "rich") if find_spec(name) is None]
    if absent:
        sys.stderr.write(f'The command line needs {" and ".join(absent)}: pip install "ufselect[cli]"\n')
        raise SystemExit(1)
    from ufselect._utils.threads import default_to_one_thread
    from ufselect.cli.app import run

    default_to_one_thread()
    raise SystemExit(run(sys.argv[1:]))
