"""A few wavelengths instead of all: PLS models of the fermentation spectra of chemotools."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.cross_decomposition import PLSRegression
from sklearn.model_selection import KFold
from sklearn.pipeline import Pipeline, make_pipeline

from ufselect import DSCOFS, PCALeverage, ReconstructionSelector

from .shared import Columns, Table, random_columns

COUNTS = (10, 20)
MOST_COMPONENTS = 8
N_REPEATS = 2
N_DRAWS = 8
RANGE = (950.0, 1500.0)  # 1/cm
MINUTES = 1.25  # between two spectra of the fermentation
Chooser = Callable[[np.ndarray, np.ndarray, int], Columns]  # from spectra, what is known of them, and a count


def pls(X: np.ndarray, y: np.ndarray) -> PLSRegression:
    """Return a PLS model whose number of components has the least squared error in five folds."""
    most = min(MOST_COMPONENTS, X.shape[1])
    errors = np.zeros(most)
    for train, test in KFold(5, shuffle=True, random_state=0).split(X):
        model = PLSRegression(most, scale=False).fit(X[train], y[train])
        errors += [np.sum(np.square(found - y[test])) for found in by_components(model, X[test])]
    return PLSRegression(int(errors.argmin()) + 1, scale=False).fit(X, y)


def by_components(model: PLSRegression, X: np.ndarray) -> Iterator[np.ndarray]:
    """Yield what the first, the first two, … components of a model predict: no later one changes them."""
    scores = (X - model._x_mean) @ model.x_rotations_
    for count in range(1, scores.shape[1] + 1):
        found = scores[:, :count] @ model.y_loadings_[:, :count].T + model.intercept_
        yield found.ravel() if model.intercept_.size == 1 else found


def equidistant(n_columns: int, count: int) -> Columns:
    """Return the middles of so many equal parts."""
    return ((np.arange(count) + 0.5) * n_columns / count).astype(int)


def spaced(positions: np.ndarray, count: int) -> ReconstructionSelector:
    """Return a selector that keeps a quarter of the equidistant distance between any two wavelengths."""
    distance = np.ptp(positions) / count / 4
    return ReconstructionSelector(count, positions=positions[:, None], min_distance=distance)


def by_importance(name: str) -> Chooser:
    """Return what takes the wavelengths that matter most to a PLS model of all, by a score of chemotools."""

    def choose(X: np.ndarray, y: np.ndarray, count: int) -> Columns:
        import chemotools.feature_selection

        scores = getattr(chemotools.feature_selection, name)(pls(X, y)).fit(X).feature_scores_
        return np.argsort(-np.ravel(scores))[:count]

    return choose


def choosers(positions: np.ndarray, pool: np.ndarray | None = None) -> dict[str, tuple[str, list[Chooser]]]:
    """Return each way to choose wavelengths: whether it looks at what is to be predicted, and its draws.

    What does not look chooses from a pool of spectra of which nothing else is known, if there is one.
    """
    n_columns = positions.size

    def by(make: Callable) -> list[Chooser]:
        return [lambda X, _, count: make(count).fit(X if pool is None else pool).get_support(indices=True)]

    draws = {count: list(random_columns(n_columns, count, N_DRAWS)) for count in COUNTS}
    return {
        f"all {n_columns} wavelengths": ("no", [lambda *_: np.arange(n_columns)]),
        "random wavelengths": ("no", [lambda _, __, count, s=s: draws[count][s] for s in range(N_DRAWS)]),
        "equidistant": ("no", [lambda _, __, count: equidistant(n_columns, count)]),
        "PCALeverage": ("no", by(PCALeverage)),
        "chemotools: VIP": ("yes", [by_importance("VIPSelector")]),
        "chemotools: selectivity ratio": ("yes", [by_importance("SRSelector")]),
        "DSCOFS": ("no", by(DSCOFS)),
        "ReconstructionSelector": ("no", by(ReconstructionSelector)),
        "ReconstructionSelector(min_distance=…)": ("no", by(lambda count: spaced(positions, count))),
    }


def measure() -> dict[str, dict]:
    """Return the table of the fermentation."""
    return {"spectra, glucose": glucose()}


def treated(wavenumbers: np.ndarray) -> Pipeline:
    """Return the usual treatment: a range, a straight line through its ends removed, a first derivative."""
    from chemotools.baseline import LinearCorrection
    from chemotools.derivative import SavitzkyGolay
    from chemotools.feature_selection import RangeCut

    return make_pipeline(
        RangeCut(start=RANGE[0], end=RANGE[1], x_axis=wavenumbers),
        LinearCorrection(),
        SavitzkyGolay(window_length=15, polyorder=2, deriv=1),
    )


def glucose() -> dict:
    """Return errors in g/l: of calibration samples left out by threes, and of samples of a fermentation.

    Wavelengths are chosen without what is left out. In the fermentation those who need no glucose choose from
    every tenth of the spectra that were not analysed.
    """
    from chemotools.datasets import load_fermentation_test, load_fermentation_train

    spectra, reference = load_fermentation_train()
    treatment = treated(spectra.columns.to_numpy(float))
    X, y = treatment.fit_transform(spectra.to_numpy(float)), reference.to_numpy(float).ravel()
    run, analysed = load_fermentation_test()
    nearest = np.minimum(np.rint(analysed["time"] * 60 / MINUTES).astype(int), len(run) - 1)
    X_run, y_run = treatment.transform(run.to_numpy(float)), analysed["glucose"].to_numpy(float)
    pool = np.delete(X_run, nearest, axis=0)[::10]
    positions = np.linspace(*RANGE, X.shape[1])
    figures = [f"{what}, {count} columns" for what in ("calibration", "fermentation") for count in COUNTS]
    table = Table(figures, [2] * len(figures))
    chosen = zip(choosers(positions).items(), choosers(positions, pool).values(), strict=True)
    for (name, (labels, of_calibration)), (_, of_run) in chosen:
        first = [[error_left_out(X, y, choose, c, KFold(7)) for choose in of_calibration] for c in COUNTS]
        second = [
            [
                error_left_out(X_run[nearest], y_run, choose, c, KFold(5, shuffle=True, random_state=seed))
                for choose in of_run
                for seed in range(N_REPEATS)
            ]
            for c in COUNTS
        ]
        table.add(name, labels, *first, *second)
    return table.record()


def error_left_out(X: np.ndarray, y: np.ndarray, choose: Chooser, count: int, folds: Any) -> float:
    """Return the root mean squared error over spectra left out in turn."""
    predicted = np.empty(y.size)
    for train, test in folds.split(X):
        columns = choose(X[train], y[train], count)
        predicted[test] = np.ravel(pls(X[np.ix_(train, columns)], y[train]).predict(X[np.ix_(test, columns)]))
    return float(np.sqrt(np.mean(np.square(predicted - y))))
