"""Run a line as the terminal would, and read the record that it wrote."""

from __future__ import annotations

import json
from pathlib import Path

from ufselect.cli.app import run


def call(line: str) -> int:
    """Return the exit code."""
    return run(line.split())


def call_and_read(line: str, capsys) -> tuple[int, str, str]:
    """Return the exit code, what was printed, and what was said on standard error in one line."""
    code = call(line)
    out, err = capsys.readouterr()
    return code, out, " ".join(err.split())


def record(name: str) -> dict:
    return json.loads(Path(name).read_text(encoding="utf-8"))


def chosen(name: str) -> list[str]:
    """Return the selected columns, best first."""
    return [feature["name"] for feature in record(name)["result"]["features"]]
