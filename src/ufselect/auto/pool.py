"""The candidates among which a selection is chosen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from ufselect.auto.partition import PartitionSelector
from ufselect.auto.reference import Reference
from ufselect.auto.rules import RULES
from ufselect.gram import GramOperator
from ufselect.selectors.baselines import PCALeverage
from ufselect.selectors.choice import Choice, choose
from ufselect.selectors.d_optimal import DOptimalLeverage
from ufselect.selectors.dscofs import DSCOFS
from ufselect.selectors.greedy import GreedyProjection
from ufselect.selectors.laplacian_score import LaplacianScore
from ufselect.selectors.wishes import Wanted

N_NEIGHBORS = 5


@dataclass(frozen=True)
class Shared:
    """What the candidates of the default pool have in common, computed once."""

    X: NDArray
    gram: GramOperator
    reference: Reference
    wanted: Wanted

    def choice(self, scores: NDArray) -> Choice:
        """Return the ranking and selection by some scores."""
        return choose(scores, self.wanted, lambda: self.gram)


@dataclass(frozen=True)
class Candidate:
    """A selector, its name, and which of the shared things it is fitted to."""

    name: str
    estimator: Any
    source: Callable[[Shared], Any] = attrgetter("X")

    def fitted(self, shared: Shared) -> Any:
        """Return a fitted copy that is asked for what is wanted, as far as it has parameters for that."""
        copy = clone(self.estimator)
        known = copy.get_params()
        asked = shared.wanted.as_parameters()
        copy.set_params(**{name: value for name, value in asked.items() if name in known})
        return copy.fit(self.source(shared))


def default_pool(
    n_selected: int, n_clusters: int, shared: Shared, seed: int, max_samples: int
) -> list[Candidate]:
    """Return the library's candidates, the most promising first."""
    m = min(n_clusters, shared.gram.eigenpairs(n_clusters).values.size)
    pool = [_partition(n_selected, n_clusters, rule, seed, max_samples) for rule in RULES]
    pool += [_dscofs(n_selected, m, 0.1, 0.01), _dscofs(n_selected, m, 1.0, 0.1)]
    pool += [_projection(n_selected, m), _leverage(n_selected, m)]
    pool += [_d_optimal(n_selected, m, ridge) for ridge in (1.0, 10.0)]
    pool += [Candidate("Laplacian score", _laplacian(n_selected, len(shared.X)))]
    return pool


def _laplacian(n_selected: int, n_samples: int) -> LaplacianScore:
    return LaplacianScore(n_selected, n_neighbors=min(N_NEIGHBORS, n_samples - 1))


def _partition(n_selected: int, n_clusters: int, rule: str, seed: int, max_samples: int) -> Candidate:
    estimator = PartitionSelector(
        n_selected, n_clusters=n_clusters, rule=rule, max_samples=max_samples, random_state=seed
    )
    return Candidate(f"graph partition, {rule}", estimator, attrgetter("reference"))


def _dscofs(n_selected: int, m: int, mu_entry: float, mu_row: float) -> Candidate:
    estimator = DSCOFS(n_selected, n_components=m, mu_entry=mu_entry, mu_row=mu_row)
    return Candidate(f"DSCOFS m={m} μ={mu_entry:g}, {mu_row:g}", estimator, attrgetter("gram"))


def _projection(n_selected: int, m: int) -> Candidate:
    estimator = GreedyProjection(n_selected, n_components=m)
    return Candidate(f"greedy projection m={m}", estimator, attrgetter("gram"))


def _leverage(n_selected: int, m: int) -> Candidate:
    return Candidate(f"PCA leverage m={m}", PCALeverage(n_selected, n_components=m), attrgetter("gram"))


def _d_optimal(n_selected: int, m: int, ridge: float) -> Candidate:
    estimator = DOptimalLeverage(n_selected, n_components=m, ridge=ridge)
    return Candidate(f"D-optimal m={m} ρ={ridge:g}", estimator, attrgetter("gram"))


def given_pool(candidates: Sequence[Any]) -> list[Candidate]:
    """Wrap a user's selectors, or pairs of a name and a selector.

    Raises
    ------
    ValueError
        If there are none, if one cannot be fitted, or if names repeat.
    """
    pool = []
    for position, item in enumerate(candidates):
        is_pair = isinstance(item, tuple) and len(item) == 2 and isinstance(item[0], str)
        name, estimator = item if is_pair else (f"{position}: {type(item).__name__}", item)
        if not hasattr(estimator, "fit"):
            raise ValueError(
                f"Candidate {name!r} has no fit method; give selectors or (name, selector) pairs."
            )
        pool.append(Candidate(name, estimator))
    if not pool:
        raise ValueError("candidates is empty; give at least one selector, or None for the default pool.")
    if len({candidate.name for candidate in pool}) < len(pool):
        raise ValueError("Two candidates have the same name; give each (name, selector) pair its own.")
    return pool


def scores_of(selector: Any, name: str, shared: Shared) -> NDArray:
    """Return a fitted selector's scores, or what its ranking or its mask says.

    Raises
    ------
    ValueError
        If it has none of them, or a mask alone that selects another number of features.
    """
    n_features = shared.X.shape[1]
    if _has_one_each(selector, "scores_", n_features):
        return np.asarray(selector.scores_, dtype=np.float64)
    if hasattr(selector, "get_support"):
        mask = np.asarray(selector.get_support())
        if mask.sum() == shared.wanted.n_selected:
            return mask.astype(np.float64)
    if _has_one_each(selector, "ranking_", n_features):
        return -np.asarray(selector.ranking_, dtype=np.float64)
    raise ValueError(
        f"Candidate {name!r} has neither scores_ nor ranking_ for the {n_features} features, nor a mask of "
        f"{shared.wanted.n_selected} of them; set the number of features it selects to "
        f"{shared.wanted.n_selected}."
    )


def _has_one_each(selector: Any, name: str, n_features: int) -> bool:
    values = getattr(selector, name, None)
    return values is not None and np.shape(values) == (n_features,)
