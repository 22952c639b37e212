"""Columns selected from data with a batch effect, with and without ``batch=``.

``python benchmarks/batch_effects.py --write benchmarks/results/batch_effects.json`` records the figures. The
rows of a table are dealt at random to three days; each day adds an offset of its own to a third of the
columns, ``size`` times the column's spread. A selection is judged by the columns it shares with that from the
table without offsets, and by how well K-means on them, again in the table without offsets, finds the classes
(NMI): only the selection is judged, not the clustering of shifted data. All columns and random subsets stand
beside it.
"""

from __future__ import annotations

import argparse
import json
import warnings
from pathlib import Path

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_digits, make_blobs
from threadpoolctl import threadpool_limits

from ufselect import DSCOFS, FSPCA, GreedyProjection, LaplacianScore, MaxVariance, PCALeverage, RandomSubset
from ufselect.metrics import evaluate_selection

SIZES = (0.0, 1.0, 3.0)
SEEDS = range(5)
N_RUNS = 10
SELECTORS = (PCALeverage(), FSPCA(), DSCOFS(), GreedyProjection(), MaxVariance(), LaplacianScore())


def planted() -> tuple[np.ndarray, np.ndarray, int]:
    """Return five clusters in twenty columns, and forty columns of noise."""
    X, y = make_blobs(600, 20, centers=5, cluster_std=2.0, center_box=(-4, 4), random_state=0)
    noise = np.random.default_rng(0).standard_normal((600, 40)) * 2
    return np.hstack([X, noise]), y, 15


def data_sets() -> dict[str, tuple[np.ndarray, np.ndarray, int]]:
    """Return data, classes and the number of columns to keep."""
    digits = load_digits()
    return {"planted": planted(), "digits": (digits.data, digits.target, 20)}


def with_days(X: np.ndarray, size: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the data with an offset of each day, and the days."""
    rng = np.random.default_rng(seed)
    days = rng.integers(0, 3, len(X))
    offsets = rng.standard_normal((3, X.shape[1])) * (rng.random((3, X.shape[1])) < 1 / 3)
    return X + size * X.std() * offsets[days], days


def judged(X: np.ndarray, y: np.ndarray, support: np.ndarray, expected: np.ndarray) -> tuple[float, float]:
    """Return the share of columns in common and the NMI of K-means, in per cent."""
    record = evaluate_selection(X, y, np.flatnonzero(support), n_runs=N_RUNS)
    return 100 * (support & expected).sum() / expected.sum(), record.nmi_mean


def measure(name: str, X: np.ndarray, y: np.ndarray, count: int) -> list[dict]:
    """Return one record for each selector, size and way to fit."""
    everything = np.ones(X.shape[1], dtype=bool)
    figures = {("all columns", 0.0, "–"): [judged(X, y, everything, everything)]}
    for seed in SEEDS:
        drawn = RandomSubset(count, random_state=seed).fit(X).support_
        figures.setdefault(("random subset", 0.0, "–"), []).append(judged(X, y, drawn, drawn))
        for each in SELECTORS:
            selector = clone(each).set_params(n_features_to_select=count)
            expected = selector.fit(X).support_
            for size in SIZES:
                shifted, days = with_days(X, size, seed)
                for way, given in (("as it is", {}), ("batch=", {"batch": days})):
                    key = (type(each).__name__, size, way)
                    support = clone(selector).fit(shifted, **given).support_
                    figures.setdefault(key, []).append(judged(X, y, support, expected))
    return [_record(name, *key, np.array(values)) for key, values in figures.items()]


def _record(name: str, selector: str, size: float, way: str, values: np.ndarray) -> dict:
    common, nmi = values.T
    return {
        "data": name,
        "selector": selector,
        "size": size,
        "fit": way,
        "common_mean": round(float(common.mean()), 1),
        "common_std": round(float(common.std()), 1),
        "nmi_mean": round(float(nmi.mean()), 1),
        "nmi_std": round(float(nmi.std()), 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=Path, help="file for the figures")
    write = parser.parse_args().write
    warnings.simplefilter("ignore")
    with threadpool_limits(limits=1):
        rows = [row for name, given in data_sets().items() for row in measure(name, *given)]
    for row in rows:
        print(" | ".join(str(value) for value in row.values()))
    if write:
        write.parent.mkdir(parents=True, exist_ok=True)
        write.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
