"""The candidates among which a selection is chosen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from ufselect.auto.partition import PartitionSelector
from ufselect.auto.reference import Reference
from ufselect.auto.rules import RULES
from ufselect.gram import GramOperator, Spectrum
from ufselect.selectors.baselines import PCALeverage
from ufselect.selectors.d_optimal import DOptimalLeverage, d_optimal_scores
from ufselect.selectors.dscofs import DSCOFS
from ufselect.selectors.greedy import GreedyProjection, projection_scores
from ufselect.selectors.laplacian_score import LaplacianScore

N_NEIGHBORS = 5


@dataclass(frozen=True)
class Shared:
    """What the candidates of the default pool have in common, computed once."""

    X: NDArray
    gram: GramOperator
    spectrum: Spectrum
    reference: Reference
    n_selected: int


@dataclass(frozen=True)
class Candidate:
    """A selector, its name, and how its scores come out of what is shared; None to fit it as it is."""

    name: str
    estimator: Any
    shortcut: Callable[[Shared], NDArray] | None = None

    def scores(self, shared: Shared) -> NDArray:
        """Return one score a feature, higher is better."""
        if self.shortcut is not None:
            return self.shortcut(shared)
        return scores_of(fitted(self.estimator, shared.X, shared.n_selected), self.name, shared)


def default_pool(
    n_selected: int, n_clusters: int, shared: Shared, seed: int, max_samples: int
) -> list[Candidate]:
    """Return the library's candidates, the most promising first."""
    m = min(n_clusters, shared.spectrum.values.size)
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
    return Candidate(
        f"graph partition, {rule}", estimator, lambda shared: RULES[rule](shared.reference, shared.n_selected)
    )


def _dscofs(n_selected: int, m: int, mu_entry: float, mu_row: float) -> Candidate:
    estimator = DSCOFS(n_selected, n_components=m, mu_entry=mu_entry, mu_row=mu_row)
    return Candidate(
        f"DSCOFS m={m} μ={mu_entry:g}, {mu_row:g}", estimator, partial(_dscofs_scores, estimator)
    )


def _dscofs_scores(estimator: DSCOFS, shared: Shared) -> NDArray:
    spectrum = shared.spectrum.head(int(estimator.n_components))
    problem = estimator._problem(shared.gram, spectrum, shared.n_selected)
    result = estimator._solve(problem, estimator._start(shared.gram, spectrum), None)
    return np.linalg.norm(result.state.X, axis=1)


def _projection(n_selected: int, m: int) -> Candidate:
    return Candidate(
        f"greedy projection m={m}",
        GreedyProjection(n_selected, n_components=m),
        lambda shared: projection_scores(shared.gram, shared.spectrum.head(m), shared.n_selected),
    )


def _leverage(n_selected: int, m: int) -> Candidate:
    return Candidate(
        f"PCA leverage m={m}",
        PCALeverage(n_selected, n_components=m),
        lambda shared: np.linalg.norm(shared.spectrum.vectors[:, :m], axis=1),
    )


def _d_optimal(n_selected: int, m: int, ridge: float) -> Candidate:
    return Candidate(
        f"D-optimal m={m} ρ={ridge:g}",
        DOptimalLeverage(n_selected, n_components=m, ridge=ridge),
        lambda shared: d_optimal_scores(shared.spectrum.vectors[:, :m], shared.n_selected, ridge),
    )


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


def fitted(estimator: Any, X: NDArray, n_selected: int) -> Any:
    """Return a fitted copy that selects ``n_selected`` features where it has a parameter for that."""
    copy = clone(estimator)
    if "n_features_to_select" in copy.get_params():
        copy.set_params(n_features_to_select=n_selected)
    return copy.fit(X)


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
        if mask.sum() == shared.n_selected:
            return mask.astype(np.float64)
    if _has_one_each(selector, "ranking_", n_features):
        return -np.asarray(selector.ranking_, dtype=np.float64)
    raise ValueError(
        f"Candidate {name!r} has neither scores_ nor ranking_ for the {n_features} features, nor a mask of "
        f"{shared.n_selected} of them; set the number of features it selects to {shared.n_selected}."
    )


def _has_one_each(selector: Any, name: str, n_features: int) -> bool:
    values = getattr(selector, name, None)
    return values is not None and np.shape(values) == (n_features,)
