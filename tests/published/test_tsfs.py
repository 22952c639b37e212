"""TSFS: its objective, its optimality, its seeds and its failures."""

from __future__ import annotations

import doctest
import sys
import warnings

import numpy as np
import pytest
from scipy.spatial.distance import pdist

from ufselect import TSFS
from ufselect._solver.iterate import iterate
from ufselect.published.tsfs import StudentNetwork

pytestmark = pytest.mark.filterwarnings("ignore::ufselect.exceptions.DominatedByUnitsWarning")

RNG = np.random.default_rng(0)


@pytest.fixture(scope="module")
def torch():
    return pytest.importorskip("torch", reason="needs torch, the extra 'deep'")


@pytest.fixture
def clusters():
    """Give four clusters seen in features 2, 5 and 7 of twelve, the others noise."""
    rng = np.random.default_rng(0)
    X = 0.3 * rng.standard_normal((80, 12))
    X[:, [2, 5, 7]] += np.repeat(4 * rng.standard_normal((4, 3)), 20, axis=0)
    return X


@pytest.fixture(scope="module")
def network(torch):
    rng = np.random.default_rng(1)
    inputs = rng.standard_normal((25, 6))
    targets = np.sin(inputs[:, :2]) + 0.1 * rng.standard_normal((25, 2))
    return StudentNetwork(inputs, targets, hidden=4, gamma=0.03, seed=0)


@pytest.fixture(scope="module")
def trained(network):
    return iterate(network, max_iter=100, tol=0.0).state


def random_weights(torch, network):
    shapes = [(6, 4), (4,), (4, 2), (2,)]
    return tuple(torch.from_numpy(RNG.standard_normal(shape)) for shape in shapes)


def written_out(network, weights):
    """Compute the objective sample by sample."""
    w1, b1, w2, b2 = (w.numpy() for w in weights)
    loss = 0.0
    for x, y in zip(network.inputs.numpy(), network.targets.numpy(), strict=True):
        output = b2.copy()
        for k in range(w1.shape[1]):
            output += w2[k] * np.tanh(x @ w1[:, k] + b1[k])
        loss += np.sum((y - output) ** 2) / (2 * len(network.inputs))
    rows = sum(np.sqrt(np.sum(row**2)) for row in w1)
    return loss + network.gamma * (rows + 0.5 * np.sum(w2**2))


def test_objective_is_the_formula(torch, network):
    weights = random_weights(torch, network)
    assert network.smooth(weights) + network.penalty(weights) == pytest.approx(
        written_out(network, weights), rel=1e-13
    )


def test_training_ends_at_a_stationary_point(network, trained):
    weights = trained.point
    _, gradient = network.smooth_gradient(weights)
    norms = weights[0].norm(dim=1).numpy()
    slopes = gradient[0].numpy()
    used = norms > 0
    assert 0 < used.sum() < 6
    directions = weights[0].numpy()[used] / norms[used, None]
    np.testing.assert_allclose(slopes[used], -network.gamma * directions, atol=1e-4)
    assert np.all(np.linalg.norm(slopes[~used], axis=1) <= network.gamma * (1 + 1e-3))
    for block in gradient[1:]:
        np.testing.assert_allclose(block.numpy(), 0, atol=1e-4)


def test_training_never_raises_the_objective(torch, clusters):
    fitted = TSFS(n_features_to_select=3, random_state=0).fit(clusters)
    assert np.all(np.diff(fitted.objective_history_) <= 0)
    assert fitted.objective_history_[-1] < 0.3 * fitted.objective_history_[0]
    assert fitted.objective_history_.size == fitted.n_iter_ + 1
    assert fitted.converged_


@pytest.mark.parametrize("seed", [0, 1])
def test_features_that_carry_the_clusters_are_found(torch, clusters, seed):
    fitted = TSFS(n_features_to_select=3, gamma=0.03, random_state=seed).fit(clusters)
    assert set(np.flatnonzero(fitted.support_)) == {2, 5, 7}


def test_seed_decides_whatever_the_number_of_threads(torch, clusters):
    first = TSFS(random_state=4).fit(clusters)
    n_threads = torch.get_num_threads()
    try:
        torch.set_num_threads(n_threads + 1)
        second = TSFS(random_state=4).fit(clusters)
        assert torch.get_num_threads() == n_threads + 1
    finally:
        torch.set_num_threads(n_threads)
    np.testing.assert_array_equal(first.scores_, second.scores_)
    assert np.any(first.scores_ != TSFS(random_state=5).fit(clusters).scores_)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("shape", [(2, 3), (3, 3), (10, 1), (8, 40)])
def test_small_data(torch, shape):
    X = RNG.standard_normal(shape)
    fitted = TSFS(n_features_to_select=1, random_state=0).fit(X)
    assert np.all(np.isfinite(fitted.scores_))
    assert fitted.embedding_.shape == (shape[0], 2)


@pytest.mark.parametrize("n_components", [1, 2, 4])
def test_teacher_is_centred_scaled_and_keeps_clusters_apart(torch, clusters, n_components):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        embedding = TSFS(n_components=n_components, max_iter=1, random_state=0).fit(clusters).embedding_
    assert embedding.shape == (80, n_components)
    np.testing.assert_allclose(embedding.mean(axis=0), 0, atol=1e-12)
    assert np.mean(embedding**2) == pytest.approx(1)
    within = np.mean([pdist(embedding[i : i + 20]).mean() for i in range(0, 80, 20)])
    assert n_components > 2 or within < 0.5 * pdist(embedding).mean()


def test_too_large_gamma_is_named(torch, clusters):
    with pytest.warns(UserWarning, match="uses no feature; lower gamma"):
        fitted = TSFS(gamma=100.0, random_state=0).fit(clusters)
    assert np.all(fitted.scores_ <= 0)
    assert np.all(np.isfinite(fitted.scores_))


def test_without_torch_the_install_line_is_given(monkeypatch, clusters):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match=r'pip install "ufselect\[deep\]"'):
        TSFS().fit(clusters)


def test_example_in_the_docstring_runs(torch):
    text = TSFS.__doc__.replace("# doctest: +SKIP", "")
    runner = doctest.DocTestRunner()
    runner.run(doctest.DocTestParser().get_doctest(text, {}, "TSFS", None, 0))
    assert (runner.failures, runner.tries) == (0, 4)


def test_lung_discrete_scores_as_published(torch, real):
    from ufselect.metrics import evaluate_selection

    X, y = real("lung_discrete")
    score = evaluate_selection(X, y, TSFS(n_features_to_select=100, random_state=0).fit(X).support_)
    assert score.acc_mean > 64.36 - 2
    assert score.nmi_mean > 61.61 - 2
