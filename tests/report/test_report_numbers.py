"""The figures of the report against literal definitions."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectKBest, SelectorMixin, VarianceThreshold, f_classif

from ufselect import DSCOFS, MaxVariance, RandomSubset
from ufselect.report import explain, report_html
from ufselect.report.measures import correlations, largest_correlations


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    return rng.standard_normal((80, 4)) @ rng.standard_normal((4, 12)) + 0.3 * rng.standard_normal((80, 12))


def test_correlations_agree_with_numpy_and_constants_have_none(data):
    centred = data - data.mean(axis=0)
    np.testing.assert_allclose(correlations(centred, centred), np.corrcoef(data.T), atol=1e-12)
    flat = np.column_stack([centred, np.zeros(80)])
    assert np.all(correlations(flat, flat)[-1] == 0)
    others = np.abs(np.corrcoef(data.T)) - np.eye(12)
    np.testing.assert_allclose(largest_correlations(centred), others.max(axis=1), atol=1e-12)


def test_each_dropped_feature_has_the_closest_kept_one(data):
    selector = MaxVariance(4).fit(data)
    e = explain(selector, data, n_resamples=0)
    among = np.corrcoef(data.T)
    for feature in range(12):
        best = e.ranked[e.closest[feature]]
        assert abs(among[feature, best]) == pytest.approx(np.abs(among[feature, e.ranked]).max())
        assert e.closest_r[feature] == pytest.approx(among[feature, best])
    spoken = [j for place in range(4) for j in e.stands_for(place)]
    assert len(spoken) == len(set(spoken)) == 8 - e.n_alone()
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
    blind = explain(RandomSubset(2, random_state=0).fit(data), data, n_resamples=20)
    assert blind.stability < 0.3
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
    assert everything.n_alone() == 0
    few = explain(MaxVariance(2).fit(data[:4]), data[:4])
    assert few.neighbourhood is None
    assert few.frequencies is None


class MeanAbove(SelectorMixin, BaseEstimator):
    """A selector with the mixin's mask and nothing else."""

    def fit(self, X, y=None):
        self.mask_ = np.asarray(X).mean(axis=0) > 0
        return self

    def _get_support_mask(self):
        return self.mask_


@pytest.mark.parametrize("selector", [VarianceThreshold(3.0), MeanAbove()])
def test_any_selector_without_scores_is_explained(data, selector):
    e = explain(selector.fit(data), data, n_resamples=3)
    kept = np.flatnonzero(selector.get_support())
    assert 0 < kept.size < 12
    assert e.ranked.tolist() == kept.tolist()
    assert e.scores is None
    assert e.refit_note == ""
    assert (e.method, e.n_resamples, e.frequencies.shape) == (type(selector).__name__, 3, (12,))
    page = report_html(e)
    assert "without labels" not in page
    assert ">Score<" not in page


def test_a_supervised_selector_is_explained(data):
    y = (data[:, 0] > 0).astype(int)
    selector = SelectKBest(f_classif, k=4).fit(data, y)
    e = explain(selector, data, n_resamples=3)
    assert e.ranked.tolist() == np.argsort(-selector.scores_)[:4].tolist()
    assert e.frequencies is None
    page = report_html(e)
    assert "The selection was not repeated, since it needs y" in page
    assert "Stability under resampling" not in page
    again = explain(selector, data, y, n_resamples=3)
    assert again.frequencies.sum() == pytest.approx(4)
    assert again.frequencies[0] == 1


def test_scores_that_are_no_numbers_do_not_break_the_page(data):
    flat = np.column_stack([data, np.zeros(80)])
    y = (data[:, 0] > 0).astype(int)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        selector = SelectKBest(f_classif, k=4).fit(flat, y)
    assert np.isnan(selector.scores_[12])
    e = explain(selector, flat)
    assert e.ranking[12] == 13
    assert "NaN" not in re.sub("data-value=.nan.", "", report_html(e))


def test_what_is_no_selector_or_keeps_nothing_is_refused(data):
    with pytest.raises(TypeError, match="has no get_support"):
        explain(PCA().fit(data), data)
    with pytest.raises(NotFittedError):
        explain(MaxVariance(2), data)
    with pytest.raises(ValueError, match="keeps no feature"):
        explain(MeanAbove().fit(data - 100), data)


def test_names_must_fit(data):
    with pytest.raises(ValueError, match="one name per feature"):
        explain(MaxVariance(2).fit(data), data, feature_names=["a"])
