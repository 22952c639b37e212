"""The verdict: better than random where clusters are planted, and never on noise."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits

from ufselect import AutoSelector, GraphClustering, MaxVariance
from ufselect.auto.pool import Candidate
from ufselect.auto.report import AHEAD, NO_CLUSTERS, SURE, Comparison, Trial, is_better_than_random, verdict

# Four features of twenty, so that random subsets are now good and now bad.
N_CHOSEN = 4


def planted(seed, n=150, d=20):
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    X = rng.standard_normal((n, d))
    X[:, :N_CHOSEN] += 4 * rng.standard_normal((3, N_CHOSEN))[y]
    return X


@pytest.mark.parametrize("seed", range(10))
def test_planted_clusters_are_told_better_than_by_random_features(seed):
    selector = AutoSelector(N_CHOSEN, n_clusters=3, random_state=seed).fit(planted(seed))
    assert ": better than random subsets" in selector.verdict_


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("goal", ["clusters", "rebuild"])
def test_noise_gives_nothing_to_choose_by(seed, goal):
    X = np.random.default_rng(seed).standard_normal((150, 30))
    given = {"n_clusters": 3} if goal == "clusters" else {}
    for settings in ({}, given):
        selector = AutoSelector(N_CHOSEN, goal=goal, random_state=seed, **settings).fit(X)
        assert "keep all columns" in selector.verdict_
        assert "better than random subsets" not in selector.verdict_
        assert not selector.better_than_random_


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(("n", "d"), [(50, 20), (100, 30), (100, 6)])
def test_where_no_clusters_are_counted_the_verdict_says_so(seed, n, d):
    X = np.random.default_rng(seed).standard_normal((n, d))
    selector = AutoSelector(N_CHOSEN, random_state=0).fit(X)
    assert GraphClustering(random_state=0).fit(X).n_clusters_ == 1
    assert selector.verdict_.startswith("No clusters to speak of")


@pytest.mark.parametrize("seed", range(6))
def test_what_rebuilds_less_than_the_mean_is_no_gain(seed):
    X = np.random.default_rng(seed).standard_normal((30, 300))
    selector = AutoSelector(30, goal="rebuild", random_state=0).fit(X)
    assert selector.report_[0]["criterion"] < 0
    assert selector.verdict_.startswith("No better than random")


@pytest.mark.parametrize("seed", [0, 5])
def test_columns_that_no_random_draw_reaches_are_better_for_rebuilding(seed):
    selector = AutoSelector(20, goal="rebuild", random_state=seed).fit(load_digits().data[:600])
    assert selector.better_than_random_, selector.verdict_


def trial(mean):
    return Trial(Candidate("it", MaxVariance()), MaxVariance(), np.arange(2), np.full(4, mean), 1.0)


DRAWS = np.array([0.0, 0.2, 0.4, 0.6])


def test_clusters_ask_for_the_mean_of_the_draws_and_rebuilding_for_their_spread():
    spread = np.sqrt(np.sum((DRAWS - 0.3) ** 2) / 3)
    for share, slack in ((0.9, SURE * spread / 2), (None, AHEAD * spread)):
        comparison = Comparison(np.array([0.5]), DRAWS, share)
        assert comparison.error == pytest.approx(spread / 2 if share else spread)
        assert is_better_than_random(trial(0.3 + 1.01 * slack), comparison)
        assert not is_better_than_random(trial(0.3 + 0.99 * slack), comparison)


def test_rebuilding_has_to_be_ahead_of_every_draw_and_of_the_mean_of_the_columns():
    draws = np.append(np.zeros(19), 0.5)
    assert not is_better_than_random(trial(0.49), Comparison(np.ones(1), draws))
    assert is_better_than_random(trial(0.51), Comparison(np.ones(1), draws))
    assert is_better_than_random(trial(0.01), Comparison(np.ones(1), -0.5 - 0.01 * DRAWS))
    assert not is_better_than_random(trial(-0.01), Comparison(np.ones(1), -0.5 - 0.01 * DRAWS))


def test_nothing_is_better_than_random_where_there_are_no_clusters():
    comparison = Comparison(np.array([0.5]), DRAWS, 0.9 * NO_CLUSTERS)
    assert not is_better_than_random(trial(1.0), comparison)
    assert verdict(trial(1.0), comparison, "agreement", all_compete=True).startswith(
        "No clusters to speak of"
    )


@pytest.mark.parametrize(("share", "meaning"), [(0.9, "standard error of the mean of"), (None, "spread of")])
def test_the_sentence_says_what_its_error_is(share, meaning):
    said = verdict(trial(1.0), Comparison(np.array([0.5]), DRAWS, share), "agreement", all_compete=True)
    assert f"({meaning} 4 draws)" in said
