"""Falsely selected columns of ``StableSelector`` against its bound, on data where the truth is known.

``python benchmarks/stability_bound.py --write benchmarks/results/stability_bound.json`` records the figures.
Six of 100 columns carry two factors, the others are noise; every selector is asked for ten, so that four or
more are noise in any single fit. For each draw of the data: true and noise columns of one fit, of
``StableSelector``, and what its bounds allow.
"""

from __future__ import annotations

import argparse
import json
import warnings
from pathlib import Path

import numpy as np
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


def measure(selector: object) -> dict:
    """Return means over the draws."""
    rows = []
    for seed in DRAWS:
        X = planted(seed)
        asked = clone(selector).set_params(n_features_to_select=N_SELECTED)
        stable = StableSelector(asked, random_state=seed).fit(X)
        bound = stable.error_bound_
        rows.append(
            (*counts(asked.fit(X).support_), *counts(stable.support_), bound.unimodal, bound.worst_case)
        )
    names = ("fit_true", "fit_noise", "stable_true", "stable_noise", "bound_unimodal", "bound_worst_case")
    means = {name: round(float(value), 2) for name, value in zip(names, np.mean(rows, axis=0), strict=True)}
    return {"selector": type(selector).__name__, "threshold": stable.threshold_, **means}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=Path, help="file for the figures")
    write = parser.parse_args().write
    warnings.simplefilter("ignore")
    with threadpool_limits(limits=1):
        rows = [measure(selector) for selector in SELECTORS]
    for row in rows:
        print(row)
    if write:
        write.parent.mkdir(parents=True, exist_ok=True)
        write.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
