"""Scores of features for reproducing a partition: each rule is one idea of what K-means needs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from ufselect.auto.reference import Reference
from ufselect.auto.rows import Rows
from ufselect.gram import GramOperator
from ufselect.graphs.score_graph import centred_basis
from ufselect.selectors.choice import ranks_from_scores
from ufselect.solvers.agenda import Agenda
from ufselect.solvers.greedy import GivenTargets, score_products, scores_of_rounds
from ufselect.solvers.margin import CentreMargin, minimise_margin

Rule = Callable[[Reference, int], NDArray]

TINY = np.finfo(float).tiny
LARGEST_RATIO = 1e12
TRACE_RATIO_STEPS = 50
# Temperature of the margin in units of the mean squared distance to the own centre: a small one cares only
# about samples near a border, a large one about the spread between all centres.
SOFTNESS = 0.5


def variance_ratio(reference: Reference, n_selected: int) -> NDArray:
    """Score each feature alone by the share of its variance that lies between the clusters."""
    between, within = reference.scatters
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
    between, within = reference.scatters
    ratio = _ratio(between.sum(), within.sum())
    for _ in range(TRACE_RATIO_STEPS):
        best = np.argsort(ratio * within - between, kind="stable")[:n_selected]
        improved = _ratio(between[best].sum(), within[best].sum())
        if improved <= ratio:
            break
        ratio = improved
    return between - ratio * within


def _ratio(between: float, within: float) -> float:
    """Return the ratio of two scatters, at most so large that rounding of the first hides the second."""
    return between / max(within, between / LARGEST_RATIO, TINY)


def cluster_projection(reference: Reference, n_selected: int) -> NDArray:
    """Choose features whose span explains the membership of the clusters, greedily."""
    membership = np.eye(reference.labels.max() + 1)[reference.labels]
    return _projection(reference.rows, centred_basis(membership), n_selected)


def embedding_projection(reference: Reference, n_selected: int) -> NDArray:
    """Choose features whose span explains the smooth vectors of the graph, greedily."""
    return _projection(reference.rows, reference.embedding, n_selected)


def component_projection(reference: Reference, n_selected: int) -> NDArray:
    """Choose features whose span explains the leading principal-component scores, greedily."""
    gram = reference.rows.gram
    return _greedy(gram, score_products(gram.eigenpairs(reference.n_clusters)), n_selected)


def centre_margin(reference: Reference, n_selected: int) -> NDArray:
    """Weigh features so that the nearest centre is the right one."""
    data = reference.rows.matrix
    even = np.full(data.shape[1], n_selected / data.shape[1])
    own = float(reference.scatters[1] @ even) / data.shape[0]
    if own <= TINY:
        return variance_ratio(reference, n_selected)
    result = minimise_margin(CentreMargin(data, reference.labels, SOFTNESS * own), even, n_selected)
    steepest = max(float(np.abs(result.gradient).max()), TINY)
    # Many weights are exactly 0 or 1; among them the slope tells which is wanted most.
    return result.weights - 1e-6 * result.gradient / steepest


def _projection(rows: Rows, targets: NDArray, n_selected: int) -> NDArray:
    return _greedy(rows.gram, rows.explained_by(targets) / rows.gram.scale, n_selected)


def _greedy(gram: GramOperator, products: NDArray, n_selected: int) -> NDArray:
    agenda = Agenda.of_features(n_selected, gram.shape[0])
    return scores_of_rounds(gram, lambda: GivenTargets(products, agenda.units), agenda)


RULES: dict[str, Rule] = {
    "margin": centre_margin,
    "trace-ratio": trace_ratio,
    "variance-ratio": variance_ratio,
    "clusters": cluster_projection,
    "embedding": embedding_projection,
    "components": component_projection,
}


def ranked_by(rule: str, reference: Reference, n_selected: int) -> NDArray:
    """Return the scores of a rule, those of constant features below all others."""
    scores = RULES[rule](reference, n_selected)
    varies = sum(reference.scatters) > 0
    return np.where(varies, scores, scores[varies].min() - 1)


class Rankings:
    """Scores by any of the rules, or by several at once; each rule is worked out once."""

    def __init__(self, reference: Reference, n_selected: int) -> None:
        self.reference = reference
        self.n_selected = n_selected
        self._known: dict[str, NDArray] = {}

    def scores(self, rules: Sequence[str]) -> NDArray:
        """Return scores that follow the rankings of some rules."""
        return mixed([self._of(rule) for rule in rules])

    def _of(self, rule: str) -> NDArray:
        if rule not in self._known:
            self._known[rule] = ranked_by(rule, self.reference, self.n_selected)
        return self._known[rule]


def mixed(rankings: Sequence[NDArray]) -> NDArray:
    r"""Return scores that follow several rankings at once: minus the mean of :math:`\sqrt{\text{rank}/d}`.

    The square root lets a feature that one ranking puts first outweigh its middling place in another.
    """
    if len(rankings) == 1:
        return rankings[0]
    places = [np.sqrt(ranks_from_scores(scores) / scores.size) for scores in rankings]
    return -np.mean(places, axis=0)
