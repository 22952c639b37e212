"""Every selector on the data sets that come with scikit-learn: clustering scores and CPU seconds.

``--write docs/guide/bundled_table.md`` renews the documentation's table, ``--json
benchmarks/results/bundled.json``
the means from which its table of selectors takes the gains.
Default parameters throughout; labels are used for scoring only. Selectors come from the registry, so a new
method is listed without editing this file; one whose optional packages are absent is named with the reason.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.preprocessing import scale
from threadpoolctl import threadpool_limits

from ufselect.metrics import evaluate_selection
from ufselect.registry import all_selectors, missing_requirements
from ufselect.selectors.base import UnsupervisedSelector
from ufselect.solvers.rebuild.ridge import map_from_rows

SEEDS = range(5)
N_RUNS = 20


def bundled_sets() -> dict[str, tuple[np.ndarray, np.ndarray, int]]:
    """Return data, labels and the number of features to keep."""
    digits, cancer, wine = load_digits(), load_breast_cancer(), load_wine()
    return {
        "digits, 20 of 64": (digits.data, digits.target, 20),
        "breast cancer, 6 of 30": (scale(cancer.data), cancer.target, 6),
        "wine, 5 of 13": (scale(wine.data), wine.target, 5),
    }


def with_clusters(selector: type[UnsupervisedSelector], count: int, n_classes: int, seed: int) -> object:
    """Build a selector with its defaults, told the number of clusters where it asks for one."""
    given = {"n_features_to_select": count, "n_clusters": n_classes, "random_state": seed}
    known = selector().get_params()
    return selector(**{name: value for name, value in given.items() if name in known})


@dataclass(frozen=True)
class Measured:
    """All runs of a method on a set: K-means runs and, where it is random, seeds."""

    acc: list[float]
    nmi: list[float]
    errors: list[float]
    seconds: list[float]

    def means(self) -> dict[str, float]:
        """Return the means, the share of the variance that is rebuilt among them, in per cent."""
        shares = {"acc": np.mean(self.acc), "nmi": np.mean(self.nmi), "rebuilt": rebuilt(self.errors)}
        return {name: round(float(value), 2) for name, value in shares.items()}

    def cells(self) -> list[str]:
        """Return the cells of the Markdown table."""
        seconds = f"{np.mean(self.seconds):.2g}" if self.seconds else "–"
        return [_spread(self.acc), _spread(self.nmi), f"{rebuilt(self.errors):.1f}", seconds]


def measured(selector: type[UnsupervisedSelector], X: np.ndarray, y: np.ndarray, count: int) -> Measured:
    """Fit and score a method."""
    found = Measured([], [], [], [])
    for seed in SEEDS if selector.is_stochastic else (0,):
        estimator = with_clusters(selector, count, np.unique(y).size, seed)
        started = time.process_time()
        estimator.fit(X)
        found.seconds.append(time.process_time() - started)
        record = evaluate_selection(X, y, np.flatnonzero(estimator.support_), n_runs=N_RUNS)
        found.acc.extend(record.acc_runs)
        found.nmi.extend(record.nmi_runs)
        found.errors.append(map_from_rows(X, np.flatnonzero(estimator.support_), None, None).error)
    return found


def rebuilt(errors: list[float]) -> float:
    """Return the share of the variance of rows left out that a linear map rebuilds, in per cent."""
    return 100 * (1 - float(np.mean(np.square(errors))))


def _spread(values: list[float]) -> str:
    return f"{np.mean(values):.1f} ± {np.std(values):.1f}"


def all_features(X: np.ndarray, y: np.ndarray) -> Measured:
    record = evaluate_selection(X, y, np.arange(X.shape[1]), n_runs=N_RUNS)
    return Measured(list(record.acc_runs), list(record.nmi_runs), [0.0], [])


def study() -> dict[str, dict[str, Measured]]:
    """Return what was measured, by set and method."""
    present = {name: each for name, each in all_selectors().items() if not missing_requirements(each)}
    return {
        title: {"all features": all_features(X, y)}
        | {name: measured(selector, X, y, count) for name, selector in present.items()}
        for title, (X, y, count) in bundled_sets().items()
    }


def table(found: dict[str, dict[str, Measured]]) -> list[str]:
    """Return the lines of the Markdown table."""
    header = ["method"] + [f"{name}: {what}" for name in found for what in ("ACC", "NMI", "rebuilt", "CPU s")]
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    for name in ["all features", *all_selectors()]:
        if all(name in by_method for by_method in found.values()):
            cells = [cell for by_method in found.values() for cell in by_method[name].cells()]
        else:
            missing = ", ".join(missing_requirements(all_selectors()[name]))
            cells = [f"needs {missing}"] + [""] * (4 * len(found) - 1)
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=Path, help="file to write the table to")
    parser.add_argument("--json", type=Path, help="file to write the means to")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    with threadpool_limits(1):
        found = study()
    text = "\n".join(table(found)) + "\n"
    print(text)
    if options.write is not None:
        options.write.write_text(text, encoding="utf-8")
    if options.json is not None:
        means = {
            title: {name: each.means() for name, each in by_method.items()}
            for title, by_method in found.items()
        }
        options.json.write_text(json.dumps(means, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
