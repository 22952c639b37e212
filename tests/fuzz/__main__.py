"""Run many random cases, ``python -m tests.fuzz --count 10000 --seed 0``, and print each defect."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from joblib import Parallel, delayed

from tests.fuzz.cases import Defect, case_number, run, sweep
from tests.fuzz.damage import WRITERS, flip_bytes


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")


def damage_all(count: int, seed: int) -> int:
    """Damage a file of every format, print each defect and return whether there was one."""
    n_defects = 0
    for name in WRITERS:
        with tempfile.TemporaryDirectory() as folder:
            try:
                flip_bytes(name, count, seed, Path(folder))
                say(f"{name}: {count} flips")
            except Defect as defect:
                n_defects += 1
                say(str(defect))
    return int(bool(n_defects))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--only", type=int, help="run this case alone, and let its error through")
    parser.add_argument("--flips", type=int, help="damage a file of every format so often instead")
    arguments = parser.parse_args()
    if arguments.flips is not None:
        return damage_all(arguments.flips, arguments.seed)
    if arguments.only is not None:
        case = case_number(arguments.seed, arguments.only)
        say(f"{case}\n{run(case)}")
        return 0
    jobs = (
        delayed(sweep)(arguments.count, arguments.seed, first, arguments.jobs)
        for first in range(arguments.jobs)
    )
    tallies = Parallel(n_jobs=arguments.jobs)(jobs)
    defects = sorted((defect for tally in tallies for defect in tally.defects), key=lambda defect: defect[0])
    for number, case, defect in defects:
        say(f"case {number}: {defect}\n    {case}")
    fitted, refused, total = (
        sum(getattr(tally, name) for tally in tallies) for name in ("fitted", "refused", "seconds")
    )
    seconds, slowest = max((tally.slowest for tally in tallies), key=lambda pair: pair[0])
    say(f"seed {arguments.seed}: {fitted} fitted, {refused} refused, {len(defects)} defects")
    say(f"{total:.0f} s of processor time; slowest: {seconds:.1f} s, {slowest}")
    return int(bool(defects))


if __name__ == "__main__":
    sys.exit(main())
