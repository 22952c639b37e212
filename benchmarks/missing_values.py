"""Columns selected from data with missing values, against those selected from the complete data.

``python benchmarks/missing_values.py --write benchmarks/results/missing_values.json`` records the figures.
Entries are removed at random, or in blocks (a fifth of the rows in a tenth of the columns at a time), at
three shares. The table gives the share of the columns in common with those of complete data, mean over
selectors and draws, for what ufselect does in memory (``completed``) and outside it (``pairwise``), and for
imputation by median and by nearest neighbours before the fit. The row "complete, other half" says how much
two halves of the complete rows agree: no treatment of gaps needs to do better than the data themselves.

What "completed" does was chosen by such figures on all sets but usps, which alone is free of that choice.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from common import load
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.preprocessing import scale
from threadpoolctl import threadpool_limits

from ufselect import DSCOFS, FSPCA, DOptimalLeverage, GreedyProjection, MaxVariance, PCALeverage

SHARES = (0.01, 0.05, 0.2)
SEEDS = range(5)
SELECTORS = (
    PCALeverage(),
    DOptimalLeverage(),
    FSPCA(),
    GreedyProjection(target="features"),
    DSCOFS(),
    MaxVariance(),
)
TREATMENTS: dict[str, Callable[[np.ndarray], object]] = {
    "completed": lambda X: X,
    "pairwise": sparse.csr_array,
    "median": lambda X: SimpleImputer(strategy="median", keep_empty_features=True).fit_transform(X),
    "5 neighbours": lambda X: KNNImputer(keep_empty_features=True).fit_transform(X),
}


def data_sets() -> dict[str, tuple[np.ndarray, int]]:
    """Return data and the number of columns to keep; features in comparable units."""
    return {
        "digits": (load_digits().data, 15),
        "breast cancer": (scale(load_breast_cancer().data), 6),
        "wine": (scale(load_wine().data), 5),
        "lung_discrete": (load("lung_discrete")[0], 50),
        "usps": (load("usps")[0], 50),
    }


def gaps(shape: tuple[int, int], share: float, kind: str, seed: int) -> np.ndarray:
    """Return a mask of entries to remove."""
    rng = np.random.default_rng(seed)
    if kind == "at random":
        return rng.random(shape) < share
    mask = np.zeros(shape, dtype=bool)
    while mask.mean() < share:
        rows = rng.permutation(shape[0])[: shape[0] // 5]
        columns = rng.permutation(shape[1])[: max(1, shape[1] // 10)]
        mask[np.ix_(rows, columns)] = True
    return mask


def supports(X: object, count: int) -> list[np.ndarray]:
    """Return what each selector keeps."""
    return [clone(each).set_params(n_features_to_select=count).fit(X).get_support() for each in SELECTORS]


def agreement(found: list[np.ndarray], expected: list[np.ndarray]) -> float:
    """Return the share of columns in common in per cent, mean over the selectors."""
    return 100 * float(
        np.mean([(one & two).sum() / two.sum() for one, two in zip(found, expected, strict=True)])
    )


def halves(X: np.ndarray, count: int) -> list[float]:
    """Return the agreement of two halves of the complete rows, a number a draw."""
    figures = []
    for seed in SEEDS:
        order, half = np.random.default_rng(seed).permutation(len(X)), len(X) // 2
        figures.append(agreement(supports(X[order[:half]], count), supports(X[order[half:]], count)))
    return figures


def measure(name: str, X: np.ndarray, count: int) -> list[dict]:
    """Return one record for each kind, share and treatment."""
    complete = supports(X, count)
    rows = [_record(name, "complete, other half", 0.0, "none", halves(X, count), [0.0])]
    for kind in ("at random", "in blocks"):
        for share in SHARES:
            for treatment, treat in TREATMENTS.items():
                figures, seconds = [], []
                for seed in SEEDS:
                    gapped = np.where(gaps(X.shape, share, kind, seed), np.nan, X)
                    started = time.process_time()
                    found = supports(treat(gapped), count)
                    seconds.append(time.process_time() - started)
                    figures.append(agreement(found, complete))
                rows.append(_record(name, kind, share, treatment, figures, seconds))
                print(rows[-1], flush=True)
    return rows


def _record(name: str, kind: str, share: float, treatment: str, figures: list, seconds: list) -> dict:
    return {
        "data": name,
        "missing": kind,
        "share": share,
        "treatment": treatment,
        "agreement_mean": round(float(np.mean(figures)), 1),
        "agreement_std": round(float(np.std(figures)), 1),
        "cpu_seconds": round(float(np.mean(seconds)), 3),
    }


def table(rows: list[dict]) -> str:
    """Return the means over the data sets as a Markdown table."""
    lines = ["| missing | share | " + " | ".join(TREATMENTS) + " |", "|---" * (2 + len(TREATMENTS)) + "|"]
    for kind in ("at random", "in blocks"):
        for share in SHARES:
            cells = []
            for treatment in TREATMENTS:
                chosen = [
                    row["agreement_mean"]
                    for row in rows
                    if (row["missing"], row["share"], row["treatment"]) == (kind, share, treatment)
                ]
                cells.append(f"{np.mean(chosen):.1f}")
            lines.append(f"| {kind} | {share:.0%} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=Path, help="file for the figures")
    write = parser.parse_args().write
    warnings.simplefilter("ignore")
    with threadpool_limits(limits=1):
        rows = [row for name, (X, count) in data_sets().items() for row in measure(name, X, count)]
    print(f"\n### Columns in common\n\n{table(rows)}\n")
    print("two halves of the complete rows:", [r["agreement_mean"] for r in rows if r["treatment"] == "none"])
    if write:
        write.parent.mkdir(parents=True, exist_ok=True)
        write.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
