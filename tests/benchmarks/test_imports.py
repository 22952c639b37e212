"""Benchmarks run rarely: at least what they import of the package has to be there."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"
IMPORT_ALL = """
import importlib, sys
for name in sys.argv[1:]:
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:  # another package, which a benchmark may need
        if str(error.name).startswith("ufselect"):
            raise
"""


def test_every_benchmark_can_be_loaded():
    names = [path.stem for path in FOLDER.glob("*.py")]
    names += [f"applied.{path.stem}" for path in (FOLDER / "applied").glob("*.py") if path.stem != "__init__"]
    assert len(names) > 10
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONWARNINGS"}
    command = [sys.executable, "-c", IMPORT_ALL, *sorted(names)]
    subprocess.run(command, cwd=FOLDER, env=inherited, check=True)
