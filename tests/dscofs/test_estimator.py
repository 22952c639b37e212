"""DSCOFS: what the result promises, invariances, bad input, scikit-learn's world."""

from __future__ import annotations

import math
import pickle
import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits, load_wine
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import scale

from ufselect import DSCOFS
from ufselect.exceptions import InactiveConstraintWarning


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    signal = rng.standard_normal((80, 4)) @ rng.standard_normal((4, 25))
    return signal + 0.3 * rng.standard_normal((80, 25))


def fit(X, **parameters):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InactiveConstraintWarning)
        return DSCOFS(**{"n_features_to_select": 8, "n_components": 3, **parameters}).fit(X)


def test_tiny_penalties_select_by_leverage(real):
    X, labels = real("lung_discrete")
    m = np.unique(labels).size
    leverage = (PCA(m, svd_solver="full").fit(X).components_ ** 2).sum(axis=0)
    selector = fit(X, n_features_to_select=100, n_components=m, mu_row=1e-7, mu_entry=1e-7)
    np.testing.assert_array_equal(np.flatnonzero(selector.support_), np.sort(np.argsort(-leverage)[:100]))


@pytest.mark.parametrize("name", ["lung_discrete", "usps", "digits"])
def test_a_tight_tolerance_has_settled_the_selection(real, name):
    X, labels = real(name)
    count = min(100, X.shape[1] // 2)
    common = {"n_features_to_select": count, "n_components": np.unique(labels).size, "max_iter": 5000}
    settled = fit(X, tol=1e-7, **common)
    tighter = fit(X, tol=1e-11, **common)
    assert settled.converged_
    assert np.count_nonzero(settled.support_ & ~tighter.support_) <= 2
    assert np.all(np.diff(settled.objective_history_) <= 0)


def test_attributes_fit_together(data):
    selector = fit(data, entry_sparsity=0.2)
    X, Y, Z = (
        getattr(selector, name).T
        for name in ("components_", "entry_sparse_components_", "row_sparse_components_")
    )
    np.testing.assert_allclose(X.T @ X, np.eye(3), atol=1e-10)
    assert np.count_nonzero(Y) == selector.n_entries_ == int(0.2 * 25 * 3)
    assert np.count_nonzero(np.any(Z != 0, axis=1)) == 8
    np.testing.assert_allclose(selector.scores_, np.linalg.norm(X, axis=1))
    assert selector.constraint_residuals_["row"] == pytest.approx(np.linalg.norm(X - Z))
    assert selector.constraint_residuals_["entry"] == pytest.approx(np.linalg.norm(X - Y))
    assert len(selector.objective_history_) == selector.n_iter_ + 1
    assert selector.converged_


def test_explained_variance_is_that_of_pca_on_the_selected_features(data):
    selector = fit(data)
    reduced = PCA(3, svd_solver="full").fit(selector.transform(data))
    total = data.var(axis=0, ddof=1).sum()
    np.testing.assert_allclose(
        selector.explained_variance_ratio_, reduced.explained_variance_ / total, rtol=1e-10
    )


def test_without_entry_constraint_nothing_is_cleaned(data):
    selector = fit(data, entry_sparsity=None)
    np.testing.assert_array_equal(selector.entry_sparse_components_, selector.components_)
    assert selector.constraint_residuals_["entry"] == 0


def test_auto_components_find_the_rank():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((150, 4)) @ rng.standard_normal((4, 40)) + 0.1 * rng.standard_normal((150, 40))
    assert fit(X, n_components="auto").n_components_ == 4


def test_irrelevant_features_are_left_out():
    rng = np.random.default_rng(0)
    scores = rng.standard_normal((200, 3))
    X = 0.2 * rng.standard_normal((200, 30))
    informative = np.arange(0, 30, 3)
    X[:, informative] += scores @ rng.standard_normal((3, 10))
    np.testing.assert_array_equal(np.flatnonzero(fit(X, n_features_to_select=10).support_), informative)


@settings(max_examples=25)
@given(seed=st.integers(0, 10_000))
def test_order_sign_and_permutation_do_not_matter(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((40, 3)) @ rng.standard_normal((3, 15)) + 0.3 * rng.standard_normal((40, 15))
    base = fit(X, n_features_to_select=5)
    gap = np.sort(base.scores_)[::-1]
    assume(gap[4] - gap[5] > 1e-6)  # a tie may be broken either way

    samples, columns = rng.permutation(40), rng.permutation(15)
    signs = rng.choice([-1.0, 1.0], 15)
    np.testing.assert_array_equal(fit(X[samples], n_features_to_select=5).support_, base.support_)
    np.testing.assert_array_equal(fit(X * signs, n_features_to_select=5).support_, base.support_)
    np.testing.assert_array_equal(fit(X + 10 * signs, n_features_to_select=5).support_, base.support_)
    np.testing.assert_array_equal(fit(X[:, columns], n_features_to_select=5).support_, base.support_[columns])


def test_single_precision_stays_single(data):
    selector = fit(data.astype(np.float32))
    assert selector.components_.dtype == np.float32
    assert selector.transform(data.astype(np.float32)).dtype == np.float32
    np.testing.assert_array_equal(selector.support_, fit(data).support_)


@pytest.mark.parametrize("count", [1, 25])
def test_one_feature_and_all_features(data, count):
    selector = fit(data, n_features_to_select=count)
    assert selector.support_.sum() == count
    if count == 25:
        np.testing.assert_array_equal(selector.row_sparse_components_, selector.components_)


def test_a_random_start_is_reproducible_and_the_default_draws_nothing(data):
    first = fit(data, init="random", random_state=3, mu_row=10.0)
    np.testing.assert_array_equal(
        fit(data, init="random", random_state=3, mu_row=10.0).scores_, first.scores_
    )
    assert not np.array_equal(fit(data, init="random", random_state=4, mu_row=10.0).scores_, first.scores_)
    state = np.random.RandomState(0)
    fit(data, init="random", random_state=state)
    np.testing.assert_array_equal(fit(data, random_state=1).scores_, fit(data, random_state=2).scores_)


def test_a_given_start_sets_the_number_of_components(data):
    start = np.linalg.qr(np.random.default_rng(0).standard_normal((25, 2)))[0]
    assert fit(data, init=start, n_components="auto").n_components_ == 2


def test_a_rounded_start_is_made_orthonormal(data):
    start = np.linalg.qr(np.random.default_rng(3).standard_normal((25, 3)))[0]
    exact, rounded = (fit(data, init=each, max_iter=500, tol=1e-7) for each in (start, start.round(5)))
    np.testing.assert_allclose(rounded.components_ @ rounded.components_.T, np.eye(3), atol=1e-10)
    np.testing.assert_array_equal(rounded.support_, exact.support_)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_features_to_select": 26}, "between 1 and the 25 features"),
        ({"n_components": 30}, "more than the rank 25"),
        ({"entry_sparsity": 2}, "at least 3: raise entry_sparsity"),
        ({"entry_sparsity": 0.01}, "raise entry_sparsity"),
        ({"entry_sparsity": 10_000}, "more than the 75 entries"),
        ({"entry_sparsity": 0.0}, "'entry_sparsity' parameter"),
        ({"entry_sparsity": 1.2}, "'entry_sparsity' parameter"),
        ({"entry_sparsity": "few"}, "entry_sparsity"),
        ({"mu_row": -1.0}, "mu_row"),
        ({"mu_entry": np.inf}, "mu_entry"),
        ({"tau": "big"}, "tau"),
        ({"tol": -1e-3}, "tol"),
        ({"max_iter": 0}, "max_iter"),
        ({"n_init": 0}, "n_init"),
        ({"penalty_scale": "none"}, "penalty_scale"),
        ({"x_solver": "magic"}, "x_solver"),
        ({"init": "zeros"}, "init"),
        ({"init": np.eye(25)[:, :2]}, r"\(25, 3\)"),
        ({"init": np.ones((25, 3))}, "not orthonormal"),
        ({"init": np.full((25, 3), np.nan)}, "not orthonormal"),
    ],
)
def test_a_bad_parameter_gets_one_clear_sentence(data, parameters, message):
    with pytest.raises((ValueError, TypeError), match=message) as caught:
        fit(data, **parameters)
    assert "\n" not in str(caught.value)


