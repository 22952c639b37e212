"""Rows held out: the operator of the others, weights, batches, groups."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from ufselect import GreedyProjection, RebuildSelector
from ufselect.gram.rows import row_layout
from ufselect.sets.units import Units
from ufselect.solvers.rebuild.counts import N_FOLDS, RIDGES, count_curve
from ufselect.solvers.rebuild.folds import split_folds
from ufselect.solvers.rebuild.ridge import ridge_units

MAKERS = {
    "rebuild": RebuildSelector,
    "greedy": lambda count, **wishes: GreedyProjection(count, target="features", **wishes),
}


def table(seed: int, n_samples: int = 60, n_features: int = 12) -> np.ndarray:
    rng = np.random.default_rng(seed)
    mixed = rng.standard_normal((n_samples, 3)) @ rng.standard_normal((3, n_features))
    return 100 + mixed + 0.3 * rng.standard_normal((n_samples, n_features))


@pytest.mark.parametrize("kind", ["tall", "wide", "sparse", "float32"])
def test_folds_are_those_of_rows_taken_apart(kind):
    X = table(0, 61, 90 if kind == "wide" else 12)
    X[::5, 3] += np.linspace(0, 1e3, 13)  # nearly all of its variance lies in rows held out
    X[:, 4] = np.where(np.arange(61) % 5 == 1, X[:, 4], 7.0)  # constant once the second fold has gone
    if kind == "float32":
        X = X.astype(np.float32).astype(np.float64)
    given = sparse.csr_array(X) if kind == "sparse" else X.astype("f4") if kind == "float32" else X
    tolerance = 1e-9
    for number, fold in enumerate(split_folds(given, 5)):
        is_out = np.arange(61) % 5 == number
        rest = X[~is_out] - X[~is_out].mean(axis=0)
        S = rest.T @ rest
        scale = fold.gram.scale
        np.testing.assert_allclose(fold.gram.to_dense() * scale**2, S, atol=tolerance * S.max())
        assert fold.gram.n_samples == rest.shape[0]
        held_out = (X[is_out] - X[~is_out].mean(axis=0)) / scale
        np.testing.assert_allclose(fold.held_out, held_out, atol=tolerance * np.abs(held_out).max())
        if number == 1:
            assert fold.gram.diag()[4] == 0


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_weights_and_batches_of_the_rows_count_in_both_parts(make):
    X = table(1)
    rng = np.random.default_rng(0)
    weights = rng.integers(1, 4, 60).astype(float)
    batches = np.arange(60) // 20
    for number, fold in enumerate(split_folds(make(X), 5, row_layout(weights, batches))):
        stay, out = np.flatnonzero(np.arange(60) % 5 != number), np.flatnonzero(np.arange(60) % 5 == number)
        means = np.array(
            [
                np.average(
                    X[stay][batches[stay] == batch], axis=0, weights=weights[stay][batches[stay] == batch]
                )
                for batch in range(3)
            ]
        )
        rest = (X[stay] - means[batches[stay]]) * np.sqrt(weights[stay])[:, None]
        scale = fold.gram.scale
        np.testing.assert_allclose(fold.gram.to_dense() * scale**2, rest.T @ rest, rtol=1e-8, atol=1e-8)
        held_out = (X[out] - means[batches[out]]) * np.sqrt(weights[out])[:, None]
        np.testing.assert_allclose(fold.held_out * scale, held_out, rtol=1e-8, atol=1e-8)


def test_a_batch_that_only_rows_held_out_have_is_refused():
    batches = np.where(np.arange(40) % 5 == 2, 1, 0)
    with pytest.raises(ValueError, match="no other row"):
        RebuildSelector("auto").fit(table(2, 40), batch=batches)


@pytest.mark.parametrize("name", MAKERS)
def test_equal_weights_and_one_batch_change_nothing(name):
    X = table(3)
    plain = MAKERS[name]("auto").fit(X).count_curve_
    for rows in (
        {"sample_weight": np.full(60, 1.0)},
        {"batch": ["a"] * 60},
        {"sample_weight": np.full(60, 0.5)},
    ):
        curve = MAKERS[name]("auto").fit(X, **rows).count_curve_
        assert [row["error"] for row in curve] == pytest.approx([row["error"] for row in plain])


@pytest.mark.parametrize("name", MAKERS)
def test_rows_of_no_weight_and_offsets_of_batches_have_no_say(name):
    X = table(4)
    spoiled = np.vstack([X, 1e4 * np.random.default_rng(1).standard_normal((20, 12))])
    plain = MAKERS[name]("auto").fit(X)
    weighted = MAKERS[name]("auto").fit(spoiled, sample_weight=np.repeat([1.0, 0.0], [60, 20]))
    assert [row["error"] for row in weighted.count_curve_] == pytest.approx(
        [row["error"] for row in plain.count_curve_]
    )
    batches = np.arange(60) // 30
    batched = MAKERS[name]("auto").fit(X, batch=batches).count_curve_
    moved = MAKERS[name]("auto").fit(X + 50.0 * batches[:, None], batch=batches).count_curve_
    assert [row["error"] for row in moved] == pytest.approx([row["error"] for row in batched], rel=1e-6)


@pytest.mark.parametrize("name", MAKERS)
def test_gaps_are_refused_in_one_sentence(name):
    X = table(5)
    X[3, 4] = np.nan
    with pytest.raises(ValueError, match="must have no missing values"):
        MAKERS[name]("auto").fit(X)


@pytest.mark.parametrize("name", MAKERS)
def test_groups_count_as_one_and_come_whole(name):
    codes = np.repeat(np.arange(6), 2)
    selector = MAKERS[name]("auto", groups=codes).fit(table(6))
    assert [row["count"] for row in selector.count_curve_] == [1, 2, 3]
    chosen = np.unique(codes[selector.support_])
    np.testing.assert_array_equal(selector.support_, np.isin(codes, chosen))
    assert chosen.size == next(row["count"] for row in selector.count_curve_ if row["chosen"])


def test_errors_of_groups_are_those_of_refitting_their_columns():
    X = table(7)
    units = Units(np.array([0, 1, 1, 2, 2, 2, 3, 4, 4, 5, 5, 5]))
    curve = count_curve(X, lambda gram, count: np.array([2, 0, 4])[:count], 3, units=units)
    for count in (1, 2, 3):
        columns = np.concatenate([units.members(unit) for unit in (2, 0, 4)[:count]])
        folds = [fold_error(X, columns, ridge) for ridge in RIDGES]
        assert curve.errors[count - 1] == pytest.approx(min(np.mean(fold) for fold in folds), rel=1e-6)


def fold_error(X, columns, ridge):
    errors = []
    for number in range(N_FOLDS):
        is_out = np.arange(len(X)) % N_FOLDS == number
        mean = X[~is_out].mean(axis=0)
        rest, rows = X[~is_out] - mean, X[is_out] - mean
        inner = rest[:, columns].T @ rest[:, columns]
        # the ridge is in units of all columns of the path
        path = np.array([3, 4, 5, 0, 7, 8])
        units = ridge_units(rest[:, path].T @ rest[:, path])[: columns.size]
        weights = np.linalg.solve(inner + np.diag(ridge * units), rest[:, columns].T @ rest)
        rebuilt = rows[:, columns] @ weights
        rebuilt[:, columns] = rows[:, columns]
        errors.append(np.linalg.norm(rows - rebuilt) / np.linalg.norm(rows))
    return errors
