"""Error of reconstructing all columns from few, selected by ReconstructionSelector, rivals and at random.

``python benchmarks/reconstruct.py FOLDER | python benchmarks/record.py reconstruct`` reads every .npz in a
folder that holds a two-dimensional array ``X`` and prints, for 20 and 50 columns, the mean over the sets of

    ‖X − X̂‖ / ‖X − mean‖    on the 30 % of the rows that are held out,

with the ridge of the linear map chosen on the other rows in five folds, the same for every method. Two splits
a set. ``--costs`` prints errors against budgets instead, where columns cost from 1 at the ends to 10 in the
middle, compared with PySensors' CCQR with the best of 13 weights of its costs for each budget.

Rivals run in the same process if they are installed: PySensors (``pip install python-sensors``; its pivoted
QR with as many, half or twice as many basis modes), CUR and farthest points of skmatter (``pip install
skmatter``, which may need an older scikit-learn and so an environment of its own), and the best subset of
abess for predicting all columns at once. FSCA is forward selection with exchanges until none lowers the
error, without shrinkage. Seconds are CPU seconds of one thread for selecting, summed over the sets.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from common import print_table
from threadpoolctl import threadpool_limits

from ufselect import DOptimalLeverage, GreedyProjection, PCALeverage, ReconstructionSelector
from ufselect.gram import gram_operator
from ufselect.reconstruct.placement import Placement
from ufselect.reconstruct.ridge import component_errors, held_out_error
from ufselect.reconstruct.search import Problem, Search

COUNTS = (20, 50)
BUDGETS = (20.0, 50.0, 100.0, 200.0)
N_SPLITS = 2
N_DRAWS = 5
MOST_PASSES = 10
TEST_SHARE = 0.3
FLOOR = "as many principal components (need all columns)"
Chooser = Callable[[np.ndarray, int], np.ndarray]


def random_errors(
    train: np.ndarray, test: np.ndarray, counts: list[int], n_draws: int, rng: np.random.Generator
) -> np.ndarray:
    """Return the held-out errors of random columns: a row a draw, a column a count."""
    draws = [rng.permutation(test.shape[1])[: max(counts)] for _ in range(n_draws)]
    return np.array([[held_out_error(train, test, draw[:count]) for count in counts] for draw in draws])


def selector(make: Callable[[int], Any]) -> Chooser:
    """Return what chooses columns as a selector does."""
    return lambda X, count: np.flatnonzero(make(count).fit(X).get_support())


def pysensors(modes: Callable[[int, int], int]) -> Chooser:
    """Return what chooses columns as PySensors does, with a number of SVD modes."""

    def choose(X: np.ndarray, count: int) -> np.ndarray:
        basis = import_module("pysensors.basis").SVD(n_basis_modes=modes(count, min(X.shape) - 1))
        model = import_module("pysensors.reconstruction").SSPOR(basis=basis, n_sensors=count)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return np.asarray(model.fit(X - X.mean(axis=0), quiet=True).get_selected_sensors())

    return choose


def skmatter(name: str) -> Chooser:
    """Return what chooses columns as a selector of skmatter does."""

    def choose(X: np.ndarray, count: int) -> np.ndarray:
        model = getattr(import_module("skmatter.feature_selection"), name)(n_to_select=count)
        return np.asarray(model.fit(X - X.mean(axis=0)).selected_idx_)

    return choose


def abess(X: np.ndarray, count: int) -> np.ndarray:
    """Choose the columns of the best subset of abess for the regression of all columns on them."""
    varying = np.flatnonzero(np.ptp(X, axis=0) > 0)
    A = X[:, varying] - X[:, varying].mean(axis=0)
    model = import_module("abess.linear").MultiTaskRegression(support_size=count, thread=1).fit(A, A)
    return varying[np.any(np.reshape(model.coef_, (varying.size, -1)) != 0, axis=1)]


def fsca(X: np.ndarray, count: int) -> np.ndarray:
    """Choose columns by forward selection and exchanges until none lowers the error: FSCA, refined.

    L. Puggini and S. McLoone (2017), "Forward selection component analysis: algorithms and applications",
    IEEE Transactions on Pattern Analysis and Machine Intelligence 39(12).
    """
    gram = gram_operator(X)
    problem = Problem(gram, Placement(np.asarray(gram.diag() > 0), count))
    search = Search(problem, 0.0, leaves_out=False)
    search.grow()
    for _ in range(MOST_PASSES):
        if search.sweep() == 0:
            break
    return np.array(search.chosen)


METHODS: dict[str, Chooser] = {
    "ReconstructionSelector": selector(ReconstructionSelector),
    "GreedyProjection, features": selector(lambda count: GreedyProjection(count, target="features")),
    "FSCA, refined": fsca,
    "DOptimalLeverage": selector(DOptimalLeverage),
    "PCALeverage": selector(PCALeverage),
}
RIVALS: dict[str, dict[str, Chooser]] = {
    "pysensors": {
        "PySensors QR, as many modes": pysensors(min),
        "PySensors QR, half the modes": pysensors(lambda count, most: min(max(1, count // 2), most)),
        "PySensors QR, twice the modes": pysensors(lambda count, most: min(2 * count, most)),
    },
    "abess": {"abess, all columns at once": abess},
    "skmatter": {"skmatter CUR": skmatter("CUR"), "skmatter FPS": skmatter("FPS")},
}


def methods() -> dict[str, Chooser]:
    """Return every method whose package is installed."""
    found = dict(METHODS)
    for package, choosers in RIVALS.items():
        if find_spec(package) is None:
            print(f"{package} is not installed and is not measured.")
        else:
            found.update(choosers)
    return found


def data_sets(folder: Path) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the arrays of a folder that have enough columns to choose from."""
    for path in sorted(folder.glob("*.npz")):
        with np.load(path, allow_pickle=False) as stored:
            X = np.asarray(stored["X"], dtype=np.float64)
        if X.shape[1] > min(COUNTS):
            yield path.stem, X


