"""Trying candidates one after the other, within a budget of time."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from ufselect.auto.judges import Judge
from ufselect.auto.pool import Candidate, Shared, scores_of
from ufselect.auto.report import Comparison, Trial
from ufselect.common.warn import without_warnings

# Random subsets to compare with.
N_DRAWS = 3
# Runs for each of them and for all features: enough to tell how far off they are.
COMPARED_RUNS = 2
# Standard errors by which a candidate must be behind after the first runs to get no more.
HOPELESS = 3.0


@dataclass(frozen=True)
class Course:
    """Tries candidates.

    Attributes
    ----------
    shared : Shared
        What the candidates are fitted to.
    judge : Judge
        What gives values to their features.
    deadline : float or None
        Moment of ``time.perf_counter`` after which none is begun, or that would be missed by one as long as
        the longest so far.
    n_jobs : int or None
        Number of candidates tried at once, in threads.
    tell : callable
        Called with the number of candidates tried and the last trial.
    muted : tuple of warning classes
        Warnings of the candidates' fits that are not passed on.
    """

    shared: Shared
    judge: Judge
    deadline: float | None
    n_jobs: int | None
    tell: Callable[[int, Trial], None]
    muted: tuple[type[Warning], ...] = ()

    def run(self, pool: list[Candidate]) -> list[Trial]:
        """Return one trial per candidate: a first look at each, then all runs for those still in reach."""
        longest = [0.0]
        jobs = (delayed(self._first_look)(candidate, place, longest) for place, candidate in enumerate(pool))
        trials = []
        for trial in Parallel(n_jobs=self.n_jobs, prefer="threads", return_as="generator")(jobs):
            trials.append(trial)
            self.tell(len(trials), trial)
        late = self.deadline is not None and time.perf_counter() > self.deadline
        open_trials = [] if late else [trial for trial in trials if self._in_reach(trial, trials)]
        finished = Parallel(n_jobs=self.n_jobs, prefer="threads")(
            delayed(self._finish)(trial) for trial in open_trials
        )
        known = {id(before): after for before, after in zip(open_trials, finished, strict=True)}
        return [known.get(id(trial), trial) for trial in trials]

    def compare(self, seed: int) -> Comparison:
        """Judge all features and a few random subsets."""
        n_features = self.shared.X.shape[1]
        first = slice(0, min(COMPARED_RUNS, self.judge.n_first))
        rng = np.random.default_rng(seed)
        draws = [self.shared.choice(rng.random(n_features)).support for _ in range(N_DRAWS)]
        random = [self.judge.values(np.flatnonzero(draw), first).mean() for draw in draws]
        return Comparison(self.judge.values(np.arange(n_features), first), np.array(random))

    def _first_look(self, candidate: Candidate, place: int, longest: list[float]) -> Trial:
        started = time.perf_counter()
        if self.deadline is not None and place > 0 and started + longest[0] > self.deadline:
            return Trial(candidate, None, np.empty(0, dtype=np.intp), np.array([np.nan]), 0.0)
        try:
            with without_warnings(*self.muted):
                estimator = candidate.fitted(self.shared)
            scores = scores_of(estimator, candidate.name, self.shared)
        except Exception as error:
            error.add_note(f"This happened in the candidate {candidate.name!r}.")
            raise
        features = np.flatnonzero(self.shared.choice(scores).support)
        values = self._values(candidate, features, slice(0, self.judge.n_first))
        seconds = time.perf_counter() - started
        longest[0] = max(longest[0], seconds)
        return Trial(candidate, estimator, features, values, seconds)

    def _in_reach(self, trial: Trial, trials: list[Trial]) -> bool:
        """Tell whether more runs could make a trial the winner."""
        if trial.estimator is None or self.judge.n_first == self.judge.n_all:
            return False
        best = max((other for other in trials if other.estimator is not None), key=lambda other: other.mean)
        return best.mean - trial.mean <= HOPELESS * float(np.hypot(best.error, trial.error))

    def _finish(self, trial: Trial) -> Trial:
        started = time.perf_counter()
        rest = slice(self.judge.n_first, self.judge.n_all)
        values = np.append(trial.values, self._values(trial.candidate, trial.features, rest))
        return replace(trial, values=values, seconds=trial.seconds + time.perf_counter() - started)

    def _values(self, candidate: Candidate, features: NDArray, runs: slice) -> NDArray:
        with without_warnings(*self.muted):
            return self.judge.values_of(candidate, self.shared, features, runs)
