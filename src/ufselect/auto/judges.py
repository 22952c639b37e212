"""What a selection is worth: to K-means, to graph clustering, or for rebuilding all features."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from ufselect.auto.criteria import partition_agreement
from ufselect.auto.pool import Candidate, Shared, scores_of
from ufselect.auto.reference import Reference, build_reference
from ufselect.auto.rows import rows_of, unit_of
from ufselect.auto.sampling import kmeans_seeds
from ufselect.common.deadline import check_time
from ufselect.metrics.kmeans import kmeans_runs

# Runs after which candidates far behind get no more, the last for all that are left.
KMEANS_LOOKS = (3, 6, 10)
# Rows up to which ten runs at once take at most 1.6 times as long as three do.
FEW_ROWS = 200
# Iterations of each run: the agreement with a partition hardly changes after them, unlike the centres.
# docs/tuning.md has the table.
MAX_ITER = 10
N_FOLDS = 3
# Ridges of the map that rebuilds, in units of the mean variance of the selected features.
RIDGES = (1e-6, 1e-4, 1e-2, 1.0)


class Judge(Protocol):
    """Gives values to selections, the larger the better, one per run, draw or fold.

    Attributes
    ----------
    measure : str
        What the values are, in words.
    all_compete : bool
        Whether all features can be worse than some of them; else their value is 1 by definition.
    looks : tuple of int
        Numbers of values after which candidates are compared, the last one all there are.
    """

    measure: str
    all_compete: bool
    looks: tuple[int, ...]

    def values(self, features: NDArray, runs: slice) -> NDArray:
        """Return the values of the named runs for given features."""

    def values_of(self, candidate: Candidate, shared: Shared, features: NDArray, runs: slice) -> NDArray:
        """Return the values of the named runs for a candidate that chose these features from all rows."""


class KMeansJudge:
    """Compares K-means on the selected features with the reference partition."""

    measure = "agreement (NMI) of K-means on its features with the clusters of the neighbour graph"
    all_compete = True

    def __init__(self, reference: Reference, seed: int) -> None:
        self.reference = reference
        is_small = reference.rows.shape[0] <= FEW_ROWS
        self.looks: tuple[int, ...] = KMEANS_LOOKS[-1:] if is_small else KMEANS_LOOKS
        self.seeds = kmeans_seeds(seed, KMEANS_LOOKS[-1])

    def values(self, features: NDArray, runs: slice) -> NDArray:
        points = self.reference.rows.points(features)
        n_clusters, seeds = self.reference.n_clusters, self.seeds[runs]
        labels = kmeans_runs(points, n_clusters, seeds, "k-means++", MAX_ITER, is_exact=False)
        return partition_agreement(labels, self.reference.labels)

    def values_of(self, candidate: Candidate, shared: Shared, features: NDArray, runs: slice) -> NDArray:
        return self.values(features, runs)


class GraphJudge:
    """Compares graph clustering on the selected features with the reference partition."""

    measure = "agreement (NMI) of graph clustering on its features with that on all features"
    all_compete = False
    looks: tuple[int, ...] = (1,)

    def __init__(self, reference: Reference, seed: int) -> None:
        self.reference = reference
        self.seed = seed

    def values(self, features: NDArray, runs: slice) -> NDArray:
        reference = self.reference
        rows = rows_of(reference.rows.columns(features))
        if rows.gram.trace() == 0:
            return np.zeros(1)[runs]
        labels = build_reference(rows, reference.n_clusters, self.seed, reference.powers).labels
        return partition_agreement(labels[None], reference.labels)[runs]

    def values_of(self, candidate: Candidate, shared: Shared, features: NDArray, runs: slice) -> NDArray:
        return self.values(features, runs)


class RebuildJudge:
    """Rebuilds all features of rows that took no part in the choice, by a linear map."""

    measure = "share of the variance of held-out rows that a linear map of its features rebuilds"
    all_compete = False
    looks: tuple[int, ...] = (N_FOLDS,)

    def __init__(self, X: Any, seed: int) -> None:
        self.X = X / unit_of(X)
        n_folds = min(N_FOLDS, X.shape[0])
        self.folds = np.array_split(np.random.default_rng(seed).permutation(X.shape[0]), n_folds)

    def values(self, features: NDArray, runs: slice) -> NDArray:
        return _best_ridge([self._shares(fold, features) for fold in self.folds])[runs]

    def values_of(self, candidate: Candidate, shared: Shared, features: NDArray, runs: slice) -> NDArray:
        """Let the candidate choose anew without each fold, so that no row judges what it helped to choose."""
        shares = []
        for fold in self.folds:
            part = Shared(self._others(fold), None, shared.wanted)
            scores = scores_of(candidate.fitted(part), candidate.name, part)
            chosen = np.flatnonzero(part.choice(scores).support)
            shares.append(self._shares(fold, chosen))
        return _best_ridge(shares)[runs]

    def _others(self, fold: NDArray) -> Any:
        return self.X[np.setdiff1d(np.arange(self.X.shape[0]), fold)]

    def _shares(self, fold: NDArray, features: NDArray) -> NDArray:
        """Return the share of the variance of the fold's rows that is rebuilt, for each ridge."""
        check_time()
        return rebuilt_shares(self._others(fold), self.X[np.sort(fold)], features)


def _best_ridge(shares: list[NDArray]) -> NDArray:
    """Return the shares of all folds at the ridge whose mean is largest."""
    table = np.array(shares)
    return table[:, int(np.argmax(table.mean(axis=0)))]


def rebuilt_shares(known: Any, held_out: Any, features: NDArray) -> NDArray:
    r"""Return how much of the variance of held-out rows some features rebuild, for each ridge.

    .. math:: 1 - \frac{\|A' - A'_C W\|_F^2}{\|A'\|_F^2}, \qquad
        W = (A_C^\top A_C + \rho I)^{-1} A_C^\top A,

    with A the known rows and A' the held-out ones, less the means of the known.
    """
    mean = np.asarray(known.mean(axis=0), dtype=np.float64).ravel()
    chosen, cross, _ = _moments(known, mean, features)
    inner, test, total = _moments(held_out, mean, features)
    unit = np.trace(chosen) / len(chosen)
    if total == 0 or unit == 0:
        return np.zeros(len(RIDGES))
    shares = []
    for ridge in RIDGES:
        shifted = chosen + ridge * unit * np.eye(len(chosen))
        coefficients = linalg.solve(shifted, cross, assume_a="pos", check_finite=False)
        error = total - 2 * np.vdot(test, coefficients) + np.vdot(coefficients, inner @ coefficients)
        shares.append(1 - error / total)
    return np.array(shares)


def _moments(X: Any, mean: NDArray, features: NDArray) -> tuple[NDArray, NDArray, float]:
    """Return the products of centred selected features with themselves and all, and the sum of squares."""
    columns = X[:, features]
    columns = (columns.toarray() if sparse.issparse(columns) else np.asarray(columns)) - mean[features]
    cross = np.asarray(columns.T @ X) - np.outer(columns.sum(axis=0), mean)
    if sparse.issparse(X):
        sums, squares = np.asarray(X.sum(axis=0)).ravel(), float(np.square(X.data, dtype=np.float64).sum())
        total = squares - 2 * float(sums @ mean) + X.shape[0] * float(mean @ mean)
    else:
        total = float(np.square(X - mean).sum())
    return columns.T @ columns, cross, total
