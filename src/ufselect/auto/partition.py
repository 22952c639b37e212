"""Features on which K-means finds the clusters of the neighbour graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ufselect.auto.counts import cluster_count, count_to_judge_by
from ufselect.auto.reference import build_reference
from ufselect.auto.rows import rows_of
from ufselect.auto.rules import RULES, Rankings
from ufselect.auto.sampling import sampled_rows, seed_from
from ufselect.blocks.dask import is_dask
from ufselect.common.checks import check_choice, check_positive_int
from ufselect.common.threads import one_blas_thread
from ufselect.selectors.base import Columns, Fitted, Groups, UnsupervisedSelector, choice_of
from ufselect.selectors.large import check_columns, sample_rows
from ufselect.selectors.progress import FitProgress
from ufselect.selectors.rows import RowMetadata
from ufselect.selectors.wishes import Wanted, wanted_of


class PartitionSelector(UnsupervisedSelector):
    r"""Select features on which K-means finds the clusters of the whitened neighbour graph.

    K-means on all features follows the directions of largest variance, whether they carry clusters or a
    nuisance such as illumination. Neighbours in the *whitened* principal-component scores do not: every
    direction weighs the same. The method

    1. joins each sample with its 5 nearest neighbours in the leading c, 1.5 c and 2 c scores, whitened, half
       whitened or as they are, whichever gives the graph that is cut more cleanly than that of Gaussian data
       by the widest gap; graphs as good as the best are averaged,
    2. cuts that graph into c clusters, as :class:`~ufselect.GraphClustering` does,
    3. selects features from which the clusters can be told, by one or several of the rules below.

    Rules: ``"margin"`` minimises a convex loss of the nearest-centre rule,

    .. math::

        \min_{w \in [0,1]^d,\; \sum w_j = r}\; \sum_i \sum_{q \ne y_i}
        \log\Bigl(1 + \exp\frac{D_{i y_i}(w) - D_{iq}(w)}{T}\Bigr),

    with :math:`D_{iq}(w)` the weighted squared distance of sample i to centre q, so that K-means, left to
    itself on the selected features, assigns samples as the graph does.
    ``"trace-ratio"`` maximises the between-cluster over the within-cluster variance of the selection [1]_,
    ``"variance-ratio"`` takes the features where that ratio is largest, ``"clusters"``, ``"embedding"`` and
    ``"components"`` choose greedily features whose span explains the clusters, the graph's smooth vectors, or
    the leading principal components. Several rules are followed by the mean square root of their ranks.

    The cost is a PCA, n² c for the neighbours and, for the margins, about 60 products of n × d with d × c;
    all on ``max_samples`` rows at most. Sparse data stay sparse.

    Use it when the data have clusters and features are many. It takes the graph at its word: where neighbours
    in the principal subspace say nothing about the clusters you are after, neither will the selection.

    Parameters
    ----------
    n_features_to_select : int or float, default=0.1
        Number r of features, or their share.
    n_clusters : int or "auto", default="auto"
        Number c of clusters. ``"auto"`` finds it as :class:`~ufselect.GraphClustering` does.
    rule : str or sequence of str, default="margin"
        How features are chosen once the clusters are known: any of "margin", "trace-ratio",
        "variance-ratio", "clusters", "embedding" and "components".
    max_samples : int, default=2000
        Rows to work on; more are sampled.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the sampling and of the clustering.
    keep, exclude : sequence of str or int, default=None
        Columns, by name or index, that are selected in any case, or never. Excluded columns have no part in
        the fit.
    groups : sequence or dict, default=None
        One label per column, None for a column of its own; or names of groups with their columns. A group is
        selected whole or not at all, and counts as one feature.
    max_correlation : float, default=None
        A column whose absolute correlation with a better one exceeds this waits until no other is left. Sets
        of identical columns are then listed in ``duplicates_``, for data in memory.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Score of the rule; larger is better.
    ranking_ : ndarray of shape (n_features,)
        Rank of each feature, 1 for the best.
    support_ : ndarray of shape (n_features,)
        Mask of the selected features.
    n_clusters_ : int
        The c used.
    power_ : float
        Mean power of the singular values in the scores: 0 if they were whitened, 1 if left as they are.

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
    label = "Graph partition"
    cost = "n² c + n d c"
    order = 150
    on_request = True  # one of the candidates of AutoSelector

    n_clusters_: int
    power_: float

    def __init__(
        self,
        n_features_to_select: int | float = 0.1,
        *,
        n_clusters: int | str = "auto",
        rule: str | Sequence[str] = "margin",
        max_samples: int = 2000,
        random_state: Any = None,
        keep: Columns | None = None,
        exclude: Columns | None = None,
        groups: Groups | None = None,
        max_correlation: float | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.n_clusters = n_clusters
        self.rule = rule
        self.max_samples = max_samples
        self.random_state = random_state
        self.keep = keep
        self.exclude = exclude
        self.groups = groups
        self.max_correlation = max_correlation

    def _check_parameters(self) -> None:
        for rule in rules_of(self.rule):
            check_choice("rule", rule, tuple(RULES))
        check_positive_int("max_samples", self.max_samples)

    def _in_memory(self, X: Any) -> Any:
        return sample_rows(X, self.random_state) if is_dask(X) else super()._in_memory(X)

    def _fit_to(self, X: Any, rows: RowMetadata) -> None:
        """Fit to data, or to rankings that have been worked out from them already."""
        if not isinstance(X, Rankings):
            super()._fit_to(X, rows)
            return
        wanted = wanted_of(self, check_columns(self, X.reference.rows, reset=True))
        fitted = self._rank(X)
        self._set_fitted(fitted, choice_of(fitted, wanted, lambda: X.reference.rows.gram), wanted)

    def _rank(self, rankings: Rankings) -> Fitted:
        reference = rankings.reference
        attributes = {"n_clusters_": reference.n_clusters, "power_": float(np.mean(reference.powers))}
        return Fitted(rankings.scores(rules_of(self.rule)), attributes)

    def _fit(self, X: Any, wanted: Wanted, progress: FitProgress) -> Fitted:
        seed = seed_from(self.random_state)
        rows = rows_of(sampled_rows(X, self.max_samples, seed))
        with one_blas_thread():
            count = count_to_judge_by(cluster_count(self.n_clusters, rows, seed), rows)
            return self._rank(Rankings(build_reference(rows, count, seed), wanted.n_selected))


def rules_of(rule: str | Sequence[str]) -> tuple[str, ...]:
    """Return the rules that a parameter names: one, or several to follow at once.

    Raises
    ------
    ValueError
        If it names none.
    """
    rules = (rule,) if isinstance(rule, str) else tuple(rule)
    if not rules:
        raise ValueError(f"rule is empty; give one of {', '.join(RULES)}, or several.")
    return rules
