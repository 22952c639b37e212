"""Data with known clusters, for the tests of this room."""

from __future__ import annotations

import numpy as np
from scipy import sparse


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


def planted(seed=0, n=120, d=40, informative=12, c=4, apart=2.0):
    """Gaussian clusters that the first columns show, and the cluster of each row."""
    rng = np.random.default_rng(seed)
    y = np.append(np.arange(c), rng.integers(c, size=n - c))
    X = rng.standard_normal((n, d))
    X[:, :informative] += apart * rng.standard_normal((c, informative))[y]
    return X, y
