"""Falsely selected columns of ``StableSelector`` against its bound, on data where the truth is known.

``python benchmarks/stability_bound.py | python benchmarks/record.py stability_bound`` records the figures.
Six of 100 columns carry two factors, the others are noise; every selector is asked for ten, so that four or
more are noise in any single fit. For each draw of the data: true and noise columns of one fit, of
``StableSelector``, and what its bounds allow.
"""

from __future__ import annotations

import warnings

import numpy as np
from common import print_table
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from ufselect import FSPCA, MaxVariance, PCALeverage, RandomSubset, StableSelector

N_TRUE, N_FEATURES, N_SELECTED, N_SAMPLES = 6, 100, 10, 200
DRAWS = range(20)
SELECTORS = (PCALeverage(n_components=2), FSPCA(n_components=2), MaxVariance(), RandomSubset(random_state=0))


def planted(seed: int) -> np.ndarray:
    """Return two factors in six columns, and columns of noise of nearly their variance."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N_SAMPLES, N_FEATURES))
    X[:, :N_TRUE] += rng.standard_normal((N_SAMPLES, 2)) @ np.kron(np.eye(2), np.ones(N_TRUE // 2))
    return X


def counts(support: np.ndarray) -> tuple[int, int]:
    """Return the numbers of true and of noise columns."""
    return int(support[:N_TRUE].sum()), int(support[N_TRUE:].sum())


def measure(selector: object) -> list[str]:
    """Return means over the draws, two to a cell."""
    rows = []
    for seed in DRAWS:
        X = planted(seed)
        asked = clone(selector).set_params(n_features_to_select=N_SELECTED)
        stable = StableSelector(asked, random_state=seed).fit(X)
        bound = stable.error_bound_
        rows.append(
            (*counts(asked.fit(X).support_), *counts(stable.support_), bound.unimodal, bound.worst_case)
        )
    means = np.mean(rows, axis=0)
    return [f"{one:.1f}, {two:.2f}".removesuffix("0") for one, two in means.reshape(3, 2)]


def main() -> None:
    warnings.simplefilter("ignore")
    with threadpool_limits(limits=1):
        rows = [[f"`{type(selector).__name__}`", *measure(selector)] for selector in SELECTORS]
    columns = (
        "selector",
        "one fit: structure, noise",
        "stable: structure, noise",
        "bound on noise: unimodal, worst case",
    )
    print_table("Falsely selected columns", columns, rows)


if __name__ == "__main__":
    main()