def test_an_entry_constraint_that_cannot_bind_is_announced(data):
    with pytest.warns(InactiveConstraintWarning, match="has no effect"):
        DSCOFS(5, n_components=3, entry_sparsity=0.9).fit(data)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        DSCOFS(5, n_components=3, entry_sparsity=0.1).fit(data)
        DSCOFS(5, n_components=3, entry_sparsity=None).fit(data)


def test_an_interrupted_fit_leaves_nothing_half_fitted(data, monkeypatch):
    def interrupt(*arguments, **named):
        raise KeyboardInterrupt

    monkeypatch.setattr("ufselect.base.FitProgress.__call__", interrupt)
    selector = DSCOFS(8, n_components=3)
    with pytest.raises(KeyboardInterrupt):
        selector.fit(data)
    assert not hasattr(selector, "support_")
    assert not hasattr(selector, "components_")


def test_progress_reaches_scikit_learns_callbacks(data):
    callback = pytest.importorskip("sklearn.callback", reason="scikit-learn has no callbacks before 1.9")

    class Counter:
        iterations = 0

        def setup(self, estimator, context):
            pass

        def on_fit_task_begin(self, estimator, context):
            Counter.iterations += context.task_name == "iteration"

        def on_fit_task_end(self, estimator, context):
            pass

        def teardown(self, estimator, context):
            pass

    assert isinstance(Counter(), callback.FitCallback)
    selector = DSCOFS(8, n_components=3).set_callbacks(Counter()).fit(data)
    assert Counter.iterations == selector.n_iter_


