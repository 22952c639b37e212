"""Every selector on the data sets that come with scikit-learn: clustering scores and CPU seconds.

``python benchmarks/bundled_sets.py | python benchmarks/record.py bundled`` renews the documentation's tables,
and with them the gains in its table of selectors. Default parameters throughout; labels are used for scoring
only. Selectors come from the registry, so a new method is listed without editing this file; one whose
optional packages are absent is named with the reason.
"""

from __future__ import annotations

import time
import warnings

import numpy as np
from common import print_table
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.preprocessing import scale
from threadpoolctl import threadpool_limits

from ufselect.methods._base import UnsupervisedSelector
from ufselect.methods.rebuild.ridge import LinearMap
from ufselect.metrics import evaluate_selection
from ufselect.registry import all_selectors, missing_requirements

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


def score(selector: type[UnsupervisedSelector], X: np.ndarray, y: np.ndarray, count: int) -> list[str]:
    """Return ACC, NMI and seconds; mean and spread over K-means runs and, where random, over seeds."""
    accuracy, information, errors, seconds = [], [], [], []
    for seed in SEEDS if selector.is_stochastic else (0,):
        estimator = with_clusters(selector, count, np.unique(y).size, seed)
        started = time.process_time()
        estimator.fit(X)
        seconds.append(time.process_time() - started)
        record = evaluate_selection(X, y, np.flatnonzero(estimator.support_), n_runs=N_RUNS)
        accuracy.extend(record.acc_runs)
        information.extend(record.nmi_runs)
        errors.append(LinearMap.from_rows(X, np.flatnonzero(estimator.support_), None, None).error)
    return [_spread(accuracy), _spread(information), _rebuilt(errors), f"{np.mean(seconds):.2g}"]


def _rebuilt(errors: list[float]) -> str:
    """Return the share of the variance of rows left out that a linear map rebuilds, in per cent."""
    return f"{100 * (1 - np.mean(np.square(errors))):.1f}"


def _spread(values: list[float]) -> str:
    return f"{np.mean(values):.1f} ± {np.std(values):.1f}"


def all_features(X: np.ndarray, y: np.ndarray) -> list[str]:
    record = evaluate_selection(X, y, np.arange(X.shape[1]), n_runs=N_RUNS)
    return [_spread(record.acc_runs), _spread(record.nmi_runs), "100", "–"]


def rows(X: np.ndarray, y: np.ndarray, count: int) -> list[list[str]]:
    """Return a line for each method."""
    found = [["all features", *all_features(X, y)]]
    for name, selector in all_selectors().items():
        missing = missing_requirements(selector)
        cells = [f"needs {', '.join(missing)}", "", "", ""] if missing else score(selector, X, y, count)
        found.append([name, *cells])
    return found


def main() -> None:
    warnings.simplefilter("ignore")
    with threadpool_limits(1):
        for title, (X, y, count) in bundled_sets().items():
            print_table(title, ("method", "ACC", "NMI", "rebuilt", "CPU s"), rows(X, y, count))


if __name__ == "__main__":
    main()
