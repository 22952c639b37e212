"""Scores of features for reproducing a partition: each rule is one idea of what K-means needs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ufselect.auto.reference import Reference, centred_basis
from ufselect.solvers.agenda import Agenda
from ufselect.solvers.greedy import GivenTargets, scores_of_rounds
from ufselect.solvers.margin import CentreMargin, minimise_margin

Rule = Callable[[Reference, int], NDArray]

TINY = np.finfo(float).tiny
TRACE_RATIO_STEPS = 50
# Temperature of the margin in units of the mean squared distance to the own centre: a small one cares only
# about samples near a border, a large one about the spread between all centres.
SOFTNESS = 0.5


def scatters(A: NDArray, labels: NDArray) -> tuple[NDArray, NDArray]:
    """Return the sums of squares between and within clusters of each feature."""
    sizes = np.bincount(labels)
    sums = np.zeros((sizes.size, A.shape[1]))
    np.add.at(sums, labels, A)
    between = np.square(sums / np.sqrt(sizes)[:, None]).sum(axis=0)
    return between, np.maximum(np.square(A).sum(axis=0) - between, 0)


def variance_ratio(reference: Reference, n_selected: int) -> NDArray:
    """Score each feature alone by the share of its variance that lies between the clusters."""
    between, within = scatters(reference.A, reference.labels)
    return between / np.maximum(between + within, TINY)


def trace_ratio(reference: Reference, n_selected: int) -> NDArray:
    r"""Score features so that the best r together have the largest ratio of between to within scatter.

    :math:`\max_C \sum_{j \in C} b_j / \sum_{j \in C} w_j` is reached by taking the r largest
    :math:`b_j - \lambda w_j` and setting λ to their ratio, in turn [1]_. The value never falls and the fixed
    point is the global optimum.

    References
    ----------
    .. [1] F. Nie, S. Xiang, Y. Jia, C. Zhang and S. Yan (2008), "Trace ratio criterion for feature
       selection", AAAI.
    """
    between, within = scatters(reference.A, reference.labels)
    ratio = between.sum() / max(within.sum(), TINY)
    for _ in range(TRACE_RATIO_STEPS):
        best = np.argsort(ratio * within - between, kind="stable")[:n_selected]
        improved = between[best].sum() / max(within[best].sum(), TINY)
        if improved <= ratio:
            break
        ratio = improved
    return between - min(ratio, 1e12) * within


def cluster_projection(reference: Reference, n_selected: int) -> NDArray:
    """Choose features whose span explains the membership of the clusters, greedily."""
    membership = np.eye(reference.labels.max() + 1)[reference.labels]
    return _projection(reference, centred_basis(membership), n_selected)


def embedding_projection(reference: Reference, n_selected: int) -> NDArray:
    """Choose features whose span explains the smooth vectors of the graph, greedily."""
    return _projection(reference, reference.embedding, n_selected)


def centre_margin(reference: Reference, n_selected: int, softness: float = SOFTNESS) -> NDArray:
    """Weigh features so that the nearest centre is the right one, at a temperature of ``softness``."""
    A = reference.A
    even = np.full(A.shape[1], n_selected / A.shape[1])
    own = CentreMargin(A, reference.labels, 1.0).own_distance(even)
    if own <= TINY:
        return variance_ratio(reference, n_selected)
    result = minimise_margin(CentreMargin(A, reference.labels, softness * own), even, n_selected)
    steepest = max(float(np.abs(result.gradient).max()), TINY)
    # Many weights are exactly 0 or 1; among them the slope tells which is wanted most.
    return result.weights - 1e-6 * result.gradient / steepest


def _projection(reference: Reference, targets: NDArray, n_selected: int) -> NDArray:
    gram = reference.gram
    products = targets.T @ reference.A / gram.scale
    agenda = Agenda.of_features(n_selected, gram.shape[0])
    return scores_of_rounds(gram, lambda: GivenTargets(products, agenda.units), agenda)


RULES: dict[str, Rule] = {
    "margin": centre_margin,
    "trace-ratio": trace_ratio,
    "variance-ratio": variance_ratio,
    "clusters": cluster_projection,
    "embedding": embedding_projection,
}
