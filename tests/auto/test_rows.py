"""Rows to judge by: whatever the unit of the data, sums of squares stay in range."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import sparse
from tests.auto.examples import sparse_clusters

from ufselect import AutoSelector, GraphClustering
from ufselect.auto.rows import rows_of, unit_of


@pytest.mark.parametrize("store", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("unit", [5e-324, 1e-310, 1e-160, 1e150, 1e300])
def test_the_unit_of_the_data_does_not_matter(store, unit):
    X = store(sparse_clusters()[0].toarray())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = GraphClustering(3, random_state=0).fit(X * unit)
        rebuilt = AutoSelector(6, goal="rebuild", random_state=0).fit(X * unit)
    np.testing.assert_array_equal(found.labels_, GraphClustering(3, random_state=0).fit(X).labels_)
    np.testing.assert_array_equal(found.predict(X * unit), found.labels_)
    # Means of the smallest numbers there are have no digits left to round to.
    if unit > 1e-300:
        expected = AutoSelector(6, goal="rebuild", random_state=0).fit(X)
        assert np.array_equal(rebuilt.support_, expected.support_)


def test_sparse_rows_are_brought_near_one():
    X = sparse_clusters()[0]
    rows = rows_of(X * 1e200)
    assert 0.5 < abs(rows.matrix.data).max() < 2
    np.testing.assert_allclose(rows.matrix.toarray() * rows.unit, X.toarray() * 1e200)
    vectors = np.random.default_rng(0).standard_normal((X.shape[1], 2))
    np.testing.assert_allclose(rows.project_others(X * 1e200, vectors), rows.project(vectors), atol=1e-12)
    assert unit_of(sparse.csr_array((3, 3))) == 1


def test_dscofs_starts_in_no_more_directions_than_the_data_have():
    X = np.zeros((40, 12))
    X[:20, 2] = 1.0
    selector = AutoSelector(4, n_clusters=3, candidates="dscofs", random_state=0).fit(X)
    assert selector.support_[2]
