"""DSCOFS with a guide: its formula, the graph's vectors, and what holds for any guide."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_digits, load_wine
from sklearn.neighbors import kneighbors_graph
from sklearn.preprocessing import scale
from tests.clusters.examples import planted, sparse_clusters

from ufselect import DSCOFS, GraphClustering, dscofs_path, gram_from_covariance
from ufselect.metrics import evaluate_selection

DIGITS = load_digits().data[:300]


def guided_table(X, guide):
    """The table by its formula, with numpy alone."""
    n = len(X)
    A, V = X - X.mean(axis=0), np.linalg.qr(guide - guide.mean(axis=0))[0]
    noise = np.linalg.norm(A - V @ V.T @ A, axis=0)
    noise = np.maximum(noise, 0.1 * np.median(np.linalg.norm(A, axis=0)))
    by_chance = V.shape[1] / (n - 1 - V.shape[1])
    explained = np.linalg.norm(V.T @ A, axis=0) ** 2
    shrunk = np.sqrt(np.maximum(1 - 2 * by_chance * noise**2 / explained, 0.01))
    return V.T @ A / noise**1.5 * shrunk, noise / np.sqrt(n)


def partial_correlations(X, guide):
    V = np.column_stack([np.ones(len(X)), guide])
    return np.corrcoef(X - V @ np.linalg.lstsq(V, X, rcond=None)[0], rowvar=False)


@pytest.mark.parametrize("n_features", [12, 70])
@pytest.mark.filterwarnings("ignore::ufselect.exceptions.DominatedByUnitsWarning")
def test_a_guided_fit_is_one_of_the_guided_table(n_features):
    rng = np.random.default_rng(n_features)
    X = rng.standard_normal((50, n_features)) * rng.uniform(0.5, 3, n_features) + 4
    guide = X[:, :3] @ rng.standard_normal((3, 3)) + rng.standard_normal((50, 3))
    table, noise = guided_table(X, guide)
    options = {"n_features_to_select": 5, "n_components": 3, "tol": 1e-9, "max_iter": 1000}
    selector = DSCOFS(**options, guide=guide).fit(X)
    bare = DSCOFS(**options).fit(gram_from_covariance(table.T @ table / 49, 50))
    np.testing.assert_allclose(selector.scores_, bare.scores_, atol=1e-6)
    selected = table[:, selector.support_]
    captured = np.linalg.eigvalsh(selected.T @ selected)[:-4:-1] / np.square(table).sum()
    np.testing.assert_allclose(selector.explained_variance_ratio_, captured, atol=1e-8)
    np.testing.assert_allclose(selector.guide_noise_, noise)
    V = selector.guide_vectors_
    np.testing.assert_allclose(V @ V.T @ (guide - guide.mean(axis=0)), guide - guide.mean(axis=0), atol=1e-8)


def test_the_graphs_vectors_are_those_of_the_walk_between_neighbours():
    """For six vectors: neighbours in 6, 9 and 12 whitened or half whitened scores, or the mean of both."""
    X, _ = planted(3, n=90)
    selector = DSCOFS(6, guide="graph", n_components=6).fit(X)
    assert np.array_equal(selector.guide_rows_, np.arange(90))
    U, s, _ = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    graphs = []
    for power in (0, 0.5):
        directed = [kneighbors_graph((U * s**power)[:, :width], 5).toarray() for width in (6, 9, 12)]
        graphs.append(np.mean([np.maximum(each, each.T) for each in directed], axis=0))
    gaps = []
    for W in (*graphs, (graphs[0] + graphs[1]) / 2):
        root = np.sqrt(W.sum(axis=1))
        leading = np.linalg.eigh(W / root[:, None] / root)[1][:, -7:] / root[:, None]
        basis = np.linalg.svd(leading - leading.mean(axis=0), full_matrices=False)[0][:, :6]
        gaps.append(np.abs(basis @ basis.T - selector.guide_vectors_ @ selector.guide_vectors_.T).max())
    assert min(gaps) < 1e-4


def test_there_are_five_vectors_unless_the_eigenvalues_clearly_end():
    X, _ = planted(3)
    assert DSCOFS(6, guide="graph", n_components=3).fit(X).guide_vectors_.shape == (120, 3)
    even = np.random.default_rng(0).standard_normal((120, 40))
    assert DSCOFS(6, guide="graph", n_components=2).fit(even).guide_vectors_.shape == (120, 5)
    assert DSCOFS(6, guide="graph", n_components=8).fit(X).guide_vectors_.shape == (120, 8)
    assert DSCOFS(6, guide=X[:, :4], n_components=2).fit(X).n_components_ == 2


def test_columns_that_go_together_beside_the_guide_are_skipped():
    X, _ = planted(2)
    rng = np.random.default_rng(0)
    X = np.hstack([X, X[:, :12] + 0.7 * rng.standard_normal((120, 12))])  # noisy copies of good columns
    selector = DSCOFS(8, guide="graph", n_components=3).fit(X)
    chosen = selector.get_support(indices=True)
    assert np.unique(np.where(chosen >= 40, chosen - 40, chosen)).size == 8
    assert np.all(np.isin(chosen, np.r_[:12, 40:52]))
    beside = partial_correlations(X, selector.guide_vectors_)[np.ix_(chosen, chosen)]
    assert np.abs(beside - np.eye(8)).max() <= 0.5
    best = np.argsort(-selector.scores_)[:8]
    assert np.unique(np.where(best >= 40, best - 40, best)).size < 8


def test_a_limit_of_ones_own_holds_between_the_columns_themselves():
    rng = np.random.default_rng(0)
    X = 10 * rng.integers(0, 2, (300, 1)) + rng.standard_normal((300, 5))  # alike by the clusters alone
    X = np.hstack([X, rng.standard_normal((300, 15))])
    guided = DSCOFS(4, guide="graph", n_components=1, max_correlation=0.9).fit(X)
    assert guided.support_[:5].sum() == 1
    assert DSCOFS(4, guide="graph", n_components=1).fit(X).support_[:5].sum() == 4


def test_a_worse_column_does_not_replace_a_good_one():
    """Twelve good columns that go together beside the clusters, and 28 of noise."""
    X, y = planted(0)
    X[:, :12] += np.random.default_rng(0).standard_normal((120, 1))
    selector = DSCOFS(8, guide=np.eye(4)[y]).fit(X)
    assert np.flatnonzero(selector.support_).max() < 12


def test_classes_as_a_guide_select_what_tells_them():
    X, y = load_wine(return_X_y=True)
    X = np.hstack([scale(X), np.random.default_rng(0).standard_normal((178, 100))])
    selector = DSCOFS(6, guide=np.eye(3)[y]).fit(X)
    assert np.flatnonzero(selector.support_).max() < 13
    assert selector.n_components_ == 2
    assert selector.guide_vectors_.shape == (178, 2)
    # the span counts, not the units, nor what the guide is kept in
    same = [1e6 * np.eye(3)[y] + 5, pd.get_dummies(pd.Series(y)), np.eye(3)[y][:, :2]]
    for other in same:
        assert np.array_equal(DSCOFS(6, guide=other).fit(X).ranking_, selector.ranking_)
    assert DSCOFS(1, guide=X[:, 4]).fit(X).support_[4]  # one covariate


def test_the_guide_sees_through_a_nuisance():
    """Without it the two columns of the nuisance come first."""
    rng = np.random.default_rng(1)
    y = rng.integers(4, size=200)
    X = np.hstack([4 * rng.standard_normal((4, 8))[y], 60 * rng.standard_normal((200, 1)) * np.ones((1, 12))])
    X += rng.standard_normal(X.shape)
    plain = DSCOFS(6, n_components=3, max_correlation=0.9).fit(X)
    guided = DSCOFS(6, n_components=3, guide="graph").fit(X)
    scores = [evaluate_selection(X, y, each.support_, n_runs=10) for each in (plain, guided)]
    assert guided.support_[:8].sum() == 6
    assert scores[1].acc_mean > scores[0].acc_mean + 20


@pytest.mark.parametrize("n_components", [9, "auto"])
def test_order_and_container_of_the_rows_and_their_unit_do_not_matter(n_components):
    order = np.random.default_rng(0).permutation(len(DIGITS))
    options = {"n_features_to_select": 15, "guide": "graph", "n_components": n_components}
    expected = DSCOFS(**options).fit(DIGITS)
    for X in (DIGITS[order], 1e-30 * DIGITS, DIGITS + 5.0, sparse.csr_array(DIGITS), DIGITS.astype("f4")):
        assert np.array_equal(DSCOFS(**options).fit(X).support_, expected.support_)
    sampled = DSCOFS(**options, max_samples=120).fit(DIGITS)
    assert sampled.guide_vectors_.shape[0] == sampled.guide_rows_.size <= 120
    shuffled = DSCOFS(**options, max_samples=120).fit(DIGITS[order])
    assert np.array_equal(shuffled.ranking_, sampled.ranking_)
    assert set(order[shuffled.guide_rows_]) == set(sampled.guide_rows_)
    in_order = np.argsort(order[shuffled.guide_rows_])
    np.testing.assert_allclose(shuffled.guide_vectors_[in_order], sampled.guide_vectors_)


def test_constraints_groups_and_paths_work_with_a_guide():
    X, _ = planted(1)
    options = {"guide": "graph", "n_components": 3}
    names = [f"x{j}" for j in range(40)]
    frame = pd.DataFrame(X, columns=names)
    selector = DSCOFS(6, keep=["x30"], exclude=["x0", "x1"], **options).fit(frame)
    assert selector.support_[30]
    assert not selector.support_[:2].any()
    assert selector.guide_noise_[0] == 0 < selector.guide_noise_[2:].min()
    grouped = DSCOFS(3, feature_groups=np.arange(40) // 4, **options).fit(X)
    assert set(np.flatnonzero(grouped.support_) // 4) == {0, 1, 2}
    path = dscofs_path(X, (4, 8), ("auto", None), exclude=[0], warm_start=False, **options)
    for count, entries in ((4, "auto"), (8, None)):
        alone = DSCOFS(count, entry_sparsity=entries, exclude=[0], **options).fit(X)
        assert np.array_equal(path.ranking(count, entries), alone.ranking_)


def test_sparse_data_stay_sparse_and_outliers_are_left_out():
    X, _ = sparse_clusters()
    selector = DSCOFS(18, guide="graph", n_components=2).fit(X)
    assert np.sum(np.flatnonzero(selector.support_) < 24) >= 17
    dense, _ = planted(1)
    dense[3] = 1000
    left = DSCOFS(6, guide="graph", n_components=3).fit(dense).guide_rows_
    assert np.array_equal(left, np.delete(np.arange(120), 3))


@pytest.mark.parametrize("n_rows", [2, 3, 5])
@pytest.mark.filterwarnings("ignore::ufselect.exceptions.DominatedByUnitsWarning")
def test_a_handful_of_rows_gets_an_answer(n_rows):
    X = np.random.default_rng(n_rows).standard_normal((n_rows, 8))
    assert DSCOFS(3, guide="graph").fit(X).support_.sum() == 3
    assert DSCOFS(3, guide="graph", n_components=7).fit(X).n_components_ <= n_rows - 1


@pytest.mark.parametrize(
    ("guide", "message"),
    [
        (np.ones((119, 2)), "guide has 119 rows, but X has 120"),
        (np.full(120, np.nan), "missing or infinite"),
        (np.ones(120), "guide is constant"),
        (np.array(["a", "b"] * 60), "turn classes into one column each"),
        (np.zeros((120, 2, 2)), "a table of numbers"),
        ("cluster", "guide"),
    ],
)
def test_bad_guides_are_refused(guide, message):
    with pytest.raises(ValueError, match=message):
        DSCOFS(3, guide=guide).fit(planted()[0])


def test_what_a_guide_cannot_work_on_is_refused():
    X, _ = planted()
    gaps = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)
    with pytest.raises(ValueError, match="without missing values"):
        DSCOFS(3, guide="graph").fit(gaps)
    with pytest.raises(ValueError, match="rows in memory"):
        DSCOFS(3, guide="graph").fit(gram_from_covariance(np.cov(X, rowvar=False), 120))
    with pytest.raises(ValueError, match="leave them out"):
        DSCOFS(3, guide="graph").fit(X, sample_weight=np.arange(120.0))


def test_graph_clustering_and_the_guide_do_not_depend_on_the_order_of_rows():
    order = np.random.default_rng(1).permutation(len(DIGITS))
    labels = GraphClustering(10, random_state=0).fit_predict(DIGITS)
    assert np.array_equal(GraphClustering(10, random_state=0).fit_predict(DIGITS[order]), labels[order])