def split(X: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows to choose and fit with, and rows to reconstruct."""
    order = np.random.default_rng(seed).permutation(len(X))
    n_test = round(TEST_SHARE * len(X))
    return X[order[n_test:]], X[order[:n_test]]


def measure(X: np.ndarray, count: int, choosers: dict[str, Chooser]) -> dict[str, tuple[float, float]]:
    """Return each method's error and CPU seconds, means over the splits."""
    results: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for seed in range(N_SPLITS):
        train, test = split(X, seed)
        count = min(count, X.shape[1] - 1)
        results[FLOOR].append((float(component_errors(train, test, [count])[0]), np.nan))
        draws = random_errors(train, test, [count], N_DRAWS, np.random.default_rng(seed))
        results["random columns"].append((float(np.mean(draws)), np.nan))
        for name, choose in choosers.items():
            started = time.process_time()
            columns = choose(train, count)
            seconds = time.process_time() - started
            results[name].append((held_out_error(train, test, columns), seconds))
    return {name: tuple(np.mean(values, axis=0)) for name, values in results.items()}


def ccqr_orders(X: np.ndarray, prices: np.ndarray) -> list[np.ndarray]:
    """Return the orders in which PySensors' cost-constrained QR takes columns, one a weight of the costs."""
    modes = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)[2][: max(COUNTS)].T
    unit = float(np.linalg.norm(modes, axis=1).mean()) / prices.mean()
    ccqr = import_module("pysensors.optimizers").CCQR
    weights = [0.0, *np.geomspace(1e-3, 10, 12)]
    return [
        np.asarray(ccqr(sensor_costs=weight * unit * prices).fit(modes).get_sensors()) for weight in weights
    ]


def cost_front(X: np.ndarray) -> dict[float, tuple[float, float]]:
    """Return for each budget the errors of ReconstructionSelector and of CCQR, tuned on the held-out rows."""
    n_features = X.shape[1]
    prices = 1 + 9 * (1 - np.abs(np.linspace(-1, 1, n_features)))
    train, test = split(X, 0)
    orders = ccqr_orders(train, prices)
    front = {}
    for budget in BUDGETS:
        ours = ReconstructionSelector(min(200, n_features), costs=prices, budget=budget).fit(train)
        paid = [order[np.cumsum(prices[order]) <= budget] for order in orders]
        theirs = min(held_out_error(train, test, columns) for columns in paid if columns.size)
        front[budget] = held_out_error(train, test, np.flatnonzero(ours.support_)), theirs
    return front


def print_costs(folder: Path) -> None:
    """Print the errors of each set against budgets."""
    fronts = {name: cost_front(X) for name, X in data_sets(folder)}
    header = ["budget", *(f"{name}: {whose}" for name in fronts for whose in ("ours", "CCQR"))]
    rows = [
        [f"{budget:g}", *(f"{error:.3f}".lstrip("0") for front in fronts.values() for error in front[budget])]
        for budget in BUDGETS
    ]
    print_table("Error against budgets", header, rows)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="where the .npz files are")
    parser.add_argument("--costs", action="store_true", help="print errors against budgets instead")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    with threadpool_limits(1):
        if arguments.costs:
            print_costs(arguments.folder)
            return
        choosers = methods()
        sets = [[measure(X, count, choosers) for count in COUNTS] for _, X in data_sets(arguments.folder)]
    rows = []
    for name in sets[0][0]:
        errors, seconds = np.array([[table[name] for table in each] for each in sets]).T
        rows.append(
            [name, *(f"{mean:.3f}".lstrip("0") for mean in errors.mean(axis=1))]
            + [f"{total:.3g}" if total > 0 else "–" for total in seconds.sum(axis=1)]
        )
    rows.sort(key=lambda row: row[1])
    header = [
        "columns by",
        *(f"{count} columns" for count in COUNTS),
        *(f"CPU s, {count}" for count in COUNTS),
    ]
    print_table(f"Mean of {len(sets)} sets", header, rows)


if __name__ == "__main__":
    main()
