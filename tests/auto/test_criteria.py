"""Agreement with a graph and with a partition, by their formulas."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.metrics import adjusted_rand_score

from ufselect.auto.criteria import neighbour_agreement, partition_agreement, rand_agreement
from ufselect.metrics import normalized_mutual_info


@given(seed=st.integers(0, 10**6), n_clusters=st.integers(1, 5))
def test_agreement_is_the_formula(seed, n_clusters):
    rng = np.random.default_rng(seed)
    weights = np.triu(rng.uniform(0, 1, (12, 12)) * (rng.uniform(size=(12, 12)) < 0.5), 1)
    weights[0, 1] = 1.0
    weights = weights + weights.T
    labels = rng.integers(n_clusters, size=(3, 12))
    found = neighbour_agreement(labels, sparse.csr_array(weights))
    for value, partition in zip(found, labels, strict=True):
        same = partition[:, None] == partition[None, :]
        observed = weights[same].sum() / weights.sum()
        expected = sum(np.mean(partition == c) ** 2 for c in range(n_clusters))
        wanted = 0.0 if expected == 1 else (observed - expected) / (1 - expected)
        assert value == pytest.approx(wanted, abs=1e-12)


def test_agreement_is_one_for_components_and_near_zero_for_random_labels():
    blocks = sparse.block_diag([1 - np.eye(50), 1 - np.eye(50)], format="csr")
    truth = np.repeat([0, 1], 50)
    rng = np.random.default_rng(0)
    assert neighbour_agreement(truth[None], blocks)[0] == pytest.approx(1)
    shuffled = np.array([rng.permutation(truth) for _ in range(200)])
    assert abs(neighbour_agreement(shuffled, blocks).mean()) < 0.02


@given(seed=st.integers(0, 10**6))
def test_agreement_of_partitions_is_their_mutual_information(seed):
    rng = np.random.default_rng(seed)
    reference, labels = rng.integers(3, size=30), rng.integers(4, size=(5, 30))
    found = partition_agreement(labels, reference)
    np.testing.assert_allclose(found, [normalized_mutual_info(reference, run) for run in labels])


@given(seed=st.integers(0, 10**6), n_clusters=st.integers(1, 5))
def test_rand_agreement_is_that_of_scikit_learn(seed, n_clusters):
    rng = np.random.default_rng(seed)
    reference, labels = rng.integers(n_clusters, size=15), rng.integers(n_clusters, size=(3, 15))
    labels[0] = (reference + 1) % n_clusters
    expected = [adjusted_rand_score(reference, partition) for partition in labels]
    np.testing.assert_allclose(rand_agreement(labels, reference), expected, atol=1e-12)
