"""Processor time of commands that should answer at once, as ratios to an empty Python program.

Run: python benchmarks/start_up.py
"""

from __future__ import annotations

import resource
import subprocess
import sys

CALLS = (
    ("empty program", ["-c", "pass"]),
    ("import sklearn", ["-c", "import sklearn.base"]),
    ("--help", ["-m", "ufselect", "--help"]),
    ("--version", ["-m", "ufselect", "--version"]),
    ("select --help", ["-m", "ufselect", "select", "--help"]),
    ("a missing file", ["-m", "ufselect", "select", "absent.csv"]),
    ("a wrong option", ["-m", "ufselect", "select", "absent.csv", "-k", "many"]),
)
REPEATS = 5  # the least of them: other programs only add


def seconds(arguments: list[str]) -> float:
    """Return the processor time of one call."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], capture_output=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Print the table."""
    least = {name: min(seconds(arguments) for _ in range(REPEATS)) for name, arguments in CALLS}
    for name, spent in least.items():
        print(f"{name:16} {spent:6.2f} s {spent / least['empty program']:7.1f} × an empty program")


if __name__ == "__main__":
    main()
