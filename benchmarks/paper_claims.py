"""The single figures that the pages on the method and on the paper state, each measured in one place.

For each of the seven data sets, with as many components as classes and 100 features:

- how many selected features stay when the proximal weight of the Y- and Z-steps is 0, and when the average
  with the last value is that of the exact proximal steps, (μX + τ last) / (μ + τ), where the paper drops μ;
- how many agree between the default tolerance and a settled run, and the accuracy of both;
- PCA leverage with the automatic number of components, with as many as classes, and at the best count.

Also the smallest eigenvalue of UDFS's matrix M beside its largest, which tells whether M has a null space,
and on how many of 20 draws of the synthetic sets DSCOFS finds the true features, with the variances of the
noise columns in either order.

``python benchmarks/paper_claims.py --write`` renews ``results/paper_claims.json``; without it the figures are
only printed. UFSELECT_DATA names the folder of the data.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import cycle
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from common import REAL_SETS, code_version
from sklearn.neighbors import NearestNeighbors

from ufselect import DSCOFS, PCALeverage
from ufselect._utils.threads import one_blas_thread
from ufselect.compare.protocol import PAPER_COUNTS
from ufselect.datasets import load_dataset
from ufselect.datasets.shapes import SHAPES, among_noise
from ufselect.dscofs import problem
from ufselect.metrics import evaluate_selection
from ufselect.published.udfs import local_scatter_laplacian

RESULTS = Path(__file__).with_name("results") / "paper_claims.json"
COUNT = 100
N_DRAWS = 20
SETTLED = {"tol": 1e-7, "max_iter": 1000}


def measure(name: str) -> dict[str, float]:
    """Return the figures of one data set."""
    bunch = load_dataset(name)
    X, y = bunch.data, bunch.target
    n_classes = len(np.unique(y))

    def accuracy(selector) -> float:
        return evaluate_selection(X, y, selector.support_, 50, "k-means++").acc_mean

    given = DSCOFS(COUNT, n_components=n_classes).fit(X)
    free = DSCOFS(COUNT, n_components=n_classes, tau=0.0).fit(X)
    with exact_proximal_steps(given):
        weighted = DSCOFS(COUNT, n_components=n_classes).fit(X)
    early, settled = DSCOFS(COUNT).fit(X), DSCOFS(COUNT, **SETTLED).fit(X)
    leverage = {m: PCALeverage(COUNT, n_components=m).fit(X) for m in ("auto", n_classes)}
    by_count = [
        evaluate_selection(X, y, leverage[n_classes].ranking_ <= count, 50, "k-means++").acc_mean
        for count in PAPER_COUNTS
    ]
    return {
        "same without proximal weight": int(np.sum(given.support_ & free.support_)),
        "same with exact proximal steps": int(np.sum(given.support_ & weighted.support_)),
        "same when settled": int(np.sum(early.support_ & settled.support_)),
        "ACC of defaults": accuracy(early),
        "ACC when settled": accuracy(settled),
        "ACC of PCA leverage, m auto": accuracy(leverage["auto"]),
        "ACC of PCA leverage, m classes": by_count[-1],
        "ACC of PCA leverage, m classes, best count": max(by_count),
    }


@contextmanager
def exact_proximal_steps(selector: DSCOFS) -> Iterator[None]:
    """Weigh X by its penalty in the averages of the Y- and Z-steps, which are made in turn."""
    memories = cycle((selector.tau / selector.mu_entry, selector.tau / selector.mu_row))
    average = problem.proximal_average
    with mock.patch.object(problem, "proximal_average", lambda X, last, _: average(X, last, next(memories))):
        yield


def smallest_eigenvalue(name: str) -> float:
    """Return the smallest eigenvalue of UDFS's M for λ = 1, as a share of the largest."""
    X = load_dataset(name).data
    X = X - X.mean(axis=0)
    near = NearestNeighbors(n_neighbors=6).fit(X).kneighbors(X, return_distance=False)
    M = X.T @ (local_scatter_laplacian(X, near, 1.0) @ X)
    values = np.linalg.eigvalsh((M + M.T) / 2)
    return float(values[0] / values[-1])


def found_by_turn(kind: str) -> list[int]:
    """Return how often DSCOFS finds the true features, with the variances in either order."""
    found = [0, 0]
    for draw in range(N_DRAWS):
        points, _ = SHAPES[kind](np.random.RandomState(draw))
        for turn in (0, 1):
            # With the true columns swapped the noise takes their moments in the other order.
            X = among_noise(points[:, ::-1] if turn else points, 7, np.random.RandomState(N_DRAWS + draw))
            found[turn] += np.flatnonzero(DSCOFS(2).fit(X).support_).tolist() == [3, 4]
    return found


def main() -> None:
    """Measure, print and, if asked, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="renew the committed results")
    write = parser.parse_args().write
    sets = {}
    with one_blas_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in REAL_SETS:
            sets[name] = {what: round(value, 2) for what, value in measure(name).items()}
            print(name, sets[name], flush=True)
    mean = {
        what: round(float(np.mean([row[what] for row in sets.values()])), 2) for what in sets[REAL_SETS[0]]
    }
    found: dict[str, Any] = {"code": code_version(), "sets": sets, "mean": mean}
    found["smallest eigenvalue of M"] = {
        name: float(f"{smallest_eigenvalue(name):.1e}") for name in ("usps", "isolet", "coil20")
    }
    found["draws solved, variances in either order"] = {kind: found_by_turn(kind) for kind in SHAPES}
    print(json.dumps(found, indent=1))
    if write:
        RESULTS.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
