"""Measure the CPU time of imports, and of commands that should answer at once.

    python benchmarks/start_up.py

Each figure is the median of 15 processes; the calls take turns. Modules are compiled before, as pip compiles
what it installs.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile

PCA = "from sklearn.decomposition import PCA"
CALLS = (
    ("empty program", ["-c", "pass"]),
    (PCA, ["-c", PCA]),
    ("from ufselect import DSCOFS", ["-c", "from ufselect import DSCOFS"]),
    ("from ufselect import *", ["-c", "from ufselect import *"]),
    ("ufselect --help", ["-m", "ufselect", "--help"]),
    ("ufselect --version", ["-m", "ufselect", "--version"]),
    ("ufselect select --help", ["-m", "ufselect", "select", "--help"]),
    ("a missing file", ["-m", "ufselect", "select", "absent.csv"]),
    ("a wrong option", ["-m", "ufselect", "select", "absent.csv", "-k", "many"]),
)


def seconds(arguments: list[str], environment: dict[str, str]) -> float:
    """Return the CPU time of one call."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], capture_output=True, check=False, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main(repeats: int = 15) -> None:
    with tempfile.TemporaryDirectory() as folder:
        compiled = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": folder}
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", **compiled}
        rounds = [[seconds(call, environment) for _, call in CALLS] for _ in range(repeats + 1)]
    medians = [statistics.median(times) for times in zip(*rounds[1:], strict=True)]
    pca = medians[1]
    for (name, _), spent in zip(CALLS, medians, strict=True):
        print(f"{name:40} {spent:6.2f} s  {spent - pca:+6.2f} s compared with {PCA!r}")


if __name__ == "__main__":
    main()
