"""Scatter matrices, and the search by a proxy from given rows."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from ufselect._columns import UnitRequest
from ufselect._solver.iterate import iterate
from ufselect.dscofs.algorithm import variance_bound
from ufselect.dscofs.row_search import FeatureSparsePCA
from ufselect.gram import FormedGram
from ufselect.gram.spectrum import leading_sum


def random_scatter(seed, order=12, rank=15):
    rng = np.random.default_rng(seed)
    factor = rng.standard_normal((rank, order)) * np.geomspace(1, 5, order)
    return factor.T @ factor


def captured_variance(gram, support, m):
    """Return the most variance that the features named carry along m axes."""
    return leading_sum(gram.subgram(support), m)


def improve_by_proxy(gram, start, m):
    scores = np.isin(np.arange(gram.shape[0]), start).astype(float)
    method = FeatureSparsePCA(gram, m, UnitRequest.single(len(start), scores.size), scores)
    state = iterate(method, max_iter=50, tol=0.0).state
    return state.features, -state.objective


def upper_bound(S, r, m, n_pairs):
    gram = FormedGram(S, 20)
    return variance_bound(gram.eigenpairs(n_pairs), gram.diag(), r, m)


def brute_force(S, r, m):
    return max(
        np.sort(np.linalg.eigvalsh(S[np.ix_(c, c)]))[-m:].sum() for c in combinations(range(len(S)), r)
    )
