"""How often the assessment says that a selection beats random columns, on data without and with structure.

``python benchmarks/calibration.py [--draws 40] [--kinds gauss ar95 …] [--goals clusters reconstruct]``

Draws data of each kind, selects columns for each goal with `AutoSelector`, and counts verdicts. The verdicts
and the tables are kept in ``benchmarks/results/calibration.json`` with the commit of the code; draws that are
there are not repeated, so move the file aside when the code has changed. The number of clusters is given: on
data without clusters ``n_clusters="auto"`` mostly finds one and says so.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
from common import code_version

from ufselect import AutoSelector

FIRST_SEED = 1100  # draws below were looked at when the numbers of the verdict were set
RESULTS = Path(__file__).resolve().parent / "results" / "calibration.json"
Draw = tuple[np.ndarray, int, int]  # data, columns to select, clusters to look for
Rng = np.random.Generator


def autoregressive(rng: Rng, n: int, d: int, rho: float) -> np.ndarray:
    """Return independent columns in which each row continues the one before."""
    steps = rng.standard_normal((n, d))
    values = steps.copy()
    for row in range(1, n):
        values[row] = rho * values[row - 1] + np.sqrt(1 - rho**2) * steps[row]
    return values


def repeated(rng: Rng, n: int, d: int, times: int) -> np.ndarray:
    """Return noise that was measured several times, in random order."""
    values = np.repeat(rng.standard_normal((n, d)), times, axis=0)
    return rng.permutation(values + 0.2 * rng.standard_normal(values.shape))


def standardised_counts(rng: Rng, rates: np.ndarray) -> np.ndarray:
    counts = rng.poisson(rates).astype(float)
    return (counts - counts.mean(axis=0)) / np.maximum(counts.std(axis=0), 1e-12)


def factors(rng: Rng, n: int, d: int, m: int = 4, noise: float = 0.3) -> np.ndarray:
    """Return columns that are mixtures of a few Gaussian factors, and noise."""
    return rng.standard_normal((n, m)) @ rng.standard_normal((m, d)) + noise * rng.standard_normal((n, d))


STRUCTURELESS: dict[str, Callable[[Rng], Draw]] = {
    "Gaussian noise, 120 × 40": lambda rng: (rng.standard_normal((120, 40)), 8, 4),
    "Gaussian noise, 60 × 200": lambda rng: (rng.standard_normal((60, 200)), 20, 4),
    "Gaussian noise, 40 × 20": lambda rng: (rng.standard_normal((40, 20)), 4, 4),
    "exponential noise, 60 × 30": lambda rng: (rng.exponential(1, (60, 30)), 6, 4),
    "lognormal noise": lambda rng: (rng.lognormal(0, 1, (120, 40)), 8, 4),
    "rare 0/1": lambda rng: ((rng.random((150, 60)) < 0.05).astype(float), 10, 4),
    "autoregressive, 0.9": lambda rng: (autoregressive(rng, 160, 30, 0.9), 6, 4),
    "autoregressive, 0.95": lambda rng: (autoregressive(rng, 160, 30, 0.95), 6, 4),
    "autoregressive, 0.99": lambda rng: (autoregressive(rng, 160, 30, 0.99), 6, 4),
    "noise in triplicate": lambda rng: (repeated(rng, 50, 40, 3), 8, 4),
    "noise in duplicate": lambda rng: (repeated(rng, 60, 40, 2), 8, 4),
    "standardised sparse counts": lambda rng: (
        standardised_counts(rng, np.full((150, 60), 0.08)), 10, 4
    ),
    "uniform noise": lambda rng: (rng.random((120, 40)), 8, 4),
    "heavy tails (t, 3 degrees)": lambda rng: (rng.standard_t(3, (120, 40)), 8, 4),
    "one run of drifts": lambda rng: (np.cumsum(rng.standard_normal((160, 30)), axis=0), 6, 4),
}  # fmt: skip
# Columns that have nothing in common; those of large variance hold more of it than random ones.
UNEQUAL: dict[str, Callable[[Rng], Draw]] = {
    "unequal variances": lambda rng: (rng.standard_normal((120, 40)) * np.geomspace(1, 10, 40), 8, 4)
}
# Without clusters, though with something to reconstruct.
NO_CLUSTERS: dict[str, Callable[[Rng], Draw]] = {
    "plain factors": lambda rng: (factors(rng, 120, 40), 8, 4),
} | UNEQUAL


def blobs(
    rng: Rng, n: int = 120, d: int = 40, informative: int = 12, c: int = 4, apart: float = 2.0,
    sizes: np.ndarray | None = None,
) -> Draw:  # fmt: skip
    """Return Gaussian clusters that some of the columns show."""
    y = rng.choice(c, size=n, p=sizes)
    X = rng.standard_normal((n, d))
    X[:, :informative] += apart * rng.standard_normal((c, informative))[y]
    return X, informative - informative // 3, c


def with_outliers(rng: Rng, draw: Draw) -> Draw:
    X, k, c = draw
    X[:2] = 60 * rng.standard_normal((2, X.shape[1]))
    return X, k, c


def with_wild_cell(rng: Rng, draw: Draw) -> Draw:
    X, k, c = draw
    X[rng.integers(len(X)), -1] = 1e4
    return X, k, c


def binary_blobs(rng: Rng) -> Draw:
    y = rng.integers(4, size=160)
    p = np.full((4, 60), 0.1)
    for cluster in range(4):
        p[cluster, 5 * cluster : 5 * cluster + 5] = 0.8
    return (rng.random((160, 60)) < p[y]).astype(float), 16, 4


def counted_blobs(rng: Rng) -> Draw:
    rates = np.full((4, 80), 0.3)
    for cluster in range(4):
        rates[cluster, 5 * cluster : 5 * cluster + 5] = 4.0
    return rng.poisson(rates[rng.integers(4, size=160)]).astype(float), 16, 4


def under_nuisance(rng: Rng) -> Draw:
    X, k, c = blobs(rng, 160, 60, 15, 4, 2.5)
    X[:, 30:] += 4 * rng.standard_normal((160, 1)) @ rng.standard_normal((1, 30))
    return X, k, c


def sorted_blobs(rng: Rng) -> Draw:
    X, k, c = blobs(rng)
    return X[np.argsort(X[:, :12] @ rng.standard_normal(12))], k, c


CLUSTERED: dict[str, Callable[[Rng], Draw]] = {
    "4 clusters in 12 of 40 columns": blobs,
    "3 clusters": lambda rng: blobs(rng, c=3),
    "8 clusters": lambda rng: blobs(rng, 240, 50, 20, 8, 2.0),
    "unequal sizes": lambda rng: blobs(rng, 160, sizes=np.array([0.5, 0.3, 0.12, 0.08])),
    "10 of 100 columns": lambda rng: blobs(rng, 150, 100, 10, 3, 2.5),
    "60 rows, 200 columns": lambda rng: blobs(rng, 60, 200, 40, 3, 1.5),
    "two outlying rows": lambda rng: with_outliers(rng, blobs(rng)),
    "one wild cell": lambda rng: with_wild_cell(rng, blobs(rng)),
    "0/1 clusters": binary_blobs,
    "clusters of counts": counted_blobs,
    "clusters beside a nuisance": under_nuisance,
    "clusters, rows sorted": sorted_blobs,
}


def spectra(rng: Rng, n: int = 100, d: int = 120) -> np.ndarray:
    """Return sums of a few wide peaks at fixed places, and noise."""
    at = np.linspace(0, 1, d)
    peaks = np.exp(-np.square((at - rng.random((6, 1))) / 0.05))
    return rng.gamma(2, 1, (n, 6)) @ peaks + 0.02 * rng.standard_normal((n, d))


def drivers(rng: Rng) -> Draw:
    X = rng.standard_normal((120, 40))
    X[:, 8:] = X[:, :8] @ rng.standard_normal((8, 32)) * (rng.random((1, 32)) < 0.9) / 2 + 0.5 * X[:, 8:]
    return X, 8, 4


def copies(rng: Rng) -> Draw:
    sizes = rng.permutation([12, 8, 5, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1])
    X = np.repeat(rng.standard_normal((120, 16)), sizes, axis=1)
    return X + 0.3 * rng.standard_normal(X.shape), 8, 4


def sensors(rng: Rng) -> Draw:
    drift = autoregressive(rng, 200, 3, 0.95)
    return drift @ rng.standard_normal((3, 30)) + 0.5 * rng.standard_normal((200, 30)), 5, 4


RECONSTRUCTED: dict[str, Callable[[Rng], Draw]] = {
    "4 factors, 60 columns": lambda rng: (factors(rng, 120, 60), 4, 4),
    "4 factors, 60 × 200": lambda rng: (factors(rng, 60, 200), 5, 4),
    "smooth spectra": lambda rng: (spectra(rng), 6, 4),
    "columns driven by eight others": drivers,
    "noisy copies": copies,
    "drifting sensors": sensors,
    "factors in triplicate": lambda rng: (np.repeat(factors(rng, 40, 60), 3, axis=0), 5, 4),
    "0/1 answers to three traits": lambda rng: ((factors(rng, 200, 40, 3, 0.5) > 0).astype(float), 6, 4),
    "factors, one wild cell": lambda rng: with_wild_cell(rng, (factors(rng, 120, 60), 5, 4)),
    "factors, two outlying rows": lambda rng: with_outliers(rng, (factors(rng, 120, 60), 5, 4)),
    "counts driven by factors": lambda rng: (
        rng.poisson(5 * np.exp(np.clip(0.4 * factors(rng, 150, 40, 4, 0.1), None, 3))).astype(float), 4, 4
    ),
    "roots of counts": lambda rng: (
        np.sqrt(rng.poisson(9 * np.exp(np.clip(0.4 * factors(rng, 150, 40, 3, 0.1), None, 3)))), 3, 4
    ),
}  # fmt: skip
STUDY = {
    ("clusters", "without structure"): STRUCTURELESS | NO_CLUSTERS,
    ("clusters", "with structure"): CLUSTERED,
    ("reconstruct", "without structure"): STRUCTURELESS,
    ("reconstruct", "with structure"): RECONSTRUCTED | UNEQUAL,
}


def verdict(goal: str, make: Callable[[Rng], Draw], seed: int) -> str:
    X, k, c = make(np.random.default_rng(seed))
    settings = {"n_clusters": c} if goal == "clusters" else {}
    return AutoSelector(k, goal=goal, random_state=seed, **settings).fit(X).verdict_


def tables(verdicts: dict[str, list[str]]) -> dict[str, dict[str, list]]:
    """Return the share of each verdict by kind, and over all kinds."""
    names = ("yes", "no", "unclear")
    found, whole = {}, []
    for (goal, structure), kinds in STUDY.items():
        rows = []
        for kind in kinds:
            said = verdicts.get(f"{goal}: {kind}", [])
            if said:
                rows.append(
                    [kind, str(len(said)), *(f"{said.count(name) / len(said):.0%}" for name in names)]
                )
        found[f"{goal}, {structure}"] = {"columns": ["data", "draws", *names], "rows": rows}
        all_said = [each for kind in kinds for each in verdicts.get(f"{goal}: {kind}", [])]
        counts = (str(all_said.count(name)) for name in names)
        whole.append([f"{goal}, {structure}", str(len(all_said)), *counts])
    return {"all": {"columns": ["tables", "number", *names], "rows": whole}, **found}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=40)
    parser.add_argument("--kinds", nargs="*", help="parts of names")
    parser.add_argument("--goals", nargs="*", default=["clusters", "reconstruct"])
    parser.add_argument("--results", type=Path, default=RESULTS)
    options = parser.parse_args()
    stored = json.loads(options.results.read_text(encoding="utf-8")) if options.results.exists() else {}
    verdicts: dict[str, list[str]] = stored.get("verdicts", {})
    for (goal, structure), kinds in STUDY.items():
        for kind, make in kinds.items():
            if goal not in options.goals or (options.kinds and not any(k in kind for k in options.kinds)):
                continue
            said = verdicts.setdefault(f"{goal}: {kind}", [])
            said += [verdict(goal, make, FIRST_SEED + k) for k in range(len(said), options.draws)]
            found = {"code": code_version(), **tables(verdicts), "verdicts": verdicts}
            text = json.dumps(found, indent=1, ensure_ascii=False)
            options.results.write_text(text + "\n", encoding="utf-8")
            counts = ", ".join(f"{name} {said.count(name)}" for name in sorted(set(said)))
            print(f"{goal}, {structure}, {kind}: {counts}", flush=True)


if __name__ == "__main__":
    main()
