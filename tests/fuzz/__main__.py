"""Run many random cases, ``python -m tests.fuzz --count 10000 --seed 0``, and print each defect."""

from __future__ import annotations

import argparse
import sys

from joblib import Parallel, delayed

from tests.fuzz.cases import case_number, run, sweep


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--only", type=int, help="run this case alone, and let its error through")
    arguments = parser.parse_args()
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
