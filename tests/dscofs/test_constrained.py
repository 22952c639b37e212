"""ConstrainedDSCOFS: exactly feasible, its claims against brute force, and nothing simple that beats it."""

from __future__ import annotations

import warnings
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.strategies import structured_data

from ufselect import FSPCA, ConstrainedDSCOFS, MaxVariance, PCALeverage
from ufselect.exceptions import InactiveConstraintWarning


def scatter(data):
    centred = data - data.mean(axis=0)
    return centred.T @ centred


def reached(selector, data):
    X = selector.components_.T
    return np.trace(X.T @ scatter(data) @ X)


def value_on(S, chosen, m):
    """Return the most variance that features carry along m axes."""
    return np.linalg.eigvalsh(S[np.ix_(chosen, chosen)])[-m:].sum()


def members(groups, chosen):
    return np.flatnonzero(np.isin(groups, chosen))


@settings(max_examples=60)
@given(
    seed=st.integers(0, 10**6),
    d=st.integers(4, 9),
    m=st.integers(1, 3),
    extra=st.integers(0, 3),
    repeat=st.booleans(),
    grouped=st.booleans(),
    keeps=st.booleans(),
)
@pytest.mark.filterwarnings("ignore::ufselect.exceptions.DominatedByUnitsWarning")
@pytest.mark.filterwarnings("ignore::ufselect.exceptions.RepeatedColumnsWarning")
def test_the_gap_holds_and_a_proof_means_the_best_of_all(seed, d, m, extra, repeat, grouped, keeps):
    rng = np.random.default_rng(seed)
    data = rng.standard_normal((20, d)) * rng.uniform(0.2, 2, d)
    if repeat:
        data[:, -1] = data[:, 0]
    groups = np.unique(rng.integers(0, d - 1, d), return_inverse=True)[1] if grouped else np.arange(d)
    r = min(m + extra, groups.max() + 1)
    m = min(m, r)
    kept = [int(rng.integers(d))] if keeps else []
    options = {"feature_groups": groups if grouped else None, "keep": kept or None}
    selector = ConstrainedDSCOFS(r, n_components=m, **options).fit(data)
    S = scatter(data)
    choices = [c for c in combinations(range(groups.max() + 1), r) if set(groups[kept]) <= set(c)]
    best = max(value_on(S, members(groups, chosen), m) for chosen in choices)
    found = reached(selector, data)
    assert tuple(np.unique(groups[selector.support_])) in choices
    assert np.array_equal(selector.support_, np.isin(groups, groups[selector.support_]))
    assert found >= (1 - selector.optimality_gap_) * best * (1 - 1e-9)
    # Nine features are few enough for the search to end with a proof.
    assert selector.is_proven_optimal_
    assert selector.optimality_gap_ == 0
    assert found == pytest.approx(best, rel=1e-8)


