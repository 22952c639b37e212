"""Rules of a choice are never broken, by greedy steps or by exchanges."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ufselect import GreedyProjection, ReconstructionSelector
from ufselect.reconstruct.placement import Placement

N_FEATURES = 14
MAKERS = {
    "reconstruct": ReconstructionSelector,
    "features": lambda count, **rules: GreedyProjection(count, target="features", **rules),
    "scores": lambda count, **rules: GreedyProjection(count, n_components=2, **rules),
}


def table(seed: int, n_samples: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    mixed = rng.standard_normal((n_samples, 5)) @ rng.standard_normal((5, N_FEATURES))
    return mixed + 0.2 * rng.standard_normal((n_samples, N_FEATURES))


@pytest.mark.parametrize("name", MAKERS)
@settings(max_examples=25)
@given(
    seed=st.integers(0, 30),
    n_samples=st.sampled_from([6, 40]),
    prices=st.lists(st.sampled_from([0.1, 0.3, 1.0, 2.5]), min_size=N_FEATURES, max_size=N_FEATURES),
    budget=st.sampled_from([0.5, 1.0, 4.0]),
)
def test_the_budget_holds_and_is_used(name, seed, n_samples, prices, budget):
    prices[0] = 0.1  # so that some column can be paid
    selector = MAKERS[name](N_FEATURES, costs=prices, budget=budget).fit(table(seed, n_samples))
    chosen = selector.get_support(indices=True)
    spent = math.fsum(np.array(prices)[chosen])
    assert chosen.size > 0
    assert spent <= budget
    if n_samples > N_FEATURES:  # else columns may be left in the span of those chosen
        left = [price for j, price in enumerate(prices) if j not in chosen]
        assert not left or spent + min(left) > budget * (1 - 1e-12)


@pytest.mark.parametrize("name", MAKERS)
@settings(max_examples=25)
@given(
    seed=st.integers(0, 30),
    n_samples=st.sampled_from([6, 40]),
    most=st.integers(0, 3),
    least=st.integers(0, 3),
)
def test_quotas_hold(name, seed, n_samples, most, least):
    regions = np.array(["a", "b", "c", "c", "c", "b", "a"] * 2)
    quotas = {"a": most, "b": (least, least)}
    selector = MAKERS[name](6, regions=regions, quotas=quotas).fit(table(seed, n_samples))
    chosen = regions[selector.get_support()]
    assert chosen.size == 6
    assert np.sum(chosen == "a") <= most
    assert np.sum(chosen == "b") == least


@pytest.mark.parametrize("name", MAKERS)
@settings(max_examples=25)
@given(seed=st.integers(0, 30), n_samples=st.sampled_from([6, 40]), distance=st.sampled_from([1.0, 1.5, 2.0]))
def test_selected_columns_keep_their_distance(name, seed, n_samples, distance):
    places = np.stack(np.divmod(np.arange(N_FEATURES), 4), axis=1)
    selector = MAKERS[name](3, positions=places, min_distance=distance).fit(table(seed, n_samples))
    chosen = places[selector.get_support()]
    assert len(chosen) == 3
    gaps = np.linalg.norm(chosen[:, None] - chosen[None], axis=2)
    assert gaps[np.triu_indices(3, 1)].min() >= distance


@pytest.mark.parametrize("name", MAKERS)
def test_all_rules_at_once(name):
    regions = np.arange(N_FEATURES) % 2
    prices = 1.0 + np.arange(N_FEATURES) % 3
    rules = {"costs": prices, "budget": 7.0, "regions": regions, "quotas": {0: (1, 2)}, "min_distance": 2}
    chosen = MAKERS[name](5, **rules).fit(table(0, 40)).get_support(indices=True)
    assert prices[chosen].sum() <= 7
    assert 1 <= np.sum(regions[chosen] == 0) <= 2
    assert np.diff(chosen).min() >= 2


def test_ten_columns_at_a_tenth_fit_a_budget_of_one():
    placement = Placement(np.ones(12, dtype=bool), 12, prices=np.full(12, 0.1), budget=1.0)
    assert placement.open_to(range(9)).all()
    assert not placement.open_to(range(10)).any()


def test_the_dear_column_that_is_worth_it_is_found():
    rng = np.random.default_rng(0)
    signal = 10 * rng.standard_normal(60)
    X = signal[:, None] + 0.01 * rng.standard_normal((60, 8))
    X[:, 5:] = rng.standard_normal((60, 3))
    prices = np.array([10.0, 10, 10, 10, 10, 0.1, 0.1, 0.1])
    chosen = ReconstructionSelector(8, costs=prices, budget=10.2).fit(X).get_support(indices=True)
    assert chosen.min() < 5


def test_money_is_kept_for_the_regions_that_must_be_there():
    regions = {"regions": np.array([0, 0, 1, 1]), "least": np.array([0, 1]), "most": np.array([2, 2])}
    prices = np.array([1.0, 3.0, 5.0, 4.0])
    placement = Placement(np.ones(4, dtype=bool), 3, prices=prices, budget=6.0, **regions)
    assert placement.open_to([]).tolist() == [True, False, True, True]


def test_nearness_is_strict():
    placement = Placement(np.ones(5, dtype=bool), 5, positions=np.arange(5.0)[:, None], min_distance=2.0)
    assert placement.open_to([0]).tolist() == [False, False, True, True, True]


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ({"costs": np.ones(N_FEATURES)}, "costs and budget go together"),
        ({"costs": np.ones(3), "budget": 1}, "costs has 3 entries and X has 14"),
        ({"costs": np.zeros(N_FEATURES), "budget": 1}, "above 0"),
        ({"costs": np.ones(N_FEATURES), "budget": -1}, "'budget' parameter"),
        ({"costs": np.ones(N_FEATURES), "budget": 0.5}, "less than the cost of any column"),
        ({"regions": np.zeros(N_FEATURES), "quotas": {1: 2}}, "which no column has"),
        ({"regions": np.zeros(N_FEATURES), "quotas": {0: (3, 1)}}, "a pair"),
        ({"regions": np.zeros(N_FEATURES), "quotas": {0: 2}}, "Only 2 columns meet the constraints"),
        ({"regions": np.arange(N_FEATURES), "quotas": {1: (2, 2)}}, "asks for 2 of its 1"),
        ({"min_distance": 5}, "Only 3 columns meet the constraints"),
        ({"positions": np.arange(N_FEATURES)}, "positions are used only with min_distance"),
        ({"positions": np.arange(3), "min_distance": 1}, "positions has 3 entries and X has 14"),
    ],
)
@pytest.mark.parametrize("name", MAKERS)
def test_rules_that_cannot_be_kept_are_refused(name, rules, message):
    with pytest.raises(ValueError, match=message):
        MAKERS[name](5, **rules).fit(table(0, 40))


@pytest.mark.parametrize("name", MAKERS)
def test_kept_columns_stay_and_excluded_ones_do_not_count(name):
    prices = 1.0 + np.arange(N_FEATURES) % 3
    rules = {"costs": prices, "budget": 9.0, "min_distance": 2, "keep": [5], "exclude": [0, 1, 2]}
    chosen = MAKERS[name](6, **rules).fit(table(1, 40)).get_support(indices=True)
    assert 5 in chosen
    assert chosen.min() > 2
    assert prices[chosen].sum() <= 9
    assert np.diff(chosen).min() >= 2


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ({"keep": [3, 4], "min_distance": 2}, "The columns in keep violate min_distance"),
        ({"keep": [3, 4], "costs": np.ones(N_FEATURES), "budget": 1}, "violate budget"),
        ({"keep": [3, 4], "regions": np.zeros(N_FEATURES), "quotas": {0: 1}}, "violate quotas"),
        ({"feature_groups": np.arange(N_FEATURES) // 2, "min_distance": 2}, "cannot be combined with costs"),
        ({"max_correlation": 0.9, "min_distance": 2}, "cannot be combined with costs"),
    ],
)
def test_wishes_that_break_the_rules_are_refused(name, rules, message):
    with pytest.raises(ValueError, match=message):
        MAKERS[name](4, **rules).fit(table(0, 40))


@pytest.mark.parametrize("name", MAKERS)
def test_a_count_of_their_own_heeds_kept_and_excluded_columns(name):
    selector = MAKERS[name]("auto", keep=[7], exclude=[0]).fit(table(2, 60))
    chosen = selector.get_support(indices=True)
    assert 7 in chosen
    assert 0 not in chosen
    assert chosen.size == next(row["count"] for row in selector.count_curve_ if row["chosen"])
