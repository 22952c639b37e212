"""RNE: weights, solver and its parts against transcriptions; the original program, degenerate data."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.manifold._locally_linear import barycenter_weights

from ufselect import RNE
from ufselect._solver.iterate import iterate
from ufselect.graphs import nearest_neighbors
from ufselect.published.rne import ActiveEntries, RobustEmbedding, SignedGram, lle_weights

EPS = np.finfo(float).eps


@pytest.mark.parametrize("shape", [(40, 12), (40, 3)])
@pytest.mark.parametrize("ridge", [1e-3, 1e-1])
def test_weights_equal_scikit_learns_barycentre_weights(shape, ridge):
    X = np.random.default_rng(0).standard_normal(shape)
    neighbors, _ = nearest_neighbors(X, 5)
    found = lle_weights(X, neighbors, ridge).toarray()
    expected = barycenter_weights(X, X, neighbors, reg=ridge)
    np.testing.assert_allclose(np.take_along_axis(found, neighbors, axis=1), expected, rtol=1e-8)
    assert np.count_nonzero(found) == neighbors.size


def test_without_a_ridge_no_other_weights_of_sum_one_fit_better():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((20, 8))
    neighbors, _ = nearest_neighbors(X, 4)
    weights = np.take_along_axis(lle_weights(X, neighbors).toarray(), neighbors, axis=1)
    for i in range(20):
        best = np.linalg.norm(X[i] - weights[i] @ X[neighbors[i]])
        for _ in range(20):
            other = weights[i] + 0.01 * rng.standard_normal(4)
            assert np.linalg.norm(X[i] - other / other.sum() @ X[neighbors[i]]) >= best


def test_more_neighbours_than_features_get_the_usual_ridge():
    X = np.random.default_rng(2).standard_normal((30, 2))
    neighbors, _ = nearest_neighbors(X, 5)
    np.testing.assert_allclose(lle_weights(X, neighbors).toarray(), lle_weights(X, neighbors, 1e-3).toarray())


def test_duplicates_give_finite_weights_and_exact_reconstruction():
    base = np.random.default_rng(4).standard_normal((6, 10))
    X = np.vstack([base, base, base])
    weights = lle_weights(X, nearest_neighbors(X, 4)[0])
    assert np.all(np.isfinite(weights.data))
    np.testing.assert_allclose(weights @ X, X, atol=1e-6)


def test_samples_that_all_coincide_get_equal_weights():
    weights = lle_weights(np.ones((6, 3)), nearest_neighbors(np.ones((6, 3)), 3)[0])
    np.testing.assert_allclose(weights.data, 1 / 3)


@pytest.mark.parametrize("factor", [1e-200, 1e200])
def test_weights_do_not_depend_on_the_unit(factor):
    X = np.random.default_rng(5).standard_normal((20, 7))
    neighbors, _ = nearest_neighbors(X, 4)
    expected = lle_weights(X, neighbors).toarray()
    np.testing.assert_allclose(lle_weights(factor * X, neighbors).toarray(), expected, rtol=1e-9)


def test_blocks_do_not_change_the_weights():
    X = np.random.default_rng(6).standard_normal((30, 7))
    neighbors, _ = nearest_neighbors(X, 4)
    expected = lle_weights(X, neighbors).toarray()
    np.testing.assert_allclose(lle_weights(X, neighbors, block_bytes=1000).toarray(), expected, rtol=1e-12)


def test_a_matrix_too_large_to_keep_is_built_by_blocks():
    rng = np.random.default_rng(2)
    R, H = 0.1 * rng.standard_normal((10, 60)), rng.random((60, 4))
    kept = SignedGram(R)
    built = SignedGram(R, formed_order=1, block_bytes=4 * 60 * 7)
    G = R.T @ R
    for gram in (kept, built):
        for found, part in zip(gram.products(H), (np.maximum(G, 0), np.maximum(-G, 0)), strict=True):
            np.testing.assert_allclose(found, part @ H, rtol=1e-4, atol=1e-6)
        np.testing.assert_allclose(gram.block(np.array([3, 8])), G[np.ix_([3, 8], [3, 8])], atol=1e-6)


@given(seed=st.integers(0, 10_000), share=st.floats(0.0, 0.9))
def test_active_entries_are_updated_as_the_dense_matrix_is(seed, share):
    rng = np.random.default_rng(seed)
    R = rng.standard_normal((12, 9))
    H = rng.random((9, 5)) * (rng.random((9, 5)) < share)
    gain, loss = rng.random((9, 5)), rng.random((9, 5))
    method = RobustEmbedding(R, 2.0, H)
    expected, _ = method.multiply(H, method.gram.products(H), gain, loss, 3.0)
    active = ActiveEntries(H > 0, method.gram)
    entries = active.rows, active.columns
    found = active.multiply(H[entries], gain[entries], loss[entries], 2.0, 3.0)
    np.testing.assert_allclose(found, expected[entries], rtol=1e-5)
    assert active.rows.size == np.count_nonzero(H)


def literal(R, H, alpha, n_outer, n_inner=30):
    """Transcribe the published updates with dense matrices, split and multiplier written out."""
    G = R.T @ R
    G_plus, G_minus = (np.abs(G) + G) / 2, (np.abs(G) - G) / 2
    M, Y, gamma, history = R @ H, np.zeros((R.shape[0], H.shape[1])), 10.0, []
    for _ in range(n_outer):
        RM, RY = R.T @ M, R.T @ Y
        for _ in range(n_inner):
            H = H / np.sqrt((H**2).sum(axis=0) + EPS)
            above = alpha * H + gamma * (np.abs(RM) + RM) / 2 + gamma * G_minus @ H + (np.abs(RY) + RY) / 2
            below = alpha * H @ (H.T @ H) + gamma * (np.abs(RM) - RM) / 2 + gamma * G_plus @ H
            H = H * np.sqrt(above / (below + (np.abs(RY) - RY) / 2 + EPS))
        T = R @ H - Y / gamma
        M = np.sign(T) * np.maximum(np.abs(T) - 1 / gamma, 0)
        Y = Y + gamma * (M - R @ H)
        gamma = min(1.1 * gamma, 1e10)
        overlap = H.T @ H - np.eye(H.shape[1])
        history.append(np.abs(R @ H).sum() + alpha / 4 * (overlap**2).sum())
    return H, np.array(history)


def problem(seed, n=40, d=30, m=6):
    rng = np.random.default_rng(seed)
    R = 0.1 * rng.standard_normal((n, d)) * rng.uniform(0.2, 2, d)
    return R, rng.random((d, m))


def run(R, H0, alpha, max_iter, sparse_share=0.15, **options):
    return iterate(RobustEmbedding(R, alpha, H0, sparse_share), max_iter=max_iter, **{"tol": None, **options})


@pytest.mark.parametrize("alpha", [1.0, 1e3])
@pytest.mark.parametrize("shape", [(40, 30), (15, 50)])
def test_dense_steps_are_the_published_ones(alpha, shape):
    R, H0 = problem(0, *shape)
    expected, history = literal(R, H0, alpha, 5)
    result = run(R, H0, alpha, 5, sparse_share=-1.0)
    np.testing.assert_allclose(result.objective_history[1:], history, rtol=1e-5)
    np.testing.assert_allclose(result.state.H, expected, atol=1e-4)


@pytest.mark.parametrize("seed", range(2))
def test_following_the_support_alone_is_no_worse_than_the_published_run(seed):
    R, H0 = problem(seed, 60, 80, 20)
    expected, history = literal(R, H0, 1e3, 50)
    state = run(R, H0, 1e3, 50, sparse_share=0.3).state  # small problems stay denser than real ones
    assert state.active is not None
    assert state.objective <= history[-1] * (1 + 1e-3)
    first = np.argsort(-np.linalg.norm(expected, axis=1))[:20]
    found = np.argsort(-np.linalg.norm(state.H, axis=1))[:20]
    assert np.intersect1d(first, found).size >= 18


@pytest.mark.parametrize("alpha", [0.0, 1e-6, 1.0, 1e6])
def test_entries_stay_finite_and_non_negative(alpha):
    R, H0 = problem(3, 30, 40, 10)
    R[:, 5] = 0
    result = run(R, H0, alpha, 50)
    assert np.all(np.isfinite(result.state.H))
    assert np.all(result.state.H >= 0)
    assert np.all(np.isfinite(result.objective_history))


def test_zeros_of_the_start_stay_zero_and_the_start_is_left_alone():
    R, H0 = problem(4, 40, 60, 12)
    H0[::3, ::2] = 0
    before = H0.copy()
    result = run(R, H0, 1e3, 30)
    np.testing.assert_array_equal(result.state.H[::3, ::2], 0)
    np.testing.assert_array_equal(H0, before)


def test_columns_become_orthogonal():
    R, H0 = problem(5, 60, 80, 10)
    result = run(R, H0, 1e3, 50)
    assert result.residuals["orthogonality"] < 0.1
    H = result.state.H
    np.testing.assert_allclose(H.T @ H, np.eye(10), atol=0.05)


def test_a_tolerance_ends_the_run_early_and_the_callback_sees_every_step():
    R, H0 = problem(6)
    seen = []
    result = run(R, H0, 1e3, 50, tol=0.05, callback=lambda i, f: seen.append((i, f)))
    assert result.converged
    assert result.n_iter < 50
    assert [i for i, _ in seen] == list(range(1, result.n_iter + 1))
    np.testing.assert_array_equal([f for _, f in seen], result.objective_history[1:])


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


@pytest.mark.filterwarnings("ignore::ufselect.exceptions.RepeatedColumnsWarning")
def test_degenerate_data_give_finite_scores(data):
    duplicates = np.repeat(data[:8], 6, axis=0)
    far_apart = np.vstack([data[:20], -1e5 + data[20:40]])
    zero_rows = np.vstack([data, np.zeros((7, 24))])
    for X in (duplicates, far_apart, zero_rows, data[:10], np.ones((8, 4))):
        assert np.all(np.isfinite(RNE(2, random_state=0).fit(X).scores_))


@pytest.mark.parametrize("factor", [2.0**-900, 2.0**1000])
def test_scale_of_the_data_does_not_matter(data, factor):
    expected = RNE(6, random_state=0).fit(data)
    found = RNE(6, random_state=0).fit(factor * data)
    np.testing.assert_array_equal(found.scores_, expected.scores_)


def test_without_a_tolerance_all_iterations_are_made(data):
    fitted = RNE(6, random_state=0, max_iter=7).fit(data)
    assert fitted.n_iter_ == 7
    assert fitted.objective_history_.shape == (8,)


def test_a_tolerance_that_is_met_ends_the_run(data):
    assert RNE(6, random_state=0, tol=0.5).fit(data).converged_


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"alpha": -1.0}, "'alpha' parameter"),
        ({"init": np.ones((3, 3))}, r"init must be .* shape \(24, 3\)"),
        ({"init": -np.ones((24, 6))}, "init must be a finite non-negative"),
        ({"init": np.ones((24, 6)), "n_components": 5}, r"shape \(24, 5\)"),
        ({"init": np.ones(24)}, r"shape \(24, 6\)"),
    ],
)
def test_bad_parameters_are_refused(parameters, message, data):
    with pytest.raises(ValueError, match=message):
        RNE(6, **parameters).fit(data)
