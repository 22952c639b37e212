"""The map back and its errors on held-out rows, for the map, evidence and counts, by refitting."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from tests.reconstruct.oracles import folds_by_value

from ufselect import GreedyProjection, ReconstructionSelector, Reconstructor
from ufselect._columns import Units
from ufselect.reconstruct.placement import count_curve
from ufselect.reconstruct.ridge import RIDGES, ridge_units

CHOSEN = np.array([1, 4, 6])
MAKERS = {
    "reconstruct": ReconstructionSelector,
    "greedy": lambda count, **rules: GreedyProjection(count, target="features", **rules),
}


def table(seed: int = 0, n_samples: int = 33, n_features: int = 9, noise: float = 0.5) -> np.ndarray:
    rng = np.random.default_rng(seed)
    mixed = rng.standard_normal((n_samples, 4)) @ rng.standard_normal((4, n_features))
    return mixed + noise * rng.standard_normal((n_samples, n_features)) + 3.0


def fitted(train, columns, ridge, units):
    """Minimise ‖A − A_C W‖² + λ Σ D_ii ‖w_i‖² by least squares on augmented rows."""
    mean = train.mean(axis=0)
    A = train - mean
    predictors = np.vstack([A[:, columns], np.diag(np.sqrt(ridge * units))])
    targets = np.vstack([A, np.zeros((columns.size, A.shape[1]))])
    return mean, np.linalg.lstsq(predictors, targets, rcond=None)[0]


def held_out_errors(X, columns, ridge):
    """Return each column's squared error in five folds; units of the ridge are from the fit, or all rows.

    They are from all rows where there are more columns than rows.
    """
    errors = np.zeros(X.shape[1])
    for fold in range(5):
        is_out = np.arange(len(X)) % 5 == fold
        rows = X if columns.size > len(X) else X[~is_out]
        units = ridge_units(np.square(rows - rows.mean(axis=0)).sum(axis=0)[columns])
        mean, weights = fitted(X[~is_out], columns, ridge, units)
        rows = X[is_out] - mean
        errors += np.square(rows - rows[:, columns] @ weights).sum(axis=0)
    return errors


@pytest.mark.parametrize("shape", [(33, 9), (12, 40)])
@pytest.mark.parametrize("columns", [CHOSEN, np.arange(0, 40, 2)])
def test_the_ridge_is_the_best_of_all_on_held_out_rows(shape, columns):
    X, columns = table(0, *shape), columns[columns < shape[1]]
    others = np.setdiff1d(np.arange(shape[1]), columns)
    found = Reconstructor(columns, "ridge").fit(X)
    totals = [held_out_errors(X, columns, ridge)[others].sum() for ridge in RIDGES]
    assert found.ridge_ == RIDGES[int(np.argmin(totals))]
    units = ridge_units(np.square(X - X.mean(axis=0)).sum(axis=0)[columns])
    mean, weights = fitted(X, columns, found.ridge_, units)
    np.testing.assert_allclose(found.mean_, mean)
    np.testing.assert_allclose(found.weights_[:, others], weights[:, others], atol=1e-9)
    spread = np.sqrt(held_out_errors(X, columns, found.ridge_)[others] / len(X))
    np.testing.assert_allclose(found.standard_deviations_[others], spread, rtol=1e-7)
    np.testing.assert_array_equal(found.weights_[:, columns], np.eye(columns.size))
    assert not found.column_errors_[columns].any()


@pytest.mark.parametrize("ridge", ["auto", 0.1])
@pytest.mark.parametrize("shape", [(33, 9), (12, 40)])
def test_sparse_rows_give_the_map_of_dense_ones(ridge, shape):
    X = table(0, *shape) * (np.random.default_rng(1).random(shape) < 0.4)
    columns = CHOSEN if shape[1] < 40 else np.arange(0, 40, 2)
    dense, thin = (
        Reconstructor(columns, "ridge", ridge=ridge).fit(kind) for kind in (X, sparse.csr_array(X))
    )
    for name in ("mean_", "weights_", "column_errors_", "standard_deviations_"):
        np.testing.assert_allclose(getattr(thin, name), getattr(dense, name), atol=1e-8)


def test_columns_that_are_reconstructed_worse_than_by_their_mean_are_told():
    rng = np.random.default_rng(2)
    X = np.hstack([table(2, 60), rng.standard_normal((60, 30))])
    found = Reconstructor(CHOSEN, "ridge").fit(X)
    assert found.reconstructable_[:9].all()
    np.testing.assert_array_equal(found.reconstructable_, found.column_errors_ < 1)
    assert not found.reconstructable_[9:].all()


@pytest.mark.parametrize("n_samples", [6, 12, 40])
@pytest.mark.parametrize("n_features", [15, 120])
def test_pure_noise_is_never_reconstructed_worse_than_by_the_mean(n_samples, n_features):
    rng = np.random.default_rng(n_samples)
    train, test = (rng.standard_normal((count, n_features)) for count in (n_samples, 300))
    assert Reconstructor(range(5), "ridge").fit(train).score(test) > 0


def test_noise_in_the_measurements_is_told_in_the_standard_deviations():
    rng = np.random.default_rng(3)
    loadings = rng.standard_normal((3, 9))
    X = rng.standard_normal((4000, 3)) @ loadings
    found = Reconstructor(CHOSEN, noise_variance=0.25).fit(X)
    fresh = rng.standard_normal((20_000, 3)) @ loadings
    measured = fresh[:, CHOSEN] + 0.5 * rng.standard_normal((20_000, 3))
    spread = np.sqrt(np.mean((found.inverse_transform(measured) - fresh) ** 2, axis=0))
    np.testing.assert_allclose(found.standard_deviations_, spread, rtol=0.05)


@pytest.mark.parametrize("shape", [(40, 9), (12, 60)])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_the_score_is_that_of_a_map_fitted_to_other_rows(shape, kind):
    X = table(4, shape[0] + 20, shape[1])
    train, test = X[:-20], X[-20:]
    columns = np.array([0, 3, 7]) if shape[1] < 20 else np.arange(50)
    units = ridge_units(np.square(train - train.mean(axis=0)).sum(axis=0)[columns])
    mean, weights = fitted(train, columns, 0.1, units)
    rest = test - mean - (test - mean)[:, columns] @ weights
    rest[:, columns] = 0
    expected = 1 - np.square(rest).sum() / np.square(test - mean).sum()
    found = Reconstructor(columns, "ridge", ridge=0.1).fit(kind(train))
    assert found.score(kind(test)) == pytest.approx(expected)


def test_shares_of_counts_are_those_of_refitting_their_columns():
    X = table(7, 60, 12)
    units = Units(np.array([0, 1, 1, 2, 2, 2, 3, 4, 4, 5, 5, 5]))
    _, curve = count_curve(X, lambda gram, count: np.array([2, 0, 4])[:count], units=units)
    path = np.array([3, 4, 5, 0, 7, 8])
    for count in (1, 2, 3):
        columns = np.concatenate([units.members(unit) for unit in (2, 0, 4)[:count]])
        tried = []
        for ridge in (1e-10, 1e-3, 0.1):
            shares = []
            for fold in folds_by_value(X):
                is_out = np.isin(np.arange(60), fold)
                train, rest = X[~is_out], np.setdiff1d(np.arange(12), columns)
                # the ridge is in units of all columns of the path
                spread = np.square(train - train.mean(axis=0)).sum(axis=0)
                mean, weights = fitted(train, columns, ridge, ridge_units(spread[path])[: columns.size])
                rows = X[is_out] - mean
                left = (rows - rows[:, columns] @ weights)[:, rest]
                shares.append(1 - np.square(left).sum() / np.square(rows).sum())
            tried.append(np.mean(shares))
        assert curve["score"][count - 1] == pytest.approx(max(tried), rel=1e-5)


@pytest.mark.parametrize("name", MAKERS)
def test_beyond_the_count_columns_add_hardly_more_than_themselves(name):
    selector = MAKERS[name]("auto").fit(table(3, 120, 40, noise=0.3))
    curve = selector.count_curve_
    value = curve["score"] - curve["n_features"] / 40
    assert curve["n_features"][curve["chosen"]] == curve["n_features"][value > value.max() - 0.01].min()
    assert curve["n_features"][curve["chosen"]] == selector.support_.sum()
    assert np.all(np.diff(curve["score"]) > -1e-9)
    assert np.all(curve["random"] < curve["score"])
    assert np.all(curve["components"] > curve["score"] - 0.02)


@pytest.mark.parametrize("rank", [2, 4, 10])
def test_a_planted_rank_is_found_without_noise(rank):
    rng = np.random.default_rng(rank)
    X = rng.standard_normal((100, rank)) @ rng.standard_normal((rank, 40))
    for make in MAKERS.values():
        count = make("auto").fit(X).support_.sum()
        assert count == rank if rank < 10 else 7 <= count <= 10


def test_counts_grow_by_a_tenth_beyond_twenty():
    counts = MAKERS["greedy"]("auto").fit(table(5, 150, 300)).count_curve_["n_features"]
    np.testing.assert_array_equal(counts[:20], np.arange(1, 21))
    assert counts[-1] == 100
    assert np.all(np.diff(counts) <= np.maximum(1, 0.1 * counts[:-1] + 1))


def test_too_few_rows_to_hold_out_are_refused():
    with pytest.raises(ValueError, match="at least 10"):
        ReconstructionSelector("auto").fit(table(0, 9))


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("name", MAKERS)
def test_a_weight_is_so_many_rows_in_any_order(name, kind):
    X, times = table(8, 60, 12), np.random.default_rng(0).integers(1, 4, 60)
    weighted = MAKERS[name]("auto").fit(kind(X), sample_weight=times).count_curve_
    repeated = np.random.default_rng(1).permutation(np.repeat(X, times, axis=0))
    repeated = MAKERS[name]("auto").fit(repeated).count_curve_
    for column in ("n_features", "score", "random", "components", "chosen"):
        np.testing.assert_allclose(weighted[column], repeated[column], rtol=1e-6)


@pytest.mark.parametrize("name", MAKERS)
def test_equal_weights_and_one_batch_change_nothing(name):
    X = table(3, 60, 12)
    plain = MAKERS[name]("auto").fit(X).count_curve_
    for rows in ({"sample_weight": np.full(60, 0.5)}, {"batch": ["a"] * 60}):
        curve = MAKERS[name]("auto").fit(X, **rows).count_curve_
        np.testing.assert_allclose(curve["score"], plain["score"])


@pytest.mark.parametrize("name", MAKERS)
def test_rows_of_no_weight_and_offsets_of_batches_have_no_say(name):
    X, batches = table(4, 60, 12), np.arange(60) // 30
    spoiled = np.vstack([X, 1e4 * np.random.default_rng(1).standard_normal((20, 12))])
    plain = MAKERS[name]("auto").fit(X).count_curve_
    weighted = MAKERS[name]("auto").fit(spoiled, sample_weight=np.repeat([1.0, 0.0], [60, 20])).count_curve_
    np.testing.assert_allclose(weighted["score"], plain["score"], rtol=1e-6)
    batched = MAKERS[name]("auto").fit(X, batch=batches).count_curve_
    moved = MAKERS[name]("auto").fit(X + 50.0 * batches[:, None], batch=batches).count_curve_
    np.testing.assert_allclose(moved["score"], batched["score"], rtol=1e-6)


@pytest.mark.parametrize("name", MAKERS)
def test_missing_values_are_refused_in_one_sentence(name):
    X = table(5, 60, 12)
    X[3, 4] = np.nan
    with pytest.raises(ValueError, match="must have no missing values"):
        MAKERS[name]("auto").fit(X)


@pytest.mark.parametrize("name", MAKERS)
def test_groups_count_as_one_and_come_whole(name):
    codes = np.repeat(np.arange(6), 2)
    selector = MAKERS[name]("auto", feature_groups=codes).fit(table(6, 60, 12))
    curve = selector.count_curve_
    assert curve["n_features"].tolist() == [1, 2, 3]
    chosen = np.unique(codes[selector.support_])
    np.testing.assert_array_equal(selector.support_, np.isin(codes, chosen))
    assert chosen.size == curve["n_features"][curve["chosen"]]
