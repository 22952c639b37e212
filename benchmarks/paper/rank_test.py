"""Whether methods differ over several data sets: Friedman's test, average ranks, Nemenyi's comparison."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats


@dataclass(frozen=True)
class RankTest:
    r"""Ranks of k methods over N data sets.

    Attributes
    ----------
    labels : tuple of str
        The methods.
    average_ranks : ndarray of shape (k,)
        Mean rank, 1 for the best, ties sharing the mean of their ranks.
    statistic, p_value : float
        Friedman's chi-square and its probability if all methods were alike [1]_.
    critical_difference : float
        Nemenyi's :math:`q_\alpha \sqrt{k(k+1)/(6N)}` at level ``level``: average ranks closer than this do
        not differ significantly.
    pairwise : ndarray of shape (k, k)
        Nemenyi's p-values.
    n_datasets : int
        N.
    level : float
        Significance level.

    References
    ----------
    .. [1] J. Demšar (2006), "Statistical comparisons of classifiers over multiple data sets", Journal of
       Machine Learning Research 7.
    """

    labels: tuple[str, ...]
    average_ranks: NDArray
    statistic: float
    p_value: float
    critical_difference: float
    pairwise: NDArray
    n_datasets: int
    level: float


def rank_test(scores: ArrayLike, labels: Sequence[str], level: float = 0.05) -> RankTest:
    """Compare methods over data sets.

    Parameters
    ----------
    scores : array-like of shape (n_datasets, n_methods)
        Higher is better.
    labels : sequence of str
        Names of the methods.
    level : float, default=0.05
        Significance level of the critical difference.

    Raises
    ------
    ValueError
        If there are fewer than two data sets or three methods.
    """
    scores = np.asarray(scores, dtype=np.float64)
    if scores.ndim != 2 or scores.shape[0] < 2 or scores.shape[1] < 3 or scores.shape[1] != len(labels):
        raise ValueError(
            f"A rank test needs at least two data sets and three named methods, not scores of shape "
            f"{scores.shape} for {len(labels)} names."
        )
    n_datasets, n_methods = scores.shape
    ranks = stats.rankdata(-scores, axis=1).mean(axis=0)
    statistic, p_value = stats.friedmanchisquare(*scores.T)
    # Nemenyi's statistic is the range of normal variables, studentized up to the factor √2.
    unit = np.sqrt(n_methods * (n_methods + 1) / (6 * n_datasets)) / np.sqrt(2)
    gaps = np.abs(np.subtract.outer(ranks, ranks))
    return RankTest(
        labels=tuple(labels),
        average_ranks=ranks,
        statistic=float(statistic),
        p_value=float(p_value),
        critical_difference=float(unit * stats.studentized_range.ppf(1 - level, n_methods, np.inf)),
        pairwise=stats.studentized_range.sf(gaps / unit, n_methods, np.inf),
        n_datasets=n_datasets,
        level=level,
    )
