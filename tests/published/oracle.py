"""What tests of published methods share: data, neighbours and their graph, the original programs' output."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from scipy.spatial.distance import cdist

EPS = np.finfo(float).eps


def low_rank(n, d, noise=0.3, rank=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, rank)) @ rng.standard_normal((rank, d))
    return X + noise * rng.standard_normal((n, d))


def nearest(X, k, by_index=False):
    """Return the k nearest others of each row; those at equal distances go by their values, or by index."""
    deviations = np.abs(X - X.mean(axis=0))
    keys = [np.sum(deviations**power, axis=1) for power in (4, 3, 2)]
    ranks = np.argsort(np.lexsort([np.round(key / key.max(), 9) for key in keys]))
    ranks = np.arange(len(X)) if by_index else ranks
    distances = cdist(X, X)
    np.fill_diagonal(distances, np.inf)
    return np.array([np.lexsort((ranks, np.round(row, 9)))[:k] for row in distances]), distances


def heat_graph(X, k, t=None, by_index=False):
    """Transcribe the graph: the k nearest in either direction, by default of their mean distance as width."""
    near, distances = nearest(X, k, by_index)
    distances = np.take_along_axis(distances, near, axis=1)
    weights = np.zeros((len(X), len(X)))
    t = distances.mean() if t is None else t
    np.put_along_axis(weights, near, np.exp(-(distances**2) / (2 * t**2)), axis=1)
    return np.maximum(weights, weights.T)


def reference(method):
    """Return the ranking and objective of an original program on lung_discrete."""
    path = Path(__file__).parents[1] / "reference" / "lung_discrete_rankings.json"
    return json.loads(path.read_text())[method]


def overlap(a, b, count):
    """Return how many of the largest scores are shared."""
    return len(set(np.argsort(-np.asarray(a))[:count]) & set(np.argsort(-np.asarray(b))[:count]))
