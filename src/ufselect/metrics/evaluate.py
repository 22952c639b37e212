"""The evaluation protocol: K-means on the selected features, many runs, against the known classes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_array, check_random_state

from ufselect._utils.threads import one_blas_thread
from ufselect._utils.validation import tabular
from ufselect.metrics.clustering import accuracies, contingencies, encode_labels, mutual_infos
from ufselect.metrics.kmeans import SEEDINGS, kmeans_runs
from ufselect.metrics.stability import selected_index


@dataclass(frozen=True)
class SelectionScore:
    """Clustering quality of a selection over repeated K-means runs, in per cent.

    Attributes
    ----------
    acc_mean, acc_std : float
        Mean and standard deviation (over the runs, divisor n_runs) of the clustering accuracy.
    nmi_mean, nmi_std : float
        The same of the normalised mutual information.
    acc_runs, nmi_runs : ndarray of shape (n_runs,)
        The value of every run.
    seeding : str
        How the runs were seeded.
    n_runs, n_clusters, n_features : int
        Number of runs, of clusters sought and of features used.
    """

    acc_mean: float
    acc_std: float
    nmi_mean: float
    nmi_std: float
    acc_runs: NDArray = field(repr=False)
    nmi_runs: NDArray = field(repr=False)
    seeding: str
    n_runs: int
    n_clusters: int
    n_features: int


def evaluate_selection(
    X: Any, y: Any, features: Any = None, n_runs: int = 50, seeding: str = "random", random_state: Any = 0
) -> SelectionScore:
    """Cluster the selected features repeatedly by K-means and compare with the classes.

    The protocol of the DSCOFS paper: as many clusters as classes, features as they are (not scaled), one
    initialisation per run, accuracy under the best matching and NMI with the geometric mean.

    The seeding matters by up to eight points of accuracy. ``"random"`` and ``"k-means++"`` (plain, one
    trial a centre) reproduce the paper's values; ``"greedy-k-means++"``, scikit-learn's default, scores
    higher. Only compare scores of one seeding.

    Parameters
    ----------
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        All features.
    y : array-like of shape (n_samples,)
        The known classes, of any type.
    features : array-like, default=None
        The selection: indices or a boolean mask such as ``support_``; None for all features.
    n_runs : int, default=50
        Number of K-means runs.
    seeding : {"random", "k-means++", "greedy-k-means++"}, default="random"
        How starting centres are drawn: distinct samples at random, or by k-means++.
    random_state : int, RandomState instance or None, default=0
        Seeds the runs. The first runs of a long evaluation equal those of a short one.

    Returns
    -------
    SelectionScore
        Means, standard deviations and all runs.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ufselect.metrics import evaluate_selection
    >>> X, y = load_iris(return_X_y=True)
    >>> score = evaluate_selection(X, y, [2, 3], n_runs=20, seeding="k-means++")
    >>> score.acc_mean > 80
    True
    """
    if isinstance(n_runs, bool) or not isinstance(n_runs, int | np.integer) or n_runs < 1:
        raise ValueError(f"n_runs must be an integer of at least 1, not {n_runs!r}.")
    if seeding not in SEEDINGS:
        raise ValueError(f"seeding must be one of {', '.join(SEEDINGS)}, not {seeding!r}.")
    classes, n_classes = encode_labels(y)
    X = check_array(tabular(X), accept_sparse="csc", dtype=[np.float64, np.float32], ensure_min_samples=2)
    chosen = X if features is None else X[:, selected_index(features, "features", X.shape[1])]
    points = np.asarray(chosen.toarray() if sparse.issparse(chosen) else chosen, dtype=np.float64)
    if len(points) != classes.size:
        raise ValueError(f"X has {len(points)} samples and y {classes.size} labels; they must agree.")
    seeds = check_random_state(random_state).randint(np.iinfo(np.int32).max, size=n_runs)
    # Products this small only lose time in threads, and a fixed number of them keeps sums reproducible.
    with one_blas_thread():
        labels = kmeans_runs(points, n_classes, seeds, seeding)
    tables = contingencies(classes, n_classes, labels, n_classes)
    acc, nmi = 100 * accuracies(tables), 100 * mutual_infos(tables)
    figures = (float(acc.mean()), float(acc.std()), float(nmi.mean()), float(nmi.std()), acc, nmi)
    return SelectionScore(*figures, seeding, n_runs, n_classes, points.shape[1])
