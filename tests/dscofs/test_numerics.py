"""Large condition numbers, extreme units, single precision and threads."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from ufselect import DSCOFS, ConstrainedDSCOFS
from ufselect.gram import FormedGram, gram_operator

NEAR_TIE = 1e-4  # relative distance of a score from the threshold at which precision may decide


def conditioned_data(condition, seed=0, n_samples=40, n_features=16):
    """Centred data whose scatter matrix has the given condition number."""
    rng = np.random.default_rng(seed)
    left = rng.standard_normal((n_samples, n_features))
    left = np.linalg.qr(left - left.mean(axis=0))[0]
    right = np.linalg.qr(rng.standard_normal((n_features, n_features)))[0]
    return (left * np.geomspace(1, condition**-0.5, n_features)) @ right.T


@pytest.mark.parametrize("condition", [1e2, 1e6, 1e12])
@pytest.mark.parametrize("x_solver", ["power", "rotated"])
def test_bad_conditioning_costs_no_digits(condition, x_solver):
    """Against the same formula in extended precision."""
    data = conditioned_data(condition)
    selector = DSCOFS(5, n_components=6, entry_sparsity=28, x_solver=x_solver, tol=1e-11, max_iter=2000)
    selector.fit(data)
    X, Y, Z = (
        getattr(selector, f"{kind}components_").T.astype(np.longdouble)
        for kind in ("", "entry_sparse_", "row_sparse_")
    )
    centred = data.astype(np.longdouble) - data.astype(np.longdouble).mean(axis=0)
    value = -np.sum((centred @ X) ** 2) + 0.1 * np.sum((X - Y) ** 2) + 0.01 * np.sum((X - Z) ** 2)
    assert selector.objective_history_[-1] == pytest.approx(float(value), rel=1e-12)
    assert np.all(np.diff(selector.objective_history_) <= 0)
    np.testing.assert_allclose((X.T @ X).astype(float), np.eye(6), atol=1e-12)


@pytest.mark.parametrize(
    "selector",
    [
        DSCOFS(5, x_solver="power", tol=1e-6, max_iter=1000),
        DSCOFS(5, x_solver="rotated", tol=1e-6, max_iter=1000),
        ConstrainedDSCOFS(5, max_iter=1000),
    ],
)
def test_the_unit_of_the_data_changes_nothing(selector):
    data = conditioned_data(1e4)
    selector.set_params(n_components=3, entry_sparsity=14)
    plain = clone(selector).fit(data)
    for unit in (2.0**-498, 2.0**498, 1e-150, 1e150):
        scaled = clone(selector).fit(data * unit)
        np.testing.assert_array_equal(scaled.support_, plain.support_)
        np.testing.assert_allclose(scaled.scores_, plain.scores_, atol=1e-6)


@pytest.mark.filterwarnings("ignore:The entry constraint has no effect")
@pytest.mark.parametrize("name", ["lung_discrete", "usps", "isolet"])
def test_single_precision_selects_the_same_but_for_near_ties(real, name):
    data, labels = real(name)
    m = np.unique(labels).size
    double = DSCOFS(100, n_components=m).fit(data)
    single = DSCOFS(100, n_components=m).fit(data.astype(np.float32))
    ordered = np.sort(double.scores_)[::-1]
    threshold = 0.5 * (ordered[99] + ordered[100])
    changed = np.flatnonzero(double.support_ != single.support_)
    near_ties = np.abs(double.scores_[changed] / threshold - 1) <= NEAR_TIE
    assert np.all(near_ties)
    assert changed.size <= 2  # one exchange


@pytest.mark.filterwarnings("ignore:The entry constraint has no effect")
def test_one_and_two_threads_agree(real):
    data, labels = real("usps")
    fits = []
    for n_threads in (1, 2):
        with threadpool_limits(n_threads):
            fits.append(DSCOFS(100, n_components=np.unique(labels).size).fit(data))
    np.testing.assert_array_equal(fits[0].support_, fits[1].support_)
    # Steps in float32 round differently with more threads.
    np.testing.assert_allclose(fits[0].scores_, fits[1].scores_, atol=1e-5)


def clear_columns(seed=0, n_samples=160, n_features=400, rank=20):
    """Data in which 40 columns have most of the variance, so that rounding leaves the selection alone."""
    rng = np.random.default_rng(seed)
    data = rng.standard_normal((n_samples, rank)) @ rng.standard_normal((rank, n_features))
    data += 0.1 * rng.standard_normal(data.shape)
    data[:, ::10] *= np.linspace(4, 6, 40)
    return data + rng.standard_normal(n_features)


class WithoutSingle(FormedGram):
    """Takes the float32 route away."""

    def single(self):
        return None


@pytest.mark.parametrize(("tol", "unit"), [(1e-3, 1.0), (1e-7, 1e150), (1e-11, 1e-150)])
@pytest.mark.parametrize("n_samples", [160, 900])
def test_steps_in_single_precision_end_where_double_precision_does(tol, unit, n_samples):
    data = clear_columns(n_samples=n_samples) * unit
    gram = gram_operator(data)
    assert gram.single().dtype == np.float32
    selector = DSCOFS(40, n_components=20, tol=tol, max_iter=5000)
    mixed = clone(selector).fit(gram_operator(data))
    double = clone(selector).fit(WithoutSingle(gram.to_dense(), gram.n_samples, gram.scale, gram.mean))
    assert mixed.components_.dtype == np.float64
    np.testing.assert_allclose(mixed.components_ @ mixed.components_.T, np.eye(20), atol=1e-12)
    np.testing.assert_array_equal(mixed.support_, double.support_)
    assert np.all(np.diff(mixed.objective_history_) <= 0)
    assert mixed.objective_history_.size == mixed.n_iter_ + 1
    reached = double.objective_history_[-1]
    # On a plateau of the objective a run may stop sooner or later, unless the tolerance is very fine.
    slack = 1e-3 if tol > 1e-10 else 1e-6
    assert mixed.objective_history_[-1] <= reached + slack * abs(reached)


@pytest.mark.parametrize("unit", [1.0, 1e-140])
@pytest.mark.filterwarnings("ignore::ufselect.exceptions.DominatedByUnitsWarning")
def test_columns_too_small_for_single_precision_are_told_apart(unit):
    """Beside one column that is 100,000 times larger, the others vanish in the rounding of float32."""
    data = clear_columns()
    data[:, 5] *= 1e5
    selector = DSCOFS(41, n_components=20, tol=1e-7, max_iter=2000)
    mixed = clone(selector).fit(gram_operator(data * unit))
    gram = gram_operator(data * unit)
    double = clone(selector).fit(WithoutSingle(gram.to_dense(), gram.n_samples, gram.scale))
    np.testing.assert_array_equal(mixed.support_, double.support_)
    np.testing.assert_allclose(mixed.scores_, double.scores_, atol=1e-6)


def test_iterations_in_single_precision_count_towards_the_limit():
    data = clear_columns()
    with pytest.warns(ConvergenceWarning):
        selector = DSCOFS(40, n_components=20, tol=1e-12, max_iter=7).fit(data)
    assert selector.n_iter_ == 7
    assert not selector.converged_
