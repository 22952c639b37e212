"""Threads and their limits, bars of progress, and where randomness may enter."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest
from scipy import sparse

import ufselect
from tests.fuzz.cases import SELECTORS
from tests.fuzz.data import unsorted_csr
from ufselect import MaxVariance, PCALeverage
from ufselect.gram import spectrum as eigen


def our_threads():
    """Return all but the listeners of scikit-learn's callbacks, which it leaves waiting after any fit."""
    return {thread for thread in threading.enumerate() if "_accept" not in thread.name}


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_a_bar_of_progress_leaves_no_threads_behind(method):
    callback = pytest.importorskip("sklearn.callback")
    pytest.importorskip("rich")
    X = np.random.default_rng(0).standard_normal((30, 6))
    selector = ufselect.DSCOFS(2).set_callbacks(callback.ProgressBar())
    before = our_threads()
    for _ in range(3):
        getattr(selector, method)(X)
    # A thread that was told to end may still be ending; those of earlier tests may end meanwhile.
    deadline = time.monotonic() + 30
    while our_threads() - before and time.monotonic() < deadline:
        time.sleep(0.01)
    assert our_threads() <= before


def test_pairs_that_a_driver_loses_are_found_by_the_other(monkeypatch):
    matrix = np.diag([1.0, 2.0, 2.0, 2.0, 5.0])
    partial_pairs = eigen.linalg.eigh

    def losing_pairs(*arguments, subset_by_index=None, **options):
        values, vectors = partial_pairs(*arguments, **options)
        return (values, vectors) if subset_by_index is None else (values[:1], vectors[:, :1])

    monkeypatch.setattr(eigen.linalg, "eigh", losing_pairs)
    values, vectors = eigen.eigenpairs_between(matrix, 1, 4)
    np.testing.assert_allclose(values, [2, 2, 2, 5])
    np.testing.assert_allclose(matrix @ vectors, vectors * values, atol=1e-12)


def test_lanczos_on_nothing_gives_zeros():
    """ARPACK has nothing to go on from, and says that its start is zero."""
    values, vectors = eigen.lanczos_pairs(sparse.csr_array((200, 200)), 3)
    assert not values.any()
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(3))


@pytest.mark.parametrize("shape", [(40, 12), (12, 40)], ids=["tall", "wide"])
@pytest.mark.parametrize("selector", [name for name in SELECTORS if SELECTORS[name].accepts_sparse])
def test_sparse_data_give_the_scores_of_dense_ones(selector, shape):
    """The hardest form: columns in falling order, and one entry stored in two halves."""
    rng = np.random.default_rng(0)
    X = np.where(rng.random(shape) < 0.4, rng.standard_normal(shape), 0.0)
    options = {"n_features_to_select": 3}
    if "random_state" in SELECTORS[selector]().get_params():
        options["random_state"] = 0
    if selector == "AutoSelector":
        options["candidates"] = [PCALeverage(), MaxVariance()]
    expected = SELECTORS[selector](**options).fit(X)
    found = SELECTORS[selector](**options).fit(unsorted_csr(X))
    np.testing.assert_allclose(found.scores_, expected.scores_, atol=1e-10)
    np.testing.assert_array_equal(found.support_, expected.support_)


def test_duplicates_whose_sum_is_not_finite_are_refused():
    entries = (np.array([1.5e308, 1.5e308, 1.0]), np.array([0, 0, 1]), np.array([0, 2, 3]))
    with pytest.raises(ValueError, match="infinity"):
        ufselect.LaplacianScore(1, n_neighbors=1).fit(sparse.csr_array(entries, shape=(2, 2)))
