"""Robust neighbourhood embedding: the original program, parameters and degenerate data."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from ufselect.selectors.rne import RNE


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    return rng.standard_normal((60, 5)) @ rng.standard_normal((5, 24)) + 0.3 * rng.standard_normal((60, 24))


def reconstruction_residuals(X, k):
    """Transcribe locally linear reconstruction of samples of unit length."""
    X = X / np.linalg.norm(X, axis=1, keepdims=True)
    W = np.zeros((len(X), len(X)))
    for i, x in enumerate(X):
        nearest = [j for j in np.argsort(((X - x) ** 2).sum(axis=1), kind="stable") if j != i][:k]
        local = (X[nearest] - x) @ (X[nearest] - x).T
        weights = np.linalg.solve(local, np.ones(k))
        W[i, nearest] = weights / weights.sum()
    return X - W @ X


def test_agrees_with_the_original_program(real, reference_path):
    # The program applies the transpose of the weights; from the same start the option follows it closely.
    X, _ = real("lung_discrete")
    reference = json.loads((reference_path / "lung_discrete_rankings.json").read_text())["RNE"]
    start = np.random.default_rng(0).random((325, 100))
    fitted = RNE(100, init=start, transpose_weights=True).fit(X)
    assert np.intersect1d(np.flatnonzero(fitted.support_), reference["ranking"][:100]).size >= 95
    np.testing.assert_allclose(fitted.objective_history_[1:4], reference["objective"][:3], rtol=1e-2)
    assert fitted.objective_history_[-1] <= reference["objective"][-1]


def test_the_objective_is_that_of_the_definition(data):
    fitted = RNE(6, random_state=0).fit(data)
    H = fitted.embedding_
    expected = np.abs(reconstruction_residuals(data, 5) @ H).sum()
    expected += 1e3 / 4 * np.sum((H.T @ H - np.eye(6)) ** 2)
    assert fitted.objective_history_[-1] == pytest.approx(expected, rel=1e-8)
    np.testing.assert_allclose(fitted.scores_, np.linalg.norm(H, axis=1))


def test_the_seed_is_the_start_that_one_would_draw(data):
    start = np.random.default_rng(7).random((24, 6))
    drawn, given = RNE(6, random_state=7).fit(data), RNE(6, init=start).fit(data)
    np.testing.assert_array_equal(drawn.scores_, given.scores_)
    assert not np.array_equal(drawn.scores_, RNE(6, random_state=8).fit(data).scores_)


def test_the_width_of_the_start_sets_the_components(data):
    assert RNE(6, init=np.ones((24, 3)) + np.eye(24, 3)).fit(data).embedding_.shape == (24, 3)
    assert RNE(6, n_components=4, random_state=0).fit(data).embedding_.shape == (24, 4)


def test_constant_columns_take_no_part_and_come_last(data):
    constant = data.copy()
    constant[:, [2, 9]] = [0.0, 4.0]
    fitted = RNE(6, random_state=0).fit(constant)
    assert set(fitted.ranking_[[2, 9]]) == {23, 24}
    assert np.all(np.isfinite(fitted.scores_))


def test_degenerate_data_give_finite_scores(data):
    duplicates = np.repeat(data[:8], 6, axis=0)
    far_apart = np.vstack([data[:20], -1e5 + data[20:40]])
    zero_rows = np.vstack([data, np.zeros((7, 24))])
    for X in (duplicates, far_apart, zero_rows, data[:10], np.ones((8, 4))):
        assert np.all(np.isfinite(RNE(2, random_state=0).fit(X).scores_))


@pytest.mark.parametrize("factor", [2.0**-900, 2.0**40, 2.0**1000])
def test_scale_of_the_data_does_not_matter(data, factor):
    expected = RNE(6, random_state=0).fit(data)
    found = RNE(6, random_state=0).fit(factor * data)
    np.testing.assert_array_equal(found.scores_, expected.scores_)


def test_without_a_tolerance_all_iterations_are_made(data):
    fitted = RNE(6, random_state=0, max_iter=7).fit(data)
    assert fitted.n_iter_ == 7
    assert fitted.objective_history_.shape == (8,)


def test_a_tolerance_that_is_not_met_warns(data):
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        fitted = RNE(6, random_state=0, max_iter=2, tol=0.0).fit(data)
    assert not fitted.converged_
    assert RNE(6, random_state=0, tol=0.5).fit(data).converged_


def test_too_many_neighbours_are_lowered_with_a_warning(data):
    with pytest.warns(UserWarning, match="n_neighbors=5 is lowered to 3"):
        assert RNE(6, random_state=0).fit(data[:4]).n_neighbors_ == 3


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"alpha": -1.0}, "alpha must be"),
        ({"max_iter": 0}, "max_iter must be"),
        ({"tol": -1.0}, "tol must be"),
        ({"n_neighbors": 0}, "n_neighbors must be"),
        ({"n_components": 0}, "n_components must be"),
        ({"init": np.ones((3, 3))}, r"init must be .* shape \(24, 3\)"),
        ({"init": -np.ones((24, 6))}, "init must be a finite non-negative"),
        ({"init": np.ones((24, 6)), "n_components": 5}, r"shape \(24, 5\)"),
        ({"init": np.ones(24)}, r"shape \(24, 6\)"),
    ],
)
def test_bad_parameters_are_refused(parameters, message, data):
    with pytest.raises(ValueError, match=message):
        RNE(6, **parameters).fit(data)
