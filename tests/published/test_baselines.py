"""The three baselines against scikit-learn and the reference ranking."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.decomposition import PCA
from sklearn.feature_selection import VarianceThreshold
from tests.published.oracle import reference

from ufselect import MaxVariance, PCALeverage, RandomSubset

pytestmark = pytest.mark.filterwarnings("ignore::ufselect.exceptions.DominatedByUnitsWarning")
SHAPES = [(60, 12), (15, 40), (12, 12)]


def scaled_data(shape):
    return np.random.default_rng(0).standard_normal(shape) * np.geomspace(1, 20, shape[1]) + 5


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("n_components", [1, 3, 8])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_leverage_is_the_row_norm_of_scikit_learns_loadings(shape, n_components, container):
    X = scaled_data(shape)
    selector = PCALeverage(n_features_to_select=5, n_components=n_components).fit(container(X))
    loadings = PCA(n_components, svd_solver="full").fit(X).components_
    expected = np.linalg.norm(loadings, axis=0)
    np.testing.assert_allclose(selector.scores_, expected, atol=1e-7)
    np.testing.assert_allclose(np.abs(selector.components_), np.abs(loadings), atol=1e-7)
    np.testing.assert_array_equal(np.flatnonzero(selector.support_), np.sort(np.argsort(-expected)[:5]))


def test_automatic_number_of_components_finds_strong_directions():
    rng = np.random.default_rng(0)
    basis = np.linalg.qr(rng.standard_normal((30, 3)))[0]
    X = rng.standard_normal((200, 3)) * 50 @ basis.T + rng.standard_normal((200, 30))
    assert PCALeverage().fit(X).n_components_ == 3


def test_leverage_ranks_lung_discrete_as_the_reference(real):
    X, _ = real("lung_discrete")
    expected = reference("PCALeverage")["ranking"]
    selector = PCALeverage(n_features_to_select=100, n_components=7).fit(X)
    np.testing.assert_array_equal(np.argsort(selector.ranking_), expected)


@pytest.mark.parametrize(
    ("n_components", "message"), [(12, "rank 11"), (0, "n_components"), ("many", "n_components")]
)
def test_impossible_number_of_components_is_refused(n_components, message):
    with pytest.raises(ValueError, match=message):
        PCALeverage(n_components=n_components).fit(scaled_data((12, 12)))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_variance_is_that_of_scikit_learn(shape, container):
    X = scaled_data(shape)
    X[X < 5] = 0
    X[:, 2] = 7.25
    selector = MaxVariance(n_features_to_select=4).fit(container(X))
    variances = np.var(X, axis=0)
    np.testing.assert_allclose(selector.scores_**2, variances, atol=1e-12)
    threshold = np.sort(variances)[-4] * (1 - 1e-9)
    expected = VarianceThreshold(threshold).fit(X).get_support()
    np.testing.assert_array_equal(selector.get_support(), expected)


def test_random_subset_follows_its_seed_alone():
    X = scaled_data((20, 30))
    first = RandomSubset(n_features_to_select=10, random_state=3).fit(X)
    np.testing.assert_array_equal(
        first.support_, RandomSubset(n_features_to_select=10, random_state=3).fit(-X[::-1]).support_
    )
    other = RandomSubset(n_features_to_select=10, random_state=4).fit(X)
    assert np.any(first.support_ != other.support_)
    smaller = RandomSubset(n_features_to_select=4, random_state=3).fit(X)
    assert np.all(first.support_[smaller.support_])


@pytest.mark.parametrize("unit", [1e-150, 1.0, 1e150])
def test_variance_of_what_is_observed(unit):
    rng = np.random.default_rng(0)
    data = 100 + rng.standard_normal((50, 6)) * np.arange(6)  # the first column is constant
    data[rng.random(data.shape) < 0.1] = np.nan
    data[0, 1:3] = data[1:, 5] = np.nan
    scores = MaxVariance(2).fit(data * unit).scores_ / unit
    np.testing.assert_allclose(scores, np.nanstd(data, axis=0), rtol=1e-10, atol=1e-12)
    assert scores[0] == scores[5] == 0
