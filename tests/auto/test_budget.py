"""A moment by which work is to end, on a clock that moves when it is looked at."""

from __future__ import annotations

import numpy as np
import pytest

from ufselect import AutoSelector, GreedyProjection, RebuildSelector
from ufselect.auto.budget import GROWTH, PILOT_ROWS, affordable_rows
from ufselect.auto.judges import RebuildJudge
from ufselect.common.deadline import OutOfTimeError, check_time, ending_by, now
from ufselect.graphs.score_graph import score_graph
from ufselect.metrics.kmeans import kmeans_runs
from ufselect.selectors.dscofs import DSCOFS


@pytest.fixture
def clock(monkeypatch):
    """Return how often the time was asked for; each look is a second."""
    looks = [0]

    def look():
        looks[0] += 1
        return float(looks[0])

    monkeypatch.setattr("ufselect.common.deadline.time.perf_counter", look)
    return looks


def test_time_is_up_after_the_moment_and_only_inside(clock):
    with ending_by(now() + 2):
        check_time()
        with ending_by(None):
            for _ in range(9):
                check_time()
        check_time()
        with pytest.raises(OutOfTimeError):
            check_time()
    check_time()


X = np.random.default_rng(0).standard_normal((40, 8))


@pytest.mark.parametrize(
    "work",
    [
        lambda: kmeans_runs(X, 3, [0, 1], "k-means++"),
        lambda: score_graph(X, [2, 4]),
        lambda: DSCOFS(3, max_iter=50).fit(X),
        lambda: GreedyProjection(3, target="features").fit(X),
        lambda: RebuildSelector(3, penalty=0.1).fit(X),
        lambda: RebuildSelector(3, penalty=0.1).fit(X[:6]),
        lambda: RebuildJudge(X, 0).values(np.arange(3), slice(None)),
    ],
)
def test_loops_end_when_time_is_up(clock, work):
    work()
    with ending_by(now() - 1), pytest.raises(OutOfTimeError):
        work()


def test_affordable_rows_follow_the_growth():
    assert affordable_rows(2000, 2.0, 1.0) == PILOT_ROWS
    assert affordable_rows(2000, 1.0, 4**GROWTH) == 4 * PILOT_ROWS
    assert affordable_rows(700, 1.0, 4**GROWTH) == 700


def clusters(n=500):
    rng = np.random.default_rng(0)
    y = rng.integers(4, size=n)
    return np.hstack([3 * rng.standard_normal((4, 6))[y], np.zeros((n, 14))]) + rng.standard_normal((n, 20))


def fitted(clock, budget, goal="clusters"):
    started = clock[0]
    given = {"n_clusters": 4} if goal == "clusters" else {"goal": goal}
    selector = AutoSelector(5, time_budget=budget, random_state=0, **given).fit(clusters())
    return selector, clock[0] - started


@pytest.mark.parametrize("goal", ["clusters", "rebuild"])
def test_a_budget_is_kept(clock, goal):
    """Measured in looks at the clock, one for each iteration and block of rows."""
    plain, most = fitted(clock, 1e9, goal)
    assert "There was time" not in plain.verdict_
    for share in (0.8, 0.6, 0.4):
        selector, used = fitted(clock, share * most, goal)
        assert used <= 1.1 * share * most
        assert selector.support_.sum() == 5


def test_without_time_for_all_rows_a_part_of_them_judges(clock):
    _, most = fitted(clock, 1e9)
    selector, _ = fitted(clock, 0.4 * most)
    assert "There was time to judge by" in selector.verdict_
    assert "of 500 rows" in selector.verdict_
    assert selector.labels_.shape == (500,)
    assert np.flatnonzero(selector.support_).max() < 6


def test_an_attempt_that_takes_too_long_leaves_the_first_answer(clock, monkeypatch):
    monkeypatch.setattr("ufselect.auto.selector.affordable_rows", lambda n_rows, seconds, left: n_rows)
    _, most = fitted(clock, 1e9)
    selector, used = fitted(clock, 0.3 * most)
    assert f"judge by {PILOT_ROWS} of 500 rows" in selector.verdict_
    assert used <= 1.1 * 0.3 * most
