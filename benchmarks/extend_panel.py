"""A panel of 50 columns extended to 100: what conditioning on it gains over appending the best columns.

Per cent of the variance of all columns that a ridge regression on the 100 rebuilds on rows left out, mean ±
standard deviation over three splits.

    python benchmarks/extend_panel.py
"""

from __future__ import annotations

import numpy as np
from common import data_source, load, print_table
from numpy.typing import NDArray

from ufselect import GreedyProjection, MaxVariance

SETS = ("isolet", "usps", "coil20", "umist", "warppie10p")
MOST_ROWS = 1500
MOST_COLUMNS = 800
PANEL, TOTAL = 50, 100
N_SPLITS = 3
RIDGE = 1e-2  # of the mean sum of squares of a column


def rebuilt(train: NDArray, test: NDArray, columns: NDArray) -> float:
    """Return the share of the variance of new rows, in per cent, that a map of some columns rebuilds."""
    mean = train.mean(axis=0)
    A, B = train - mean, test - mean
    chosen = A[:, columns]
    ridge = RIDGE * np.square(chosen).sum(axis=0).mean()
    weights = np.linalg.solve(chosen.T @ chosen + ridge * np.eye(columns.size), chosen.T @ A)
    return 100 * (1 - float(np.square(B - B[:, columns] @ weights).sum() / np.square(B).sum()))


def selections(train: NDArray, panel: NDArray, rng: np.random.Generator) -> dict[str, NDArray]:
    """Return the ways to come from the panel to so many columns, and the free choice."""
    others = np.setdiff1d(np.arange(train.shape[1]), panel)
    free = np.argsort(GreedyProjection(TOTAL, target="features").fit(train).ranking_)
    extended = GreedyProjection(TOTAL, target="features", keep=panel).fit(train)
    return {
        "panel alone": panel,
        "+ at random": np.append(panel, rng.choice(others, TOTAL - PANEL, replace=False)),
        "appended": np.append(panel, free[~np.isin(free, panel)][: TOTAL - PANEL]),
        "extended": np.flatnonzero(extended.support_),
        "free choice": free[:TOTAL],
    }


def split(X: NDArray, seed: int) -> tuple[NDArray, NDArray]:
    """Return two halves of the rows."""
    rows = np.random.default_rng(seed).permutation(len(X))[:MOST_ROWS]
    half = rows.size // 2
    return X[rows[:half]], X[rows[half:]]


def main() -> None:
    """Print one line for each data set and kind of panel."""
    rows = []
    for name in SETS:
        X, _ = load(name)
        X = X[:, X.std(axis=0) > 0][:, :MOST_COLUMNS]
        for kind in ("random", "largest variance"):
            found: dict[str, list[float]] = {}
            for seed in range(N_SPLITS):
                train, test = split(X, seed)
                rng = np.random.default_rng(seed)
                panel = np.flatnonzero(MaxVariance(PANEL).fit(train).support_)
                if kind == "random":
                    panel = np.sort(rng.choice(X.shape[1], PANEL, replace=False))
                for way, columns in selections(train, panel, rng).items():
                    found.setdefault(way, []).append(rebuilt(train, test, columns))
            rows.append([name, kind, *(f"{np.mean(v):.1f} ± {np.std(v):.1f}" for v in found.values())])
    print_table(f"Per cent rebuilt on rows left out ({data_source()})", ("data", "panel", *found), rows)


if __name__ == "__main__":
    main()
