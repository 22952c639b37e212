"""Columns selected from data with a batch effect, with and without ``batch=``.

``python benchmarks/batch_effects.py --write benchmarks/results/batch_effects.json`` records the figures.

Planted: the rows of a table are dealt at random to three days; each day adds an offset of its own to a third
of the columns, ``size`` times the column's spread. A selection is judged by the columns it shares with that
from the table without offsets, and by how well K-means on them, again in the table without offsets, finds the
classes (NMI): only the selection is judged, not the clustering of shifted data.

Real: Isolet, where thirty speakers say each letter twice (the batch is the speaker, the class the letter),
and warpPIE10P, ten faces under 21 flashes (the batch is the flash, the class the face). A selection is judged
by the share of its variance that lies between batches, and by K-means on its columns against the batches and
against the classes: as they are, and once more with each batch centred. Each draw has two thirds of the
batches.

All columns and random subsets stand beside both.
"""

from __future__ import annotations

import argparse
import json
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_digits, make_blobs
from threadpoolctl import threadpool_limits

from ufselect import DSCOFS, FSPCA, GreedyProjection, LaplacianScore, MaxVariance, PCALeverage, RandomSubset
from ufselect.datasets import load_dataset
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


@dataclass(frozen=True)
class Real:
    """A real set whose rows are sorted by class, and within each class by the same batches."""

    name: str
    batch: str
    n_batches: int
    repeats: int
    count: int


REAL_SETS = (
    Real("isolet", "speaker", 30, 2, 60),  # 26 letters, each said twice by each speaker; 617 columns
    Real("warppie10p", "flash", 21, 1, 100),  # ten faces under 21 flashes; 2420 pixels
)


def with_batches(real: Real) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return data, classes and batches.

    The files do not name the batches; they follow from the order of the rows, and that is checked: a row is
    recognised by the mean of the other classes.
    """
    bunch = load_dataset(real.name)
    classes = np.unique(bunch.target)
    order = np.repeat(np.arange(real.n_batches), real.repeats)
    if not np.array_equal(bunch.target, np.repeat(classes, order.size)):
        raise ValueError(f"The rows of {real.name} are not sorted by class.")
    batches = np.tile(order, classes.size)
    recognised = batches_recognised(bunch.data, bunch.target, batches)
    if recognised < 0.5:
        raise ValueError(f"Only {recognised:.0%} of the rows are like their {real.batch}: the order differs.")
    print(f"{real.name}: the {real.batch} of {recognised:.0%} of the rows is known from the other classes")
    return bunch.data, bunch.target, batches


def batches_recognised(X: np.ndarray, classes: np.ndarray, batches: np.ndarray) -> float:
    """Return the share of rows that are most like the rows of their batch in the other classes."""
    X = centred(X, classes)
    X = X / np.where(X.std(axis=0) > 0, X.std(axis=0), 1)
    found = []
    for each in np.unique(classes):
        others = classes != each
        means = np.array([X[others & (batches == batch)].mean(axis=0) for batch in np.unique(batches)])
        means /= np.linalg.norm(means, axis=1, keepdims=True)
        found.append(np.argmax(X[~others] @ means.T, axis=1) == batches[~others])
    return float(np.mean(np.concatenate(found)))


def centred(X: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return the data with the mean of each label subtracted."""
    codes = np.unique(labels, return_inverse=True)[1]
    means = np.array([X[codes == code].mean(axis=0) for code in range(codes.max() + 1)])
    return X - means[codes]


def judged_by_batch(
    X: np.ndarray, classes: np.ndarray, batches: np.ndarray, support: np.ndarray
) -> dict[str, float]:
    """Return what the selected columns tell of the batches and of the classes, in per cent."""
    columns = np.flatnonzero(support)
    within = centred(X, batches)
    total = np.square(X[:, columns] - X[:, columns].mean(axis=0)).sum()
    by_class = evaluate_selection(X, classes, columns, n_runs=N_RUNS)
    by_batch = evaluate_selection(X, batches, columns, n_runs=N_RUNS)
    after = evaluate_selection(within, classes, columns, n_runs=N_RUNS)
    return {
        "between": 100 * (1 - np.square(within[:, columns]).sum() / total),
        "batch_acc": by_batch.acc_mean,
        "acc": by_class.acc_mean,
        "nmi": by_class.nmi_mean,
        "centred_acc": after.acc_mean,
        "centred_nmi": after.nmi_mean,
    }


def measure_real(real: Real) -> list[dict]:
    """Return one record for each selector and way to fit, over draws of two thirds of the batches."""
    data, classes, batches = with_batches(real)
    figures: dict[tuple[str, str], list[dict[str, float]]] = {}
    for seed in SEEDS:
        drawn = np.random.default_rng(seed).permutation(real.n_batches)[: 2 * real.n_batches // 3]
        rows = np.isin(batches, drawn)
        X, y, batch = data[rows], classes[rows], batches[rows]
        beside = {
            "all columns": np.ones(X.shape[1], dtype=bool),
            "random subset": RandomSubset(real.count, random_state=seed).fit(X).support_,
        }
        for name, support in beside.items():
            figures.setdefault((name, "–"), []).append(judged_by_batch(X, y, batch, support))
        for each in SELECTORS:
            for way, given in (("as it is", {}), ("batch=", {"batch": batch})):
                support = clone(each).set_params(n_features_to_select=real.count).fit(X, **given).support_
                key = (type(each).__name__, way)
                figures.setdefault(key, []).append(judged_by_batch(X, y, batch, support))
    return [_summary(real, key, figures) for key in figures]


def _summary(real: Real, key: tuple[str, str], figures: dict[tuple[str, str], list[dict]]) -> dict:
    """Return means and standard deviations over the draws; for ``batch=`` also those of the paired gains."""
    selector, way = key
    record: dict = {"data": f"{real.name} by {real.batch}", "selector": selector, "fit": way}
    for name in figures[key][0]:
        drawn = np.array([value[name] for value in figures[key]])
        record |= _moments(name, drawn)
        if way == "batch=" and name.endswith(("acc", "nmi")):
            before = np.array([value[name] for value in figures[selector, "as it is"]])
            record |= _moments(f"{name}_gain", drawn - before)
    return record


def _moments(name: str, values: np.ndarray) -> dict[str, float]:
    return {f"{name}_mean": round(float(values.mean()), 1), f"{name}_std": round(float(values.std()), 1)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=Path, help="file for the figures")
    write = parser.parse_args().write
    warnings.simplefilter("ignore")
    with threadpool_limits(limits=1):
        rows = [row for name, given in data_sets().items() for row in measure(name, *given)]
        rows += [row for real in REAL_SETS for row in measure_real(real)]
    for row in rows:
        print(" | ".join(str(value) for value in row.values()))
    if write:
        write.parent.mkdir(parents=True, exist_ok=True)
        write.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
