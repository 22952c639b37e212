"""Agreement of clusterings, such as K-means on selected features, with known classes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import normalized_mutual_info_score
from sklearn.utils import check_random_state

from ufselect._utils.threads import one_blas_thread
from ufselect._utils.validation import as_numpy, check_array, check_choice, check_positive_int, tabular
from ufselect.assessment.stability import selected_index
from ufselect.clusters.kmeans import SEEDINGS, contingencies, kmeans_runs


def clustering_accuracy(y_true: Any, y_pred: Any) -> float:
    r"""Compute the share of samples that are right under the best matching of clusters to classes.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        Classes and clusters; labels of any type, each array of one type.

    Returns
    -------
    float
        A value in [0, 1], 1 for equal clusterings.

    See Also
    --------
    sklearn.metrics.normalized_mutual_info_score : Agreement without a matching.
    evaluate_selection : Both measures for K-means on selected features.

    Notes
    -----
    .. math:: \mathrm{ACC} = \frac{1}{n} \max_{\pi} \sum_{i=1}^{n} [\,y_i = \pi(c_i)\,]

    :math:`\pi` runs over the one-to-one matchings of clusters to classes, found by linear assignment [1]_.
    If there are more clusters than classes, the samples of unmatched clusters count as wrong.

    References
    ----------
    .. [1] H. W. Kuhn (1955), "The Hungarian method for the assignment problem", Naval Research Logistics
       Quarterly 2.

    Examples
    --------
    >>> from ufselect.metrics import clustering_accuracy
    >>> clustering_accuracy(["cat", "cat", "dog", "dog"], [1, 1, 0, 1])
    0.75
    """
    classes, n_classes = encode_labels(y_true)
    clusters, n_clusters = encode_labels(y_pred)
    if classes.size != clusters.size:
        raise ValueError(
            f"y_true has {classes.size} labels and y_pred {clusters.size}; give both for the same samples."
        )
    return float(accuracies(contingencies(classes, n_classes, clusters[None], n_clusters))[0])


def encode_labels(y: Any) -> tuple[NDArray, int]:
    """Return the labels as codes 0, 1, …, and the number of distinct labels."""
    labels = np.asarray(as_numpy(y))
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim != 1 or labels.size == 0:
        raise ValueError(f"Labels must be a flat array with at least one value, not of shape {labels.shape}.")
    try:
        classes, codes = np.unique(labels, return_inverse=True)
    except TypeError as error:
        raise ValueError(
            "Labels of different types cannot be compared; give all labels the same type."
        ) from error
    return codes, classes.size


def accuracies(tables: NDArray) -> NDArray:
    """Return the accuracy under the best matching for each of several tables of classes × clusters."""
    matched = [table[linear_sum_assignment(table, maximize=True)].sum() for table in tables]
    return np.array(matched) / tables[0].sum()


@dataclass(frozen=True)
class SelectionScore:
    """Clustering scores of a selection over repeated K-means runs, in per cent.

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
        Number of runs, of clusters and of features.

    See Also
    --------
    evaluate_selection : Compute these scores.
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
    """Cluster the selected features repeatedly by K-means and compare the clusters with known classes.

    Follows the DSCOFS paper: as many clusters as classes, features as they are (not scaled), one
    initialisation per run, accuracy under the best matching, and NMI with the geometric mean.

    The seeding changes the accuracy by up to eight points. ``"random"`` and ``"k-means++"`` (plain, one
    trial per centre) reproduce the paper's values; ``"greedy-k-means++"``, scikit-learn's default, scores
    higher. Only compare scores of the same seeding.

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

    See Also
    --------
    ufselect.assess : Measure a selection without labels, on held-out rows.
    ufselect.compare.compare : Evaluate many selectors and baselines at once.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ufselect.metrics import evaluate_selection
    >>> X, y = load_iris(return_X_y=True)
    >>> score = evaluate_selection(X, y, [2, 3], n_runs=20, seeding="k-means++")
    >>> score.acc_mean > 80
    True
    """
    check_positive_int("n_runs", n_runs)
    check_choice("seeding", seeding, SEEDINGS)
    classes, n_classes = encode_labels(y)
    X = check_array(
        tabular(as_numpy(X)), accept_sparse="csc", dtype=[np.float64, np.float32], ensure_min_samples=2
    )
    chosen = X if features is None else X[:, selected_index(features, "features", X.shape[1])]
    points = np.asarray(chosen.toarray() if sparse.issparse(chosen) else chosen, dtype=np.float64)
    if len(points) != classes.size:
        raise ValueError(f"X has {len(points)} samples and y has {classes.size} labels; give one per sample.")
    seeds = check_random_state(random_state).randint(np.iinfo(np.int32).max, size=n_runs)
    # Threads only slow down such small products, and a fixed number of threads keeps sums reproducible.
    with one_blas_thread():
        labels = kmeans_runs(points, n_classes, seeds, seeding)
    acc = 100 * accuracies(contingencies(classes, n_classes, labels, n_classes))
    information = [normalized_mutual_info_score(classes, run, average_method="geometric") for run in labels]
    nmi = 100 * np.array(information)
    means = (float(acc.mean()), float(acc.std()), float(nmi.mean()), float(nmi.std()))
    return SelectionScore(*means, acc, nmi, seeding, n_runs, n_classes, points.shape[1])
