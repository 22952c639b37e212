"""PartitionSelector: features that show the clusters of the neighbour graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from ufselect._columns import SelectionRequest, UnitRequest, choose, ranks_from_scores
from ufselect._solver.iterate import AcceleratedState, Descent, Point, advance, iterate, start_at
from ufselect._solver.sets import project_capped_simplex
from ufselect._utils.threads import one_blas_thread
from ufselect._utils.validation import check_choice, check_positive_int, seed_from
from ufselect.base import Columns, FitResult, Groups, UnsupervisedSelector
from ufselect.clusters.clustering import find_clusters
from ufselect.clusters.graph import Reference, cut_again
from ufselect.reconstruct.greedy import GivenTargets, choose_in_rounds


class PartitionSelector(UnsupervisedSelector):
    r"""Select features on which K-means finds the clusters of the whitened neighbour graph.

    K-means on all features follows the directions of largest variance, whether they carry clusters or a
    nuisance such as illumination. Here clusters are found among neighbours in *whitened* principal-component
    scores, in which every direction has the same weight, and features are selected that show these clusters.

    Use it for data with clusters and many features. It fails if neighbours in the leading principal
    components do not belong to the same cluster.

    Parameters
    ----------
    {n_features_to_select}
    n_clusters : int or "auto", default="auto"
        Number c of clusters. ``"auto"`` finds it as :class:`~ufselect.GraphClustering` does.
    rule : str or sequence of str, default=("margin", "trace-ratio", "embedding")
        How features are selected once the clusters are known: any of "margin", "trace-ratio",
        "variance-ratio" and "embedding".
    n_partitions : int, default=3
        Number of cuts of the graph over which the ranking is averaged, because many cuts are nearly as good.
    max_samples : int, default=2000
        Maximum number of rows to use; if there are more, they are sampled.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the sampling and of the clustering.
    {constraints}

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Score of the rule; larger is better.
    {ranking_and_support}
    labels_ : ndarray of shape (n_samples,)
        The clusters found with all columns; for a dask collection, those of the sampled rows.
    n_clusters_ : int
        The number of clusters found. If it is 1, columns are selected for two clusters.
    n_clusters_range_ : list of int
        The smallest and the largest number of clusters that do about as well.

    See Also
    --------
    AutoSelector : Also assess the selection on held-out rows.
    GraphClustering : Only find the clusters.

    Notes
    -----
    Clusters are found as by :class:`~ufselect.GraphClustering`. Features that show them are selected by one
    or several rules, averaged over ``n_partitions`` cuts of the graph.

    The rule ``"margin"`` minimises a convex loss of the nearest-centre rule,

    .. math::

        \min_{w \in [0,1]^d,\; \sum w_j = r}\; \sum_i \sum_{q \ne y_i}
        \log\Bigl(1 + \exp\frac{D_{i y_i}(w) - D_{iq}(w)}{T}\Bigr),

    with :math:`D_{iq}(w)` the weighted squared distance of sample i to centre q, so that K-means on the
    selected features assigns samples as the graph does.
    ``"trace-ratio"`` maximises the ratio of between-cluster to within-cluster variance of the selection [1]_,
    ``"variance-ratio"`` selects the features whose own ratio is largest, and ``"embedding"`` greedily selects
    features whose span explains the graph's smooth vectors, without a cut. Several rules are combined by the
    mean square root of their ranks.

    The cost is a PCA, n² c for the neighbours and, for the margins, about 60 products of n × d with d × c;
    all on at most ``max_samples`` rows. Sparse data stay sparse.

    References
    ----------
    .. [1] F. Nie, S. Xiang, Y. Jia, C. Zhang and S. Yan (2008), "Trace ratio criterion for feature
       selection", AAAI.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from ufselect import PartitionSelector
    >>> X = scale(load_wine().data)
    >>> PartitionSelector(5, n_clusters=3, random_state=0).fit_transform(X).shape
    (178, 5)
    """

    accepts_sparse = True
    is_stochastic = True
    samples_rows = True
    label = "Graph partition"
    cost = "n² c + n d c"

    labels_: NDArray
    n_clusters_range_: list[int]

    def __init__(
        self,
        n_features_to_select: int | float = 0.1,
        *,
        n_clusters: int | str = "auto",
        rule: str | Sequence[str] = ("margin", "trace-ratio", "embedding"),
        n_partitions: int = 3,
        max_samples: int = 2000,
        random_state: Any = None,
        keep: Columns | None = None,
        exclude: Columns | None = None,
        feature_groups: Groups | None = None,
        max_correlation: float | None = None,
    ) -> None:
        super().__init__(n_features_to_select, keep, exclude, feature_groups, max_correlation)
        self.n_clusters = n_clusters
        self.rule = rule
        self.n_partitions = n_partitions
        self.max_samples = max_samples
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        for rule in rules_of(self.rule):
            check_choice("rule", rule, tuple(RULES))
        check_positive_int("n_partitions", self.n_partitions)
        check_positive_int("max_samples", self.max_samples)

    def _fit(self, X: Any, request: SelectionRequest) -> FitResult:
        seed = seed_from(self.random_state)
        with one_blas_thread():
            reference, labels, count, low, high = find_clusters(
                X, self.n_clusters, self.max_samples, seed, at_least=2
            )
            scores = partition_scores(
                reference, rules_of(self.rule), request.n_selected, self.n_partitions, seed
            )
        return scores, {
            "labels_": labels,
            "n_clusters_": count,
            "n_clusters_range_": [low, high],
            "_reference": reference,
        }

    def _columns_for(self, reference: Reference) -> NDArray:
        """Return the columns that show the clusters of some rows, by one cut of their graph."""
        request = self._request(reference.rows.shape[1])
        seed = seed_from(self.random_state)
        scores = partition_scores(reference, rules_of(self.rule), request.n_selected, 1, seed)
        return np.flatnonzero(choose(scores, request, lambda: reference.rows.gram)[1])


def rules_of(rule: str | Sequence[str]) -> tuple[str, ...]:
    """Return the rules that a parameter names, one or several, as a tuple."""
    rules = (rule,) if isinstance(rule, str) else tuple(rule)
    if not rules:
        raise ValueError(f"rule is empty; give one of {', '.join(RULES)}, or several.")
    return rules


TINY = np.finfo(float).tiny


def variance_ratio(reference: Reference, n_selected: int) -> NDArray:
    """Score each feature alone by the share of its variance that lies between the clusters."""
    between, within = reference.scatters
    return between / np.maximum(between + within, TINY)


def trace_ratio(reference: Reference, n_selected: int) -> NDArray:
    r"""Score features so that the best r together have the largest ratio of between to within scatter.

    :math:`\max_C \sum_{j \in C} b_j / \sum_{j \in C} w_j` is reached by taking the r largest
    :math:`b_j - \lambda w_j` and setting λ to their ratio, in turn. The value never falls and the fixed
    point is the global optimum (Nie and others 2008, see `PartitionSelector`).
    """
    between, within = reference.scatters
    ratio = _ratio(between.sum(), within.sum())
    for _ in range(50):
        best = np.argsort(ratio * within - between, kind="stable")[:n_selected]
        improved = _ratio(between[best].sum(), within[best].sum())
        if improved <= ratio:
            break
        ratio = improved
    return between - ratio * within


def _ratio(between: float, within: float) -> float:
    """Return the ratio of two scatters, at most 1e12: beyond, rounding of the first hides the second."""
    return between / max(within, between / 1e12, TINY)


def embedding_projection(reference: Reference, n_selected: int) -> NDArray:
    """Select features whose span explains the smooth vectors of the graph, greedily."""
    gram = reference.rows.gram
    products = np.asarray(reference.embedding.T @ reference.rows.matrix) / gram.scale
    request = UnitRequest.single(n_selected, gram.shape[0])
    order, gains = choose_in_rounds(gram, lambda: GivenTargets(products, request.units), request)
    scores = gains / (1 + gains.sum())
    scores[order] = n_selected - np.arange(order.size)
    return scores


def centre_margin(reference: Reference, n_selected: int) -> NDArray:
    """Weight features so that the nearest centre is the right one."""
    data = reference.rows.matrix
    even = np.full(data.shape[1], n_selected / data.shape[1])
    own = float(reference.scatters[1] @ even) / data.shape[0]
    if own <= TINY:
        return variance_ratio(reference, n_selected)
    # A temperature of half the mean squared distance to the own centre: a small one cares only about samples
    # near a border, a large one about the spread between all centres.
    margin = CentreMargin(data, reference.labels, 0.5 * own, n_selected)
    point = iterate(margin, max_iter=20, tol=1e-4).state.point
    gradient = margin.smooth_gradient(point)[1][0]
    # Many weights are exactly 0 or 1; the gradient ranks these.
    return point[0] - 1e-6 * gradient / max(float(np.abs(gradient).max()), TINY)


RULES: dict[str, Callable[[Reference, int], NDArray]] = {
    "margin": centre_margin,
    "trace-ratio": trace_ratio,
    "variance-ratio": variance_ratio,
    "embedding": embedding_projection,
}


def ranked_by(rule: str, reference: Reference, n_selected: int) -> NDArray:
    """Return the scores of a rule, with constant features below all others."""
    scores = RULES[rule](reference, n_selected)
    varies = sum(reference.scatters) > 0
    return np.where(varies, scores, scores[varies].min() - 1)


def partition_scores(
    reference: Reference, rules: Sequence[str], n_selected: int, n_partitions: int, seed: int
) -> NDArray:
    r"""Return scores that follow several rules, each averaged over several cuts of the graph.

    They are minus the mean of :math:`\sqrt{\text{rank}/d}`: the square root lets a feature that one ranking
    puts first outweigh its middling place in another.
    """
    n_cuts = 1 if set(rules) == {"embedding"} else n_partitions
    cuts = [reference, *(cut_again(reference, seed + 7919 * cut) for cut in range(1, n_cuts))]
    rankings = [
        [ranked_by(rule, each, n_selected) for each in ([reference] if rule == "embedding" else cuts)]
        for rule in rules
    ]
    if len(rankings) == len(rankings[0]) == 1:
        return rankings[0][0]
    means = [np.mean([np.sqrt(ranks_from_scores(each)) for each in some], axis=0) for some in rankings]
    return -np.mean(means, axis=0) / np.sqrt(reference.rows.shape[1])


class CentreMargin(Descent):
    r"""Minimise the logistic loss of the nearest-centre rule over feature weights in [0, 1] of a given sum.

    .. math::

        f(w) = \frac{1}{n} \sum_i \sum_{q \ne y_i}
        \log\Bigl(1 + \exp\frac{D_{i y_i}(w) - D_{iq}(w)}{T}\Bigr), \qquad
        D_{iq}(w) = \sum_j w_j (a_{ij} - \mu_{qj})^2,

    with :math:`\mu_q` the centre of cluster q and T the ``temperature``. Distances are linear in w, so f is
    convex. ``labels`` are consecutive integers from 0. Accelerated projected gradient steps start from equal
    weights; a point is the weights and their excess.
    """

    def __init__(self, A: Any, labels: NDArray, temperature: float, n_selected: int) -> None:
        self.A, self.labels, self.temperature, self.n_selected = A, labels, temperature, n_selected
        self.rows = np.arange(A.shape[0])
        sizes = np.bincount(labels)
        self.member = np.zeros((A.shape[0], sizes.size))
        self.member[self.rows, labels] = 1.0
        self.centres = (self.member.T @ A) / sizes[:, None]
        self.squared_centres = np.square(self.centres)

    def excess(self, weights: NDArray) -> NDArray:
        """Return by how much the own centre is farther than each other one, over T: linear in the weights."""
        # The squared norm of a sample is the same for all centres and drops out of the differences.
        distance = self.squared_centres @ weights - self.A @ (2 * weights * self.centres).T
        return (distance[self.rows, self.labels][:, None] - distance) / self.temperature

    def init(self) -> AcceleratedState:
        weights = np.full(self.A.shape[1], self.n_selected / self.A.shape[1])
        point = weights, self.excess(weights)
        slope = float(np.linalg.norm(self.smooth_gradient(point)[1][0]))
        # The first step has 0.3 times the length of r whole weights.
        return start_at(self, point, slope / (0.3 * np.sqrt(self.n_selected)))

    def step(self, state: AcceleratedState) -> AcceleratedState:
        return advance(self, state) if state.curvature > 0 else state

    def smooth(self, point: Point) -> float:
        loss = np.logaddexp(0.0, point[1])
        loss[self.rows, self.labels] = 0.0
        return float(loss.sum()) / self.rows.size

    def smooth_gradient(self, point: Point) -> tuple[float, Sequence[NDArray]]:
        pull = expit(point[1])
        pull[self.rows, self.labels] = 0.0
        balance = self.member * pull.sum(axis=1, keepdims=True) - pull
        gradient = balance.sum(axis=0) @ self.squared_centres
        gradient -= 2 * np.einsum("ij,ij->j", balance.T @ self.A, self.centres)
        return self.smooth(point), (gradient / (self.temperature * self.rows.size),)

    def proximal(self, point: Sequence[NDArray], curvature: float) -> Point:
        weights = project_capped_simplex(point[0], self.n_selected)
        return weights, self.excess(weights)

    def penalty(self, point: Point) -> float:
        return 0.0
