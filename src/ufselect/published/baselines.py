"""The baselines of every comparison."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ufselect._columns import SelectionRequest
from ufselect._utils.validation import generator
from ufselect.base import FitResult, GramSelector, UnsupervisedSelector
from ufselect.gram import GramOperator, ImplicitGram, MissingSummary
from ufselect.gram.rows import centre_and_scale
from ufselect.gram.spectrum import component_spectrum


@dataclass(kw_only=True, eq=False, repr=False)
class PCALeverage(GramSelector):
    r"""Select the features with the largest PCA loadings.

    Use it as a first try, and as the baseline that a more expensive method has to beat. Correlated features
    get similar scores and are selected together, so the selection can be redundant. Features with a large
    unit dominate: standardise first unless units are comparable.

    Parameters
    ----------
    {n_features_to_select}
    {n_components}
    {constraints}

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Row norms of the loadings, in [0, 1]; larger is better.
    {ranking_and_support}
    components_ : ndarray of shape (n_components, n_features)
        The loadings.
    n_components_ : int
        The m used.

    See Also
    --------
    DOptimalLeverage : Uses the same loadings and avoids redundant features.
    DSCOFS : Selects features and loadings together, by sparse PCA.

    Notes
    -----
    The score of feature j is the norm of its row in the m leading loadings [1]_,

    .. math::

        \sqrt{\sum_{k=1}^{m} v_{jk}^2}, \qquad S v_k = \lambda_k v_k,\; \lambda_1 \ge \lambda_2 \ge \dots,

    with S the scatter matrix of the centred data. It is the square root of the leverage score: how much of
    the feature's axis lies in the principal subspace.

    The eigenvectors come from S if there are fewer features than samples, else from the row space; sparse
    data stay sparse. The cost is that of a truncated PCA.

    References
    ----------
    .. [1] M. W. Mahoney and P. Drineas (2009), "CUR matrix decompositions for improved data analysis",
       Proceedings of the National Academy of Sciences 106(3).

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from ufselect import PCALeverage
    >>> pixels = load_digits().data
    >>> PCALeverage(n_features_to_select=20, n_components=10).fit_transform(pixels).shape
    (1797, 20)
    """

    label = "PCA leverage"
    cost = "n d² (tall), n² d (wide)"
    is_nested = True

    n_components: int | str = "auto"

    def _fit_gram(self, gram: GramOperator, request: SelectionRequest) -> FitResult:
        loadings = component_spectrum(gram, self.n_components).vectors
        return (
            np.linalg.norm(loadings, axis=1),
            {"components_": loadings.T, "n_components_": loadings.shape[1]},
        )


@dataclass(kw_only=True, eq=False, repr=False)
class MaxVariance(GramSelector):
    r"""Select the features of largest variance.

    Use it as a baseline, or to reduce millions of features before a more expensive method. It looks at each
    feature alone: it selects noise and copies of a feature as readily as structure, and standardised features
    all have the same score.

    Parameters
    ----------
    {n_features_to_select}
    {constraints}

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Standard deviations; larger is better.
    {ranking_and_support}

    See Also
    --------
    PCALeverage : Also considers the correlations between features.

    Notes
    -----
    The score of feature j is its standard deviation,

    .. math:: \sqrt{\frac{1}{n} \sum_{i=1}^{n} (x_{ij} - \bar x_j)^2}.

    It takes one pass over the data, n d operations.

    Examples
    --------
    >>> from ufselect import MaxVariance
    >>> X = [[0, 1, 5], [1, 4, 9], [2, 1, 6]]
    >>> MaxVariance(n_features_to_select=2).fit(X).get_support()
    array([False,  True,  True])
    """

    label = "Max variance"
    cost = "n d"
    is_nested = True

    def _fit(self, X: Any, request: SelectionRequest) -> FitResult:
        if not isinstance(X, np.ndarray) or request.rows is not None:
            return super()._fit(X, request)
        missing = np.isnan(X)
        n_missing = missing.sum(axis=0)
        if not n_missing.any():
            return self._fit_gram(ImplicitGram(X, *centre_and_scale(X)), request)
        # The mean of the observed values adds nothing to their sum of squares.
        observed = np.maximum(len(X) - n_missing, 1)
        first = X[np.argmin(missing, axis=0), np.arange(X.shape[1])]
        middle = np.nan_to_num(first + np.where(missing, 0, X - first).sum(axis=0) / observed)
        filled = np.where(missing, middle, X).astype(X.dtype)
        scores = self._fit_gram(ImplicitGram(filled, *centre_and_scale(filled)), request)
        summary = MissingSummary("pairwise", float(n_missing.sum() / X.size), 0.0)
        return scores * np.sqrt(len(X) / observed), {"missing_": summary}

    def _fit_gram(self, gram: GramOperator, request: SelectionRequest) -> FitResult:
        return np.sqrt(gram.diag() / gram.n_samples) * gram.scale


@dataclass(kw_only=True, eq=False, repr=False)
class RandomSubset(UnsupervisedSelector):
    r"""Select features at random.

    Use it as the baseline that shows how much of a method's quality comes from the number of features alone:
    on data with many redundant features that is most of it. The data are only checked, not used.

    Parameters
    ----------
    {n_features_to_select}
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random numbers.
    {constraints}

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        The random numbers by which features are ranked.
    {ranking_and_support}

    See Also
    --------
    assess : Compare a selection with random columns on held-out rows.

    Notes
    -----
    The ranking is a uniformly random permutation, so that each set of r of the d features has probability

    .. math:: 1 \Big/ \binom{d}{r},

    and for one seed a smaller selection is contained in a larger one.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from ufselect import RandomSubset
    >>> X = load_wine().data
    >>> RandomSubset(n_features_to_select=4, random_state=0).fit_transform(X).shape
    (178, 4)
    """

    accepts_sparse = True
    is_stochastic = True
    label = "Random"
    accepts_device_arrays = True
    depends_on_scale = False
    cost = "d"
    is_nested = True

    random_state: Any = None

    def _fit(self, X: Any, request: SelectionRequest) -> FitResult:
        return generator(self.random_state).random(X.shape[1])
