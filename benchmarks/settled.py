"""How many of 100 features still change.

``python benchmarks/settled.py | python benchmarks/record.py settled``

The selection of DSCOFS at its default tolerance, and at 1e-7, beside the one at 1e-11.
"""

from __future__ import annotations

import warnings

import numpy as np
from common import REAL_SETS, data_source, load, print_table
from threadpoolctl import threadpool_limits

from ufselect import DSCOFS

COUNT = 100


def row(name: str) -> list[object]:
    X, n_classes = load(name)
    settled = DSCOFS(COUNT, n_components=n_classes, tol=1e-11, max_iter=20_000).fit(X)
    found: list[object] = [name, *X.shape]
    for settings in ({}, {"tol": 1e-7, "max_iter": 1000}):
        selector = DSCOFS(COUNT, n_components=n_classes, **settings).fit(X)
        changed = np.count_nonzero(selector.support_ & ~settled.support_)
        found += [selector.n_iter_, int(changed)]
    return found


def main() -> None:
    warnings.simplefilter("ignore")
    header = [
        "data",
        "samples",
        "features",
        "iterations",
        "features that change",
        "iterations at 1e-7",
        "features that change at 1e-7",
    ]
    with threadpool_limits(1):
        print_table(f"Settled selection ({data_source()})", header, [row(name) for name in REAL_SETS])


if __name__ == "__main__":
    main()
