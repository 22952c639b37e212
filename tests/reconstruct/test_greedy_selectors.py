"""Greedy projection and D-optimal leverage as selectors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ufselect import DOptimalLeverage, GreedyProjection, PCALeverage


def groups_of_copies(n_groups, n_copies, noise, seed=0):
    """Features in groups of near copies; the first group has the largest variance."""
    rng = np.random.default_rng(seed)
    sources = rng.standard_normal((200, n_groups)) * np.linspace(2, 1, n_groups)
    X = np.repeat(sources, n_copies, axis=1)
    return X + noise * rng.standard_normal(X.shape)


@pytest.mark.parametrize(
    "selector",
    [
        GreedyProjection(4, n_components=4),
        GreedyProjection(4, target="features"),
        DOptimalLeverage(4, n_components=4, ridge=0.1),
    ],
)
def test_one_feature_of_each_group_of_copies(selector):
    X = groups_of_copies(4, 5, 0.05)
    chosen = selector.fit(X).get_support(indices=True)
    assert sorted(chosen // 5) == [0, 1, 2, 3]


@pytest.mark.filterwarnings("ignore::ufselect.exceptions.RepeatedColumnsWarning")
def test_leverage_repeats_a_group_where_the_d_optimal_choice_does_not():
    rng = np.random.default_rng(3)
    sources = rng.standard_normal((300, 2))
    # Two near copies of the first source against eight of the second: loadings of a small group are larger.
    X = np.hstack([sources[:, [0, 0]], 0.6 * sources[:, [1] * 8]]) + 0.01 * rng.standard_normal((300, 10))
    plain = PCALeverage(2, n_components=2).fit(X).get_support(indices=True)
    spread = DOptimalLeverage(2, n_components=2, ridge=0.1).fit(X).get_support(indices=True)
    assert plain.tolist() == [0, 1]
    assert (spread < 2).tolist() == [True, False]


@given(seed=st.integers(0, 10**6))
def test_large_ridge_gives_leverage(seed):
    X = np.random.default_rng(seed).standard_normal((40, 15)) * np.linspace(1, 2, 15)
    plain = PCALeverage(5, n_components=3).fit(X)
    spread = DOptimalLeverage(5, n_components=3, ridge=1e9).fit(X)
    assert np.array_equal(plain.support_, spread.support_)


@pytest.mark.parametrize("ridge", [0, -1.0, "big", np.inf])
def test_bad_ridge_is_refused(ridge):
    with pytest.raises(ValueError, match="ridge"):
        DOptimalLeverage(2, ridge=ridge).fit(groups_of_copies(3, 2, 0.1))


def test_bad_target_is_refused():
    with pytest.raises(ValueError, match="target"):
        GreedyProjection(2, target="labels").fit(groups_of_copies(3, 2, 0.1))


@pytest.mark.parametrize("target", ["scores", "features"])
def test_more_features_than_rank_start_a_second_round(target):
    X = np.random.default_rng(0).standard_normal((6, 20))
    A = X - X.mean(axis=0)
    explained = np.linalg.svd(A)[0][:, :2] if target == "scores" else A
    n_components = 2 if target == "scores" else "auto"
    order = np.argsort(GreedyProjection(9, target=target, n_components=n_components).fit(X).ranking_)
    assert np.linalg.matrix_rank(A[:, order[:5]]) == 5
    rest = np.setdiff1d(np.arange(20), order[:5])
    share = np.square(explained.T @ A[:, rest]).sum(axis=0) / np.square(A[:, rest]).sum(axis=0)
    assert order[5] == rest[np.argmax(share)]
