"""Data with known clusters, for the tests of this room."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from ufselect.auto.reference import Reference, leading_scores
from ufselect.auto.rows import rows_of


def clusters_under_nuisance(seed=0, n=200):
    """Four clusters in five features, beside one dominant direction that two features carry."""
    rng = np.random.default_rng(seed)
    y = rng.integers(4, size=n)
    signal = 4 * rng.standard_normal((4, 5))[y] + rng.standard_normal((n, 5))
    nuisance = rng.standard_normal((n, 1)) * 60
    return np.hstack([signal, nuisance, nuisance + rng.standard_normal((n, 1))]), y


def sparse_clusters(seed=0, n=240, d=60):
    """Three clusters of counts, each with words of its own, as CSR."""
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    rates = np.full((3, d), 0.05)
    for cluster in range(3):
        rates[cluster, 8 * cluster : 8 * (cluster + 1)] = 1.5
    return sparse.csr_array(rng.poisson(rates[y]).astype(float)), y


def reference_with(X, labels):
    """A reference whose graph joins exactly the samples of a cluster."""
    rows = rows_of(X)
    n_clusters = int(labels.max()) + 1
    graph = sparse.csr_array((labels[:, None] == labels[None, :]).astype(float))
    vectors = np.eye(n_clusters)[labels]
    scores = leading_scores(rows, min(2 * n_clusters, *rows.shape))
    return Reference(rows, scores, (n_clusters,), (0.0,), graph, vectors, labels, n_clusters, 1.0, 1.0)
