"""MCFS: multi-cluster feature selection."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from ufselect._columns import SelectionRequest
from ufselect.base import FitResult, UnsupervisedSelector
from ufselect.gram import GramOperator, gram_operator
from ufselect.gram.spectrum import rank_limit
from ufselect.graphs import (
    clusters_asked,
    heat_affinity,
    nearest_neighbors,
    smoothest_normalized_pairs,
    usable_neighbors,
)


@dataclass(kw_only=True, eq=False, repr=False)
class MCFS(UnsupervisedSelector):
    r"""Select features that explain the clusters of the graph of nearest neighbours.

    Multi-cluster feature selection [1]_ embeds the samples by the smoothest eigenvectors of the graph, one
    for each cluster, and explains each eigenvector by few features with least angle regression. The score of
    a feature is its largest coefficient, so explaining one cluster well is enough.

    Use it for clusters of neighbouring rows and redundant features: unlike scores of single features, the
    regression selects one of several duplicates. Without clusters in the graph, the eigenvectors and the
    selection are noise. Features in small units get large coefficients: standardise first unless units are
    comparable. At most n_samples − 1 features can enter a regression; the others are ranked by correlations.

    Parameters
    ----------
    {n_features_to_select}
    {n_clusters}
    {n_neighbors}
    {bandwidth}
    {constraints}

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Largest absolute coefficient over the eigenvectors. For features that enter no regression, the largest
        absolute correlation with an eigenvector minus 1, so at most 0; −2 for constant features.
    {ranking_and_support}
    components_ : ndarray of shape (n_clusters, n_features)
        The coefficients :math:`a_k`.
    n_clusters_, n_neighbors_ : int
        The numbers used.

    See Also
    --------
    NDFS : Start from K-means clusters, for compact clusters of known number.
    SPEC : A faster filter on the same graph, which scores features alone.
    AutoSelector : Select for clusters and compare with random columns on held-out rows.

    Notes
    -----
    Let W be the heat-kernel weights between samples of which one is among the k nearest neighbours of the
    other, D their sums and L = D − W. The targets are the c smoothest solutions of

    .. math:: L y = \lambda D y, \qquad y^\top D y = \bar d,

    after the constant one. Scaling by the mean :math:`\bar d` of D's diagonal makes the unit of W irrelevant.
    For each target, least angle regression on the centred features continues until r of them, the number to
    select, have entered, and

    .. math:: s_j = \max_k |a_{kj}| .

    A duplicate of a feature that has entered is skipped. The regressions share the columns of the Gram
    matrix, and sparse data stay sparse.

    Costs n² d for the neighbours, c eigenvectors of a sparse matrix, n d for each feature that enters, and
    c r² d for the paths.

    References
    ----------
    .. [1] D. Cai, C. Zhang and X. He (2010), "Unsupervised feature selection for multi-cluster data",
       Proceedings of the 16th ACM SIGKDD International Conference on Knowledge Discovery and Data Mining.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from ufselect import MCFS
    >>> pixels = load_digits().data
    >>> MCFS(n_features_to_select=20, n_clusters=10).fit_transform(pixels).shape
    (1797, 20)
    """

    accepts_sparse = True
    label = "MCFS"
    cost = "n² d + c r² d"

    n_clusters: int | str = "auto"
    n_neighbors: int = 5
    bandwidth: float | str = "auto"

    def _fit(self, X: Any, request: SelectionRequest) -> FitResult:
        gram = gram_operator(X)
        limit = rank_limit(gram)
        n_clusters = clusters_asked(self.n_clusters, X, X.shape[0] - 1)
        n_neighbors = usable_neighbors(self.n_neighbors, X.shape[0] - 1)
        affinity = heat_affinity(*nearest_neighbors(X, n_neighbors), self.bandwidth, smallest=1e-6)
        _, vectors = smoothest_normalized_pairs(affinity, n_clusters)
        degrees = affinity.sum(axis=1)
        targets = vectors / np.sqrt(degrees / degrees.mean())[:, None]
        targets -= targets.mean(axis=0)
        # In the units of S. Centred rows lose no digits to a large mean; sparse ones have none to lose.
        centred = X if sparse.issparse(X) else X - gram.mean
        products = (centred * (1 / gram.scale)).T @ targets
        regression = LeastAngleRegression(gram)
        count = min(request.n_selected, limit)
        coefficients = np.array([regression.coefficients(product, count) for product in products.T])
        norms = np.sqrt(gram.diag().astype(np.float64))[:, None] * np.linalg.norm(targets, axis=0)
        correlations = np.divide(np.abs(products), norms, out=np.zeros(norms.shape), where=norms > 0)
        largest = np.abs(coefficients).max(axis=0)
        unit = max(gram.scale, 1e-300 * float(largest.max()))  # coefficients stay in range for tiny data
        scores = np.where(largest > 0, largest / unit, np.minimum(correlations.max(axis=1), 1) - 1)
        return np.where(gram.diag() > 0, scores, -2.0), {
            "components_": coefficients / unit,
            "n_clusters_": n_clusters,
            "n_neighbors_": n_neighbors,
        }


class LeastAngleRegression:
    """Least angle regressions of several targets on the same features, through columns of their Gram matrix.

    Each column is computed once, whatever the number of targets.
    """

    def __init__(self, gram: GramOperator) -> None:
        self.gram = gram
        self.squares = gram.diag().astype(np.float64)
        self._columns: dict[int, NDArray] = {}

    def coefficients(self, products: NDArray, count: int) -> NDArray:
        """Return the coefficients at which the next feature after ``count`` would enter, or the last point.

        ``products`` are those of the centred features with the target. Once the target is explained, no
        further features enter.
        """
        correlations = np.array(products, dtype=np.float64)
        weights = np.zeros(correlations.size)
        is_open = self.squares > 0
        # Rounding error left of an explained target
        smallest = 1e-10 * float(np.abs(correlations).max(initial=0.0))
        active: list[int] = []
        signs = np.empty(count)
        factor = np.zeros((count, count), order="F")  # of the active block, lower triangular
        rows = np.empty((count, correlations.size))  # active columns of S
        while len(active) < count and is_open.any():
            sizes = np.where(is_open, np.abs(correlations), -1.0)
            new = int(np.argmax(sizes))
            level = float(sizes[new])
            if level <= smallest:
                break
            is_open[new] = False
            size = len(active)
            column = self._column(new)
            leverage = column[active]
            if size:  # LAPACK itself: SciPy's checks take longer than systems of this size
                leverage = linalg.lapack.dtrtrs(factor[:size, :size], leverage, lower=1)[0]
            rest = self.squares[new] - leverage @ leverage
            if rest <= 1e-10 * self.squares[new]:  # a combination of those that have entered
                continue
            factor[size, :size], factor[size, size] = leverage, np.sqrt(rest)
            rows[size], signs[size] = column, np.sign(correlations[new])
            active.append(new)
            ties = is_open & (np.abs(correlations) >= level * (1 - 1e-12))
            if len(active) < count and ties.any():
                continue  # they enter together: a step along fewer would overshoot the others
            direction = linalg.lapack.dpotrs(factor[: size + 1, : size + 1], signs[: size + 1], lower=1)[0]
            change = direction @ rows[: size + 1]  # of the correlations; 1 in size for the active ones
            # The first open feature to be as correlated as the active ones, or the least-squares point.
            with np.errstate(divide="ignore", invalid="ignore"):
                meets = np.stack(
                    [(level - correlations) / (1 - change), (level + correlations) / (1 + change)]
                )
            meets = meets[:, is_open]
            length = float(min(level, meets[meets > 1e-12 * level].min(initial=np.inf)))
            weights[active] += length * direction
            correlations -= length * change
        return weights

    def _column(self, index: int) -> NDArray:
        if index not in self._columns:
            self._columns[index] = self.gram.columns(np.array([index]))[:, 0].astype(np.float64)
        return self._columns[index]
