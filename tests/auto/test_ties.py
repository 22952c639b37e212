"""Ties: the largest criterion wins, and within a fraction of its error the most stable selection."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from tests.auto.examples import clusters_under_nuisance

from ufselect import AutoSelector, MaxVariance
from ufselect.auto.judges import KMeansJudge
from ufselect.auto.pool import Candidate, Shared
from ufselect.auto.reference import build_reference
from ufselect.auto.report import Comparison, Trial, is_tied
from ufselect.auto.rows import rows_of
from ufselect.auto.ties import NEAR, halves_of, settled, stability
from ufselect.auto.trials import Course
from ufselect.selectors.wishes import wanted_of


class Steady(BaseEstimator):
    """Always the first features."""

    def fit(self, X, y=None):
        self.scores_ = -np.arange(X.shape[1], dtype=float)
        return self


class Fickle(BaseEstimator):
    """The features that are largest in the first row."""

    def fit(self, X, y=None):
        self.scores_ = np.asarray(X[0], dtype=float)
        return self


class Greedy(BaseEstimator):
    """Wants all the rows there are."""

    def fit(self, X, y=None):
        if len(X) < 60:
            raise ValueError("too few")
        self.scores_ = np.asarray(X[1], dtype=float)
        return self


def shared_data(with_reference=False):
    X = np.random.default_rng(0).standard_normal((60, 30))
    reference = build_reference(rows_of(X), 3, 0) if with_reference else None
    return Shared(X, reference, wanted_of(MaxVariance(6), 30))


def trial(estimator, shared, mean, spread=0.1):
    candidate = Candidate(type(estimator).__name__, estimator)
    fitted = candidate.fitted(shared)
    features = np.flatnonzero(shared.choice(fitted.scores_).support)
    values = mean + spread * np.array([-1.0, 1, -1, 1])
    return Trial(candidate, fitted, features, values[:: 1 if isinstance(estimator, Steady) else -1], 1.0)


def outcome(trials, shared, random=0.0, deadline=None):
    course = Course(shared, KMeansJudge, deadline, None, lambda *_: None)
    comparison = Comparison(np.array([0.5]), np.full(3, random))
    return settled(course, trials, comparison, np.arange(60), 0, 1.0)


def test_a_near_tie_goes_to_the_stable_selection():
    shared = shared_data()
    error = 0.2 / np.sqrt(4)  # of the difference of values that alternate against each other
    near = [trial(Steady(), shared, 0.6 - 0.9 * NEAR * error), trial(Fickle(), shared, 0.6)]
    found = outcome(near, shared)
    assert found.winner.candidate.name == "Steady"
    assert found.n_rivals == 2
    assert found.winner in found.trials
    assert {t.candidate.name: t.stability for t in found.trials}["Steady"] == 1
    assert {t.candidate.name: t.stability for t in found.trials}["Fickle"] < 0.9


def test_beyond_a_near_tie_the_criterion_decides():
    shared = shared_data()
    far = [trial(Steady(), shared, 0.6 - 1.2 * NEAR * 0.1), trial(Fickle(), shared, 0.6)]
    found = outcome(far, shared)
    assert found.winner.candidate.name == "Fickle"
    assert found.n_rivals == 1
    assert is_tied(far[0], far[1])


def test_where_nothing_beats_random_every_tie_goes_to_the_stable_selection():
    shared = shared_data()
    far = [trial(Steady(), shared, 0.6 - 0.9 * 0.1), trial(Fickle(), shared, 0.6)]
    assert outcome(far, shared, random=0.6).winner.candidate.name == "Steady"


def test_without_time_the_criterion_decides():
    shared = shared_data()
    near = [trial(Steady(), shared, 0.599), trial(Fickle(), shared, 0.6)]
    assert outcome(near, shared, deadline=0.0).winner.candidate.name == "Fickle"


def test_a_candidate_that_cannot_do_with_half_of_the_rows_is_not_stable():
    shared = shared_data()
    halves = halves_of(shared, np.arange(60), 0)
    assert stability(Candidate("greedy", Greedy()), halves) == 0
    assert stability(Candidate("steady", Steady()), halves) == 1


def test_halves_are_disjoint_and_have_clusters_of_their_own():
    shared = shared_data(with_reference=True)
    first, second = halves_of(shared, np.arange(0, 60, 2), 0)
    seen = np.vstack([first.X, second.X])
    np.testing.assert_array_equal(np.sort(seen[:, 0]), np.sort(shared.X[::2, 0]))
    assert first.reference.labels.size == 15
    assert first.reference.n_clusters == 3


def test_halves_in_which_nothing_varies_break_no_tie():
    X = np.zeros((8, 3))
    X[0] = 1.0
    shared = Shared(X, build_reference(rows_of(X), 2, 0), wanted_of(MaxVariance(2), 3))
    assert halves_of(shared, np.arange(8), 0) == []


def test_report_and_verdict_say_how_a_tie_was_broken():
    X, _ = clusters_under_nuisance()
    X = np.hstack([X, np.random.default_rng(0).standard_normal((200, 3))])

    class Same(MaxVariance):
        def fit(self, X, y=None):
            super().fit(X)
            self.scores_ = np.arange(X.shape[1], dtype=float) == 0
            return self

    class Other(MaxVariance):
        def fit(self, X, y=None):
            super().fit(X)
            self.scores_ = (np.arange(X.shape[1]) == (0 if len(X) == 200 else int(X[0, 0] > 0))).astype(float)
            return self

    X[:, 1] = X[:, 0]
    candidates = [("first", Same()), ("twin", Twin()), ("other", Other())]
    selector = AutoSelector(1, candidates=candidates, n_clusters=4, random_state=0).fit(X)
    assert "most stable" in selector.verdict_
    rows = {row["candidate"]: row for row in selector.report_}
    assert rows["first"]["stability"] == 1
    assert "both halves" in selector.report_[0]["note"]


class Twin(MaxVariance):
    """The copy of the first column, or of whatever the first row says."""

    def fit(self, X, y=None):
        super().fit(X)
        wanted = 1 if len(X) == 200 else 3 + int(X[0, 0] > X[1, 0])
        self.scores_ = (np.arange(X.shape[1]) == wanted).astype(float)
        return self


@pytest.mark.parametrize("seed", [0, 1])
def test_breaking_ties_does_not_depend_on_the_number_of_threads(seed):
    X, _ = clusters_under_nuisance(seed)
    one = AutoSelector(3, n_clusters=4, random_state=seed).fit(X)
    two = AutoSelector(3, n_clusters=4, random_state=seed, n_jobs=2).fit(X)
    assert np.array_equal(one.support_, two.support_)
    assert [row["stability"] for row in one.report_] == [row["stability"] for row in two.report_]
