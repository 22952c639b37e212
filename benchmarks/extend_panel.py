"""Extend a panel of 50 columns to 100: given the panel, or by appending the best other columns.

    python benchmarks/extend_panel.py | python benchmarks/record.py extend_panel

The table gives the per cent of the variance of all columns that a ridge regression on the 100 reconstructs on
held-out rows, as mean ± standard deviation over three splits into halves.
"""

from __future__ import annotations

import numpy as np
from common import data_source, load, print_table
from numpy.typing import NDArray

from ufselect import GreedyProjection, MaxVariance

SETS = ("isolet", "usps", "coil20", "umist", "warppie10p")
MAX_ROWS = 1500
MAX_COLUMNS = 800
PANEL, TOTAL = 50, 100
N_SPLITS = 3
RIDGE = 1e-2  # of the mean sum of squares of a column


def reconstructed(train: NDArray, test: NDArray, columns: NDArray) -> float:
    """Return the per cent of the variance of the held-out rows that the columns reconstruct."""
    mean = train.mean(axis=0)
    A, B = train - mean, test - mean
    selected = A[:, columns]
    ridge = RIDGE * np.square(selected).sum(axis=0).mean()
    weights = np.linalg.solve(selected.T @ selected + ridge * np.eye(columns.size), selected.T @ A)
    return 100 * (1 - float(np.square(B - B[:, columns] @ weights).sum() / np.square(B).sum()))


def selections(train: NDArray, panel: NDArray, rng: np.random.Generator) -> dict[str, NDArray]:
    """Return the panel, three ways to extend it, and a selection without it."""
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


def main() -> None:
    rows = []
    for name in SETS:
        X, _ = load(name)
        X = X[:, X.std(axis=0) > 0][:, :MAX_COLUMNS]
        for kind in ("random", "largest variance"):
            found: dict[str, list[float]] = {}
            for seed in range(N_SPLITS):
                shuffled = X[np.random.default_rng(seed).permutation(len(X))[:MAX_ROWS]]
                train, test = shuffled[: len(shuffled) // 2], shuffled[len(shuffled) // 2 :]
                rng = np.random.default_rng(seed)
                panel = np.flatnonzero(MaxVariance(PANEL).fit(train).support_)
                if kind == "random":
                    panel = np.sort(rng.choice(X.shape[1], PANEL, replace=False))
                for way, columns in selections(train, panel, rng).items():
                    found.setdefault(way, []).append(reconstructed(train, test, columns))
            rows.append([name, kind, *(f"{np.mean(v):.1f} ± {np.std(v):.1f}" for v in found.values())])
    print_table(f"Per cent reconstructed on held-out rows ({data_source()})", ("data", "panel", *found), rows)


if __name__ == "__main__":
    main()
