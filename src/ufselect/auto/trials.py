"""Trying candidates one after the other, within a budget of time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import NDArray

from ufselect.auto.judges import Judge
from ufselect.auto.pool import Candidate, Shared, scores_of
from ufselect.auto.report import Comparison, Trial, is_beyond_doubt
from ufselect.common.deadline import OutOfTimeError, ending_by, now
from ufselect.common.warn import without_warnings
from ufselect.selectors.progress import logger

# Random subsets to compare with. Where they are cheap there are enough for their own spread to be known well,
# and more while the verdict hangs on them: few columns differ most from draw to draw.
N_DRAWS = 3
N_CHEAP_DRAWS = 6
DOUBTFUL_DRAWS = (10, 20)
# Values of a random subset, rows times columns, up to which it is cheap: K-means takes about a millisecond.
CHEAP_VALUES = 10_000
# Runs for each of them and for all features: enough to tell how far off they are.
COMPARED_RUNS = 2
# Standard errors of a difference by which a candidate must be behind to get no more runs.
HOPELESS = 2.0


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
        Moment after which nothing is to end. Work is not begun that would end too late by what was tried so
        far, and given up where it does; the first candidate always is tried.
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
        """Return one trial per candidate: a first look at each, then more runs for those still in reach."""
        longest = [0.0]
        jobs = (
            delayed(self._in_turn)(candidate, is_first=place == 0, longest=longest)
            for place, candidate in enumerate(pool)
        )
        trials = []
        for trial in Parallel(n_jobs=self.n_jobs, prefer="threads", return_as="generator")(jobs):
            trials.append(trial)
            self.tell(len(trials), trial)
        for before, after in pairwise(self.judge.looks):
            rivals = in_reach([trial for trial in trials if trial.values.size == before])
            if not self.has_time((after - before) * sum(trial.pace for trial in rivals)):
                break
            runs = slice(before, after)
            try:
                longer = Parallel(n_jobs=self.n_jobs, prefer="threads")(
                    delayed(self._look_again)(trial, runs) for trial in rivals
                )
            except OutOfTimeError:
                break
            known = {id(short): long for short, long in zip(rivals, longer, strict=True)}
            trials = [known.get(id(trial), trial) for trial in trials]
        return trials

    def compare(self, seed: int, share: float | None) -> Comparison:
        """Judge all features and a few random subsets; ``share`` says how clear the clusters are, if any."""
        everything = self.judge.values(np.arange(self.shared.X.shape[1]), self._compared_runs)
        random = self._random_values(seed, 0, N_CHEAP_DRAWS if self._draws_are_cheap else N_DRAWS)
        return Comparison(everything, random, share)

    def compare_further(self, comparison: Comparison, best: Trial, seed: int) -> Comparison:
        """Draw more random subsets while they could change the verdict on the best trial.

        For clusters only if they are cheap: with many rows three draws differ little.
        """
        if comparison.share is not None and not self._draws_are_cheap:
            return comparison
        try:
            with ending_by(self.deadline):
                for n_draws in DOUBTFUL_DRAWS:
                    if is_beyond_doubt(best, comparison):
                        break
                    more = self._random_values(seed, comparison.random.size, n_draws)
                    comparison = replace(comparison, random=np.append(comparison.random, more))
        except OutOfTimeError:
            logger.info("There was no time for more than %d random subsets.", comparison.random.size)
        return comparison

    @property
    def _compared_runs(self) -> slice:
        return slice(0, min(COMPARED_RUNS, self.judge.looks[0]))

    @property
    def _draws_are_cheap(self) -> bool:
        return self.shared.X.shape[0] * self.shared.wanted.n_selected <= CHEAP_VALUES

    def _random_values(self, seed: int, start: int, stop: int) -> NDArray:
        """Return the values of the random subsets from one number to another, the same for the same seed."""
        draws = np.random.default_rng(seed).random((stop, self.shared.X.shape[1]))[start:]
        chosen = [np.flatnonzero(self.shared.choice(draw).support) for draw in draws]
        return np.array([self.judge.values(features, self._compared_runs).mean() for features in chosen])

    def has_time(self, seconds: float) -> bool:
        """Tell whether work of so many seconds, spread over the jobs, ends before the deadline."""
        if self.deadline is None:
            return True
        return now() + seconds / effective_n_jobs(self.n_jobs) <= self.deadline

    def _in_turn(self, candidate: Candidate, *, is_first: bool, longest: list[float]) -> Trial:
        """Try a candidate, or skip it for lack of time."""
        if is_first:
            trial = self._first_look(candidate)
        else:
            skipped = Trial(candidate, None, np.empty(0, dtype=np.intp), np.array([np.nan]), 0.0)
            if self.deadline is not None and now() + longest[0] > self.deadline:
                return skipped
            try:
                with ending_by(self.deadline):
                    trial = self._first_look(candidate)
            except OutOfTimeError:
                return skipped
        longest[0] = max(longest[0], trial.seconds)
        return trial

    def _first_look(self, candidate: Candidate) -> Trial:
        started = now()
        try:
            with without_warnings(*self.muted):
                estimator = candidate.fitted(self.shared)
            scores = scores_of(estimator, candidate.name, self.shared)
        except OutOfTimeError:
            raise
        except Exception as error:
            error.add_note(f"This happened in the candidate {candidate.name!r}.")
            raise
        features = np.flatnonzero(self.shared.choice(scores).support)
        fitted = now()
        values = self._values(candidate, features, slice(0, self.judge.looks[0]))
        ended = now()
        return Trial(
            candidate, estimator, features, values, ended - started, (ended - fitted) / self.judge.looks[0]
        )

    def _look_again(self, trial: Trial, runs: slice) -> Trial:
        started = now()
        with ending_by(self.deadline):
            values = np.append(trial.values, self._values(trial.candidate, trial.features, runs))
        return replace(trial, values=values, seconds=trial.seconds + now() - started)

    def _values(self, candidate: Candidate, features: NDArray, runs: slice) -> NDArray:
        with without_warnings(*self.muted):
            return self.judge.values_of(candidate, self.shared, features, runs)


def in_reach(trials: Sequence[Trial]) -> list[Trial]:
    """Return the trials that more runs could make the winner, of several with as many values each.

    The runs of all of them tell how far one run is from another: few values of one candidate can agree
    by chance.
    """
    variance = float(np.mean([trial.values.var(ddof=1) for trial in trials]))
    slack = HOPELESS * np.sqrt(2 * variance / trials[0].values.size)
    best = max(trial.mean for trial in trials)
    return [trial for trial in trials if best - trial.mean <= slack]
