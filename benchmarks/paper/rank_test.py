"""Whether methods differ over several data sets: Friedman's test, average ranks, Nemenyi's comparison.

J. Demšar (2006), "Statistical comparisons of classifiers over multiple data sets", Journal of Machine
Learning Research 7.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

LEVEL = 0.05


class RankTest(NamedTuple):
    """Ranks of methods over data sets."""

    average_ranks: NDArray  # 1 for the best, ties sharing the mean of their ranks
    p_value: float  # of Friedman's test
    critical_difference: float  # Nemenyi's: average ranks closer than this do not differ significantly
    pairwise: NDArray  # Nemenyi's p-values


def critical_difference(n_methods: int, n_datasets: int) -> float:
    """Return Nemenyi's critical difference of average ranks."""
    # The range of normal variables, studentized up to the factor √2.
    return float(_unit(n_methods, n_datasets) * stats.studentized_range.ppf(1 - LEVEL, n_methods, np.inf))


def rank_test(scores: ArrayLike) -> RankTest:
    """Compare methods by scores of shape (n_datasets, n_methods), higher is better."""
    scores = np.asarray(scores, dtype=np.float64)
    n_datasets, n_methods = scores.shape
    ranks = stats.rankdata(-scores, axis=1).mean(axis=0)
    gaps = np.abs(np.subtract.outer(ranks, ranks)) / _unit(n_methods, n_datasets)
    return RankTest(
        average_ranks=ranks,
        p_value=float(stats.friedmanchisquare(*scores.T).pvalue),
        critical_difference=critical_difference(n_methods, n_datasets),
        pairwise=stats.studentized_range.sf(gaps, n_methods, np.inf),
    )


def _unit(n_methods: int, n_datasets: int) -> float:
    return float(np.sqrt(n_methods * (n_methods + 1) / (12 * n_datasets)))
