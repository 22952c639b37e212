"""Columns selected from data with a batch effect, with and without ``batch=``.

``python benchmarks/batch_effects.py | python benchmarks/record.py batch_effects`` records the figures.

Planted: the rows of a table are dealt at random to three days; each day adds an offset of its own to a third
of the columns, three times the spread of the table. A selection is judged by the columns it shares with that
from the table without offsets, and by how well K-means on them, again in the table without offsets, finds the
classes (NMI): only the selection is judged, not the clustering of shifted data.

Real: Isolet, where thirty speakers say each letter twice (the batch is the speaker, the class the letter),
and warpPIE10P, ten faces under 21 flashes (the batch is the flash, the class the face). A selection is judged
by K-means on its columns against the classes: as they are, and once more with each batch centred. Each draw
has two thirds of the batches.

Both tables include all columns and random columns.
"""

from __future__ import annotations

import warnings
from collections import defaultdict
from dataclasses import dataclass

import numpy as np
from common import print_table
from sklearn.base import clone
from sklearn.datasets import load_digits, make_blobs
from threadpoolctl import threadpool_limits

from ufselect import DSCOFS, FSPCA, GreedyProjection, LaplacianScore, MaxVariance, PCALeverage, RandomSubset
from ufselect.datasets import load_dataset
from ufselect.metrics import evaluate_selection

SIZE = 3.0
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


def with_days(X: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the data with an offset of each day, and the days."""
    rng = np.random.default_rng(seed)
    days = rng.integers(0, 3, len(X))
    offsets = rng.standard_normal((3, X.shape[1])) * (rng.random((3, X.shape[1])) < 1 / 3)
    return X + SIZE * X.std() * offsets[days], days


def nmi(X: np.ndarray, y: np.ndarray, support: np.ndarray) -> float:
    """Return the NMI of K-means on the selected columns with the classes, in per cent."""
    return evaluate_selection(X, y, np.flatnonzero(support), n_runs=N_RUNS).nmi_mean


def measure(X: np.ndarray, y: np.ndarray, count: int) -> dict[str, list[str]]:
    """Return columns in common and NMI of each selector, without and with ``batch=``."""
    common, agreement = defaultdict(list), defaultdict(list)
    for seed in SEEDS:
        shifted, days = with_days(X, seed)
        drawn = RandomSubset(count, random_state=seed).fit(X).support_
        agreement["random columns"].append([nmi(X, y, drawn)])
        for each in SELECTORS:
            selector = clone(each).set_params(n_features_to_select=count)
            expected = selector.fit(X).support_
            found = [clone(selector).fit(shifted, batch=batch).support_ for batch in (None, days)]
            name = f"`{type(each).__name__}`"
            common[name].append([100 * (support & expected).sum() / count for support in found])
            agreement[name].append([nmi(X, y, support) for support in found])
    agreement["all columns"].append([nmi(X, y, np.ones(X.shape[1], dtype=bool))])
    return {name: [_cell(common[name]), _cell(agreement[name])] for name in agreement}


def _cell(draws: list[list[float]]) -> str:
    """Return mean and standard deviation over the draws, without and with ``batch=``."""
    spread = "{:.0f} ± {:.0f}" if len(draws) > 1 else "{:.0f}"
    return " → ".join(spread.format(np.mean(way), np.std(way)) for way in zip(*draws, strict=True))


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


def measure_real(real: Real) -> dict[str, list[str]]:
    """Return NMI of each selector without and with ``batch=``, as they are and with each batch centred."""
    data, classes, batches = with_batches(real)
    figures = defaultdict(list)
    for seed in SEEDS:
        drawn = np.random.default_rng(seed).permutation(real.n_batches)[: 2 * real.n_batches // 3]
        rows = np.isin(batches, drawn)
        X, y, batch = data[rows], classes[rows], batches[rows]
        supports = {
            "all columns": [np.ones(X.shape[1], dtype=bool)],
            "random columns": [RandomSubset(real.count, random_state=seed).fit(X).support_],
        }
        for each in SELECTORS:
            selector = clone(each).set_params(n_features_to_select=real.count)
            supports[f"`{type(each).__name__}`"] = [
                clone(selector).fit(X, batch=given).support_ for given in (None, batch)
            ]
        within = centred(X, batch)
        for name, found in supports.items():
            figures[name].append([[nmi(rows, y, support) for support in found] for rows in (X, within)])
    return {
        name: [" → ".join(f"{mean:.0f}" for mean in way) for way in np.mean(draws, axis=0)]
        for name, draws in figures.items()
    }


def main() -> None:
    warnings.simplefilter("ignore")
    names = [*(f"`{type(each).__name__}`" for each in SELECTORS), "all columns", "random columns"]
    with threadpool_limits(limits=1):
        simulated = [measure(*given) for given in data_sets().values()]
        real = [measure_real(each) for each in REAL_SETS]
    for title, columns, tables in (
        (
            "Simulated batches",
            (
                "planted, 15 of 60: columns in common",
                "planted: NMI",
                "digits, 20 of 64: columns in common",
                "digits: NMI",
            ),
            simulated,
        ),
        (
            "Real batches",
            (
                "letters, 60 of 617 columns",
                "letters, centred",
                "faces, 100 of 2,420 pixels",
                "faces, centred",
            ),
            real,
        ),
    ):
        rows = [[name, *(cell for table in tables for cell in table[name])] for name in names]
        print_table(title, ("columns by", *columns), rows)


if __name__ == "__main__":
    main()
