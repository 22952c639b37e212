"""FSPCA against the original program, sparse data and its own promises."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import sparse

from ufselect.blocks import GramAccumulator
from ufselect.selectors.fspca import FSPCA


def data(n, d, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, 5)) @ rng.standard_normal((5, d)) + rng.standard_normal((n, d))


@pytest.mark.parametrize(("name", "refine"), [("FSPCA_Go", False), ("FSPCA_IPU", True)])
def test_agrees_with_the_original_program(real, reference_path, name, refine):
    X, _ = real("lung_discrete")
    reference = json.loads((reference_path / "lung_discrete_rankings.json").read_text())[name]
    fitted = FSPCA(100, n_components=7, refine=refine).fit(X)
    assert set(np.flatnonzero(fitted.support_)) == set(reference["ranking"][:100])
    np.testing.assert_array_equal(np.argsort(fitted.ranking_)[:50], reference["ranking"][:50])
    assert -fitted.objective_history_[-1] == pytest.approx(reference["objective"][0], rel=1e-12)


@pytest.mark.parametrize("name", ["usps", "umist", "glioma", "warppie10p"])
def test_refinement_gains_or_keeps_variance_on_real_data(real, name):
    X, y = real(name)
    m = np.unique(y).size
    start = FSPCA(50, n_components=m, refine=False).fit(X)
    refined = FSPCA(50, n_components=m).fit(X)
    captured = [captured_variance(X, fitted.support_, m) for fitted in (start, refined)]
    np.testing.assert_allclose(-start.objective_history_[-1], captured[0], rtol=1e-9)
    np.testing.assert_allclose(-refined.objective_history_[-1], captured[1], rtol=1e-9)
    assert captured[1] >= captured[0]
    assert refined.converged_


def captured_variance(X, support, m):
    A = X[:, support] - X[:, support].mean(axis=0)
    return np.sum(np.linalg.svd(A, compute_uv=False)[:m] ** 2)


@pytest.mark.parametrize("shape", [(60, 25), (15, 60)])
def test_sparse_data_and_batches_give_the_same(shape):
    X = data(*shape) * (np.random.default_rng(1).random(shape) < 0.5)
    expected = FSPCA(8, n_components=3).fit(X)
    for other in (sparse.csr_array(X), GramAccumulator().update(X[:7]).update(X[7:])):
        fitted = FSPCA(8, n_components=3).fit(other)
        np.testing.assert_array_equal(fitted.support_, expected.support_)
        np.testing.assert_allclose(fitted.scores_, expected.scores_, rtol=1e-7)


def test_attributes_describe_the_selection():
    X = data(40, 20)
    fitted = FSPCA(6, n_components=3).fit(X)
    assert fitted.components_.shape == (3, 20)
    assert not np.any(fitted.components_[:, ~fitted.support_])
    np.testing.assert_allclose(fitted.components_ @ fitted.components_.T, np.eye(3), atol=1e-10)
    assert fitted.n_components_ == 3
    assert np.all(np.diff(fitted.objective_history_) <= 0)
    unrefined = FSPCA(6, n_components=3, refine=False).fit(X)
    assert unrefined.n_iter_ == 0
    assert unrefined.converged_


def test_fewer_features_than_components_are_those_of_largest_variance():
    X = data(40, 20)
    fitted = FSPCA(2, n_components=4).fit(X)
    assert set(np.flatnonzero(fitted.support_)) == set(np.argsort(-X.var(axis=0))[:2])
    assert fitted.components_.shape == (2, 20)


def test_huge_and_tiny_units_leave_the_selection():
    X = data(40, 20)
    expected = FSPCA(5, n_components=3).fit(X).support_
    for unit in (1e-150, 1e-5, 1e140):
        np.testing.assert_array_equal(FSPCA(5, n_components=3).fit(X * unit).support_, expected)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"refine": "yes"}, "refine must be True or False"),
        ({"max_iter": 0}, "max_iter must be"),
        ({"n_components": 2.5}, "n_components must be"),
    ],
)
def test_meaningless_parameters_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        FSPCA(**parameters).fit(data(20, 10))
