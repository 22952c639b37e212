"""The solver of structured optimal graphs against literal transcriptions."""

from __future__ import annotations

import numpy as np
import pytest

from ufselect.graphs import adaptive_weights, graph_laplacian, mean_graph, nearest_neighbors
from ufselect.solvers import iterate, sogfs
from ufselect.solvers.reweighted.eigenproblem import row_penalty
from ufselect.solvers.sogfs import StructuredOptimalGraph

EPS = np.finfo(float).eps


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
    found = solver(X, gamma=gamma, p=p, tol=0)._project(graph)
    assert found.objective == pytest.approx(history[-1], rel=1e-7)
    rows = np.linalg.norm(found.vectors[:, :3], axis=1)
    np.testing.assert_allclose(rows, np.linalg.norm(expected, axis=1), atol=1e-4)


@pytest.mark.parametrize("gamma", [1e-2, 1.0])
@pytest.mark.parametrize(("shape", "largest_formed"), [((20, 60), 500), ((20, 60), 0), ((25, 150), 0)])
def test_with_fewer_samples_than_features_the_objective_is_no_worse(
    gamma, shape, largest_formed, monkeypatch
):
    # The published start then depends on the order of the features: it is run for some of them.
    monkeypatch.setattr(sogfs, "FORMED_ORDER", largest_formed)
    rng = np.random.default_rng(1)
    signal = rng.standard_normal((shape[0], 4)) @ rng.standard_normal((4, shape[1]))
    X = unit_features(signal + rng.standard_normal(shape))
    graph = initial_graph(X)
    L = graph_laplacian(graph).toarray()
    orders = [rng.permutation(shape[1]) for _ in range(4)]
    published = np.mean([literal_projection(L, X[:, order], gamma, 3)[1][-1] for order in orders])
    assert solver(X, gamma=gamma)._project(graph).objective <= published


def test_the_order_of_the_features_does_not_matter():
    rng = np.random.default_rng(2)
    X = unit_features(rng.standard_normal((20, 50)))
    order = rng.permutation(50)
    graph = initial_graph(X)
    expected = solver(X, gamma=1.0)._project(graph).squared_norms
    found = solver(X[:, order], gamma=1.0)._project(graph).squared_norms
    np.testing.assert_allclose(found, expected[order], atol=1e-6)
    # The published start is whatever the eigensolver returns, and does depend on it.
    L = graph_laplacian(graph).toarray()
    first = np.argsort(-np.linalg.norm(literal_projection(L, X, 1.0, 3)[0], axis=1))[:3]
    again = np.argsort(-np.linalg.norm(literal_projection(L, X[:, order], 1.0, 3)[0], axis=1))[:3]
    assert set(first) != set(order[again])


def test_reweighting_never_raises_the_objective(monkeypatch):
    histories = []
    plain = sogfs.iterate

    def recorded(*args, **kwargs):
        result = plain(*args, **kwargs)
        histories.append(result.objective_history)
        return result

    monkeypatch.setattr(sogfs, "iterate", recorded)
    for shape in ((60, 15), (15, 60)):
        X = unit_features(np.random.default_rng(3).standard_normal(shape))
        iterate(solver(X), max_iter=4, tol=0.0)
    assert len(histories) >= 6
    for history in histories:
        assert np.all(np.diff(history) <= 1e-12 * np.abs(history[:-1]))


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
