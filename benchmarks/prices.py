"""What a budget buys: ReconstructionSelector with prices against PySensors' cost-constrained QR.

``python benchmarks/prices.py | python benchmarks/record.py prices``

Columns cost from 1 at both ends to 10 in the middle. The figures are shares of the variance of the whole
table that are known on held-out rows, in per cent, with the same linear map; one split, 30 per cent of the
rows held out. CCQR has a weight of the prices, which has no documented default: the best of thirteen on the
held-out rows is shown, which favours it. coil20 and umist were known when ReconstructionSelector was
developed.
"""

from __future__ import annotations

import warnings

import numpy as np
from common import load, print_table
from pysensors.optimizers import CCQR
from sklearn.datasets import load_digits
from threadpoolctl import threadpool_limits
from unseen import held_out, mapped

from ufselect import ReconstructionSelector

BUDGETS = (20.0, 50.0, 100.0, 200.0)
WEIGHTS = (0.0, *np.geomspace(1e-3, 10, 12))
MOST_MODES = 50


def orders(X: np.ndarray, prices: np.ndarray) -> list[np.ndarray]:
    """Return the orders in which CCQR takes columns, one a weight of the prices."""
    modes = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)[2][:MOST_MODES].T
    unit = float(np.linalg.norm(modes, axis=1).mean()) / prices.mean()
    return [np.asarray(CCQR(sensor_costs=each * unit * prices).fit(modes).get_sensors()) for each in WEIGHTS]


def front(X: np.ndarray) -> list[tuple[float, float]]:
    """Return the shares of ReconstructionSelector and of CCQR for each budget."""
    prices = 1 + 9 * (1 - np.abs(np.linspace(-1, 1, X.shape[1])))
    out = held_out(len(X), False, 0)
    train, test = X[~out], X[out]
    theirs, found = orders(train, prices), []
    for budget in BUDGETS:
        ours = ReconstructionSelector(min(200, X.shape[1]), costs=prices, budget=budget).fit(train)
        paid = [order[np.cumsum(prices[order]) <= budget] for order in theirs]
        best = max(mapped(train, test, columns, "ridge") for columns in paid if columns.size)
        found.append((mapped(train, test, np.flatnonzero(ours.support_), "ridge"), best))
    return found


def main() -> None:
    warnings.simplefilter("ignore")
    sets = {"digits": load_digits().data, "coil20": load("coil20")[0], "umist": load("umist")[0]}
    with threadpool_limits(1):
        fronts = {name: front(X) for name, X in sets.items()}
    header = ["budget", *(f"{name}: {whose}" for name in fronts for whose in ("ours", "CCQR"))]
    rows = [
        [f"{budget:g}", *(f"{share:.1f}" for each in fronts.values() for share in each[place])]
        for place, budget in enumerate(BUDGETS)
    ]
    print_table("What a budget buys", header, rows)


if __name__ == "__main__":
    main()
