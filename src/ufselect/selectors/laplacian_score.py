"""Laplacian score."""

from __future__ import annotations

from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ufselect.blocks.dask import is_dask
from ufselect.graphs import (
    balanced_neighbors,
    heat_affinity,
    laplacian_quotients,
    nearest_neighbors,
    usable_neighbors,
)
from ufselect.selectors.base import Columns, Fitted, Groups, UnsupervisedSelector
from ufselect.selectors.large import sample_rows, sample_with_rows
from ufselect.selectors.progress import FitProgress, with_callbacks
from ufselect.selectors.rows import RowMetadata, refuse_row_metadata
from ufselect.selectors.wishes import Wanted

# Quotients of features that vary are at most 2.
SCORE_OF_CONSTANT = -3.0
SAMPLE_SEED = 0  # of the rows of a dask collection; fixed, for there is no parameter that names one


class LaplacianScore(UnsupervisedSelector):
    r"""Select features that vary smoothly over the graph of nearest neighbours.

    The score of feature f is [1]_

    .. math::

        s = \frac{\tilde f^\top L \tilde f}{\tilde f^\top D \tilde f}, \qquad
        \tilde f = f - \frac{f^\top D 1}{1^\top D 1}\, 1,

    with W the heat-kernel weights :math:`\exp(-\|x_i - x_j\|^2 / 2t^2)` between samples of which one is
    among the k nearest neighbours of the other, D its degrees and L = D − W. A small value means that
    neighbouring samples have nearly equal values for the feature's variance; ``scores_`` is −s.

    1. Find the k nearest neighbours of each sample.
    2. Weigh the edges by the heat kernel.
    3. Score each feature by itself, in one pass over edges and samples.

    Costs n² d for the neighbours and n k d for the scores, in memory of the data's size plus n k; sparse
    data stay sparse.

    Use it as a fast filter where neighbours carry the structure, as with images or manifolds. It judges each
    feature alone, so that it takes redundant ones, and the graph depends on the units of all features:
    standardise first unless they are comparable.

    Parameters
    ----------
    n_features_to_select : int or float, default=0.1
        Number of features, or their share.
    n_neighbors : int, default=5
        Number k of neighbours; lowered to n_samples − 1, with a warning, if there are fewer samples.
    bandwidth : float or "auto", default="auto"
        Bandwidth t of the heat kernel, or the mean distance to the k neighbours. Weights are taken relative
        to the largest, which leaves the score unchanged, so that a small t does not make all of them vanish.
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
        −s, in [−2, 0], larger is better; −3 for features that are constant on the graph, which come last.
    ranking_ : ndarray of shape (n_features,)
        Rank of each feature, 1 for the best.
    support_ : ndarray of shape (n_features,)
        Mask of the selected features.
    n_neighbors_ : int
        The number of neighbours used; with batches a multiple of their number.

    References
    ----------
    .. [1] X. He, D. Cai, P. Niyogi (2005), "Laplacian score for feature selection", Advances in Neural
       Information Processing Systems 18.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from ufselect import LaplacianScore
    >>> pixels = load_digits().data
    >>> LaplacianScore(n_features_to_select=20).fit_transform(pixels).shape
    (1797, 20)
    """

    accepts_sparse = True
    label = "LapScore"
    cost = "n² d"
    order = 60
    is_nested = True

    n_neighbors_: int

    def __init__(
        self,
        n_features_to_select: int | float = 0.1,
        *,
        n_neighbors: int = 5,
        bandwidth: float | str = "auto",
        keep: Columns | None = None,
        exclude: Columns | None = None,
        groups: Groups | None = None,
        max_correlation: float | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.n_neighbors = n_neighbors
        self.bandwidth = bandwidth
        self.keep = keep
        self.exclude = exclude
        self.groups = groups
        self.max_correlation = max_correlation

    def _check_parameters(self) -> None:
        _resolve_bandwidth(self.bandwidth)

    def _in_memory(self, X: Any) -> Any:
        return sample_rows(X, SAMPLE_SEED) if is_dask(X) else super()._in_memory(X)

    @with_callbacks
    def fit(self, X: Any, y: Any = None, *, batch: Any = None, **row_metadata: Any) -> Self:
        """Choose the features.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or dask collection of shape (n_samples, n_features)
            The data, without missing values; of a dask collection a sample of the rows is taken.
        y : ignored
            Present for scikit-learn's pipelines.
        batch : array-like of shape (n_samples,), optional
            A label for each row, such as donor, day or plate. Every sample then gets equally many neighbours
            from each batch, so that what differs between batches alone is not smooth on the graph.
        **row_metadata
            ``sample_weight`` is refused: copies of a sample would be its nearest neighbours.

        Returns
        -------
        self
        """
        refuse_row_metadata(self, row_metadata)
        return self._fit_with(X, RowMetadata(batch=batch))

    def _fit_to(self, X: Any, rows: RowMetadata) -> None:
        if is_dask(X) and rows.is_given:
            X, taken, n_rows = sample_with_rows(X, SAMPLE_SEED)
            rows = rows.of(taken, n_rows)
        super()._fit_to(X, rows)

    def _fit(self, X: Any, wanted: Wanted, progress: FitProgress) -> Fitted:
        return self._on_graph(X, *nearest_neighbors(X, self._usable(X)))

    def _fit_rows(self, X: Any, rows: RowMetadata, wanted: Wanted, progress: FitProgress) -> Fitted:
        batches = rows.batches(X.shape[0])
        if batches is None:
            return self._fit(X, wanted, progress)
        return self._on_graph(X, *balanced_neighbors(X, self._usable(X), batches))

    def _usable(self, X: Any) -> int:
        return usable_neighbors(self.n_neighbors, X.shape[0] - 1)

    def _on_graph(self, X: Any, indices: NDArray, distances: NDArray) -> Fitted:
        affinity = heat_affinity(indices, distances, _resolve_bandwidth(self.bandwidth))
        quotients = laplacian_quotients(X, affinity)
        scores = np.where(np.isnan(quotients), SCORE_OF_CONSTANT, -quotients)
        return Fitted(scores, {"n_neighbors_": indices.shape[1]})


def _resolve_bandwidth(bandwidth: Any) -> float | None:
    """Return a positive bandwidth, or None for the automatic one."""
    if isinstance(bandwidth, str) and bandwidth == "auto":
        return None
    if isinstance(bandwidth, Real) and not isinstance(bandwidth, bool) and 0 < float(bandwidth) < np.inf:
        return float(bandwidth)
    raise ValueError(f'bandwidth must be a finite number above 0 or "auto", not {bandwidth!r}.')
