"""The candidates among which a selection is chosen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from ufselect.auto.partition import PartitionSelector
from ufselect.auto.reference import Reference
from ufselect.auto.rules import Rankings
from ufselect.gram import GramOperator, gram_operator
from ufselect.selectors.baselines import MaxVariance, PCALeverage
from ufselect.selectors.choice import Choice, choose
from ufselect.selectors.dscofs import DSCOFS
from ufselect.selectors.graph_start import regressed_start
from ufselect.selectors.greedy import GreedyProjection
from ufselect.selectors.rebuild import RebuildSelector
from ufselect.selectors.wishes import Wanted

# Rules alone and mixed for each clusterer, the most promising first: of thirty-eight mixtures for K-means and
# seventeen for the graph these served labelled sets best; docs/tuning.md has the tables.
MIXTURES: dict[str, tuple[tuple[str, ...], ...]] = {
    "kmeans": (
        ("margin",),
        ("margin", "trace-ratio", "embedding"),
        ("margin", "trace-ratio"),
        ("margin", "components"),
        ("margin", "variance-ratio", "embedding"),
        ("trace-ratio",),
    ),
    "graph": (
        ("embedding",),
        ("margin", "components"),
        ("margin", "clusters"),
        ("components",),
        ("margin", "trace-ratio"),
    ),
}
# Penalties of DSCOFS in units of the largest eigenvalue, from weak to strong: with the strong ones the start
# decides. The ridge of the start is in units of the mean eigenvalue; infinite, it leaves correlations.
DSCOFS_PENALTIES = ((0.1, 0.01), (1.0, 0.1), (10.0, 1.0))
DSCOFS_ENTRIES = ("auto", None)
DSCOFS_RIDGES = (1.0, np.inf)


@dataclass(frozen=True)
class Shared:
    """What the candidates have in common, worked out once."""

    X: Any
    reference: Reference | None
    wanted: Wanted

    @cached_property
    def gram(self) -> GramOperator:
        """S of all rows."""
        if self.reference is not None and self.reference.rows.shape[0] == self.X.shape[0]:
            return self.reference.rows.gram
        return gram_operator(self.X)

    @cached_property
    def rankings(self) -> Rankings:
        """The rankings of the rules."""
        if self.reference is None:
            raise ValueError("There are no clusters to rank features by.")
        return Rankings(self.reference, self.wanted.n_selected)

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


def default_pool(clusterer: str, n_clusters: int | str, seed: int, max_samples: int) -> list[Candidate]:
    """Return the candidates for clusters that a clusterer is to find, the most promising first."""
    return [_partition(rules, n_clusters, seed, max_samples) for rules in MIXTURES[clusterer]]


def _partition(rules: tuple[str, ...], n_clusters: int | str, seed: int, max_samples: int) -> Candidate:
    estimator = PartitionSelector(
        n_clusters=n_clusters,
        rule=rules[0] if len(rules) == 1 else rules,
        max_samples=max_samples,
        random_state=seed,
    )
    return Candidate("graph partition, " + " + ".join(rules), estimator, attrgetter("rankings"))


def dscofs_pool(reference: Reference) -> list[Candidate]:
    """Return DSCOFS from two starts by the graph's smooth vectors, with three strengths of its penalties."""
    rows, embedding = reference.rows, reference.embedding
    # No more directions than the data have: the others would start in a void.
    embedding = embedding[:, : rows.gram.eigenpairs(embedding.shape[1]).values.size]
    pool = []
    for ridge in DSCOFS_RIDGES:
        start = regressed_start(rows.matrix, rows.mean, rows.squares(), embedding, ridge)
        for (mu_entry, mu_row), entries in product(DSCOFS_PENALTIES, DSCOFS_ENTRIES):
            estimator = DSCOFS(init=start, mu_entry=mu_entry, mu_row=mu_row, entry_sparsity=entries)
            name = f"DSCOFS, ridge={ridge:g} μ={mu_entry:g}, {mu_row:g} entries={entries or 'all'}"
            pool.append(Candidate(name, estimator, attrgetter("gram")))
    return pool


def rebuild_pool() -> list[Candidate]:
    """Return the candidates for rebuilding all features, the most promising first.

    Greedy steps come before exchanges, which are better by little and take a few times as long: with a budget
    of time the first candidate is the answer where there is no time for another.
    """
    return [
        Candidate("greedy projection, all features", GreedyProjection(target="features")),
        Candidate("exchanges, all features", RebuildSelector()),
        Candidate("greedy projection, components", GreedyProjection()),
        Candidate("PCA leverage", PCALeverage()),
        Candidate("largest variance", MaxVariance()),
    ]


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
