"""AutoSelector: chooses method and parameters without labels."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from ufselect.auto.criteria import neighbour_agreement
from ufselect.auto.pool import Candidate, Shared, default_pool, given_pool, scores_of
from ufselect.auto.reference import build_reference
from ufselect.auto.sampling import kmeans_seeds, resolve_n_clusters, sampled_rows, seed_from
from ufselect.common.checks import check_positive_int
from ufselect.common.threads import one_blas_thread
from ufselect.common.warn import without_warnings
from ufselect.exceptions import InactiveConstraintWarning
from ufselect.gram import gram_operator
from ufselect.metrics.kmeans import kmeans_runs
from ufselect.selectors.base import Columns, Fitted, Groups, UnsupervisedSelector
from ufselect.selectors.progress import FitProgress
from ufselect.selectors.wishes import Wanted

N_RUNS = 10
ALL_FEATURES = "all features"
SKIPPED = "skipped: the time budget was used up"


@dataclass(frozen=True)
class Trial:
    """A candidate, as fitted or None if there was no time for it, and the agreement of each K-means run."""

    candidate: Candidate
    estimator: Any
    agreement: NDArray
    seconds: float


class AutoSelector(UnsupervisedSelector):
    r"""Choose features, the method and its parameters without labels.

    Every candidate selects its features; K-means on them gives partitions; the judge is a graph of neighbours
    in the whitened leading principal-component scores of *all* features. The candidate wins whose
    partitions cut the fewest edges, corrected for chance:

    .. math:: \frac{o - e}{1 - e}, \qquad e = \sum_c p_c^2,

    with o the share of edges inside a cluster and :math:`p_c` the share of samples in cluster c, averaged
    over ten runs of K-means. The graph averages over the leading c, 1.5 c and 2 c scores, so that pairs that
    are neighbours in all of them count most, and of no, half and full whitening takes the one whose graph is
    cut more cleanly than that of Gaussian data with the same spectrum by the widest gap.

    Whitening removes the dominance of a few strong directions, which are as often a nuisance as the
    structure sought, and which K-means on raw data follows. The judge fails where neighbours in the
    leading principal components do not share a cluster: where the structure lies in directions of small
    variance, or where there are too few samples for the number of clusters.

    Parameters
    ----------
    n_features_to_select : int or float, default=0.1
        Number of features, or their share.
    candidates : list or None, default=None
        Selectors, or pairs of a name and a selector: any object with ``fit`` and one of ``scores_``,
        ``ranking_`` and ``get_support``. None takes the library's pool of twelve.
    n_clusters : int or "auto", default="auto"
        Number of clusters to look for. ``"auto"`` takes one more than the number of components that the
        broken-stick rule keeps.
    time_budget : float or None, default=None
        Seconds after which no further candidate is tried; at least one is. The most promising come first.
        With a budget the result can depend on the machine.
    n_jobs : int or None, default=None
        Number of candidates tried at once, in threads. The result does not depend on it.
    max_samples : int, default=2000
        Most rows on which candidates are judged; more are sampled. The winner is fitted to all rows.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the sampling and of the clusterings.
    verbose : bool, default=False
        Log each candidate.
    keep, exclude : sequence of str or int, default=None
        Columns, by name or index, that are selected in any case, or never. Excluded columns have no part in
        the fit.
    groups : sequence or dict, default=None
        One label per column, None for a column of its own; or names of groups with their columns. A group is
        selected whole or not at all, and counts as one feature.
    max_correlation : float, default=None
        A column whose absolute correlation with a better one exceeds this waits until no other is left. Sets
        of identical columns are then listed in ``duplicates_``, for data in memory.

    Attributes
    ----------
    scores_, ranking_, support_ : ndarray of shape (n_features,)
        Those of the winner.
    best_estimator_ : estimator
        The winner, fitted to all data.
    best_params_ : dict
        Its parameters.
    report_ : list of dict
        One row per candidate, the best first: ``candidate``, ``criterion``, ``criterion_std`` over the
        K-means runs, ``seconds``, ``selected`` and ``note``, which says why the winner won. The row "all
        features" is for comparison. ``pandas.DataFrame(selector.report_)`` makes it a data frame.
    n_clusters_ : int
        The number of clusters used.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from ufselect import AutoSelector
    >>> X = scale(load_wine().data)
    >>> selector = AutoSelector(n_features_to_select=5, n_clusters=3, random_state=0).fit(X)
    >>> selector.transform(X).shape
    (178, 5)
    >>> selector.report_[0]["selected"]
    True
    """

    is_stochastic = True
    label = "AutoSelector"
    cost = "n² d + that of every candidate"
    order = 160
    on_request = True  # it fits a dozen of the others
    honours = frozenset({"keep", "groups"})  # as far as its candidates do

    best_estimator_: Any
    best_params_: dict[str, Any]
    report_: list[dict[str, Any]]
    n_clusters_: int

    def __init__(
        self,
        n_features_to_select: int | float = 0.1,
        *,
        candidates: Sequence[Any] | None = None,
        n_clusters: int | str = "auto",
        time_budget: float | None = None,
        n_jobs: int | None = None,
        max_samples: int = 2000,
        random_state: Any = None,
        verbose: bool = False,
        keep: Columns | None = None,
        exclude: Columns | None = None,
        groups: Groups | None = None,
        max_correlation: float | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.candidates = candidates
        self.n_clusters = n_clusters
        self.time_budget = time_budget
        self.n_jobs = n_jobs
        self.max_samples = max_samples
        self.random_state = random_state
        self.verbose = verbose
        self.keep = keep
        self.exclude = exclude
        self.groups = groups
        self.max_correlation = max_correlation

    def _fit(self, X: Any, wanted: Wanted, progress: FitProgress) -> Fitted:
        # Most products here are small and only lose time in threads; candidates run beside each other.
        with one_blas_thread():
            return self._choose(X, wanted, progress)

    def _choose(self, X: NDArray, wanted: Wanted, progress: FitProgress) -> Fitted:
        started = time.perf_counter()
        pool = None if self.candidates is None else given_pool(self.candidates)
        seed = seed_from(self.random_state)
        rows = sampled_rows(X, self.max_samples, seed)
        gram = gram_operator(X)
        n_clusters = resolve_n_clusters(self.n_clusters, gram, len(rows))
        # As wide as any candidate asks for, so that the order in which they run does not matter.
        gram.eigenpairs(min(2 * n_clusters, len(X) - 1, X.shape[1]))
        shared = Shared(X, gram, build_reference(rows, n_clusters, seed), wanted)
        if pool is None:
            pool = default_pool(wanted.n_selected, n_clusters, shared, seed, self.max_samples)
        deadline = None if self.time_budget is None else started + self.time_budget
        # They tell users to change a setting; the default pool's settings are judged as they are.
        muted = (InactiveConstraintWarning, ConvergenceWarning) if self.candidates is None else ()
        judge = Judge(shared, n_clusters, seed, deadline, muted)
        trials = self._try(judge, pool, progress)
        return self._decide(shared, trials, judge, n_clusters)

    def _try(self, judge: Judge, pool: list[Candidate], progress: FitProgress) -> list[Trial]:
        jobs = (delayed(judge.try_candidate)(candidate, place == 0) for place, candidate in enumerate(pool))
        results = Parallel(n_jobs=self.n_jobs, prefer="threads", return_as="generator")(jobs)
        trials = []
        for place, trial in enumerate(results):
            trials.append(trial)
            progress(place + 1, float(trial.agreement.mean()))
        return trials

    def _check_parameters(self) -> None:
        check_positive_int("max_samples", self.max_samples)
        budget = self.time_budget
        if budget is not None and (
            isinstance(budget, bool) or not isinstance(budget, Real) or not budget > 0
        ):
            raise ValueError(f"time_budget must be a number of seconds above 0 or None, not {budget!r}.")

    def _decide(self, shared: Shared, trials: list[Trial], judge: Judge, n_clusters: int) -> Fitted:
        tried = [trial for trial in trials if trial.estimator is not None]
        winner = max(tried, key=lambda trial: float(trial.agreement.mean()))
        best = winner.estimator
        scores = scores_of(best, winner.candidate.name, shared)
        if shared.wanted.excludes and isinstance(best, UnsupervisedSelector):
            self._let_it_know_all_columns(best, shared.wanted)
        attributes = {
            "best_estimator_": best,
            "best_params_": best.get_params(),
            "report_": report(trials, winner, judge.agreement(np.arange(shared.X.shape[1]))),
            "n_clusters_": n_clusters,
        }
        return Fitted(scores, attributes, choice=shared.choice(scores))

    def _let_it_know_all_columns(self, best: UnsupervisedSelector, wanted: Wanted) -> None:
        """Make a selector of the columns that are left one of all columns that excludes the others."""
        best.set_params(keep=self.keep, exclude=self.exclude, groups=self.groups)
        best._spread(wanted)
        best.n_features_in_ = wanted.n_features


class Judge:
    """Tries candidates on the sampled rows."""

    def __init__(
        self,
        shared: Shared,
        n_clusters: int,
        seed: int,
        deadline: float | None,
        muted: tuple[type[Warning], ...],
    ) -> None:
        self.shared = shared
        self.n_clusters = n_clusters
        self.seeds = kmeans_seeds(seed, N_RUNS)
        self.deadline = deadline
        self.muted = muted

    def try_candidate(self, candidate: Candidate, is_first: bool) -> Trial:
        """Let a candidate select, cluster its features and compare with the graph."""
        started = time.perf_counter()
        if self.deadline is not None and started > self.deadline and not is_first:
            return Trial(candidate, None, np.array([np.nan]), 0.0)
        try:
            with without_warnings(*self.muted):
                estimator = candidate.fitted(self.shared)
            scores = scores_of(estimator, candidate.name, self.shared)
        except Exception as error:
            error.add_note(f"This happened in the candidate {candidate.name!r}.")
            raise
        features = np.flatnonzero(self.shared.choice(scores).support)
        return Trial(candidate, estimator, self.agreement(features), time.perf_counter() - started)

    def agreement(self, features: NDArray) -> NDArray:
        """Return the agreement with the graph of each K-means run on the features."""
        points = np.ascontiguousarray(self.shared.reference.A[:, features])
        labels = kmeans_runs(points, self.n_clusters, self.seeds, "k-means++")
        return neighbour_agreement(labels, self.shared.reference.graph)


def report(trials: list[Trial], winner: Trial, all_features: NDArray) -> list[dict[str, Any]]:
    """Return one row per candidate, the best first, those that were skipped last."""
    means = {trial.candidate.name: float(trial.agreement.mean()) for trial in trials}
    top = means[winner.candidate.name]
    rows: list[dict[str, Any]] = [
        {
            "candidate": trial.candidate.name,
            "criterion": means[trial.candidate.name],
            "criterion_std": float(trial.agreement.std()),
            "seconds": trial.seconds,
            "selected": trial is winner,
            "note": SKIPPED
            if trial.estimator is None
            else f"{top - means[trial.candidate.name]:.3f} below the winner",
        }
        for trial in trials
    ]
    rows.append(
        {
            "candidate": ALL_FEATURES,
            "criterion": float(all_features.mean()),
            "criterion_std": float(all_features.std()),
            "seconds": 0.0,
            "selected": False,
            "note": "for comparison",
        }
    )
    rows.sort(key=lambda row: (not row["selected"], np.isnan(row["criterion"]), -row["criterion"]))
    rows[0]["note"] = _why(rows)
    return rows


def _why(rows: list[dict[str, Any]]) -> str:
    """Say in a sentence why the first row won."""
    best = rows[0]
    others = [row for row in rows[1:] if row["candidate"] != ALL_FEATURES and not np.isnan(row["criterion"])]
    everything = next(row for row in rows if row["candidate"] == ALL_FEATURES)
    reason = f"K-means on its features follows the neighbour graph best: {best['criterion']:.3f}"
    if others:
        reason += f", {best['criterion'] - others[0]['criterion']:.3f} above {others[0]['candidate']}"
    return f"{reason}; all features reach {everything['criterion']:.3f}"
