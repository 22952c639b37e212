"""Rules that pick features for a partition, against brute force and the dense computation."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from tests.clusters.examples import reference_with, sparse_clusters

from ufselect.clusters.partition import (
    RULES,
    partition_scores,
    ranked_by,
    trace_ratio,
    variance_ratio,
)


def problem(seed, n=40, d=9, c=3):
    rng = np.random.default_rng(seed)
    labels = np.append(np.arange(c), rng.integers(c, size=n - c))
    A = rng.standard_normal((n, d)) + rng.standard_normal((c, d))[labels] * rng.uniform(0, 2, d)
    return reference_with(A, labels)


@given(seed=st.integers(0, 10**6))
def test_scatters_add_up_and_match_their_definition(seed):
    reference = problem(seed)
    data, labels = reference.rows.matrix, reference.labels
    between, within = reference.scatters
    np.testing.assert_allclose(between + within, np.square(data).sum(axis=0))
    direct = sum(np.square(data[labels == c] - data[labels == c].mean(axis=0)).sum(axis=0) for c in range(3))
    np.testing.assert_allclose(within, direct)


@given(seed=st.integers(0, 10**6))
def test_trace_ratio_is_the_best_of_all_subsets(seed):
    reference = problem(seed)
    between, within = reference.scatters
    best = max(combinations(range(9), 4), key=lambda c: between[list(c)].sum() / within[list(c)].sum())
    chosen = np.argsort(-trace_ratio(reference, 4))[:4]
    assert sorted(chosen) == list(best)


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_finds_the_features_that_carry_the_clusters(rule):
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(3), 30)
    A = rng.standard_normal((90, 20))
    A[:, [3, 8, 12, 17]] += 4 * np.array([[0, 1, 0, 1], [1, 0, 0, 1], [0, 0, 1, 0]])[labels]
    scores = RULES[rule](reference_with(A, labels), 4)
    # Two directions tell three clusters apart, so a rule that avoids redundancy may take less than all four.
    assert set(np.argsort(-scores)[:2]) <= {3, 8, 12, 17}
    if rule in ("trace-ratio", "variance-ratio", "margin"):
        assert set(np.argsort(-scores)[:4]) == {3, 8, 12, 17}


@pytest.mark.parametrize("rule", RULES)
def test_sparse_data_get_the_scores_of_dense_ones(rule):
    X, y = sparse_clusters()
    stored = RULES[rule](reference_with(X, y), 12)
    dense = RULES[rule](reference_with(X.toarray(), y), 12)
    assert set(np.argsort(-stored)[:12]) == set(np.argsort(-dense)[:12])


def test_sparse_rows_are_not_made_dense(monkeypatch):
    X, y = sparse_clusters()
    reference = reference_with(X, y)
    shapes = []
    to_dense = sparse.csr_array.toarray
    monkeypatch.setattr(
        sparse.csr_array,
        "toarray",
        lambda self, *a, **k: shapes.append(self.shape) or to_dense(self, *a, **k),
    )
    for rule in RULES.values():
        rule(reference, 12)
    assert X.shape not in shapes


def test_variance_ratio_of_a_constant_feature_is_zero():
    X = np.random.default_rng(0).standard_normal((40, 6))
    X[:, 2] = 3.0
    assert variance_ratio(reference_with(X, np.repeat([0, 1], 20)), 3)[2] == 0


@pytest.mark.parametrize("rule", RULES)
def test_constant_features_come_last(rule):
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(3), 30)
    X = rng.standard_normal((90, 12)) + labels[:, None] * rng.uniform(0, 1, 12)
    X[:, [2, 5, 9]] = 1.0
    scores = ranked_by(rule, reference_with(X, labels), 6)
    assert set(np.argsort(scores)[:3]) == {2, 5, 9}


def test_several_rules_are_followed_by_the_mean_root_of_their_ranks():
    reference = problem(0)
    ranks = [
        np.argsort(np.argsort(-ranked_by(rule, reference, 4), kind="stable")) + 1
        for rule in ("trace-ratio", "embedding")
    ]
    expected = -np.mean(np.sqrt(np.array(ranks) / 9), axis=0)
    found = partition_scores(reference, ("trace-ratio", "embedding"), 4, 1, 0)
    np.testing.assert_allclose(found, expected)
    alone = partition_scores(reference, ("margin",), 4, 1, 0)
    np.testing.assert_array_equal(alone, ranked_by("margin", reference, 4))


def test_the_ranking_over_several_cuts_is_that_of_one_where_all_cuts_agree():
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(3), 30)
    reference = reference_with(
        rng.standard_normal((90, 12)) + 6 * rng.standard_normal((3, 12))[labels], labels
    )
    rules = ("trace-ratio", "embedding")
    once, often = (partition_scores(reference, rules, 4, n, 0) for n in (1, 4))
    np.testing.assert_allclose(once, often)
