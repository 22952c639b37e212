"""Record anew what the golden test compares: ``python -m tests.golden``.

Commit the record with the change that alters selections, and say in the message why they alter.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

from tests.golden.cases import NASTY, RECORD, SCORE_TOLERANCE, close, command_line, selections, selectors

ALIKE = ("miss_dash", "miss_dd", "miss_endash", "miss_ND", "miss_q", "crlf", "lab0", "ratio20", "idx_blank")
KERNELS = ("", "Nehalem", "Haswell")  # of OpenBLAS, which round differently


def measure() -> dict[str, Any]:
    """Return all outcomes with this process's libraries."""
    found = {
        f"{name}: {case}": each for name in sorted(selectors()) for case, each in selections(name).items()
    }
    files = [path for path in sorted(NASTY.iterdir()) if path.stem not in ALIKE]
    return found | {f"select {path.name}": command_line(path) for path in files}


def agreed(outcomes: list[Any]) -> Any:
    """Return what processors agree on, None if nothing."""
    first, *others = outcomes
    if not isinstance(first, dict):
        return first if all(each == first for each in others) else None
    if not all(isinstance(each, dict) for each in others):
        return None
    return {
        name: value
        for name, value in first.items()
        if all(
            close(each[name], value, SCORE_TOLERANCE / 10) if name == "scores" else each.get(name) == value
            for each in others
        )
    }


def main() -> int:
    if len(sys.argv) > 1:
        sys.stdout.write(json.dumps(measure()))
        return 0
    measured = []
    for kernel in KERNELS:
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        if kernel:
            environment["OPENBLAS_CORETYPE"] = kernel
        command = [sys.executable, "-m", "tests.golden", "measure"]
        run = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
        measured.append(json.loads(run.stdout))
    cells = {case: agreed([each[case] for each in measured]) for case in measured[0]}
    kept = [f"{json.dumps(case)}: {json.dumps(cell)}" for case, cell in cells.items() if cell]
    RECORD.write_text("{\n" + ",\n".join(kept) + "\n}\n", encoding="utf-8")
    for case in cells:
        if cells[case] != measured[0][case]:
            sys.stdout.write(f"Processors differ: {case}\n")
    sys.stdout.write(f"{len(cells)} cases, {RECORD.stat().st_size // 1000} kB\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
