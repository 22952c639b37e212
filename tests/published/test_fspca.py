"""FSPCA against all subsets, a literal transcription, the original program, and its own promises."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from tests.published.oracle import reference

from ufselect import FSPCA

pytestmark = [
    pytest.mark.filterwarnings("ignore::ufselect.exceptions.DominatedByUnitsWarning"),
    pytest.mark.filterwarnings("ignore::ufselect.exceptions.RepeatedColumnsWarning"),
]


def captured(S, features, m):
    """Return the variance that the m leading components of some features capture."""
    return np.linalg.eigvalsh(S[np.ix_(features, features)])[-min(m, len(features)) :].sum()


def scatter(X):
    return (X - X.mean(axis=0)).T @ (X - X.mean(axis=0))


def best_of_all(S, r, m):
    return max(captured(S, list(features), m) for features in combinations(range(len(S)), r))


def literal(S, r, m, n_steps):
    """Transcribe both algorithms with dense matrices."""
    values, vectors = np.linalg.eigh(S)
    proxy = (vectors[:, -m:] * values[-m:]) @ vectors[:, -m:].T
    objectives = []
    for _ in range(n_steps + 1):
        features = np.argsort(-np.diag(proxy), kind="stable")[:r]
        W = np.zeros((len(S), m))
        W[features] = np.linalg.eigh(S[np.ix_(features, features)])[1][:, -m:]
        objectives.append(np.trace(W.T @ S @ W))
        proxy = S @ W @ np.linalg.pinv(W.T @ S @ W) @ W.T @ S
    return set(features), np.array(objectives)


@given(st.integers(0, 10**6), st.integers(5, 10), st.integers(1, 3), st.integers(1, 6))
def test_low_rank_is_solved_exactly(seed, d, m, r):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((8, m)) @ rng.standard_normal((m, d))
    r = min(r, d)
    captured = -FSPCA(r, n_components=m).fit(X).objective_history_[-1]
    assert captured == pytest.approx(best_of_all(scatter(X), r, m), rel=1e-9)


@given(st.integers(0, 10**6), st.integers(5, 10), st.integers(1, 3), st.integers(1, 6))
def test_refinement_stays_between_the_start_and_the_best_subset(seed, d, m, r):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((14, d)) * rng.random(d)
    r = min(r, d)
    fitted = FSPCA(r, n_components=m).fit(X)
    best, captured = best_of_all(scatter(X), r, m), -fitted.objective_history_[-1]
    assert np.all(np.diff(fitted.objective_history_) <= 0)
    assert 0.9 * best <= captured <= best * (1 + 1e-12)
    assert fitted.converged_
    if r <= m:
        assert captured == pytest.approx(best)


@pytest.mark.parametrize("shape", [(60, 30), (20, 80)])
def test_follows_the_definition_step_by_step(shape):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((shape[0], 5)) @ rng.standard_normal((5, shape[1])) + rng.standard_normal(shape)
    for data in (X, sparse.csr_array(X)):
        fitted = FSPCA(10, n_components=4).fit(data)
        features, objectives = literal(scatter(X), 10, 4, fitted.n_iter_)
        assert set(np.flatnonzero(fitted.support_)) == features
        np.testing.assert_allclose(-fitted.objective_history_, objectives, rtol=1e-10)
        W = fitted.components_.T
        np.testing.assert_allclose(W.T @ W, np.eye(4), atol=1e-12)
        assert np.trace(W.T @ scatter(X) @ W) == pytest.approx(objectives[-1])
        assert set(np.flatnonzero(np.any(W != 0, axis=1))) == features


@pytest.mark.parametrize(("name", "refine"), [("FSPCA_Go", False), ("FSPCA_IPU", True)])
def test_agrees_with_the_original_program(real, name, refine):
    X, _ = real("lung_discrete")
    program = reference(name)
    fitted = FSPCA(100, n_components=7, refine=refine).fit(X)
    assert set(np.flatnonzero(fitted.support_)) == set(program["ranking"][:100])
    np.testing.assert_array_equal(np.argsort(fitted.ranking_)[:50], program["ranking"][:50])
    assert -fitted.objective_history_[-1] == pytest.approx(program["objective"][0], rel=1e-12)
    assert fitted.converged_
    assert refine == (fitted.n_iter_ > 0)
