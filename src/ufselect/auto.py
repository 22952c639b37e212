"""AutoSelector: a selection without labels, assessed on held-out rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from numbers import Integral
from time import perf_counter
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from ufselect._columns import SelectionRequest
from ufselect._utils.threads import one_blas_thread
from ufselect._utils.validation import places_in, seed_from
from ufselect.assessment.held_out import Assessment, assess, is_assessing
from ufselect.base import (
    FitResult,
    Interval,
    StrOptions,
    UnsupervisedSelector,
    for_all_columns,
)
from ufselect.clusters.clustering import find_clusters
from ufselect.clusters.graph import Reference, range_note
from ufselect.dscofs.estimator import DSCOFS
from ufselect.reconstruct.selector import ReconstructionSelector


@dataclass(kw_only=True, eq=False, repr=False)
class AutoSelector(UnsupervisedSelector):
    r"""Select columns for a goal without labels, and assess them on held-out rows.

    With ``goal="clusters"``, the selected columns show the clusters of the rows (:class:`~ufselect.DSCOFS`
    with ``guide="graph"``). With ``goal="reconstruct"``, all columns can be reconstructed from
    the selected ones (:class:`~ufselect.ReconstructionSelector`). ``assessment_`` compares the selection with
    random columns on held-out rows (:func:`~ufselect.assess`).

    The goal "clusters" fails if the structure lies in directions of small variance, or if rows are too few
    for the number of clusters; check ``verdict_``.

    Parameters
    ----------
    n_features_to_select : int, float or "auto", default=0.1
        Number of columns, or their share. ``"auto"``, for the goal "reconstruct", finds the number by the
        held-out error; see ``count_curve_``.
    goal : {"auto", "reconstruct", "clusters"}, default="auto"
        What the columns are for: to reconstruct all others, or to show clusters of rows. ``"auto"`` is
        "clusters" if ``n_clusters`` is a number, else "reconstruct".
    clusterer : {"kmeans", "graph"}, default="kmeans"
        How rows are clustered on the selected columns in the assessment: by K-means or
        :class:`~ufselect.GraphClustering`.
    candidates : list or None, default=None
        Selectors, or pairs of a name and a selector, to compare by their assessments; the best is used. None
        uses the selector of the goal.
    n_clusters : int or "auto", default="auto"
        Number of clusters; give it if you know it. ``"auto"`` finds it as
        :class:`~ufselect.GraphClustering` does, for the assessment; columns are selected without it.
    groups : array-like of shape (n_samples,), default=None
        Donor, replicate or batch of each row; the assessment holds out whole groups.
    max_samples : int, default=2000
        Maximum number of rows to find clusters from; if there are more, they are sampled. For clusters,
        the assessment uses at most 500.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the sampling, the clusterings and the splits.
    {verbose}
    {constraints}

    Attributes
    ----------
    scores_, ranking_, support_ : ndarray of shape (n_features,)
        Those of ``best_estimator_``.
    best_estimator_ : estimator
        The fitted selector.
    assessment_ : Assessment
        Comparison with random columns on held-out rows; ``assessment_.message`` says it in words.
    verdict_ : {"yes", "no", "unclear"}
        Whether the selection beats equally many random columns on held-out rows.
    stability_ : float or None
        Agreement of the selections from different rows: 1 for the same columns, 0 for chance.
    report_ : dict of ndarray
        One entry per candidate, the best first: ``candidate``, ``criterion`` (share of the variance explained
        or agreement with the clusters, on held-out rows), ``criterion_error``, ``verdict``, ``stability``,
        ``seconds`` and ``selected``; then random columns and the other rows of the assessment's table, for
        comparison. A data frame can be made of it.
    labels_ : ndarray of shape (n_samples,)
        The clusters found with all columns, for the goal "clusters"; for a dask collection, those of the
        sampled rows.
    clusters_ : dict of ndarray
        One entry per cluster: ``size``; ``columns``, up to five selected columns that distinguish it; and
        ``distances`` of their means there from those elsewhere, in standard deviations.
    n_clusters_ : int
        The number of clusters, for the goal "clusters".
    n_clusters_range_ : list of int
        The smallest and the largest number of clusters that do about as well, for the goal "clusters".
    {count_curve}

    See Also
    --------
    assess : Assess any selector, or a list of columns.
    RedundancyFilter : Only drop columns that are correlated with others.

    Notes
    -----
    The clusters are those of a graph of neighbours in the whitened leading principal-component scores of all
    columns. Rows that alone make up a leading component, at most a twentieth of all, are set aside for this.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from ufselect import AutoSelector
    >>> X = scale(load_wine().data)
    >>> selector = AutoSelector(n_features_to_select=5, goal="clusters", n_clusters=3, random_state=0).fit(X)
    >>> selector.transform(X).shape
    (178, 5)
    >>> selector.verdict_
    'yes'
    """

    accepts_sparse = True
    is_stochastic = True
    samples_rows = True
    label = "AutoSelector"
    cost = "a PCA + n² c"
    chooses_count = True
    supports = frozenset({"keep", "feature_groups"})  # as far as its candidates do

    _parameter_constraints: ClassVar[dict[str, list]] = {
        "goal": [StrOptions({"auto", "reconstruct", "clusters"})],
        "clusterer": [StrOptions({"kmeans", "graph"})],
        "candidates": [list, tuple, None],
        "groups": ["array-like", None],
        "max_samples": [Interval(Integral, 1, None, closed="left")],
    }

    best_estimator_: Any = field(init=False)
    assessment_: Assessment = field(init=False)
    verdict_: str = field(init=False)
    stability_: float | None = field(init=False)
    report_: dict[str, NDArray] = field(init=False)
    optional_attributes = (
        *UnsupervisedSelector.optional_attributes,
        "labels_",
        "n_clusters_",
        "n_clusters_range_",
        "clusters_",
    )

    labels_: NDArray | None = field(init=False)
    clusters_: dict[str, NDArray] = field(init=False)
    n_clusters_range_: list[int] = field(init=False)
    count_curve_: dict[str, NDArray] | None = field(init=False)

    goal: str = "auto"
    clusterer: str = "kmeans"
    candidates: Sequence[Any] | None = None
    n_clusters: int | str = "auto"
    groups: Any = None
    max_samples: int = 2000
    random_state: Any = None
    verbose: bool = False
    max_correlation: float | None = 0.999

    @property
    def _goal(self) -> str:
        if self.goal != "auto":
            return self.goal
        return "reconstruct" if self.n_clusters == "auto" else "clusters"

    def _check_parameters(self) -> None:
        super()._check_parameters()
        needs_number = (
            self._goal != "reconstruct" or self.feature_groups is not None or self.candidates is not None
        )
        if self._is_auto and needs_number:
            raise ValueError(
                'n_features_to_select="auto" works with goal="reconstruct", without feature_groups and '
                "candidates; give a number instead."
            )
        if self._goal == "reconstruct":
            for name, default in (("n_clusters", "auto"), ("clusterer", "kmeans")):
                if getattr(self, name) != default:
                    raise ValueError(
                        f'{name}={getattr(self, name)!r} has no effect with goal="reconstruct"; leave it out.'
                    )

    def _fit(self, X: Any, request: SelectionRequest) -> FitResult:
        seed = seed_from(self.random_state)
        said: list[str] = []
        attributes: dict[str, Any] = {}
        pool = self._named_candidates(request, seed)
        with one_blas_thread():  # products this small only lose time in threads
            if self._goal == "clusters":
                reference, labels, count, *between = find_clusters(
                    X, self.n_clusters, self.max_samples, seed, at_least=2
                )
                attributes = {"labels_": labels, "n_clusters_": count, "n_clusters_range_": between}
                said = range_note(*between)
            tried = []  # on the same splits; the best comes first
            for number, (name, estimator) in enumerate(pool, 1):
                started = perf_counter()
                outcome = (
                    Assessment(self._goal, "unclear")
                    if is_assessing.get() and len(pool) == 1
                    else assess(
                        estimator,
                        X,
                        goal=self._goal,
                        n_clusters=attributes.get("n_clusters_", "auto"),
                        clusterer=self.clusterer,
                        groups=self.groups,
                        max_samples=self.max_samples,
                        random_state=seed,
                    )
                )
                tried.append((name, estimator, outcome, perf_counter() - started))
                request.progress(number, outcome.mean("selected"))
            if len(pool) > 1:
                said.append(f"This is the best of {len(pool)} candidates, so its figures are optimistic.")
            tried.sort(key=lambda each: np.nan_to_num(-each[2].mean("selected"), nan=np.inf))
            best = clone(tried[0][1]).fit(X)
        if self._goal == "clusters":
            names = getattr(self, "feature_names_in_", np.arange(request.n_features))[request.columns]
            selected = np.flatnonzero(best.get_support())
            attributes["clusters_"] = describe_clusters(reference, attributes["labels_"], selected, names)
        attributes["count_curve_"] = getattr(best, "count_curve_", None)
        support = best.get_support()
        scores = np.asarray(getattr(best, "scores_", support), dtype=np.float64)
        ranking = getattr(best, "ranking_", places_in(np.lexsort((-scores, ~support))) + 1)
        attributes |= {"ranking_": ranking, "support_": support}
        columns = request.columns
        if isinstance(best, UnsupervisedSelector) and request.excludes:
            columns = np.arange(request.n_features)
            best.set_params(keep=self.keep, exclude=self.exclude, feature_groups=self.feature_groups)
            for name, value in for_all_columns(vars(best), best.feature_axes, request).items():
                setattr(best, name, value)
            best.n_features_in_ = request.n_features
        if hasattr(self, "feature_names_in_"):
            best.feature_names_in_ = self.feature_names_in_[columns]
        assessment = replace(tried[0][2], notes=[*said, *tried[0][2].notes])
        return scores, {
            **attributes,
            "best_estimator_": best,
            "assessment_": assessment,
            "verdict_": assessment.verdict,
            "stability_": assessment.stability,
            "report_": _report(tried),
        }

    def _default(self, seed: int) -> tuple[str, Any]:
        if self._goal == "reconstruct":
            return "ReconstructionSelector", ReconstructionSelector()
        count = self.n_clusters  # clusters in general position span one direction less
        n_components = count if isinstance(count, str) else max(1, int(count) - 1)
        return "DSCOFS, guided", DSCOFS(
            guide="graph", n_components=n_components, max_samples=self.max_samples, random_state=seed
        )

    def _named_candidates(self, request: SelectionRequest, seed: int) -> list[tuple[str, Any]]:
        """Return names and selectors, with the number and constraints of this one if they accept them."""
        pool: list[tuple[str, Any]] = []
        for place, item in enumerate([self._default(seed)] if self.candidates is None else self.candidates):
            is_pair = isinstance(item, tuple) and len(item) == 2 and isinstance(item[0], str)
            name, estimator = item if is_pair else (f"{place}: {type(item).__name__}", item)
            if not (hasattr(estimator, "fit") and hasattr(estimator, "get_support")):
                raise ValueError(
                    f"Candidate {name!r} is no selector: it needs fit and get_support; give selectors or "
                    "(name, selector) pairs."
                )
            pool.append((name, estimator))
        if not pool:
            raise ValueError("candidates is empty; give at least one selector, or None.")
        if len({name for name, _ in pool}) < len(pool):
            raise ValueError("Two candidates have the same name; give each (name, selector) pair its own.")
        asked: dict[str, Any] = {"n_features_to_select": "auto" if self._is_auto else request.n_selected}
        if request.kept.size:
            asked["keep"] = np.flatnonzero(np.isin(request.units.codes, request.kept))
        if not request.units.is_single:
            asked["feature_groups"] = request.units.codes
        if self.max_correlation is not None:
            asked["max_correlation"] = self.max_correlation
        for place, (name, estimator) in enumerate(pool):
            copy = clone(estimator)
            known = copy.get_params()
            if not asked.keys() & {"keep", "feature_groups"} <= known.keys():
                raise ValueError(
                    f"Candidate {name!r} has no keep or feature_groups; leave them or the candidate out."
                )
            if known.get("max_correlation") is not None:  # a candidate's own limit stays
                known.pop("max_correlation")
            pool[place] = (name, copy.set_params(**{key: asked[key] for key in asked if key in known}))
        return pool


def _report(tried: Sequence[tuple[str, Any, Assessment, float]]) -> dict[str, NDArray]:
    nan = float("nan")
    rows: list[tuple[Any, ...]] = []
    for name, _, outcome, seconds in tried:
        row = outcome.table[0] if outcome.table else {"mean": nan, "spread": nan}
        stability = nan if outcome.stability is None else outcome.stability
        rows.append((name, row["mean"], row["spread"], outcome.verdict, stability, seconds))
    for row in tried[0][2].table[1:]:
        rows.append((row["columns"], row["mean"], row["spread"], "for comparison", nan, 0.0))
    names = ("candidate", "criterion", "criterion_error", "verdict", "stability", "seconds")
    report = {name: np.array(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)}
    return {**report, "selected": np.arange(len(rows)) == 0}


def describe_clusters(
    reference: Reference, labels: NDArray, selected: NDArray, names: NDArray
) -> dict[str, NDArray]:
    """Return the size of each cluster and the five selected columns that distinguish it most.

    A column is rated by the distance of its mean in the cluster from its mean elsewhere, in units of its
    standard deviation within clusters; the sign says whether it is high or low there.
    """
    rows, sizes = reference.rows, np.bincount(reference.labels)
    means = rows.cluster_means(reference.labels)[:, selected]
    within = np.maximum(rows.squares()[selected] - sizes @ np.square(means), 0) / rows.shape[0]
    others = -means * (sizes / np.maximum(rows.shape[0] - sizes, 1))[:, None]
    floor = np.finfo(float).eps * max(float(within.max()), np.finfo(float).tiny)
    distances = (means - others) / np.sqrt(np.maximum(within, floor))
    largest = np.argsort(-np.abs(distances), axis=1, kind="stable")[:, :5]
    return {
        "size": np.bincount(labels, minlength=sizes.size),
        "columns": names[selected][largest],
        "distances": np.take_along_axis(distances, largest, axis=1),
    }
