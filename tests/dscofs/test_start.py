"""Starting points against their definitions, and the entries that the default keeps."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_digits, load_wine
from sklearn.linear_model import Ridge
from sklearn.preprocessing import scale

from ufselect import DSCOFS, dscofs_path
from ufselect.dscofs.estimator import entry_count
from ufselect.dscofs.start import graph_start, regressed_start
from ufselect.gram import gram_operator


@pytest.mark.parametrize("store", [np.asarray, sparse.csr_array])
def test_the_start_spans_the_coefficients_of_ridge_regression(store):
    rng = np.random.default_rng(0)
    X = np.round(rng.standard_normal((40, 7)) * rng.uniform(0.5, 3, 7) + 1, 1)
    targets = np.linalg.qr(X[:, :2] - X[:, :2].mean(axis=0))[0]
    centred = X - X.mean(axis=0)
    squares = np.square(centred).sum(axis=0)
    Z = centred / np.sqrt(squares)
    coefficients = Ridge(alpha=np.square(Z).sum() / 7, fit_intercept=False).fit(Z, targets).coef_.T
    left, _, right = np.linalg.svd(coefficients, full_matrices=False)
    found = regressed_start(store(X), X.mean(axis=0), squares, targets)
    np.testing.assert_allclose(found, left @ right, atol=1e-8)


def test_the_start_is_orthonormal_for_dense_sparse_and_many_rows():
    X = np.vstack([load_digits().data[:1010]] * 2)  # more than the 2000 rows that are used
    for data in (X, sparse.csr_array(X)):
        start = graph_start(data, gram_operator(data), 6)
        np.testing.assert_allclose(start.T @ start, np.eye(6), atol=1e-8)
        assert np.all(start[X.std(axis=0) == 0] == 0)


@pytest.mark.filterwarnings("ignore::ufselect.exceptions.RepeatedColumnsWarning")
def test_a_strong_penalty_keeps_the_graphs_start():
    rng = np.random.default_rng(0)
    y = rng.integers(4, size=200)
    signal = 4 * rng.standard_normal((4, 6))[y] + rng.standard_normal((200, 6))
    X = np.hstack([signal, 60 * rng.standard_normal((200, 1)) @ rng.standard_normal((1, 20))])
    X += rng.standard_normal(X.shape)
    common = {"n_features_to_select": 6, "n_components": 3, "mu_entry": 10, "mu_row": 1}
    graph = DSCOFS(init="graph", **common).fit(X)
    pca = DSCOFS(init="pca", **common).fit(X)
    assert graph.support_[:6].sum() > pca.support_[:6].sum()


@pytest.mark.filterwarnings("ignore::ufselect.exceptions.DominatedByUnitsWarning")
def test_rows_outside_memory_are_refused_in_one_sentence():
    with pytest.raises(ValueError, match="rows in memory"):
        DSCOFS(5, init="graph").fit(gram_operator(load_wine().data))


def test_more_components_than_smooth_vectors_are_refused():
    X = np.random.default_rng(0).standard_normal((6, 20))
    with pytest.raises(ValueError, match="smooth vectors"):
        graph_start(np.vstack([X[:3]] * 2), gram_operator(np.vstack([X[:3]] * 2)), 6)


@given(d=st.integers(10, 399), m=st.integers(1, 9))
def test_the_default_can_bind_wherever_more_than_one_row_is_selected(d, m):
    r = max(1, round(0.1 * d))
    count = entry_count("auto", d, m, r)
    assert m <= count
    assert count < r * m or r == 1


@pytest.mark.parametrize("X", [load_digits().data, scale(load_wine().data), load_digits().data[:, 2:12]])
def test_the_default_never_warns_about_itself(X):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        DSCOFS().fit(X)


def test_a_path_resolves_the_default_for_every_count():
    X = load_digits().data
    path = dscofs_path(X, (10, 20), ("auto",), n_components=5, warm_start=False)
    for count in (10, 20):
        alone = DSCOFS(count, n_components=5).fit(X)
        assert np.array_equal(path.support(count, "auto"), alone.support_)
    assert path.entries_bind.all()
