"""The label-free measures against literal definitions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import NearestNeighbors

from ufselect.metrics import neighbours_kept, variance_reconstructed


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    return rng.standard_normal((80, 4)) @ rng.standard_normal((4, 12)) + 0.3 * rng.standard_normal((80, 12))


def test_variance_is_that_of_a_linear_model(data):
    features = np.array([0, 3, 7])
    model = LinearRegression().fit(data[:, features], data)
    expected = 1 - (data - model.predict(data[:, features])).var(axis=0).sum() / data.var(axis=0).sum()
    assert variance_reconstructed(data, features) == pytest.approx(expected, rel=1e-10)
    mask = np.isin(np.arange(12), features)
    assert variance_reconstructed(data, mask) == pytest.approx(expected, rel=1e-10)


def test_a_copy_of_a_feature_reconstructs_nothing_more(data):
    doubled = np.column_stack([data, 2 * data[:, 0]])
    assert variance_reconstructed(doubled, [0, 12]) == pytest.approx(variance_reconstructed(doubled, [0]))
    assert variance_reconstructed(doubled, range(12)) == pytest.approx(1)


def test_what_does_not_vary_is_reconstructed(data):
    assert variance_reconstructed(np.ones((5, 3)), [0]) == 1
    flat = np.column_stack([data, np.full(80, 3.0)])
    assert variance_reconstructed(flat, [12]) == pytest.approx(0)


def test_neighbourhoods_agree_with_scikit_learn(data):
    expected = NearestNeighbors(n_neighbors=5).fit(data).kneighbors(return_distance=False)
    fewer = NearestNeighbors(n_neighbors=5).fit(data[:, :3]).kneighbors(return_distance=False)
    share = np.mean([len(set(a) & set(b)) / 5 for a, b in zip(expected, fewer, strict=True)])
    assert 0 < share < 1
    assert neighbours_kept(data, [0, 1, 2], 5) == pytest.approx(share)
    assert neighbours_kept(data, np.arange(12) < 3, 5) == pytest.approx(share)
    assert neighbours_kept(data, range(12), 5) == 1


def test_neighbours_far_from_the_origin(data):
    """Squares of large numbers would drown the distances."""
    assert neighbours_kept(data + 1e8, [0, 1, 2], 5) == pytest.approx(neighbours_kept(data, [0, 1, 2], 5))


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**31), st.permutations(range(6)), st.floats(0.01, 100))
def test_order_shift_and_scale_do_not_matter(seed, order, scale):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((15, 6))
    changed = scale * X[:, order] + rng.standard_normal(6)
    chosen = np.isin(np.arange(6), [1, 4])
    moved = chosen[list(order)]
    assert variance_reconstructed(changed, moved) == pytest.approx(
        variance_reconstructed(X, chosen), rel=1e-9
    )
    assert neighbours_kept(changed, moved, 3) == pytest.approx(neighbours_kept(X, chosen, 3))
    more = chosen | (np.arange(6) == 0)
    assert variance_reconstructed(X, more) >= variance_reconstructed(X, chosen) - 1e-12


@pytest.mark.parametrize("features", [[], [12], [-1], [True, False], [0.5], [[0, 1]]])
def test_what_names_no_features_is_refused(data, features):
    with pytest.raises(ValueError, match=r"^features "):
        variance_reconstructed(data, features)
    with pytest.raises(ValueError, match=r"^features "):
        neighbours_kept(data, features)