@pytest.mark.parametrize(("n_features", "n_selected"), [(60, 8), (90, 70)])
@pytest.mark.parametrize("size", [1, 2])
def test_where_there_is_no_proof_no_single_exchange_helps(n_features, n_selected, size):
    """Exchanges are of columns or of whole groups; of more than 64 columns eigenpairs are only followed."""
    rng = np.random.default_rng(0)
    data = rng.standard_normal((200, 5)) @ rng.standard_normal((5, n_features))
    data += rng.standard_normal(data.shape)
    groups, kept = np.arange(n_features) // size, {0, 3}
    options = {"feature_groups": groups if size > 1 else None, "keep": [0, 3 * size]}
    selector = ConstrainedDSCOFS(n_selected // size, n_components=3, **options).fit(data)
    S = scatter(data)
    chosen = set(groups[selector.support_])
    assert kept <= chosen
    outside = sorted({*groups} - chosen)[::4]
    exchanged = [
        value_on(S, members(groups, [*(chosen - {leaving}), entering]), 3)
        for leaving in sorted(chosen - kept)
        for entering in outside
    ]
    slack = 1e-8 if n_selected < 64 else 1e-4
    assert max(exchanged) <= value_on(S, members(groups, [*chosen]), 3) * (1 + slack)


def test_fewer_entries_carry_less_variance_and_most_of_it():
    data = np.random.default_rng(0).standard_normal((60, 12)) * np.geomspace(1, 3, 12)
    S = scatter(data)
    whole = np.linalg.eigvalsh(S)[-3:].sum()
    values = []
    for n_entries in (3, 12, 18, 24, 35):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", InactiveConstraintWarning)
            selector = ConstrainedDSCOFS(12, n_components=3, entry_sparsity=n_entries).fit(data)
        assert np.count_nonzero(selector.components_) <= n_entries
        values.append(reached(selector, data) / whole)
    assert values[0] >= np.sort(np.diag(S))[-3:].sum() / whole - 1e-9  # an entry for each axis
    assert values[1] >= 0.8
    assert values[-1] == pytest.approx(1, abs=1e-3)
    assert np.all(np.diff(values) > -1e-3)


@pytest.mark.filterwarnings("ignore:Only .* features have non-zero")
@pytest.mark.parametrize("seed", range(6))
def test_the_gap_is_that_of_the_loadings_where_entries_bind(seed):
    """With one component, s entries are s rows, so that all patterns can be tried."""
    rng = np.random.default_rng(seed)
    data = rng.standard_normal((30, 8)) * np.geomspace(1, 3, 8)
    selector = ConstrainedDSCOFS(5, n_components=1, entry_sparsity=3).fit(data)
    best = max(value_on(scatter(data), c, 1) for c in combinations(range(8), 3))
    found = reached(selector, data)
    assert np.count_nonzero(selector.components_) <= 3
    assert found <= best * (1 + 1e-9)
    assert found >= max(0.95, 1 - selector.optimality_gap_) * best
    assert not selector.is_proven_optimal_
    assert selector.optimality_gap_ > 0


@pytest.mark.parametrize("n_features", [45, 60])
def test_without_proof_the_gap_is_that_of_a_bound(n_features):
    """Of 45 features the search for a proof is cut short, for 60 there is none."""
    data = np.random.default_rng(0).standard_normal((80, n_features))
    selector = ConstrainedDSCOFS(12, n_components=3).fit(data)
    S = scatter(data)
    bound = min(np.linalg.eigvalsh(S)[-3:].sum(), np.sort(np.diag(S))[-12:].sum())
    assert 0 < selector.optimality_gap_ <= (1 - reached(selector, data) / bound) * (1 + 1e-9)
    assert not selector.is_proven_optimal_
    assert selector.optimality_message_.startswith("within")


def test_all_features_are_the_best_of_all_whatever_their_number():
    data = np.random.default_rng(1).standard_normal((40, 60))
    selector = ConstrainedDSCOFS(60, n_components=2).fit(data)
    assert selector.is_proven_optimal_
    assert selector.optimality_gap_ == 0


def test_automatic_components_are_no_more_than_the_features():
    rng = np.random.default_rng(2)
    data = rng.standard_normal((100, 6)) @ rng.standard_normal((6, 20)) + 0.01 * rng.standard_normal(
        (100, 20)
    )
    assert ConstrainedDSCOFS(2).fit(data).n_components_ == 2


def test_the_variance_is_that_of_the_selected_features_and_the_history_ends_at_the_objective():
    data = np.random.default_rng(3).standard_normal((50, 12)) * np.geomspace(1, 4, 12)
    selector = ConstrainedDSCOFS(5, n_components=2).fit(data)
    S = scatter(data)
    block = S[np.ix_(selector.support_, selector.support_)]
    expected = np.linalg.eigvalsh(block)[:-3:-1] / np.trace(S)
    np.testing.assert_allclose(selector.explained_variance_ratio_, expected)
    assert selector.objective_history_[-1] == pytest.approx(-reached(selector, data))
    assert selector.converged_


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_init": 0}, "n_init"),
        ({"max_iter": 0}, "max_iter"),
        ({"init": "best"}, "init"),
        ({"entry_sparsity": 2.0}, "entry_sparsity"),
        ({"n_components": 5}, "cannot hold 5 orthonormal components"),
    ],
)
def test_bad_parameters_are_refused(parameters, message):
    data = np.random.default_rng(5).standard_normal((30, 10))
    with pytest.raises(ValueError, match=message):
        ConstrainedDSCOFS(4, **parameters).fit(data)


