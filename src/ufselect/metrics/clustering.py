"""Agreement of a clustering with known classes: accuracy and normalised mutual information."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from scipy.special import entr


def clustering_accuracy(y_true: Any, y_pred: Any) -> float:
    r"""Return the share of samples that are right under the best matching of clusters to classes.

    .. math:: \mathrm{ACC} = \frac{1}{n} \max_{\pi} \sum_{i=1}^{n} [\,y_i = \pi(c_i)\,]

    :math:`\pi` runs over the one-to-one matchings of clusters to classes, found by linear assignment [1]_.
    When there are more clusters than classes, the samples of unmatched clusters count as wrong.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        Classes and clusters; labels of any type, each array of one type.

    Returns
    -------
    float
        A value in [0, 1], 1 for equal partitions.

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
    return float(accuracies(contingency(y_true, y_pred))[0])


def normalized_mutual_info(y_true: Any, y_pred: Any) -> float:
    r"""Return the mutual information of two partitions over the geometric mean of their entropies.

    .. math:: \mathrm{NMI}(U, V) = \frac{I(U; V)}{\sqrt{H(U)\,H(V)}}

    This is the normalisation of [1]_. Two partitions of one part each have NMI 1; if only one of them
    has a single part, NMI is 0.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        Classes and clusters; labels of any type, each array of one type.

    Returns
    -------
    float
        A value in [0, 1], 1 for equal partitions.

    References
    ----------
    .. [1] A. Strehl and J. Ghosh (2002), "Cluster ensembles: a knowledge reuse framework for combining
       multiple partitions", Journal of Machine Learning Research 3.

    Examples
    --------
    >>> from ufselect.metrics import normalized_mutual_info
    >>> normalized_mutual_info([0, 0, 1, 1], ["b", "b", "a", "a"])
    1.0
    """
    return float(mutual_infos(contingency(y_true, y_pred))[0])


def encode_labels(y: Any) -> tuple[NDArray, int]:
    """Return labels as codes 0, 1, … and their number."""
    labels = np.asarray(y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim != 1 or labels.size == 0:
        raise ValueError(f"Labels must be a flat array with at least one value, not of shape {labels.shape}.")
    try:
        classes, codes = np.unique(labels, return_inverse=True)
    except TypeError as error:
        raise ValueError(
            "Labels of different types cannot be compared; give all of them one type."
        ) from error
    return codes, classes.size


def contingency(y_true: Any, y_pred: Any) -> NDArray:
    """Count the samples of each class in each cluster, classes as rows, in a stack of one table."""
    classes, n_classes = encode_labels(y_true)
    clusters, n_clusters = encode_labels(y_pred)
    if classes.size != clusters.size:
        raise ValueError(
            f"y_true has {classes.size} labels and y_pred {clusters.size}; give both for the same samples."
        )
    return contingencies(classes, n_classes, clusters[None], n_clusters)


def contingencies(classes: NDArray, n_classes: int, clusters: NDArray, n_clusters: int) -> NDArray:
    """Count the samples of each class in each cluster for several clusterings, the rows of ``clusters``."""
    n_runs = clusters.shape[0]
    cells = (np.arange(n_runs)[:, None] * n_classes + classes) * n_clusters + clusters
    counts = np.bincount(cells.ravel(), minlength=n_runs * n_classes * n_clusters)
    return counts.reshape(n_runs, n_classes, n_clusters)


def accuracies(tables: NDArray) -> NDArray:
    """Return the accuracy under the best matching for each table of a stack."""
    matched = [table[linear_sum_assignment(table, maximize=True)].sum() for table in tables]
    return np.array(matched) / tables[0].sum()


def mutual_infos(tables: NDArray) -> NDArray:
    """Return the geometric normalised mutual information for each table of a stack."""
    joint = tables / tables[0].sum()
    rows, columns = joint.sum(axis=2), joint.sum(axis=1)
    expected = rows[:, :, None] * columns[:, None, :]
    terms = np.zeros_like(joint)
    filled = tables > 0
    terms[filled] = joint[filled] * np.log(joint[filled] / expected[filled])
    normaliser = np.sqrt(entr(rows).sum(axis=1) * entr(columns).sum(axis=1))
    information = np.divide(
        terms.sum(axis=(1, 2)), normaliser, where=normaliser > 0, out=np.zeros(len(tables))
    )
    single = (np.count_nonzero(rows, axis=1) == 1) & (np.count_nonzero(columns, axis=1) == 1)
    information[single] = 1.0
    return np.clip(information, 0.0, 1.0)
