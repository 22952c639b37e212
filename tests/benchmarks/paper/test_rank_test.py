from __future__ import annotations

import numpy as np
import pytest
from benchmarks.paper.rank_test import rank_test
from scipy import stats


def test_friedman_by_its_formula():
    scores = np.random.default_rng(0).random((6, 4))
    ranks = stats.rankdata(-scores, axis=1).mean(axis=0)
    chi = 12 * 6 / (4 * 5) * (np.square(ranks).sum() - 4 * 25 / 4)
    assert rank_test(scores).p_value == pytest.approx(stats.chi2.sf(chi, 3))


def test_pairs_agree_with_the_critical_difference():
    test = rank_test(np.random.default_rng(1).random((12, 5)) + np.arange(5) * 0.4)
    gaps = np.abs(np.subtract.outer(test.average_ranks, test.average_ranks))
    np.testing.assert_array_equal(test.pairwise < 0.05, gaps > test.critical_difference)


def test_critical_difference_of_the_textbook():
    found = rank_test(np.random.default_rng(2).random((30, 5))).critical_difference
    assert found == pytest.approx(2.728 * np.sqrt(5 * 6 / (6 * 30)), abs=1e-3)


def test_pairs_are_those_of_scikit_posthocs():
    posthocs = pytest.importorskip("scikit_posthocs")
    scores = np.random.default_rng(3).random((8, 4))
    expected = posthocs.posthoc_nemenyi_friedman(scores)
    np.testing.assert_allclose(rank_test(scores).pairwise, expected, atol=1e-12)
