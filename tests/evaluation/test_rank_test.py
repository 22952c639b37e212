from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from ufselect.evaluation.rank_test import critical_difference, rank_test
from ufselect.reproduction import paper

pytest.importorskip("scikit_posthocs")


def published_scores():
    methods = [method for method in paper.METHODS if method != "AllFeatures"]
    scores = [[paper.published("acc", name, method).mean for method in methods] for name in paper.TITLES]
    return np.array(scores), methods


def test_the_papers_ranks_follow_from_its_table():
    test = rank_test(*published_scores())
    ranks = dict(zip(test.labels, test.average_ranks, strict=True))
    assert ranks["DSCOFS"] == 1
    for method, rank in paper.AVERAGE_RANKS.items():
        assert ranks[method] == rank
    assert round(test.p_value, 4) == 1e-4


def test_friedman_by_its_formula():
    scores = np.random.default_rng(0).random((6, 4))
    test = rank_test(scores, list("abcd"))
    ranks = stats.rankdata(-scores, axis=1).mean(axis=0)
    chi = 12 * 6 / (4 * 5) * (np.square(ranks).sum() - 4 * 25 / 4)
    assert test.statistic == pytest.approx(chi)
    assert test.p_value == pytest.approx(stats.chi2.sf(chi, 3))


def test_pairs_agree_with_the_critical_difference():
    scores = np.random.default_rng(1).random((12, 5)) + np.arange(5) * 0.4
    test = rank_test(scores, list("abcde"))
    gaps = np.abs(np.subtract.outer(test.average_ranks, test.average_ranks))
    np.testing.assert_array_equal(test.pairwise < 0.05, gaps > test.critical_difference)


def test_critical_difference_of_the_textbook():
    assert critical_difference(5, 30) == pytest.approx(2.728 * np.sqrt(5 * 6 / (6 * 30)), abs=1e-3)


def test_too_little_is_refused():
    with pytest.raises(ValueError, match="at least two data sets"):
        rank_test(np.ones((1, 4)), list("abcd"))


def test_published_means_over_seven_sets():
    means = {
        (metric, method): np.mean([paper.published(metric, name, method).mean for name in paper.SEVEN])
        for metric in ("acc", "nmi")
        for method in ("DSCOFS", "SPCAPSD", "SPCAFS", "AllFeatures")
    }
    expected = {"DSCOFS": (60.14, 65.32), "SPCAPSD": (56.73, 62.15), "SPCAFS": (56.04, 58.68)}
    for method, figures in {**expected, "AllFeatures": (52.78, 58.95)}.items():
        assert (means["acc", method], means["nmi", method]) == pytest.approx(figures, abs=0.006)
    assert paper.published("acc", "isolet", "PCALeverage") is None
