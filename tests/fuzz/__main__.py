"""Fuzz without leaving anything out, or as long as you like, and print each defect.

``python -m tests.fuzz`` runs these tests whole, where a usual run takes a fifth of their cases.
``--count 10000 --seed 0`` draws so many random cases; ``--flips 1000`` damages files of every format.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections import Counter
from pathlib import Path

import pytest
from joblib import Parallel, delayed

from tests.fuzz.cases import Defect, case_number, outcome, run
from tests.fuzz.damage import WRITERS, flip_bytes


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def damage_all(count: int, seed: int, formats: list[str]) -> int:
    """Damage a file of each format, print each defect and return whether there was one."""
    n_defects = 0
    for name in formats:
        with tempfile.TemporaryDirectory() as folder:
            try:
                flip_bytes(name, count, seed, Path(folder))
                say(f"{name}: {count} flips")
            except Defect as defect:
                n_defects += 1
                say(str(defect))
    return int(bool(n_defects))


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, help="random cases")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--only", type=int, help="run this case alone, and let its error through")
    parser.add_argument("--flips", type=int, help="damage a file of every format so often")
    parser.add_argument("--formats", nargs="+", choices=WRITERS, default=list(WRITERS), help="only of these")
    arguments = parser.parse_args()
    if arguments.flips is not None:
        return damage_all(arguments.flips, arguments.seed, arguments.formats)
    if arguments.only is not None:
        case = case_number(arguments.seed, arguments.only)
        say(f"{case}\n{run(case)}")
        return 0
    if arguments.count is not None:
        return sweep_all(arguments.count, arguments.seed, arguments.jobs)
    os.environ["UFSELECT_FUZZ"] = "whole"
    return int(pytest.main(["-q", "-n", str(arguments.jobs), str(Path(__file__).parent)]))


def sweep_all(count: int, seed: int, n_jobs: int) -> int:
    """Run the first cases of a seed, print defects as they are found, and return whether there was one."""
    jobs = (delayed(outcome)(seed, number) for number in range(count))
    found = Counter[str]()
    for each in Parallel(n_jobs=n_jobs, return_as="generator_unordered", batch_size=100)(jobs):
        if each not in ("fitted", "refused"):
            say(each)
        found[each] += 1
    n_defects = count - found["fitted"] - found["refused"]
    say(f"seed {seed}: {found['fitted']} fitted, {found['refused']} refused, {n_defects} defects")
    return int(n_defects > 0)


if __name__ == "__main__":
    sys.exit(main())
