"""What selections are worth: the three judges against literal computations."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import pdist
from sklearn.datasets import make_blobs
from sklearn.linear_model import Ridge
from tests.auto.examples import clusters_under_nuisance, reference_with

from ufselect import GraphClustering, GreedyProjection, MaxVariance, RandomSubset
from ufselect.auto.judges import MAX_ITER, RIDGES, GraphJudge, KMeansJudge, RebuildJudge, rebuilt_shares
from ufselect.auto.pool import Candidate, Shared
from ufselect.auto.reference import build_reference
from ufselect.auto.rows import rows_of
from ufselect.auto.sampling import kmeans_seeds
from ufselect.metrics import normalized_mutual_info
from ufselect.metrics.kmeans import kmeans_runs
from ufselect.selectors.wishes import wanted_of


def test_kmeans_is_compared_with_the_reference():
    X, y = clusters_under_nuisance()
    judge = KMeansJudge(reference_with(X, y), 5)
    features = np.array([0, 2, 4])
    runs = kmeans_runs(X[:, features], 4, kmeans_seeds(5, 10)[2:5], "k-means++", MAX_ITER)
    expected = [normalized_mutual_info(y, run) for run in runs]
    np.testing.assert_allclose(judge.values(features, slice(2, 5)), expected)


def test_graph_clustering_of_the_features_is_compared_with_that_of_all():
    X, _ = clusters_under_nuisance()
    reference = build_reference(rows_of(X), 4, 0)
    judge = GraphJudge(reference, 0)
    assert judge.values(np.arange(X.shape[1]), slice(0, 1))[0] == pytest.approx(1)
    features = np.array([0, 1, 2])
    value = judge.values(features, slice(0, 1))
    labels = GraphClustering(4, random_state=0).fit_predict(X[:, features])
    assert value[0] == pytest.approx(normalized_mutual_info(reference.labels, labels), abs=0.15)


def test_features_that_do_not_vary_show_no_clusters():
    X, _ = clusters_under_nuisance()
    X[:, 3] = 1.0
    judge = GraphJudge(build_reference(rows_of(X), 4, 0), 0)
    assert judge.values(np.array([3]), slice(0, 1)).tolist() == [0.0]


@pytest.mark.parametrize("store", [np.asarray, sparse.csr_array])
def test_rebuilt_shares_are_those_of_ridge_regression(store):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3)) @ rng.standard_normal((3, 12)) + 0.3 * rng.standard_normal((60, 12)) + 2
    known, held_out, features = X[:40], X[40:], np.array([1, 4, 7])
    centred = known - known.mean(axis=0)
    unit = np.square(centred[:, features]).sum() / 3
    found = rebuilt_shares(store(known), store(held_out), features)
    for ridge, share in zip(RIDGES, found, strict=True):
        model = Ridge(alpha=ridge * unit).fit(known[:, features], known)
        error = np.square(held_out - model.predict(held_out[:, features])).sum()
        assert share == pytest.approx(1 - error / np.square(held_out - known.mean(axis=0)).sum(), abs=1e-8)


def test_rows_that_judge_took_no_part_in_the_choice():
    rows_seen = []

    class Spy(GreedyProjection):
        def fit(self, X, y=None, **given):
            rows_seen.append(X.copy())
            return super().fit(X)

    X = np.random.default_rng(0).standard_normal((30, 8))
    judge = RebuildJudge(X, 0)
    values = judge.values_of(
        Candidate("spy", Spy(3)), Shared(X, None, wanted_of(MaxVariance(3), 8)), np.arange(3), slice(0, 3)
    )
    assert values.shape == (3,)
    for fold, seen in zip(judge.folds, rows_seen, strict=True):
        assert len(seen) == 30 - fold.size
        assert not any(np.any(np.all(seen == X[row], axis=1)) for row in fold)


def test_good_columns_rebuild_more_than_random_ones():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((90, 4)) @ rng.standard_normal((4, 30)) + 0.1 * rng.standard_normal((90, 30))
    judge, shared = RebuildJudge(X, 0), Shared(X, None, wanted_of(MaxVariance(4), 30))
    values = {
        name: judge.values_of(Candidate(name, selector), shared, np.arange(4), slice(0, 3)).mean()
        for name, selector in {
            "greedy": GreedyProjection(target="features"),
            "random": RandomSubset(),
        }.items()
    }
    assert values["greedy"] > values["random"]
    assert values["greedy"] > 0.95


@pytest.mark.parametrize(("n_rows", "looks"), [(200, (10,)), (201, (3, 6, 10))])
def test_few_rows_get_all_their_runs_at_once(n_rows, looks):
    X, y = make_blobs(n_rows, 5, centers=3, random_state=0)
    assert KMeansJudge(reference_with(X, y), 0).looks == looks


@pytest.mark.parametrize("density", [0.05, 0.4])
def test_sparse_rows_are_judged_by_all_columns_without_being_made_dense(density, monkeypatch):
    X = sparse.random_array((40, 300), density=density, format="csr", rng=np.random.default_rng(1))
    rows, everything = rows_of(X), np.arange(300)
    monkeypatch.setattr(type(rows), "columns", lambda *_: pytest.fail("the columns were made dense"))
    points = rows.points(everything)
    assert points.shape == (40, 40)
    expected = pdist(X.toarray() / rows.unit)
    np.testing.assert_allclose(pdist(points), expected, rtol=1e-6, atol=1e-6 * expected.max())


def test_sparse_rows_far_from_the_origin_have_coordinates_too():
    """Their products lose nearly all digits; what is left may be blurred, and is no error."""
    X = sparse.csr_array(1e6 + np.random.default_rng(0).standard_normal((30, 400)))
    assert np.isfinite(rows_of(X).points(np.arange(400))).all()
