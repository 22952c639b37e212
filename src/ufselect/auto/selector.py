"""AutoSelector: chooses method and parameters without labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from inspect import signature
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from ufselect.auto.budget import PILOT_ROWS, affordable_rows
from ufselect.auto.clustering import labels_of
from ufselect.auto.pool import scores_of
from ufselect.auto.report import Trial, describe_clusters, is_better_than_random, report, verdict
from ufselect.auto.sampling import sampled_rows, seed_from
from ufselect.auto.setting import DSCOFS_ONLY, Setting, setting_for
from ufselect.auto.ties import best_of, settled
from ufselect.auto.trials import Course
from ufselect.blocks.dask import is_dask
from ufselect.common.checks import check_choice, check_positive_int
from ufselect.common.deadline import OutOfTimeError, ending_by, now
from ufselect.common.threads import one_blas_thread
from ufselect.exceptions import InactiveConstraintWarning
from ufselect.gram import GramOperator
from ufselect.selectors.base import Columns, Fitted, Groups, UnsupervisedSelector
from ufselect.selectors.large import sample_rows
from ufselect.selectors.placed import kept_columns
from ufselect.selectors.progress import FitProgress, logger
from ufselect.selectors.wishes import Wanted, Wishes
from ufselect.solvers.rebuild.choose import first_columns
from ufselect.solvers.rebuild.counts import count_curve
from ufselect.solvers.rebuild.placement import Placement

GOALS = ("clusters", "rebuild")
CLUSTERERS = ("kmeans", "graph")


class AutoSelector(UnsupervisedSelector):
    r"""Choose features, the method and its parameters without labels.

    What are the columns for? With ``goal="clusters"`` they are to show the clusters of the rows. A graph of
    neighbours in the whitened leading principal-component scores of *all* features is cut into clusters, as
    :class:`~ufselect.GraphClustering` does. Each candidate selects its features; K-means on them, ten runs,
    gives partitions; the candidate wins whose partitions have the largest normalised mutual information with
    the graph's clusters on average. With more than 200 rows, a candidate far behind after three or six runs
    gets no more. Candidates within a tenth of the standard error tie, or within all of it if none is better
    than random: then each chooses again from two halves of the rows, and the one wins that chooses most
    columns from both.

    Whitening removes the dominance of a few strong directions, which are as often a nuisance as the
    structure sought, and which K-means on raw data follows. The judge fails where neighbours in the
    leading principal components do not share a cluster: where the structure lies in directions of small
    variance, or where there are too few samples for the number of clusters.

    With ``goal="rebuild"`` the other columns are to be rebuilt from the selected ones. Candidates choose
    from two thirds of the rows, and the largest share of the variance of the last third that a linear map
    rebuilds wins.

    All of it works on at most ``max_samples`` rows. Sparse data stay sparse.

    Parameters
    ----------
    n_features_to_select : int, float or "auto", default=0.1
        Number of features, or their share. ``"auto"``, for the goal "rebuild", chooses it by the error of
        rebuilding rows left out; see ``count_curve_``.
    goal : {"clusters", "rebuild"}, default="clusters"
        What the features are for.
    clusterer : {"kmeans", "graph"}, default="kmeans"
        How the features will be clustered: by K-means, or by :class:`~ufselect.GraphClustering`, for which
        the judge takes about five times as long. For the goal "clusters".
    candidates : list, "dscofs" or None, default=None
        Selectors, or pairs of a name and a selector: any object with ``fit`` and one of ``scores_``,
        ``ranking_`` and ``get_support``. ``"dscofs"`` judges :class:`~ufselect.DSCOFS` alone: two starts
        from the graph, three strengths of its penalties, with and without entry sparsity. None takes the
        library's pool: mixtures of the rules of :class:`~ufselect.PartitionSelector`, six for K-means and
        five for graph clustering, or
        :class:`~ufselect.RebuildSelector`, greedy projection and baselines for the goal "rebuild".
    n_clusters : int or "auto", default="auto"
        Number of clusters to look for. ``"auto"`` finds it as :class:`~ufselect.GraphClustering` does.
    time_budget : float or None, default=None
        Seconds that a fit may take. The default candidates are first judged by 200 rows, then by as many as
        there is time for; ``verdict_`` says if it was not for all. Nothing is begun that would end
        too late by what was measured, and what takes longer is given up. With other candidates, or up to
        200 rows, the clusters, the comparison with random subsets and one candidate take what they take. The
        most promising come first. With a budget the result can depend on the machine.
    n_jobs : int or None, default=None
        Number of candidates tried at once, in threads. The result does not depend on it.
    max_samples : int, default=2000
        Most rows on which candidates are judged; more are sampled.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the sampling and of the clusterings.
    verbose : bool, default=False
        Log each candidate and the time left.
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
        The winner, fitted.
    best_params_ : dict
        Its parameters.
    report_ : list of dict
        One row per candidate, the best first: ``candidate``, ``criterion``, ``criterion_std`` over the runs,
        ``criterion_error``, the standard error of the criterion (for random subsets and the goal "rebuild"
        their spread), ``seconds``, ``selected``, ``tied`` if it is behind the winner by less than a standard
        error, ``stability`` (the share of columns chosen from both halves of the rows, where a tie asked for
        it) and ``note``. The rows "all features" and "random subsets" are for comparison.
        ``pandas.DataFrame(selector.report_)`` makes it a data frame.
    verdict_ : str
        One sentence: whether the selection is better than random, or all columns should be kept, and whether
        stability broke a tie.
    better_than_random_ : bool
        The same for a program: whether the selection is better than random subsets beyond doubt.
    labels_ : ndarray of shape (n_samples,)
        The clusters found with all features, for the goal "clusters"; of a dask collection those of the
        sampled rows.
    clusters_ : list of dict
        For each cluster its number, its ``size`` and ``columns``: the selected columns that tell it from the
        rest, each with the distance of its mean there from its mean elsewhere in standard deviations.
    n_clusters_ : int
        The number of clusters, for the goal "clusters".
    count_curve_ : list of dict
        With ``n_features_to_select="auto"``: for each ``count`` the held-out ``error``, its
        ``standard_error`` and whether it was ``chosen``, with a ``note`` beside the chosen one.

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

    accepts_sparse = True
    is_stochastic = True
    label = "AutoSelector"
    cost = "a PCA + n² c + n d c per candidate"
    order = 160
    chooses_count = True
    on_request = True  # it fits several of the others
    honours = frozenset({"keep", "groups"})  # as far as its candidates do

    n_features_to_select: int | float | str  # type: ignore[assignment]

    best_estimator_: Any
    best_params_: dict[str, Any]
    report_: list[dict[str, Any]]
    verdict_: str
    better_than_random_: bool
    labels_: NDArray
    clusters_: list[dict[str, Any]]
    n_clusters_: int
    count_curve_: list[dict[str, Any]]

    def __init__(
        self,
        n_features_to_select: int | float | str = 0.1,
        *,
        goal: str = "clusters",
        clusterer: str = "kmeans",
        candidates: Sequence[Any] | str | None = None,
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
        self.goal = goal
        self.clusterer = clusterer
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

    @property
    def _is_auto(self) -> bool:
        return isinstance(self.n_features_to_select, str) and self.n_features_to_select == "auto"

    def _wanted(self, n_features: int) -> Wanted:
        # While the count is open, all columns are wanted.
        return Wishes.of(self, n_features).wanted(1.0) if self._is_auto else super()._wanted(n_features)

    def _check_parameters(self) -> None:
        check_choice("goal", self.goal, GOALS)
        if self._is_auto and (self.goal != "rebuild" or self.groups is not None):
            raise ValueError(
                'n_features_to_select="auto" serves goal="rebuild" without groups; give a number instead.'
            )
        check_choice("clusterer", self.clusterer, CLUSTERERS)
        if self.goal == "rebuild":
            self._refuse_what_serves_clusters()
        if isinstance(self.candidates, str):
            check_choice("candidates", self.candidates, (DSCOFS_ONLY,))
            if self.goal != "clusters":
                raise ValueError(
                    'candidates="dscofs" serves goal="clusters" alone; give a list of selectors.'
                )
        check_positive_int("max_samples", self.max_samples)
        budget = self.time_budget
        if budget is not None and (
            isinstance(budget, bool) or not isinstance(budget, Real) or not budget > 0
        ):
            raise ValueError(f"time_budget must be a number of seconds above 0 or None, not {budget!r}.")

    def _refuse_what_serves_clusters(self) -> None:
        """Refuse settings that would have no effect."""
        defaults = signature(type(self)).parameters
        for name in ("n_clusters", "clusterer"):
            value = getattr(self, name)
            if value != defaults[name].default:
                raise ValueError(f'{name}={value!r} serves goal="clusters" alone; leave it out.')

    def _in_memory(self, X: Any) -> Any:
        return sample_rows(X, self.random_state) if is_dask(X) else super()._in_memory(X)

    def _fit(self, X: Any, wanted: Wanted, progress: FitProgress) -> Fitted:
        started = now()
        # Most products here are small and only lose time in threads; candidates run beside each other.
        with one_blas_thread():
            if not self._is_auto:
                return self._in_time(X, wanted, started, progress)
            curve = count_curve(X, first_columns(_anywhere, kept_columns(wanted).tolist()))
            wanted = replace(wanted, n_selected=max(curve.chosen, wanted.kept.size))
            fitted = self._choose(self._setting(X, wanted, self.max_samples), started, progress)
        return replace(fitted, attributes={**fitted.attributes, "count_curve_": curve.table()})

    def _in_time(self, X: Any, wanted: Wanted, started: float, progress: FitProgress) -> Fitted:
        """Choose by as many rows as there is time for.

        The default candidates are worked out from the rows that judge them: a few rows give an answer soon,
        and tell what more would take. Other candidates are fitted to all rows in any case.
        """
        most = min(self.max_samples, X.shape[0])
        is_fixed = self.candidates is not None or most <= PILOT_ROWS
        if self.time_budget is None or is_fixed:
            return self._choose(self._setting(X, wanted, self.max_samples), started, progress)
        setting = self._setting(self._part(X, PILOT_ROWS), wanted, PILOT_ROWS)
        pilot = self._choose(replace(setting, pool=setting.pool[:1]), started, progress)
        deadline = started + self.time_budget
        n_rows = affordable_rows(most, now() - started, deadline - now())
        if n_rows > PILOT_ROWS:
            is_all = n_rows == most
            part, max_samples = (X, self.max_samples) if is_all else (self._part(X, n_rows), n_rows)
            try:
                with ending_by(deadline):
                    fitted = self._choose(self._setting(part, wanted, max_samples), started, progress)
                return fitted if is_all else _by_fewer(fitted, n_rows, most)
            except OutOfTimeError:
                logger.info("There was no time for %d rows; the answer of %d stands.", n_rows, PILOT_ROWS)
        return _by_fewer(pilot, PILOT_ROWS, most)

    def _part(self, X: Any, n_rows: int) -> Any:
        """Return so many rows for rebuilding, where candidates are fitted to what they are given.

        For clusters all rows get a label, and the rows to judge by are sampled later.
        """
        return X if self.goal == "clusters" else sampled_rows(X, n_rows, seed_from(self.random_state))

    def _setting(self, X: Any, wanted: Wanted, max_samples: int) -> Setting:
        return setting_for(
            X,
            wanted,
            max_samples,
            goal=self.goal,
            clusterer=self.clusterer,
            candidates=self.candidates,
            n_clusters=self.n_clusters,
            random_state=self.random_state,
        )

    def _choose(self, setting: Setting, started: float, progress: FitProgress) -> Fitted:
        def tell(count: int, trial: Trial) -> None:
            progress(count, trial.mean)
            if self.verbose:
                left = (now() - begun) / count * (len(setting.pool) - count)
                logger.info("%s: %.3f; about %.1f s left", trial.candidate.name, trial.mean, left)

        deadline = None if self.time_budget is None else started + self.time_budget
        # They tell users to change a setting; the settings of our own pools are judged as they are.
        has_own_pool = self.candidates is None or isinstance(self.candidates, str)
        muted = (InactiveConstraintWarning, ConvergenceWarning) if has_own_pool else ()
        course = Course(setting.shared, setting.judge, deadline, self.n_jobs, tell, muted)
        # What no selection can do without comes first, so that the candidates get the rest of the time.
        clusters = self._clusters(setting)
        comparison = course.compare(setting.seed, setting.share)
        begun = now()
        trials = course.run(setting.pool)
        comparison = course.compare_further(comparison, best_of(trials), setting.seed)
        outcome = settled(course, trials, comparison, setting.chosen, setting.seed, begun - started)
        winner, shared = outcome.winner, setting.shared
        best = winner.estimator
        scores = scores_of(best, winner.candidate.name, shared)
        if shared.wanted.excludes and isinstance(best, UnsupervisedSelector):
            self._let_it_know_all_columns(best, shared.wanted)
        attributes = {
            "best_estimator_": best,
            "best_params_": best.get_params(),
            "report_": report(outcome.trials, winner, comparison),
            "verdict_": verdict(
                winner,
                comparison,
                setting.judge.measure,
                all_compete=setting.judge.all_compete,
                n_rivals=outcome.n_rivals,
            ),
            "better_than_random_": is_better_than_random(winner, comparison),
            **clusters,
            **self._described(setting, clusters, winner),
        }
        return Fitted(scores, attributes, choice=shared.choice(scores))

    def _let_it_know_all_columns(self, best: UnsupervisedSelector, wanted: Wanted) -> None:
        """Make a selector of the columns that are left one of all columns that excludes the others."""
        best.set_params(keep=self.keep, exclude=self.exclude, groups=self.groups)
        start = best.get_params().get("init")
        if isinstance(start, np.ndarray):
            best.set_params(init=wanted.spread(start))
        best._spread(wanted)
        best.n_features_in_ = wanted.n_features

    def _clusters(self, setting: Setting) -> dict[str, Any]:
        """Return the clusters, if they are the goal."""
        reference = setting.reference
        if reference is None:
            return {}
        labels = labels_of(reference, setting.shared.X, setting.chosen)
        return {"labels_": labels, "n_clusters_": reference.n_clusters}

    def _described(self, setting: Setting, clusters: dict[str, Any], winner: Trial) -> dict[str, Any]:
        """Return what the winner's features tell about the clusters, if they are the goal."""
        if setting.reference is None:
            return {}
        wanted = setting.shared.wanted
        names = wanted.restrict_rows(getattr(self, "feature_names_in_", np.arange(wanted.n_features)))
        described = describe_clusters(setting.reference, clusters["labels_"], winner.features, names)
        return {"clusters_": described}


def _by_fewer(fitted: Fitted, n_rows: int, most: int) -> Fitted:
    """Say in the verdict that there was no time for all rows."""
    said = f"{fitted.attributes['verdict_']} There was time to judge by {n_rows} of {most} rows."
    return replace(fitted, attributes={**fitted.attributes, "verdict_": said})


def _anywhere(gram: GramOperator, size: int) -> Placement:
    return Placement(np.asarray(gram.diag() > 0), size)
