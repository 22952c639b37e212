"""Columns selected from data with missing values, against those selected from the complete data.

``python benchmarks/missing_values.py | python benchmarks/record.py missing_values`` records the figures.
Entries are removed at random, or in blocks (a fifth of the rows in a tenth of the columns at a time), at
three shares. The tables give the share of the columns in common with those of complete data, in per cent,
mean over selectors and draws, for what ufselect does in memory and outside it, and for imputation by median
and by nearest neighbours before the fit. The last table says how much two halves of the complete rows agree:
no treatment of missing values needs to do better than the data themselves.

What is done in memory was chosen by such figures on all sets but usps, the held-out set.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
from common import load, print_table
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.preprocessing import scale
from threadpoolctl import threadpool_limits

from ufselect import DSCOFS, FSPCA, DOptimalLeverage, GreedyProjection, MaxVariance, PCALeverage

SHARES = (0.01, 0.05, 0.2)
KINDS = ("at random", "in blocks")
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
    "in memory": lambda X: X,
    "outside memory": sparse.csr_array,
    "median imputation": lambda X: SimpleImputer(strategy="median", keep_empty_features=True).fit_transform(
        X
    ),
    "5 nearest neighbours": lambda X: KNNImputer(keep_empty_features=True).fit_transform(X),
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


def removed(shape: tuple[int, int], share: float, kind: str, seed: int) -> np.ndarray:
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


def measure(X: np.ndarray, count: int) -> np.ndarray:
    """Return the agreement for each kind, share, treatment and draw."""
    complete = supports(X, count)
    found = np.empty((len(KINDS), len(SHARES), len(TREATMENTS), len(SEEDS)))
    for *place, seed in np.ndindex(found.shape):
        kind, share, treat = (
            each[at] for each, at in zip((KINDS, SHARES, [*TREATMENTS.values()]), place, strict=True)
        )
        holed = np.where(removed(X.shape, share, kind, SEEDS[seed]), np.nan, X)
        found[*place, seed] = agreement(supports(treat(holed), count), complete)
    return found


def main() -> None:
    warnings.simplefilter("ignore")
    sets = data_sets()
    with threadpool_limits(limits=1):
        found = {name: measure(X, count) for name, (X, count) in sets.items()}
        agreeing = [[name, f"{np.mean(halves(X, count)):.0f}"] for name, (X, count) in sets.items()]
    cases = [(kind, share) for kind in range(len(KINDS)) for share in range(len(SHARES))]
    columns = ("missing", "share", *TREATMENTS)
    means = np.mean([each.mean(axis=-1) for each in found.values()], axis=0)
    usps = found["usps"]
    for title, cells in (
        (
            "usps, the held-out set",
            [[f"{x.mean():.1f} ± {x.std():.1f}" for x in usps[case]] for case in cases],
        ),
        ("Mean of five sets", [[f"{x:.1f}" for x in means[case]] for case in cases]),
    ):
        rows = [
            [KINDS[kind], f"{SHARES[share]:.0%}", *row]
            for (kind, share), row in zip(cases, cells, strict=True)
        ]
        print_table(title, columns, rows)
    print_table("Two halves of the complete rows", ("data", "columns in common"), agreeing)


if __name__ == "__main__":
    main()
