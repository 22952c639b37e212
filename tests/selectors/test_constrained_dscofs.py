"""ConstrainedDSCOFS: its claims against brute force, and the mode of DSCOFS that it takes over from."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ufselect import DSCOFS, ConstrainedDSCOFS
from ufselect.exceptions import InactiveConstraintWarning


def scatter(data):
    centred = data - data.mean(axis=0)
    return centred.T @ centred


def best_of_all(S, r, m):
    return max(np.linalg.eigvalsh(S[np.ix_(c, c)])[-m:].sum() for c in combinations(range(len(S)), r))


def reached(selector, data):
    X = selector.components_.T
    return np.trace(X.T @ scatter(data) @ X)


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.integers(4, 9), st.integers(1, 3), st.integers(0, 3), st.booleans())
def test_the_gap_holds_and_a_proof_means_the_best_of_all(seed, d, m, extra, repeat):
    rng = np.random.default_rng(seed)
    data = rng.standard_normal((20, d)) * rng.uniform(0.2, 2, d)
    if repeat:
        data[:, -1] = data[:, 0]
    r = min(m + extra, d)
    selector = ConstrainedDSCOFS(r, n_components=m).fit(data)
    best = best_of_all(scatter(data), r, m)
    found = reached(selector, data)
    assert found >= (1 - selector.optimality_gap_) * best * (1 - 1e-9)
    assert selector.is_proven_optimal_ == (selector.optimality_gap_ == 0)
    # Nine features are few enough for the search to end with a proof.
    assert selector.is_proven_optimal_
    assert found == pytest.approx(best, rel=1e-8)


@pytest.mark.filterwarnings("ignore:The loadings rest on")
@pytest.mark.parametrize("seed", range(6))
def test_the_gap_is_that_of_the_loadings_where_entries_bind(seed):
    """With one component, s entries are s rows, so that all patterns can be tried."""
    rng = np.random.default_rng(seed)
    data = rng.standard_normal((30, 8)) * np.geomspace(1, 3, 8)
    selector = ConstrainedDSCOFS(5, n_components=1, entry_sparsity=3).fit(data)
    best = best_of_all(scatter(data), 3, 1)
    found = reached(selector, data)
    assert np.count_nonzero(selector.components_) <= 3
    assert found <= best * (1 + 1e-9)
    assert found >= (1 - selector.optimality_gap_) * best
    assert not selector.is_proven_optimal_
    assert selector.optimality_gap_ > 0


def test_without_proof_the_gap_is_that_of_the_certificate(monkeypatch):
    data = np.random.default_rng(0).standard_normal((80, 30))
    monkeypatch.setattr("ufselect.solvers.row_sparse.constrained.MAX_FEATURES", 0)
    selector = ConstrainedDSCOFS(8, n_components=3).fit(data)
    assert 0 < selector.optimality_gap_ < 1
    assert not selector.is_proven_optimal_
    assert selector.optimality_message_.startswith("within")
    monkeypatch.setattr("ufselect.solvers.row_sparse.constrained.MAX_FEATURES", 50)
    monkeypatch.setattr("ufselect.solvers.row_sparse.constrained.MAX_NODES", 3)
    cut_short = ConstrainedDSCOFS(8, n_components=3).fit(data)
    assert 0 < cut_short.optimality_gap_ <= selector.optimality_gap_


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
    assert selector.constraint_residuals_ == {"row": 0.0, "entry": 0.0}
    assert selector.converged_


def test_the_mode_of_dscofs_warns_and_gives_the_same():
    data = np.random.default_rng(4).standard_normal((50, 20)) * np.geomspace(1, 3, 20)
    with pytest.warns(FutureWarning, match="use ConstrainedDSCOFS"):
        old = DSCOFS(6, n_components=3, entry_sparsity=12, mode="constrained").fit(data)
    new = ConstrainedDSCOFS(6, n_components=3, entry_sparsity=12).fit(data)
    np.testing.assert_array_equal(new.components_, old.components_)
    np.testing.assert_array_equal(new.objective_history_, old.objective_history_)


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
