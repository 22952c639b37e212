"""Inf-FS: infinite feature selection."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, cg

from ufselect._columns import SelectionRequest
from ufselect.base import FitResult, Interval, UnsupervisedSelector
from ufselect.exceptions import ConstantDataError
from ufselect.gram import gram_operator
from ufselect.gram.spectrum import symmetric_pairs
from ufselect.redundancy import column_ranks


@dataclass(kw_only=True, eq=False, repr=False)
class InfFS(UnsupervisedSelector):
    r"""Select features with a large variance and small correlations with the others.

    Infinite feature selection [1]_ treats features as nodes of a graph. An edge has a large weight if one of
    its two features varies much and if their rank correlation is small. The score of a feature sums the
    weights of all paths that start at it; long paths count less.

    Use it as a quick filter for features of the same unit. It ignores clusters: independent noise of large
    variance scores highest, and on standardised data features that correlate with nothing do. Memory limits
    it to about ten thousand features.

    Parameters
    ----------
    {n_features_to_select}
    alpha : float, default=0.5
        Weight α of the variation relative to the lack of correlation, from 0 to 1.
    damping : float, default=0.9
        The r of the series in units of 1 / ρ(A), below 1; the closer to 1, the more long paths count.
    {constraints}

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Sums over paths, positive; 0 for constant features, which come last.
    {ranking_and_support}

    See Also
    --------
    MaxVariance : A simpler ranking by the variation alone.
    RedundancyFilter : Drop columns that correlate with others.

    Notes
    -----
    With σ the standard deviations in units of the largest and ρ Spearman's rank correlations,

    .. math:: A_{ij} = \alpha \max(\sigma_i, \sigma_j) + (1 - \alpha) (1 - |\rho_{ij}|) .

    With r = damping / (largest eigenvalue of A), the sum over all paths is

    .. math:: s = \Bigl( \sum_{l=1}^{\infty} (r A)^l \Bigr) 1 = (I - r A)^{-1} 1 - 1 .

    A system of equations is solved by conjugate gradients; [1]_ inverts a matrix. Constant features have no
    rank correlation and are not in the graph.

    Costs n d² for the correlations and d² for each of some dozens of products; memory d². The ranks of sparse
    data stay sparse, as they are taken relative to the rank of zero.

    References
    ----------
    .. [1] G. Roffo, S. Melzi and M. Cristani (2015), "Infinite feature selection", Proceedings of the IEEE
       International Conference on Computer Vision.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from ufselect import InfFS
    >>> pixels = load_digits().data
    >>> InfFS(n_features_to_select=20).fit_transform(pixels).shape
    (1797, 20)
    """

    accepts_sparse = True
    label = "Inf-FS"
    cost = "n d²"
    is_nested = True

    _parameter_constraints: ClassVar = {
        "alpha": [Interval(Real, 0, 1, closed="both")],
        "damping": [Interval(Real, 0, 1, closed="neither")],
    }

    alpha: float = 0.5
    damping: float = 0.9

    def _fit(self, X: Any, request: SelectionRequest) -> FitResult:
        deviations = np.sqrt(gram_operator(X, copy=False).diag().astype(np.float64))
        varying = np.flatnonzero(deviations)
        if varying.size == 0:
            raise ConstantDataError
        ranks = column_ranks(X[:, varying])
        ranks = ranks if sparse.issparse(ranks) else ranks - (len(ranks) + 1) / 2
        covariances = ranks.T @ ranks
        covariances = covariances.toarray() if sparse.issparse(covariances) else covariances
        means = np.asarray(ranks.sum(axis=0)).ravel() / np.sqrt(X.shape[0])
        covariances -= np.outer(means, means)
        roots = np.sqrt(covariances.diagonal())
        covariances /= roots[:, None]
        covariances /= roots
        weights = np.abs(covariances, out=covariances)  # A, in place
        np.minimum(weights, 1.0, out=weights)
        weights *= self.alpha - 1
        weights += 1 - self.alpha
        np.fill_diagonal(weights, 0.0)
        relative = deviations[varying] / deviations.max()
        weights += self.alpha * np.maximum.outer(relative, relative)
        scores = np.zeros(deviations.size)
        radius = float(symmetric_pairs(weights, 1)[0][0])
        if radius <= 0:  # there is no edge at all
            return scores
        share = self.damping / radius
        # The eigenvalues lie between 1 − damping and 1 + damping, so few steps are enough.
        system = LinearOperator(
            weights.shape, matvec=lambda vector: vector - share * (weights @ vector), dtype=float
        )
        solution, status = cg(system, np.ones(varying.size), rtol=1e-12, atol=0.0, maxiter=10_000)
        if status:
            raise ValueError(
                f"damping={self.damping} is too close to 1 to compute the sum over paths; lower it."
            )
        scores[varying] = solution - 1
        return scores
