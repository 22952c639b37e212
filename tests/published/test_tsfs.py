"""TSFS: its objective, its optimality, its seeds and its failures."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.optimize import check_grad
from scipy.spatial.distance import pdist

from ufselect import TSFS
from ufselect._solver.iterate import iterate
from ufselect.published.tsfs import StudentNetwork

pytestmark = pytest.mark.filterwarnings("ignore::ufselect.exceptions.DominatedByUnitsWarning")


@pytest.fixture
def clusters():
    """Give four clusters seen in features 2, 5 and 7 of twelve, the others noise."""
    rng = np.random.default_rng(0)
    X = 0.3 * rng.standard_normal((80, 12))
    X[:, [2, 5, 7]] += np.repeat(4 * rng.standard_normal((4, 3)), 20, axis=0)
    return X


@pytest.fixture(scope="module")
def network():
    rng = np.random.default_rng(1)
    inputs = rng.standard_normal((25, 6))
    targets = np.sin(inputs[:, :2]) + 0.1 * rng.standard_normal((25, 2))
    return StudentNetwork(inputs, targets, hidden=4, gamma=0.03, seed=0)


def written_out(network, w1, b1, w2, b2):
    """Compute the objective sample by sample."""
    loss = 0.0
    for x, y in zip(network.inputs, network.targets, strict=True):
        output = b2.copy()
        for k in range(w1.shape[1]):
            output += w2[k] * np.tanh(x @ w1[:, k] + b1[k])
        loss += np.sum((y - output) ** 2) / (2 * len(network.inputs))
    rows = sum(np.sqrt(np.sum(row**2)) for row in w1)
    return loss + network.gamma * (rows + 0.5 * np.sum(w2**2))


def test_objective_and_gradient_are_those_of_the_formula(network):
    weights = np.random.default_rng(0).standard_normal(6 * 4 + 4 + 4 * 2 + 2)
    value = network.loss(weights) + network.penalty(weights)
    assert value == pytest.approx(written_out(network, *network.split(weights)), rel=1e-13)
    assert check_grad(network.loss, network.gradient, weights) < 1e-5


def test_training_ends_at_a_stationary_point(network):
    weights = iterate(network, max_iter=100, tol=0.0).state.weights
    slopes, *others = network.split(network.gradient(weights))
    first = network.split(weights)[0]
    norms = np.linalg.norm(first, axis=1)
    used = norms > 0
    assert 0 < used.sum() < 6
    np.testing.assert_allclose(slopes[used], -network.gamma * first[used] / norms[used, None], atol=1e-4)
    assert np.all(np.linalg.norm(slopes[~used], axis=1) <= network.gamma * (1 + 1e-3))
    for block in others:
        np.testing.assert_allclose(block, 0, atol=1e-4)


@pytest.mark.parametrize("seed", [0, 1])
def test_features_that_carry_the_clusters_are_found(clusters, seed):
    fitted = TSFS(n_features_to_select=3, gamma=0.03, random_state=seed).fit(clusters)
    assert set(np.flatnonzero(fitted.support_)) == {2, 5, 7}
    assert np.all(np.diff(fitted.objective_history_) <= 0)
    assert fitted.objective_history_[-1] < 0.3 * fitted.objective_history_[0]
    assert fitted.objective_history_.size == fitted.n_iter_ + 1
    assert fitted.converged_


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_seed_decides(clusters):
    first, again, other = (TSFS(random_state=seed, max_iter=3).fit(clusters).scores_ for seed in (4, 4, 5))
    np.testing.assert_array_equal(first, again)
    assert np.any(first != other)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("shape", [(2, 3), (3, 3), (10, 1), (8, 40)])
def test_small_data(shape):
    fitted = TSFS(1, random_state=0).fit(np.random.default_rng(0).standard_normal(shape))
    assert np.all(np.isfinite(fitted.scores_))
    assert fitted.embedding_.shape == (shape[0], 2)


@pytest.mark.parametrize("n_components", [1, 2, 4])
def test_teacher_is_centred_scaled_and_keeps_clusters_apart(clusters, n_components):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        embedding = TSFS(n_components=n_components, max_iter=1, random_state=0).fit(clusters).embedding_
    assert embedding.shape == (80, n_components)
    np.testing.assert_allclose(embedding.mean(axis=0), 0, atol=1e-12)
    assert np.mean(embedding**2) == pytest.approx(1)
    within = np.mean([pdist(embedding[i : i + 20]).mean() for i in range(0, 80, 20)])
    assert n_components > 2 or within < 0.5 * pdist(embedding).mean()


def test_too_large_gamma_is_named(clusters):
    with pytest.warns(UserWarning, match="uses no feature; lower gamma"):
        fitted = TSFS(gamma=100.0, random_state=0).fit(clusters)
    assert np.all(fitted.scores_ <= 0)
    assert np.all(np.isfinite(fitted.scores_))


def test_lung_discrete_scores_as_published(real):
    from ufselect.metrics import evaluate_selection

    X, y = real("lung_discrete")
    score = evaluate_selection(X, y, TSFS(n_features_to_select=100, random_state=0).fit(X).support_)
    assert score.acc_mean > 64.36 - 2
    assert score.nmi_mean > 61.61 - 2
