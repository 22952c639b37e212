"""Features on which K-means finds the clusters of the neighbour graph."""

from __future__ import annotations

from typing import Any

from ufselect.auto.reference import Reference, build_reference
from ufselect.auto.rules import RULES
from ufselect.auto.sampling import resolve_n_clusters, sampled_rows, seed_from
from ufselect.common.checks import check_choice, check_positive_int
from ufselect.common.threads import one_blas_thread
from ufselect.gram import gram_operator
from ufselect.selectors.base import Columns, Fitted, Groups, UnsupervisedSelector, choice_of
from ufselect.selectors.large import check_columns
from ufselect.selectors.progress import FitProgress
from ufselect.selectors.rows import RowMetadata
from ufselect.selectors.wishes import Wanted, wanted_of


class PartitionSelector(UnsupervisedSelector):
    r"""Select features on which K-means finds the clusters of the whitened neighbour graph.

    K-means on all features follows the directions of largest variance, whether they carry clusters or a
    nuisance such as illumination. Neighbours in the *whitened* principal-component scores do not: every
    direction weighs the same. The method

    1. joins each sample with its 5 nearest neighbours in the leading c, 1.5 c and 2 c scores, with weights
       between the data's own and equal ones, whichever gives the graph that is cut more cleanly than that of
       Gaussian data by the widest gap,
    2. cuts that graph into c clusters by spectral clustering [1]_,
    3. selects features from which the clusters can be told, by one of the rules below.

    Rules: ``"margin"`` minimises a convex loss of the nearest-centre rule,

    .. math::

        \min_{w \in [0,1]^d,\; \sum w_j = r}\; \sum_i \sum_{q \ne y_i}
        \log\Bigl(1 + \exp\frac{D_{i y_i}(w) - D_{iq}(w)}{T}\Bigr),

    with :math:`D_{iq}(w)` the weighted squared distance of sample i to centre q, so that K-means, left to
    itself on the selected features, assigns samples as the graph does.
    ``"trace-ratio"`` maximises the between-cluster over the within-cluster variance of the selection [2]_,
    ``"variance-ratio"`` takes the features where that ratio is largest, ``"clusters"`` and ``"embedding"``
    choose greedily features whose span explains the clusters, or the graph's smooth vectors.

    The cost is n² d for the neighbours and, for the margins, about 60 products of n × d with d × c; all on
    ``max_samples`` rows at most.

    Use it when the data have clusters and features are many. It takes the graph at its word: where neighbours
    in the principal subspace say nothing about the clusters you are after, neither will the selection.

    Parameters
    ----------
    n_features_to_select : int or float, default=0.1
        Number r of features, or their share.
    n_clusters : int or "auto", default="auto"
        Number c of clusters. ``"auto"`` takes one more than the components of the broken-stick rule.
    rule : {"margin", "trace-ratio", "variance-ratio", "clusters", "embedding"}, default="margin"
        How features are chosen once the clusters are known.
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
        Power of the singular values in the scores: 0 if they were whitened, 1 if left as they are.

    References
    ----------
    .. [1] A. Y. Ng, M. I. Jordan and Y. Weiss (2001), "On spectral clustering: analysis and an algorithm",
       Advances in Neural Information Processing Systems 14.
    .. [2] F. Nie, S. Xiang, Y. Jia, C. Zhang and S. Yan (2008), "Trace ratio criterion for feature
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

    is_stochastic = True
    label = "Graph partition"
    cost = "n² d + n d c"
    order = 150
    on_request = True  # one of the candidates of AutoSelector

    n_clusters_: int
    power_: float

    def __init__(
        self,
        n_features_to_select: int | float = 0.1,
        *,
        n_clusters: int | str = "auto",
        rule: str = "margin",
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
        check_choice("rule", self.rule, tuple(RULES))
        check_positive_int("max_samples", self.max_samples)

    def _fit_to(self, X: Any, rows: RowMetadata) -> None:
        """Fit to data, or to a reference that has been built from them already."""
        if not isinstance(X, Reference):
            super()._fit_to(X, rows)
            return
        wanted = wanted_of(self, check_columns(self, X.A, reset=True))
        n_clusters = resolve_n_clusters(self.n_clusters, X.gram, len(X.A))
        fitted = self._judge(X, n_clusters, wanted.n_selected)
        self._set_fitted(fitted, choice_of(fitted, wanted, lambda: X.gram), wanted)

    def _judge(self, reference: Reference, n_clusters: int, n_selected: int) -> Fitted:
        scores = RULES[self.rule](reference, n_selected)
        return Fitted(scores, {"n_clusters_": n_clusters, "power_": reference.power})

    def _fit(self, X: Any, wanted: Wanted, progress: FitProgress) -> Fitted:
        seed = seed_from(self.random_state)
        rows = sampled_rows(X, self.max_samples, seed)
        n_clusters = resolve_n_clusters(self.n_clusters, gram_operator(X), len(rows))
        with one_blas_thread():
            return self._judge(build_reference(rows, n_clusters, seed), n_clusters, wanted.n_selected)