def test_entries_that_cannot_bind_are_pointed_out():
    data = np.random.default_rng(6).standard_normal((30, 10))
    with pytest.warns(InactiveConstraintWarning):
        ConstrainedDSCOFS(3, n_components=2, entry_sparsity=6).fit(data)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.filterwarnings("ignore::ufselect.exceptions.DominatedByUnitsWarning")
@pytest.mark.filterwarnings("ignore::ufselect.exceptions.RepeatedColumnsWarning")
def test_places_left_over_are_filled_by_the_criterion_and_never_by_a_constant(seed):
    rng = np.random.default_rng(seed)
    weak = rng.standard_normal((40, 3)) @ rng.standard_normal((3, 20)) * np.r_[np.ones(4), np.full(16, 1e-3)]
    X = np.hstack([np.full((40, 5), 3.0), weak])
    selector = ConstrainedDSCOFS(12, n_components=2).fit(X)
    assert selector.support_.sum() == 12
    assert not selector.support_[:5].any()


@pytest.mark.parametrize("n_features", [10, 70])
def test_the_order_of_many_columns_does_not_matter(n_features):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 8)) @ rng.standard_normal((8, 80)) + 0.3 * rng.standard_normal((60, 80))
    order = rng.permutation(80)
    given = ConstrainedDSCOFS(n_features, n_components=5).fit(X)
    turned = ConstrainedDSCOFS(n_features, n_components=5).fit(X[:, order])
    np.testing.assert_array_equal(np.flatnonzero(given.support_), np.sort(order[turned.support_]))


@pytest.mark.filterwarnings("ignore:Only .* features have non-zero")  # one component has no use for two rows
@settings(max_examples=30)
@given(structured_data(), st.integers(1, 3), st.integers(0, 20), st.integers(0, 10))
@pytest.mark.filterwarnings("ignore::ufselect.exceptions.DominatedByUnitsWarning")
@pytest.mark.filterwarnings("ignore::ufselect.exceptions.RepeatedColumnsWarning")
def test_the_result_is_exactly_feasible(data, n_components, extra_entries, extra_rows):
    d = data.shape[1]
    m = min(n_components, d - 1, np.linalg.matrix_rank(data - data.mean(axis=0)))
    r = min(m + extra_rows, d)
    s = min(m + extra_entries, r * m - 1) if r * m > m else None
    selector = ConstrainedDSCOFS(r, n_components=m, entry_sparsity=s).fit(data)
    X = selector.components_.T
    np.testing.assert_allclose(X.T @ X, np.eye(m), atol=1e-10)
    assert np.count_nonzero(X.any(axis=1)) <= r
    if s is not None:
        assert np.count_nonzero(X) <= s
    assert set(np.flatnonzero(X.any(axis=1))) <= set(np.flatnonzero(selector.support_))
    centred = data - data.mean(axis=0)
    assert -np.trace(X.T @ centred.T @ centred @ X) == pytest.approx(
        selector.objective_history_[-1], rel=1e-8
    )
    assert np.all(np.diff(selector.objective_history_) <= 0)


def test_nothing_simple_beats_it_on_real_data(real):
    data, labels = real("lung_discrete")
    m = np.unique(labels).size
    S, rng = scatter(data), np.random.default_rng(0)
    selector = ConstrainedDSCOFS(30, n_components=m).fit(data)
    rivals = [rng.choice(data.shape[1], 30, replace=False) for _ in range(200)]
    rivals += [each(30).fit(data).get_support(indices=True) for each in (FSPCA, MaxVariance, PCALeverage)]
    best = max(value_on(S, columns, m) for columns in rivals)
    assert value_on(S, np.flatnonzero(selector.support_), m) >= 0.999 * best


def test_half_of_the_entries_lose_little_variance_on_real_data(real):
    data, labels = real("usps")
    m = np.unique(labels).size
    free, bound = (
        ConstrainedDSCOFS(30, n_components=m, entry_sparsity=each).fit(data) for each in (None, 15 * m)
    )
    assert np.count_nonzero(bound.components_) <= 15 * m
    assert reached(bound, data) >= 0.99 * reached(free, data)
