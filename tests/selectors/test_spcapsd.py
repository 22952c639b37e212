"""SPCA-PSD against the original program, and its own promises."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import linalg, sparse
from sklearn.exceptions import ConvergenceWarning

from ufselect.blocks import GramAccumulator
from ufselect.selectors.spcapsd import SPCAPSD


def data(n, d, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, 5)) @ rng.standard_normal((5, d)) + 0.3 * rng.standard_normal((n, d))


def published(X, gamma, eta, diagonal, n_steps):
    """Transcribe the published iteration and return row norms and objective of the last Ω."""
    A = X - X.mean(axis=0)
    S, d = A.T @ A, A.shape[1]
    delta = 1e-3 if d < A.shape[0] else 1e-2
    rows = diagonal
    for _ in range(n_steps):
        weights = 0.5 / np.sqrt(rows**2 + np.finfo(float).eps)
        omega = linalg.solve(S + np.diag(gamma * weights + delta), S - eta / 2 * np.eye(d), assume_a="pos")
        values, vectors = linalg.eigh((omega + omega.T) / 2)
        omega = (vectors * np.maximum(values, 0)) @ vectors.T
        rows = np.linalg.norm(omega, axis=1)
    return rows, np.linalg.norm(A - A @ omega) ** 2 + gamma * rows.sum() + eta * np.trace(omega)


def test_ranks_as_the_original_program_at_a_lower_objective(real, reference_path):
    X, _ = real("lung_discrete")
    reference = json.loads((reference_path / "lung_discrete_rankings.json").read_text())["SPCA-PSD"]
    start = np.random.default_rng(0).random(325)
    _, objective = published(X, 1.0, 1.0, start, 15)
    assert objective == pytest.approx(reference["objective"][-1], rel=1e-9)  # the transcription is right
    fitted = SPCAPSD(100, gamma=1.0, eta=1.0, init=start).fit(X)
    ranking = np.argsort(fitted.ranking_)
    assert len(set(ranking[:100]) & set(reference["ranking"][:100])) >= 95
    assert fitted.objective_history_[-1] < 0.72 * reference["objective"][-1]
    assert np.all(np.diff(fitted.objective_history_) <= 0)


@pytest.mark.parametrize(("name", "gamma"), [("usps", 1.0), ("usps", 100.0), ("umist", 1.0)])
def test_other_real_sets_rank_as_the_published_iteration(real, name, gamma):
    X, _ = real(name)
    rows, objective = published(X, gamma, 1.0, np.ones(X.shape[1]), 6)
    fitted = SPCAPSD(100, gamma=gamma, eta=1.0).fit(X)
    ranking = np.argsort(fitted.ranking_)
    assert len(set(ranking[:100]) & set(np.argsort(-rows)[:100])) >= 90
    assert fitted.objective_history_[-1] <= objective


@pytest.mark.parametrize("shape", [(60, 20), (15, 50)])
def test_sparse_data_batches_and_single_precision_give_the_same(shape):
    X = data(*shape) * (np.random.default_rng(1).random(shape) < 0.5)
    expected = SPCAPSD(gamma=5.0).fit(X)
    for other in (sparse.csr_array(X), GramAccumulator().update(X[:7]).update(X[7:])):
        np.testing.assert_allclose(SPCAPSD(gamma=5.0).fit(other).scores_, expected.scores_, atol=1e-6)
    single = SPCAPSD(gamma=5.0).fit(X.astype(np.float32))
    np.testing.assert_allclose(single.scores_, expected.scores_, atol=1e-3)
    assert np.all(np.diff(single.objective_history_) <= 0)


def test_the_start_changes_nothing():
    X = data(40, 15)
    expected = SPCAPSD(gamma=5.0, tol=1e-10).fit(X).scores_
    start = np.random.default_rng(0).uniform(0.1, 5, 15)
    np.testing.assert_allclose(SPCAPSD(gamma=5.0, tol=1e-10, init=start).fit(X).scores_, expected, atol=1e-4)


def test_units_do_not_matter_if_the_penalties_follow_them():
    X = data(40, 15)
    base = SPCAPSD(gamma=2.0, eta=3.0).fit(X)
    for unit in (1e-3, 1024.0, 1e100):
        scaled = SPCAPSD(gamma=2.0 * unit**2, eta=3.0 * unit**2).fit(X * unit)
        np.testing.assert_allclose(scaled.scores_, base.scores_, atol=1e-7)


def test_duplicate_and_constant_columns():
    X = data(40, 10)
    X[:, 3] = X[:, 7]
    X[:, 5] = 2.0
    fitted = SPCAPSD().fit(X)
    assert fitted.ranking_[5] == 10
    assert fitted.scores_[3] == pytest.approx(fitted.scores_[7], rel=1e-6)


def test_too_few_iterations_are_reported():
    with pytest.warns(ConvergenceWarning, match=r"SPCAPSD: max_iter .* raise max_iter"):
        fitted = SPCAPSD(gamma=50.0, max_iter=1, tol=1e-12).fit(data(40, 15))
    assert fitted.n_iter_ == 1
    assert not fitted.converged_


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"gamma": -1.0}, "gamma must be a finite number of at least 0"),
        ({"eta": np.inf}, "eta must be a finite number of at least 0"),
        ({"eta": 1e6}, r"eta=1000000.0 leaves nothing .* well below"),
        ({"tol": -1}, "tol must be"),
        ({"max_iter": 1.5}, "max_iter must be"),
        ({"init": np.zeros(10)}, "init must be None or 10 positive numbers"),
        ({"init": np.ones(9)}, "init must be None or 10 positive numbers"),
    ],
)
def test_meaningless_parameters_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        SPCAPSD(**parameters).fit(data(20, 10))


def test_constant_data_are_refused():
    with pytest.raises(ValueError, match="All features of X are constant"):
        SPCAPSD().fit(np.ones((10, 4)))
