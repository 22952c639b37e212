"""The figures of the report against literal definitions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import NearestNeighbors

from ufselect import DSCOFS, MaxVariance
from ufselect.report import explain
from ufselect.report.keeping import (
    Sample,
    correlations,
    largest_correlations,
    neighbourhood_kept,
    neighbours_of,
    variance_rebuilt,
)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    return rng.standard_normal((80, 4)) @ rng.standard_normal((4, 12)) + 0.3 * rng.standard_normal((80, 12))


def test_variance_is_that_of_a_linear_model(data):
    features = np.array([0, 3, 7])
    model = LinearRegression().fit(data[:, features], data)
    errors = data - model.predict(data[:, features])
    expected = 1 - errors.var(axis=0).sum() / data.var(axis=0).sum()
    sample = Sample(data - data.mean(axis=0), np.arange(12))
    assert variance_rebuilt(sample, features) == pytest.approx(expected, rel=1e-10)


def test_a_copy_of_a_feature_rebuilds_nothing_more(data):
    doubled = np.column_stack([data, 2 * data[:, 0]])
    sample = Sample(doubled - doubled.mean(axis=0), np.arange(12))
    assert variance_rebuilt(sample, np.array([0, 12])) == pytest.approx(
        variance_rebuilt(sample, np.array([0]))
    )
    assert variance_rebuilt(sample, np.arange(12)) == pytest.approx(1)


def test_neighbourhoods_agree_with_scikit_learn(data):
    reference = neighbours_of(data, 5)
    expected = NearestNeighbors(n_neighbors=5).fit(data).kneighbors(return_distance=False)
    assert [set(a) for a in reference] == [set(b) for b in expected]
    fewer = NearestNeighbors(n_neighbors=5).fit(data[:, :3]).kneighbors(return_distance=False)
    share = np.mean([len(set(a) & set(b)) / 5 for a, b in zip(expected, fewer, strict=True)])
    assert neighbourhood_kept(reference, data[:, :3]) == pytest.approx(share)
    assert neighbourhood_kept(reference, data) == 1


def test_correlations_agree_with_numpy_and_constants_have_none(data):
    centred = data - data.mean(axis=0)
    np.testing.assert_allclose(correlations(centred, centred), np.corrcoef(data.T), atol=1e-12)
    flat = np.column_stack([centred, np.zeros(80)])
    assert np.all(correlations(flat, flat)[-1] == 0)
    others = np.abs(np.corrcoef(data.T)) - np.eye(12)
    np.testing.assert_allclose(largest_correlations(centred), others.max(axis=1), atol=1e-12)


def test_each_dropped_feature_has_the_closest_kept_one_as_its_speaker(data):
    selector = MaxVariance(4).fit(data)
    e = explain(selector, data, n_resamples=0)
    among = np.corrcoef(data.T)
    for feature in range(12):
        best = e.ranked[e.speaker[feature]]
        assert abs(among[feature, best]) == pytest.approx(np.abs(among[feature, e.ranked]).max())
        assert e.spoken_r[feature] == pytest.approx(among[feature, best])
    spoken = [j for place in range(4) for j in e.stands_for(place)]
    assert len(spoken) == len(set(spoken)) == 8 - e.unspoken()
    assert not set(spoken) & set(e.ranked)
    np.testing.assert_allclose(e.among_kept, among[np.ix_(e.ranked, e.ranked)], atol=1e-12)
    assert e.frequencies is None
    assert e.stability is None


def test_stability_of_a_clear_and_of_a_random_choice(data):
    loud = data * np.r_[9, 9, 9, np.ones(9)]
    clear = explain(MaxVariance(3).fit(loud), loud, n_resamples=5)
    assert clear.stability == 1
    assert clear.frequencies.tolist() == [1] * 3 + [0] * 9
    even = data / data.std(axis=0)
    close = explain(MaxVariance(3).fit(even), even, n_resamples=8)
    assert close.stability < 0.9
    assert close.frequencies.sum() == pytest.approx(3)


def test_sparse_frames_and_arrays_say_the_same(data):
    pandas = pytest.importorskip("pandas")
    thin = np.where(data > 0.5, data, 0)
    frame = pandas.DataFrame(thin, columns=[f"c{j}" for j in range(12)])
    selector = DSCOFS(4, n_components=3, entry_sparsity=None)
    dense = explain(selector.fit(thin), thin, n_resamples=2)
    scarce = explain(selector.fit(sparse.csr_array(thin)), sparse.csr_array(thin), n_resamples=2)
    framed = explain(selector.fit(frame), frame, n_resamples=2)
    assert dense.variance.selection == pytest.approx(scarce.variance.selection)
    assert dense.means == pytest.approx(scarce.means)
    assert framed.feature_names == list(frame.columns)
    assert dense.feature_names[0] == "feature_1"
    assert framed.loadings.shape == (4, 3)


def test_only_one_feature_all_features_and_few_samples(data):
    one = explain(MaxVariance(1).fit(data), data, n_resamples=2)
    assert one.redundancy is None
    everything = explain(MaxVariance(12).fit(data), data, n_resamples=2)
    assert everything.variance.selection == pytest.approx(1)
    assert everything.unspoken() == 0
    few = explain(MaxVariance(2).fit(data[:4]), data[:4])
    assert few.neighbourhood is None
    assert few.frequencies is None


def test_names_must_fit(data):
    with pytest.raises(ValueError, match="one name a feature"):
        explain(MaxVariance(2).fit(data), data, feature_names=["a"])
