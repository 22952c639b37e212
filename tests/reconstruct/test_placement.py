"""Rules of a choice are never broken, by greedy steps or by exchanges."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ufselect import GreedyProjection, ReconstructionSelector

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


@st.composite
def rules_for(draw, n_features):
    """Draw rules of every kind, one of them at least, many of them tight."""
    each = draw(st.sets(st.sampled_from(["costs", "quotas", "line", "plane"]), min_size=1))
    rules = {"keep": sorted(draw(st.sets(st.integers(0, n_features - 1), max_size=1)))}
    if "costs" in each:
        prices = st.sampled_from([0.0, 0.1, 0.3, 1.0, 2.5])
        rules["costs"] = draw(st.lists(prices, min_size=n_features, max_size=n_features))
        rules["budget"] = draw(st.sampled_from([0.1, 0.6, 1.0, 4.0]))
    if "quotas" in each:
        labels = st.sampled_from(["a", "b", None])
        rules["regions"] = [
            "a",
            "b",
            *draw(st.tuples(*[labels] * (n_features - 2))),
        ]
        size = {label: rules["regions"].count(label) for label in "ab"}
        least = {label: draw(st.integers(0, min(2, size[label]))) for label in "ab"}
        rules["quotas"] = {label: (least[label], least[label] + draw(st.integers(0, 2))) for label in "ab"}
    if "line" in each:
        rules["min_distance"] = draw(st.sampled_from([2, 3, 4]))
    elif "plane" in each:
        places = st.tuples(st.integers(0, 4), st.integers(0, 4))
        rules["positions"] = draw(st.lists(places, min_size=n_features, max_size=n_features))
        rules["min_distance"] = draw(st.sampled_from([1, 1.5, 2]))
    return rules


def meets(rules, count, chosen):
    """Whether a set of columns is what the rules ask for."""
    if not set(rules["keep"]) <= set(chosen) or not 0 < len(chosen) <= count:
        return False
    if "costs" in rules:
        enough = math.fsum(rules["costs"][j] for j in chosen) <= rules["budget"]
    else:
        enough = len(chosen) == count
    for label, (least, most) in rules.get("quotas", {}).items():
        enough = enough and least <= sum(rules["regions"][j] == label for j in chosen) <= most
    places = np.array(rules.get("positions", np.arange(100)[:, None]), dtype=float)
    pairs = itertools.combinations(chosen, 2)
    return enough and all(math.dist(places[i], places[j]) >= rules.get("min_distance", 0) for i, j in pairs)


@pytest.mark.parametrize("name", MAKERS)
@settings(max_examples=80)
@given(data=st.data(), seed=st.integers(0, 30), n_samples=st.sampled_from([5, 40]), count=st.integers(1, 5))
def test_a_selection_is_found_if_and_only_if_there_is_one(name, data, seed, n_samples, count):
    rules = data.draw(rules_for(9))
    sets = (chosen for size in range(1, count + 1) for chosen in itertools.combinations(range(9), size))
    try:
        selector = MAKERS[name](count, **rules).fit(table(seed, n_samples)[:, :9])
    except ValueError:
        assert not any(meets(rules, count, chosen) for chosen in sets)
    else:
        assert meets(rules, count, selector.get_support(indices=True).tolist())


@pytest.mark.parametrize("name", MAKERS)
def test_the_only_ten_columns_at_their_distance_are_found(name):
    rng = np.random.default_rng(0)
    spectra = rng.standard_normal((60, 5)) @ rng.standard_normal((5, 100)) + rng.standard_normal((60, 100))
    chosen = MAKERS[name](10, min_distance=11).fit(spectra).get_support(indices=True)
    assert chosen.tolist() == list(range(0, 100, 11))


@pytest.mark.parametrize("name", MAKERS)
def test_prices_are_weighed_against_gains(name):
    X = table(3, 40)
    prices = np.where(np.arange(N_FEATURES) % 2, 0.0, 1.0)
    free = MAKERS[name](4).fit(X).get_support(indices=True)
    weightless = MAKERS[name](4, costs=prices, cost_weight=0.0).fit(X).get_support(indices=True)
    assert weightless.tolist() == free.tolist()
    dear = MAKERS[name](4, costs=prices, cost_weight=10.0).fit(X).get_support(indices=True)
    assert np.all(dear % 2 == 1)


def test_the_dear_column_that_is_worth_it_is_found():
    rng = np.random.default_rng(0)
    signal = 10 * rng.standard_normal(60)
    X = signal[:, None] + 0.01 * rng.standard_normal((60, 8))
    X[:, 5:] = rng.standard_normal((60, 3))
    prices = np.array([10.0, 10, 10, 10, 10, 0.1, 0.1, 0.1])
    chosen = ReconstructionSelector(8, costs=prices, budget=10.2).fit(X).get_support(indices=True)
    assert chosen.min() < 5


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ({"costs": np.ones(N_FEATURES)}, "costs go together with budget or cost_weight"),
        ({"costs": np.ones(3), "budget": 1}, "costs has 3 entries and X has 14"),
        ({"costs": -np.ones(N_FEATURES), "budget": 1}, "at least 0"),
        ({"costs": np.ones(N_FEATURES), "budget": -1}, "'budget' parameter"),
        ({"costs": np.ones(N_FEATURES), "budget": 0.5}, "less than the cost of any column"),
        ({"regions": np.zeros(N_FEATURES), "quotas": {1: 2}}, "which no column has"),
        ({"regions": np.zeros(N_FEATURES), "quotas": {0: (3, 1)}}, "a pair"),
        (
            {"regions": np.zeros(N_FEATURES), "quotas": {0: 2}},
            "No 5 columns that meet .* only 2",
        ),
        ({"regions": np.arange(N_FEATURES), "quotas": {1: (2, 2)}}, "asks for 2 of its 1"),
        ({"min_distance": 5}, "No 5 columns that meet .* only 3"),
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
    assert chosen.size == selector.count_curve_["n_features"][selector.count_curve_["chosen"]]
