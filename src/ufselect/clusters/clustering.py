"""GraphClustering: the clusters of rows that selections are assessed by."""

from __future__ import annotations

from itertools import product
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils.validation import check_is_fitted

from ufselect._utils.threads import one_blas_thread
from ufselect._utils.validation import check_positive_int, seed_from, tabular, validate_data
from ufselect.clusters.graph import Reference, build_reference, cluster_range
from ufselect.gram.rows import row_blocks
from ufselect.graphs.scores import N_NEIGHBORS, sampled_rows


class GraphClustering(ClusterMixin, BaseEstimator):
    r"""Cluster rows by cutting a graph of neighbours in whitened principal-component scores.

    K-means on raw data follows the directions of largest variance, whether they carry clusters or a nuisance.
    Here every leading direction has the same weight.

    Use it to find the clusters of data with many features. It fails if the structure lies in directions of
    small variance, so that neighbours in the leading principal components do not belong together.

    Parameters
    ----------
    n_clusters : int or "auto", default="auto"
        Number c of clusters. ``"auto"`` compares, for 2 to 41 clusters, the eigenvalues of the graph in
        whitened scores with those of as many Gaussian samples. If none is much larger, there is 1 cluster.
        Otherwise it is the number for which cuts from twenty starts agree best, among those after which the
        eigenvalues fall or, if they fall slowly, those near the number of leading components. Fewer than
        eight rows count as one cluster.
        The number found can be far off: give it if you know it.
    max_samples : int, default=2000
        Maximum number of rows to cluster; if there are more, they are sampled, and each of the others gets
        the cluster of its nearest neighbours.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the sampling and of the K-means runs.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each row, as consecutive integers from 0.
    n_clusters_ : int
        The c used; ``labels_`` can hold fewer if there are two or three rows, or if rows repeat.
    n_clusters_range_ : list of int
        The smallest and the largest number of clusters that do about as well; both are c if it was given.

    See Also
    --------
    AutoSelector : Select columns that show these clusters.
    sklearn.cluster.KMeans : Cluster rows by all columns as they are.

    Notes
    -----
    1. Each sample is joined with its 5 nearest neighbours in the leading c, 1.5 c and 2 c
       principal-component scores; the weight of an edge is the share of these searches that found it. Scores
       are whitened, half whitened or both: whichever gives the graph that can be cut more cleanly, compared
       with that of Gaussian data.
    2. The samples get the diffusion coordinates :math:`\lambda_k^4 v_k`, with :math:`\lambda_k, v_k` the
       leading 1.5 c eigenpairs of the random walk on the graph [1]_, or the leading c if the eigenvalues
       clearly end with them, scaled to unit length [2]_.
    3. Ten runs of K-means cluster them, and the clusters on which the runs agree are the result [3]_.

    The cost is a PCA and n² c operations on at most ``max_samples`` rows. Sparse data stay sparse.

    References
    ----------
    .. [1] R. R. Coifman and S. Lafon (2006), "Diffusion maps", Applied and Computational Harmonic
       Analysis 21.
    .. [2] A. Y. Ng, M. I. Jordan and Y. Weiss (2001), "On spectral clustering: analysis and an algorithm",
       Advances in Neural Information Processing Systems 14.
    .. [3] A. Strehl and J. Ghosh (2002), "Cluster ensembles: a knowledge reuse framework for combining
       multiple partitions", Journal of Machine Learning Research 3.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from ufselect import GraphClustering
    >>> from ufselect.metrics import clustering_accuracy
    >>> digits = load_digits()
    >>> clusters = GraphClustering(n_clusters=10, random_state=0).fit_predict(digits.data)
    >>> clustering_accuracy(digits.target, clusters) > 0.8
    True
    """

    labels_: NDArray
    n_clusters_: int
    n_clusters_range_: list[int]
    n_features_in_: int

    def __init__(
        self, n_clusters: int | str = "auto", *, max_samples: int = 2000, random_state: Any = None
    ) -> None:
        self.n_clusters = n_clusters
        self.max_samples = max_samples
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the clusters.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The data, without missing values.
        y : ignored
            Present for scikit-learn's pipelines.

        Returns
        -------
        self
        """
        check_positive_int("max_samples", self.max_samples)
        X = self._validated(X, reset=True)
        seed = seed_from(self.random_state)
        # Products this small only lose time in threads, and one thread keeps sums reproducible.
        with one_blas_thread():
            found = find_clusters(X, self.n_clusters, self.max_samples, seed)
        self._reference, self.labels_, self.n_clusters_, *self.n_clusters_range_ = found
        return self

    def predict(self, X: Any) -> NDArray:
        """Return the cluster of new rows: the one of their nearest neighbours among those clustered.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        return assigned(self._reference, self._validated(X, reset=False))

    def _validated(self, X: Any, *, reset: bool) -> Any:
        return validate_data(
            self,
            tabular(X),
            reset=reset,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            ensure_min_samples=2 if reset else 1,
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def find_clusters(
    X: Any, n_clusters: int | str, max_samples: int, seed: int, at_least: int = 1
) -> tuple[Reference, NDArray, int, int, int]:
    """Return the reference of a sample of the rows, the clusters of all rows, and their number and its range.

    The reference has at least ``at_least`` clusters: a single one says nothing about columns.
    """
    rows, chosen = sampled_rows(X, max_samples, seed)
    count, low, high = cluster_range(n_clusters, rows, seed)
    reference = build_reference(rows, max(count, min(at_least, rows.shape[0])), seed)
    is_all = chosen.size == X.shape[0]
    labels = np.empty_like(reference.labels) if is_all else assigned(reference, X)
    labels[chosen] = reference.labels
    return reference, labels, count, low, high


def assigned(reference: Reference, X: Any) -> NDArray:
    """Return the cluster of each row of X: the one of its nearest neighbours among the reference's rows.

    Neighbours are searched as for the reference, in each of its widths and powers. Their votes are weighted
    by one over the distance, so that a row of the reference keeps its own cluster.
    """
    neighbours = []
    for power, width in product(reference.powers, sorted(set(reference.widths))):
        weights = reference.spread[:width] ** power
        known = reference.scores[:, :width] * weights
        voters = KNeighborsClassifier(min(N_NEIGHBORS, len(known)), weights="distance")
        neighbours.append((weights, voters.fit(known, reference.labels)))
    labels = np.empty(X.shape[0], dtype=np.intp)
    for block in row_blocks(X.shape[0], 8 * (reference.rows.shape[0] + X.shape[1]), 2**25):
        scores = reference.rows.project_others(X[block], reference.axes)
        votes = [each.predict_proba(scores[:, : weights.size] * weights) for weights, each in neighbours]
        labels[block] = np.sum(votes, axis=0).argmax(axis=1)
    return labels
