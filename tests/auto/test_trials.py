"""Trying candidates: who stays in the race, and what the deadline allows."""

from __future__ import annotations

import time

import numpy as np
import pytest

from ufselect.auto.pool import Candidate, Shared
from ufselect.auto.report import Trial
from ufselect.auto.trials import Course, in_reach
from ufselect.common.deadline import check_time
from ufselect.selectors.baselines import MaxVariance, PCALeverage
from ufselect.selectors.wishes import wanted_of


def trial(name, values):
    return Trial(Candidate(name, None), object(), np.arange(2), np.array(values), 1.0)


def test_the_spread_of_all_runs_says_who_is_out_of_reach():
    """Equal values of one candidate are chance, not certainty: alone they would leave no slack."""
    steady, wild = trial("steady", [0.7, 0.7, 0.7]), trial("wild", [0.5, 0.7, 0.69])
    hopeless = trial("hopeless", [0.2, 0.3, 0.25])
    # Mean variance 0.0053, so that two standard errors of a difference are 0.12.
    assert in_reach([steady, wild, hopeless]) == [steady, wild]


class SlowJudge:
    """Each value takes a while."""

    measure = "patience"
    all_compete = True

    def __init__(self, looks, seconds):
        self.looks = looks
        self.seconds = seconds

    def values(self, features, runs):
        count = runs.stop - runs.start
        time.sleep(self.seconds * count)
        return features.mean() + np.arange(runs.start, runs.stop) * 0.01

    def values_of(self, candidate, shared, features, runs):
        return self.values(features, runs)


def course(judge, deadline):
    X = np.random.default_rng(0).standard_normal((40, 8)) * np.arange(1, 9)
    return Course(Shared(X, None, wanted_of(MaxVariance(2), 8)), judge, deadline, None, lambda *_: None)


POOL = [Candidate("variance", MaxVariance()), Candidate("leverage", PCALeverage(n_components=7))]


def test_all_looks_are_taken_while_there_is_time():
    trials = course(SlowJudge((2, 4, 7), 0.0), None).run(POOL[:1])
    np.testing.assert_allclose(np.diff(trials[0].values), 0.01)
    assert trials[0].values.size == 7


def test_a_look_that_would_miss_the_deadline_is_not_begun():
    started = time.perf_counter()
    trials = course(SlowJudge((2, 40), 0.02), started + 0.4).run(POOL[:1])
    assert trials[0].values.size == 2
    assert trials[0].pace >= 0.02


def test_a_candidate_that_would_miss_the_deadline_is_not_begun():
    started = time.perf_counter()
    trials = course(SlowJudge((10,), 0.03), started + 0.4).run(POOL)
    assert trials[0].estimator is not None
    assert trials[1].estimator is None


class Endless(MaxVariance):
    """Never comes to an end by itself."""

    def fit(self, X, y=None):
        while True:
            check_time()


def test_a_candidate_that_takes_too_long_is_given_up():
    pool = [POOL[0], Candidate("endless", Endless()), POOL[1]]
    started = time.perf_counter()
    trials = course(SlowJudge((1,), 0.0), started + 0.2).run(pool)
    assert time.perf_counter() - started < 0.4
    assert [trial.estimator is None for trial in trials] == [False, True, True]


class DrawingJudge:
    """Random subsets are worth what is drawn for them, all features nothing."""

    measure = "luck"
    all_compete = True
    looks = (2,)

    def __init__(self, values):
        self.left = iter(values)
        self.n_asked = 0

    def values(self, features, runs):
        if features.size == 8:
            return np.zeros(2)
        self.n_asked += 1
        return np.full(2, next(self.left))


@pytest.mark.parametrize(("best", "n_draws"), [(0.59, 20), (0.95, 6)])
def test_more_random_subsets_are_drawn_where_the_verdict_hangs_on_them(best, n_draws):
    """Six values around 0.5 have a standard error of 0.04: three are asked for, six are beyond doubt."""
    judge = DrawingJudge([0.4, 0.6] * 10)
    tried = course(judge, None)
    first = tried.compare(0, 0.9)
    assert first.random.size == 6
    further = tried.compare_further(first, trial("best", [best, best]), 0)
    assert further.random.size == judge.n_asked == n_draws
    np.testing.assert_array_equal(further.random[:6], first.random)


def test_draws_do_not_depend_on_when_they_are_made():
    seen = []

    class Spy(DrawingJudge):
        def values(self, features, runs):
            seen.append(features.tolist())
            return np.zeros(2)

    tried = course(Spy([]), None)
    whole = tried._random_values(3, 0, 5).size
    parts = tried._random_values(3, 0, 2).size + tried._random_values(3, 2, 5).size
    assert whole == parts == 5
    assert seen[:5] == seen[5:]
