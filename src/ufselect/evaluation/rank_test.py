"""Whether methods differ over several data sets: Friedman's test, average ranks, Nemenyi's comparison."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from ufselect.evaluation.rows import Row


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
        Nemenyi's :math:`q_\alpha \sqrt{k(k+1)/(6N)}` at level ``level``: average ranks closer than this are
        not told apart.
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


def rank_test(scores: NDArray, labels: Sequence[str], level: float = 0.05) -> RankTest:
    """Compare methods over data sets.

    Parameters
    ----------
    scores : ndarray of shape (n_datasets, n_methods)
        Higher is better.
    labels : sequence of str
        Names of the methods.
    level : float, default=0.05
        Significance level of the critical difference.

    Raises
    ------
    ValueError
        If there are fewer than two data sets or three methods.
    ImportError
        If scikit-posthocs is not installed.
    """
    scores = np.asarray(scores, dtype=np.float64)
    if scores.ndim != 2 or scores.shape[0] < 2 or scores.shape[1] < 3 or scores.shape[1] != len(labels):
        raise ValueError(
            f"A rank test needs at least two data sets and three named methods, not scores of shape "
            f"{scores.shape} for {len(labels)} names."
        )
    n_datasets, n_methods = scores.shape
    ranks = stats.rankdata(-scores, axis=1)
    statistic, p_value = stats.friedmanchisquare(*scores.T)
    return RankTest(
        labels=tuple(labels),
        average_ranks=ranks.mean(axis=0),
        statistic=float(statistic),
        p_value=float(p_value),
        critical_difference=critical_difference(n_methods, n_datasets, level),
        pairwise=_nemenyi(scores),
        n_datasets=n_datasets,
        level=level,
    )


def critical_difference(n_methods: int, n_datasets: int, level: float = 0.05) -> float:
    """Return the difference of average ranks from which Nemenyi's test tells two methods apart.

    Examples
    --------
    >>> from ufselect.evaluation.rank_test import critical_difference
    >>> round(critical_difference(4, 14), 2)
    1.25
    """
    quantile = stats.studentized_range.ppf(1 - level, n_methods, np.inf) / np.sqrt(2)
    return float(quantile * np.sqrt(n_methods * (n_methods + 1) / (6 * n_datasets)))


def score_matrix(
    chosen: Mapping[tuple[str, str], Row], datasets: Sequence[str], methods: Sequence[str], metric: str
) -> NDArray:
    """Arrange chosen rows as data sets × methods."""
    return np.array([[getattr(chosen[name, m], f"{metric}_mean") for m in methods] for name in datasets])


def _nemenyi(scores: NDArray) -> NDArray:
    try:
        import scikit_posthocs
    except ImportError as error:
        raise ImportError('The Nemenyi test needs scikit-posthocs: pip install "ufselect[study]".') from error
    return np.asarray(scikit_posthocs.posthoc_nemenyi_friedman(scores))
