"""Rules that pick features for a partition, against brute force and finite differences."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from ufselect.auto.reference import Reference, centred_basis
from ufselect.auto.rules import RULES, scatters, trace_ratio, variance_ratio
from ufselect.gram import gram_operator


def problem(seed, n=40, d=9, c=3):
    rng = np.random.default_rng(seed)
    labels = np.append(np.arange(c), rng.integers(c, size=n - c))
    A = rng.standard_normal((n, d)) + rng.standard_normal((c, d))[labels] * rng.uniform(0, 2, d)
    A -= A.mean(axis=0)
    graph = sparse.csr_array((labels[:, None] == labels[None, :]).astype(float))
    return Reference(A, gram_operator(A), graph, centred_basis(np.eye(c)[labels]), labels, 0.0, 1.0)


@given(seed=st.integers(0, 10**6))
def test_scatters_add_up_and_match_their_definition(seed):
    reference = problem(seed)
    between, within = scatters(reference.A, reference.labels)
    np.testing.assert_allclose(between + within, np.square(reference.A).sum(axis=0))
    direct = sum(
        np.square(reference.A[reference.labels == c] - reference.A[reference.labels == c].mean(axis=0)).sum(
            axis=0
        )
        for c in range(3)
    )
    np.testing.assert_allclose(within, direct)


@given(seed=st.integers(0, 10**6))
def test_trace_ratio_is_the_best_of_all_subsets(seed):
    reference = problem(seed)
    between, within = scatters(reference.A, reference.labels)
    best = max(combinations(range(9), 4), key=lambda c: between[list(c)].sum() / within[list(c)].sum())
    chosen = np.argsort(-trace_ratio(reference, 4))[:4]
    assert sorted(chosen) == list(best)


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_finds_the_features_that_carry_the_clusters(rule):
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(3), 30)
    A = rng.standard_normal((90, 20))
    A[:, [3, 8, 12, 17]] += 4 * np.array([[0, 1, 0, 1], [1, 0, 0, 1], [0, 0, 1, 0]])[labels]
    A -= A.mean(axis=0)
    same = sparse.csr_array((labels[:, None] == labels[None, :]).astype(float))
    reference = Reference(A, gram_operator(A), same, centred_basis(np.eye(3)[labels]), labels, 0.0, 1.0)
    scores = RULES[rule](reference, 4)
    # Two directions tell three clusters apart, so a rule that avoids redundancy may take less than all four.
    assert len(set(np.argsort(-scores)[:2]) & {3, 8, 12, 17}) == 2
    if rule in ("trace-ratio", "variance-ratio", "margin"):
        assert set(np.argsort(-scores)[:4]) == {3, 8, 12, 17}


def test_variance_ratio_of_a_constant_feature_is_zero():
    reference = problem(0)
    reference.A[:, 2] = 0
    assert variance_ratio(reference, 3)[2] == 0
