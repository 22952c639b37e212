"""Who wins: the largest criterion, and of selections that tie the one that other rows would have led to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ufselect.auto.pool import Candidate, Shared, scores_of
from ufselect.auto.reference import reference_like
from ufselect.auto.report import Comparison, Trial, is_better_than_random, is_tied
from ufselect.auto.rows import rows_of
from ufselect.auto.trials import Course
from ufselect.common.deadline import OutOfTimeError, ending_by
from ufselect.common.warn import without_warnings
from ufselect.exceptions import ConstantDataError

# Share of the standard error within which stability decides. The wider, the more accuracy and time it costs;
# docs/tuning.md has the figures.
NEAR = 0.1


@dataclass(frozen=True)
class Outcome:
    """All trials, the one that won, and how many tied so closely that stability decided."""

    trials: list[Trial]
    winner: Trial
    n_rivals: int = 1


def settled(
    course: Course, trials: list[Trial], comparison: Comparison, chosen: NDArray, seed: int, set_up: float
) -> Outcome:
    """Find the winner.

    Near ties are broken by stability: candidates choose again from each of two halves of the rows, and the
    one wins that agrees best with itself. If the best is no better than random subsets, every tie is.

    Parameters
    ----------
    course, trials, comparison
        How candidates were tried, and what came out.
    chosen : ndarray
        The rows that are judged by.
    seed : int
        Seed of the halves.
    set_up : float
        Seconds that it took until candidates could be tried; with that on halves the deadline must be met.
    """
    best = best_of(trials)
    finalists = finalists_of(trials)
    share = NEAR if is_better_than_random(best, comparison) else 1.0
    rivals = [trial for trial in finalists if trial is best or is_tied(trial, best, share)]
    differ = any(not np.array_equal(trial.features, best.features) for trial in rivals)
    if not differ or not course.has_time(set_up + sum(trial.seconds for trial in rivals)):
        return Outcome(trials, best)
    # What is said about half of the rows is not about the user's data.
    try:
        with without_warnings(Warning), ending_by(course.deadline):
            halves = halves_of(course.shared, chosen, seed)
            if not halves:
                return Outcome(trials, best)
            known = {
                id(rival): replace(rival, stability=stability(rival.candidate, halves)) for rival in rivals
            }
    except OutOfTimeError:
        return Outcome(trials, best)
    winner = max(known.values(), key=lambda trial: (trial.stability, trial.mean))
    return Outcome([known.get(id(trial), trial) for trial in trials], winner, len(rivals))


def finalists_of(trials: Sequence[Trial]) -> list[Trial]:
    """Return the trials with as many values as any has."""
    tried = [trial for trial in trials if trial.estimator is not None]
    most = max(trial.values.size for trial in tried)
    return [trial for trial in tried if trial.values.size == most]


def best_of(trials: Sequence[Trial]) -> Trial:
    """Return the finalist with the largest criterion."""
    return max(finalists_of(trials), key=lambda trial: trial.mean)


def halves_of(shared: Shared, chosen: NDArray, seed: int) -> list[Shared]:
    """Return what candidates are fitted to for each of two halves of the chosen rows, the clusters anew.

    There are none if nothing varies within a half, or one of them has a single row.
    """
    halves: list[Shared] = []
    if chosen.size < 4:
        return halves
    for half in np.array_split(np.random.default_rng(seed).permutation(chosen), 2):
        X = shared.X[np.sort(half)]
        reference = None
        if shared.reference is not None:
            try:
                reference = reference_like(shared.reference, rows_of(X), seed)
            except ConstantDataError:
                return []
        halves.append(Shared(X, reference, shared.wanted))
    return halves


def stability(candidate: Candidate, halves: Sequence[Shared]) -> float:
    """Return the share of features that a candidate chooses from both halves; 0 if it cannot choose."""
    selections = []
    for half in halves:
        try:
            scores = scores_of(candidate.fitted(half), candidate.name, half)
        except ValueError:  # so few rows do not do for it
            return 0.0
        selections.append(half.choice(scores).support)
    return float(np.sum(selections[0] & selections[1]) / np.sum(selections[0]))
