"""SOGFS: weights, projection and whole fits against transcriptions; the original program's ranking."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.exceptions import ConvergenceWarning

from ufselect import SOGFS
from ufselect._solver.iterate import iterate
from ufselect._solver.reweighted import row_penalty
from ufselect._solver.sets import project_simplex
from ufselect.graphs import graph_laplacian, nearest_neighbors
from ufselect.published.sogfs import StructuredOptimalGraph, adaptive_weights, mean_graph

EPS = np.finfo(float).eps


def test_adaptive_weights_solve_the_regularised_problem():
    squared = np.sort(np.random.default_rng(0).random((20, 6)), axis=1)
    weights, regularisers = adaptive_weights(squared)
    expected = project_simplex(-squared / (2 * regularisers[:, None]))
    np.testing.assert_allclose(weights, expected[:, :5], atol=1e-12)
    np.testing.assert_allclose(expected[:, 5], 0, atol=1e-12)
    # The regulariser is the largest that keeps the neighbour beyond the k nearest out.
    beyond = project_simplex(-squared / (2.01 * regularisers[:, None]))
    assert np.all(beyond[:, 5] > 0)


@pytest.mark.parametrize("value", [0.0, 3.0])
def test_equal_distances_give_equal_weights(value):
    weights, regularisers = adaptive_weights(np.full((3, 5), value))
    np.testing.assert_array_equal(weights, 0.25)
    np.testing.assert_array_equal(regularisers, 0)


def test_mean_graph_is_the_dense_mean_without_small_weights():
    rng = np.random.default_rng(1)
    indices = np.array([rng.permutation(np.delete(np.arange(12), i))[:3] for i in range(12)])
    weights = rng.random((12, 3))
    weights[0, 0] = 0
    weights[5, 1] = 1e-13
    dense = np.zeros((12, 12))
    np.put_along_axis(dense, indices, weights, axis=1)
    expected = (dense + dense.T) / 2
    expected[expected <= 1e-11] = 0
    found = mean_graph(indices, weights)
    np.testing.assert_allclose(found.toarray(), expected)
    assert found.nnz == np.count_nonzero(expected)


def unit_features(X):
    X = X - X.mean(axis=0)
    return X / np.linalg.norm(X, axis=0)


def literal_projection(L, X, gamma, m, p=1.0, stop=1e-6, n_steps=100):
    """Transcribe the published reweighting: full eigendecompositions from identity weights."""
    M = X.T @ L @ X
    M = (M + M.T) / 2
    Q, history = np.ones(X.shape[1]), []
    for _ in range(n_steps):
        W = np.linalg.eigh(M + gamma * np.diag(Q))[1][:, :m]
        squared = (W**2).sum(axis=1)
        Q = p / 2 * np.sqrt(squared + EPS) ** (p - 2)
        history.append(np.trace(W.T @ M @ W) + gamma * row_penalty(squared, p))
        if len(history) > 1 and abs(history[-2] - history[-1]) < stop:
            break
    return W, history


def initial_graph(X, k=5):
    indices, distances = nearest_neighbors(X, k + 1)
    return mean_graph(indices[:, :k], adaptive_weights(distances**2)[0])


def solver(X, **changes):
    settings = {"n_clusters": 3, "n_components": 3, "n_neighbors": 5, "gamma": 0.1, "p": 1.0, "tol": 1e-9}
    return StructuredOptimalGraph(data=X, **{**settings, **changes})


@pytest.mark.parametrize("gamma", [1e-3, 0.1, 1.0, 100.0])
@pytest.mark.parametrize("p", [1.0, 0.5])
def test_the_projection_is_the_published_one_where_it_is_determined(gamma, p):
    X = unit_features(np.random.default_rng(0).standard_normal((80, 20)))
    graph = initial_graph(X)
    # The first of its eigenproblems counts as the start here.
    expected, history = literal_projection(graph_laplacian(graph).toarray(), X, gamma, 3, p, 0, 101)
    found = solver(X, gamma=gamma, p=p, tol=0).project(graph)
    assert found.objective == pytest.approx(history[-1], rel=1e-7)
    rows = np.linalg.norm(found.vectors[:, :3], axis=1)
    np.testing.assert_allclose(rows, np.linalg.norm(expected, axis=1), atol=1e-4)


@pytest.mark.parametrize(("gamma", "shape", "n_steps"), [(1.0, (20, 60), 100), (1e-2, (12, 501), 10)])
def test_with_fewer_samples_than_features_the_objective_is_no_worse(gamma, shape, n_steps):
    # The published start then depends on the order of the features: it is run for some of them.
    rng = np.random.default_rng(1)
    signal = rng.standard_normal((shape[0], 4)) @ rng.standard_normal((4, shape[1]))
    X = unit_features(signal + rng.standard_normal(shape))
    graph = initial_graph(X)
    L = graph_laplacian(graph).toarray()
    orders = [rng.permutation(shape[1]) for _ in range(2)]
    published = [literal_projection(L, X[:, order], gamma, 3, n_steps=n_steps)[1][-1] for order in orders]
    assert solver(X, gamma=gamma).project(graph).objective <= np.mean(published)


def test_the_order_of_the_features_does_not_matter():
    rng = np.random.default_rng(2)
    X = unit_features(rng.standard_normal((20, 50)))
    order = rng.permutation(50)
    graph = initial_graph(X)
    expected = solver(X, gamma=1.0).project(graph).squared_norms
    found = solver(X[:, order], gamma=1.0).project(graph).squared_norms
    np.testing.assert_allclose(found, expected[order], atol=1e-6)


def test_columns_are_orthonormal_and_the_graph_is_a_graph():
    X = unit_features(np.random.default_rng(4).standard_normal((60, 12)))
    state = iterate(solver(X), max_iter=8, tol=0.0).state
    np.testing.assert_allclose(state.projection.T @ state.projection, np.eye(3), atol=1e-7)
    assert np.all(state.affinity.data > 0)
    assert abs(state.affinity - state.affinity.T).max() == 0
    np.testing.assert_allclose(state.affinity.sum(), 60, rtol=1e-6)


def test_features_that_repeat_are_no_trouble():
    rng = np.random.default_rng(5)
    X = unit_features(np.hstack([rng.standard_normal((50, 6))] * 3))
    result = iterate(solver(X), max_iter=20, tol=0.0)
    assert np.all(np.isfinite(result.state.projection))
    rows = np.linalg.norm(result.state.projection, axis=1).reshape(3, 6)
    np.testing.assert_allclose(rows, rows[:1].repeat(3, axis=0), atol=1e-5)


def squared_distances(points):
    return ((points[:, None, :] - points[None, :, :]) ** 2).sum(axis=2)


def neighbours(squared):
    """Sort each row by distance, the sample itself left out by index."""
    return np.array([[j for j in np.argsort(row, kind="stable") if j != i] for i, row in enumerate(squared)])


def onto_simplex(v):
    """Find the threshold by bisection."""
    low, high = v.min() - 1, v.max()
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if np.maximum(v - middle, 0).sum() > 1 else (low, middle)
    return np.maximum(v - high, 0)


def laplacian_of(S):
    S = (S + S.T) / 2
    return np.diag(S.sum(axis=0)) - S


def literal_rows(X, gamma, m, c, k):
    """Transcribe the published program with dense matrices and full eigendecompositions."""
    n = len(X)
    X = X - X.mean(axis=0)
    X = X / np.sqrt((X**2).sum(axis=0) + EPS)

    def project(L):
        M = X.T @ L @ X
        M = (M + M.T) / 2
        Q, last = np.ones(X.shape[1]), np.inf
        for _ in range(100):
            W = np.linalg.eigh(M + gamma * np.diag(Q))[1][:, :m]
            rows = np.sqrt((W**2).sum(axis=1) + EPS)
            Q = 0.5 / rows
            value = np.trace(W.T @ M @ W) + gamma * rows.sum()
            if last - value < 1e-9:
                break
            last = value
        return W

    squared = squared_distances(X)
    nearest = neighbours(squared)
    S, regularisers = np.zeros((n, n)), np.zeros(n)
    for i in range(n):
        d = squared[i, nearest[i, : k + 1]]
        regularisers[i] = (k * d[k] - d[:k].sum()) / 2
        S[i, nearest[i, :k]] = (d[k] - d[:k]) / (k * d[k] - d[:k].sum())
    r = weight = regularisers.mean()
    L = laplacian_of(S)
    F, W = np.linalg.eigh(L)[1][:, :c], project(L)
    for step in range(1, 51):
        to_f, to_x = squared_distances(F), squared_distances(X @ W)
        if step > 5:
            nearest = neighbours(to_x)
        S = np.zeros((n, n))
        for i in range(n):
            j = nearest[i, :k]
            S[i, j] = onto_simplex(-(to_x[i, j] + weight * to_f[i, j]) / (2 * r))
        L = laplacian_of(S)
        W = project(L)
        values, vectors = np.linalg.eigh(L)
        if values[:c].sum() > 1e-9:
            weight, F = 2 * weight, vectors[:, :c]
        elif values[: c + 1].sum() < 1e-11:
            weight = weight / 2
        elif step > 1:
            break
        else:
            F = vectors[:, :c]
    return np.linalg.norm(W, axis=1), step


@pytest.fixture(scope="module")
def blobs():
    rng = np.random.default_rng(0)
    centres = 6 * rng.standard_normal((3, 4))
    informative = centres[np.repeat([0, 1, 2], 25)] + rng.standard_normal((75, 4))
    return np.hstack([rng.standard_normal((75, 8)), informative])


@pytest.mark.filterwarnings("ignore::ufselect.exceptions.DominatedByUnitsWarning")
def test_follows_the_published_program_where_its_start_is_determined():
    X, gamma = load_wine().data[::2], 0.05
    expected, n_iter = literal_rows(X, gamma, 3, 3, 5)
    fitted = SOGFS(4, n_clusters=3, n_components=3, gamma=gamma, tol=1e-10).fit(X)
    np.testing.assert_allclose(fitted.scores_, expected, atol=1e-3)
    assert fitted.n_iter_ == n_iter


def test_the_original_program_depends_on_the_order_of_the_features(real, reference_path):
    # With 73 samples and 325 features its first eigenproblem has a null space of more than 250 dimensions.
    # What the eigensolver returns from it lies at the end of the list of features, whatever they are.
    X, _ = real("lung_discrete")
    reference = json.loads((reference_path / "lung_discrete_rankings.json").read_text())["SOGFS"]
    assert min(reference["ranking"][:7]) >= 317

    fitted = SOGFS(100, n_clusters=7, n_components=7).fit(X)
    reverse = SOGFS(100, n_clusters=7, n_components=7).fit(X[:, ::-1])
    assert np.intersect1d(np.flatnonzero(fitted.support_), np.flatnonzero(reverse.support_[::-1])).size >= 99
    assert fitted.converged_


def test_informative_features_come_first(blobs):
    fitted = SOGFS(2, n_clusters=3, n_components=2, gamma=0.1).fit(blobs)
    assert set(np.flatnonzero(fitted.support_)) <= {8, 9, 10, 11}
    assert fitted.converged_


def test_attributes(blobs):
    fitted = SOGFS(4, n_clusters=3, n_components=2).fit(blobs)
    assert fitted.components_.shape == (2, 12)
    np.testing.assert_allclose(fitted.components_ @ fitted.components_.T, np.eye(2), atol=1e-7)
    np.testing.assert_allclose(fitted.scores_, np.linalg.norm(fitted.components_, axis=0))
    assert fitted.affinity_.shape == (75, 75)
    assert fitted.objective_history_.shape == (fitted.n_iter_ + 1,)
    assert (fitted.n_clusters_, fitted.n_components_, fitted.n_neighbors_) == (3, 2, 5)


def test_automatic_numbers_need_no_labels(blobs):
    fitted = SOGFS(4).fit(blobs)
    assert fitted.n_components_ >= 1
    assert fitted.n_clusters_ == max(2, fitted.n_components_)


def test_the_result_does_not_depend_on_units_and_means(blobs):
    units = 2.0 ** np.arange(-6, 6)
    expected = SOGFS(4, n_clusters=3, n_components=2).fit(blobs).scores_
    found = SOGFS(4, n_clusters=3, n_components=2).fit(blobs * units + 64 * units).scores_
    np.testing.assert_allclose(found, expected, atol=1e-6)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("gamma", [1e-6, 1e6])
@pytest.mark.filterwarnings("ignore::ufselect.exceptions.RepeatedColumnsWarning")
def test_degenerate_data_give_finite_scores(blobs, gamma):
    duplicates = np.repeat(blobs[:8], 6, axis=0)
    far_apart = np.vstack([blobs[:20], 1e6 + blobs[20:40]])
    wide = np.random.default_rng(1).standard_normal((12, 40))
    repeated = np.hstack([blobs[:, :5], blobs[:, :5]])
    for X in (duplicates, far_apart, wide, repeated, np.eye(10), 1e200 * blobs, 1e-200 * blobs):
        fitted = SOGFS(2, gamma=gamma).fit(X)
        assert np.all(np.isfinite(fitted.scores_))
        assert np.all(fitted.scores_ >= 0)


def test_constant_columns_take_no_part_and_come_last(blobs):
    constant = np.insert(blobs, [0, 5], [3.0, 0.0], axis=1)
    fitted = SOGFS(4, n_clusters=3, n_components=2).fit(constant)
    assert set(fitted.ranking_[[0, 6]]) == {13, 14}
    expected = SOGFS(4, n_clusters=3, n_components=2).fit(blobs).scores_
    np.testing.assert_allclose(np.delete(fitted.scores_, [0, 6]), expected)


def test_a_graph_that_does_not_split_warns(blobs):
    with pytest.warns(ConvergenceWarning, match="set n_clusters"):
        fitted = SOGFS(4, n_clusters=30, n_components=2, max_iter=2).fit(blobs)
    assert not fitted.converged_
    assert fitted.n_iter_ == 2


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"gamma": -1.0}, "'gamma' parameter"),
        ({"p": 0}, "'p' parameter"),
        ({"p": 1.5}, "'p' parameter"),
        ({"n_components": 13}, "more than the 12 features"),
        ({"n_clusters": 75}, "n_clusters=75 is too many for the 75 samples"),
    ],
)
def test_bad_parameters_are_refused(parameters, message, blobs):
    with pytest.raises(ValueError, match=message):
        SOGFS(4, **parameters).fit(blobs)