def test_a_pickle_carries_no_eigenvectors():
    """Of arrays with as many entries as the loadings there are three: X, Y and Z."""
    X = np.random.default_rng(0).standard_normal((80, 400))
    fitted = DSCOFS(5, n_components=4, entry_sparsity=None).fit(X)
    held = [value for value in vars(fitted).values() if isinstance(value, np.ndarray) and value.size == 1600]
    assert len(held) == 3
    assert len(pickle.dumps(fitted)) < 4 * held[0].nbytes
    assert pickle.loads(pickle.dumps(fitted)).optimality_gap_ == fitted.optimality_gap_


def test_the_stopping_rule_adds_one_to_the_objective_in_the_papers_scale(data):
    # Where |f| is far below 1, any step is small beside 1 + |f|; beside |f| alone it would not be.
    small = DSCOFS(5, n_components=2, entry_sparsity=None, penalty_scale="absolute", init="random", n_init=1)
    small.set_params(mu_row=1e-12, tau=0.0, tol=1e-6, random_state=0)
    assert small.fit(1e-6 * data).n_iter_ == 1
    assert small.set_params(penalty_scale="relative").fit(1e-6 * data).n_iter_ > 1


@settings(max_examples=10)
@given(tenths=st.integers(1, 9), d=st.integers(10, 60), m=st.integers(1, 5), r=st.integers(2, 10))
def test_shares_are_those_of_exact_arithmetic_rounded_down_and_the_default_always_binds(tenths, d, m, r):
    X = np.random.default_rng(0).standard_normal((80, d))
    assume(Fraction(tenths, 10) * d >= 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        common = {"n_features_to_select": r, "n_components": m, "max_iter": 1}
        share = fit(X, entry_sparsity=tenths / 10, **common).n_entries_
        assert share == max(m, math.floor(Fraction(tenths, 10) * d * m))
        assert m <= fit(X, **common).n_entries_ < r * m


@pytest.mark.parametrize("X", [load_digits().data, scale(load_wine().data), load_digits().data[:, 2:12]])
def test_the_default_never_warns_about_itself(X):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        DSCOFS().fit(X)
