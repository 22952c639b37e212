"""Laplacian score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from ufselect._columns import SelectionRequest
from ufselect.base import FitResult, UnsupervisedSelector, with_callbacks
from ufselect.graphs import (
    balanced_neighbors,
    heat_affinity,
    laplacian_quotients,
    nearest_neighbors,
    usable_neighbors,
)


@dataclass(kw_only=True, eq=False, repr=False)
class LaplacianScore(UnsupervisedSelector):
    r"""Select features that vary smoothly over the graph of nearest neighbours.

    Use the Laplacian score [1]_ as a fast filter if neighbouring samples show the structure, as in images or
    on manifolds. Each feature is scored alone, so redundant ones are selected together. The graph depends on
    the units of all features: standardise first unless they are comparable.

    Parameters
    ----------
    {n_features_to_select}
    {n_neighbors}
    {bandwidth}
    {constraints}

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        −s, in [−2, 0], larger is better; −3 for features that are constant on the graph, which come last.
    {ranking_and_support}
    n_neighbors_ : int
        The number of neighbours used; with batches a multiple of their number.

    See Also
    --------
    SPEC : Other scores on the same graph.
    MCFS : Score features jointly, so that one of several redundant ones is selected.

    Notes
    -----
    The score of feature f is

    .. math::

        s = \frac{\tilde f^\top L \tilde f}{\tilde f^\top D \tilde f}, \qquad
        \tilde f = f - \frac{f^\top D 1}{1^\top D 1}\, 1,

    with W the heat-kernel weights :math:`\exp(-\|x_i - x_j\|^2 / 2t^2)` between samples of which one is
    among the k nearest neighbours of the other, D its degrees and L = D − W. A small value means that
    neighbouring samples differ little compared with the feature's variance; ``scores_`` is −s. Weights are
    relative to the largest, which leaves the score unchanged and keeps them above zero for a small t.

    Costs n² d for the neighbours and n k d for the scores, in memory of the size of the data plus n k. Sparse
    data stay sparse.

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
    is_nested = True
    samples_rows = True

    n_neighbors: int = 5
    bandwidth: float | str = "auto"

    @with_callbacks
    def fit(self, X: Any, y: Any = None, *, batch: Any = None) -> Self:
        """Select the features.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or dask collection of shape (n_samples, n_features)
            The data, without missing values. For a dask collection, a sample of the rows is used.
        y : ignored
            Present for scikit-learn's pipelines.
        batch : array-like of shape (n_samples,), optional
            A label for each row, such as donor, day or plate. Every sample then gets equally many neighbours
            from each batch, so a feature that differs only between batches is not smooth on the graph.

        Returns
        -------
        self
        """
        return self._fit_all(X, batch=batch)

    def _fit(self, X: Any, request: SelectionRequest) -> FitResult:
        n_neighbors = usable_neighbors(self.n_neighbors, X.shape[0] - 1)
        if request.rows is None:
            indices, distances = nearest_neighbors(X, n_neighbors)
        else:
            indices, distances = balanced_neighbors(X, n_neighbors, request.rows.batches)
        quotients = laplacian_quotients(X, heat_affinity(indices, distances, self.bandwidth))
        return np.where(np.isnan(quotients), -3.0, -quotients), {"n_neighbors_": indices.shape[1]}
