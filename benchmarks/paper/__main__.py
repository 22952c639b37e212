"""Repeat the experiments of the DSCOFS paper: ``python -m benchmarks.paper -o study --jobs 2`` from a clone.

A run that was stopped is taken up again. The folder gets every row, tables and figures.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from benchmarks.paper.figures import write_figures
from benchmarks.paper.study import reproduce

from ufselect.exceptions import DatasetUnavailableError


def main(arguments: list[str] | None = None) -> int:
    """Run the study that the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.paper", description=__doc__.splitlines()[0])
    parser.add_argument(
        "-o", "--output", type=Path, default=Path("study"), metavar="FOLDER",
        help="folder of tables and figures (default: study)",
    )  # fmt: skip
    parser.add_argument(
        "--dataset", action="append", help="a data set; may be repeated; the paper's without it"
    )
    parser.add_argument(
        "-m", "--method", action="append",
        help="a method; may be repeated; those of the paper and ours without it",
    )  # fmt: skip
    parser.add_argument("--quick", action="store_true", help="a short version on data that need no download")
    parser.add_argument("--exact", action="store_true", help="50 runs for every parameter; takes days")
    parser.add_argument("--jobs", type=int, default=1, help="processes (default: 1)")
    parser.add_argument(
        "--fresh", action="store_true", help="discard the results in the folder and start anew"
    )
    asked = parser.parse_args(arguments)
    settings = {
        "datasets": asked.dataset, "methods": asked.method, "quick": asked.quick, "exact": asked.exact,
    }  # fmt: skip
    asked.output.mkdir(parents=True, exist_ok=True)
    (asked.output / "settings.json").write_text(json.dumps(settings, indent=2) + "\n", encoding="utf-8")
    try:
        study = reproduce(
            asked.output,
            **settings,
            n_jobs=asked.jobs,
            resume=not asked.fresh,
            progress=True,
        )
    except (ValueError, DatasetUnavailableError) as error:
        print(error, file=sys.stderr)
        return 1
    print(study.tables[0].to_markdown())
    write_figures(study, asked.output / "figures")
    print(f"Wrote tables and figures to {asked.output}.", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
