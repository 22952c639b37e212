"""How AutoSelector keeps its time budget.

``python benchmarks/time_budget.py [--sets usps umist …] | python benchmarks/record.py time_budget``

Each fit gets a share of the seconds that a fit without a budget took just before, the smallest of two; the
figure is what it took over what it was given. More than 1 is too late. A busy machine adds to it.
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

from common import REAL_SETS, data_source, load, print_table
from threadpoolctl import threadpool_limits

from ufselect import SPCAFS, AutoSelector, GreedyProjection, MaxVariance, PCALeverage
from ufselect.common.deadline import now

SHARES = (0.75, 0.5, 0.3)
COUNT = 100


def ways(n_classes: int) -> dict[str, dict[str, Any]]:
    """Return the ways of asking, by name."""
    own = [PCALeverage(), MaxVariance(), GreedyProjection(), SPCAFS()]
    return {
        "clusters given": {"n_clusters": n_classes},
        "clusters to be found": {},
        'candidates="dscofs"': {"n_clusters": n_classes, "candidates": "dscofs"},
        "own candidates": {"n_clusters": n_classes, "candidates": own},
        "rebuild": {"goal": "rebuild"},
    }


def seconds(X: Any, settings: dict[str, Any]) -> float:
    """Return what one fit takes."""
    started = now()
    AutoSelector(COUNT, random_state=0, **settings).fit(X)
    return now() - started


def rows(name: str) -> list[list[object]]:
    """Return what fits took over what they were given."""
    X, n_classes = load(name)
    table: list[list[object]] = []
    for way, settings in ways(n_classes).items():
        whole = min(seconds(X, settings) for _ in range(2))
        taken = [seconds(X, {**settings, "time_budget": share * whole}) / (share * whole) for share in SHARES]
        table.append([name, way, f"{whole:.2f}", *(f"{share:.2f}" for share in taken)])
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", choices=REAL_SETS, default=REAL_SETS)
    names = parser.parse_args().sets
    warnings.simplefilter("ignore")
    header = ["data", "way", "seconds", *(f"taken of {share:g}" for share in SHARES)]
    with threadpool_limits(1):
        table = [row for name in names for row in rows(name)]
    print_table(f"Time budget ({data_source()})", header, table)


if __name__ == "__main__":
    main()
