"""The map back and its cross-validated errors against refitting by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from ufselect import GreedyProjection, RebuildSelector
from ufselect.gram import gram_operator
from ufselect.solvers.rebuild.counts import CountCurve, count_curve, find_knee, prefix_errors, suggest_count
from ufselect.solvers.rebuild.ridge import RIDGES, map_from_gram, map_from_rows, ridge_weights

CHOSEN = np.array([1, 4, 6])


def table(seed: int = 0, n_samples: int = 33) -> np.ndarray:
    rng = np.random.default_rng(seed)
    mixed = rng.standard_normal((n_samples, 4)) @ rng.standard_normal((4, 9))
    return mixed + 0.5 * rng.standard_normal((n_samples, 9)) + 3.0


def fitted(train: np.ndarray, ridge: float) -> tuple[np.ndarray, np.ndarray]:
    """Minimise ‖A − A_C W‖² + λ Σ D_ii ‖w_i‖² by least squares on augmented rows."""
    mean = train.mean(axis=0)
    A = train - mean
    variances = np.square(A[:, CHOSEN]).sum(axis=0)
    units = (variances + variances.mean()) / 2
    predictors = np.vstack([A[:, CHOSEN], np.diag(np.sqrt(ridge * units))])
    targets = np.vstack([A, np.zeros((CHOSEN.size, A.shape[1]))])
    return mean, np.linalg.lstsq(predictors, targets, rcond=None)[0]


def left_out_errors(X: np.ndarray, ridge: float) -> np.ndarray:
    errors = np.zeros(X.shape[1])
    for fold in range(5):
        held_out = np.arange(len(X)) % 5 == fold
        mean, weights = fitted(X[~held_out], ridge)
        rows = X[held_out] - mean
        errors += np.square(rows - rows[:, CHOSEN] @ weights).sum(axis=0)
    return errors


def test_the_ridge_is_the_best_of_all_on_rows_left_out():
    X = table()
    others = np.setdiff1d(np.arange(9), CHOSEN)
    found = map_from_rows(X, CHOSEN, None, None)
    totals = [left_out_errors(X, ridge)[others].sum() for ridge in RIDGES]
    assert found.ridge == RIDGES[int(np.argmin(totals))]
    mean, weights = fitted(X, found.ridge)
    np.testing.assert_allclose(found.mean, mean)
    errors = left_out_errors(X, found.ridge)
    rebuilt = np.setdiff1d(np.flatnonzero(found.rebuildable), CHOSEN)
    assert rebuilt.size > 2
    np.testing.assert_allclose(found.weights[:, rebuilt], weights[:, rebuilt], atol=1e-10)
    spread = np.sqrt(errors[rebuilt] / len(X))
    np.testing.assert_allclose(found.standard_deviations[rebuilt], spread, rtol=1e-8)
    np.testing.assert_array_equal(found.weights[:, CHOSEN], np.eye(3))
    assert not found.column_errors[CHOSEN].any()


@pytest.mark.parametrize("ridge", [None, 0.1])
def test_sparse_rows_give_the_map_of_dense_ones(ridge):
    X = table() * (np.random.default_rng(1).random((33, 9)) < 0.4)
    dense, thin = (map_from_rows(kind, CHOSEN, ridge, None) for kind in (X, sparse.csr_array(X)))
    for name in ("mean", "weights", "column_errors", "standard_deviations"):
        np.testing.assert_allclose(getattr(thin, name), getattr(dense, name), atol=1e-9)


def test_the_gram_matrix_alone_gives_the_map_of_the_rows():
    X = table()
    found = map_from_gram(gram_operator(X), CHOSEN, 0.1, None)
    np.testing.assert_allclose(found.weights, map_from_rows(X, CHOSEN, 0.1, None).weights, atol=1e-9)
    np.testing.assert_allclose(found.mean, X.mean(axis=0))


def test_columns_of_noise_are_left_to_their_mean():
    rng = np.random.default_rng(2)
    X = np.hstack([table(2, 60), rng.standard_normal((60, 30))])
    found = map_from_rows(X, CHOSEN, None, None)
    assert found.rebuildable[:9].all()
    assert not found.weights[:, ~found.rebuildable].any()
    np.testing.assert_array_equal(found.column_errors[~found.rebuildable], 1.0)


@pytest.mark.parametrize("n_samples", [6, 12, 40])
@pytest.mark.parametrize("n_features", [15, 120])
def test_pure_noise_is_never_rebuilt_worse_than_by_the_mean(n_samples, n_features):
    rng = np.random.default_rng(n_samples)
    chosen = np.arange(5)
    found = map_from_rows(rng.standard_normal((n_samples, n_features)), chosen, None, None)
    rows = rng.standard_normal((300, n_features)) - found.mean
    assert np.linalg.norm(rows - rows[:, chosen] @ found.weights) < np.linalg.norm(rows)


def test_an_infinite_ridge_is_the_mean():
    assert not ridge_weights(np.ones((3, 9)), CHOSEN, np.inf, np.zeros(3)).any()


def test_noise_in_the_measurements_is_told_in_the_standard_deviations():
    rng = np.random.default_rng(3)
    loadings = rng.standard_normal((3, 9))
    X = rng.standard_normal((4000, 3)) @ loadings
    variance = np.full(9, 0.25)
    found = map_from_rows(X, CHOSEN, None, variance)
    fresh = rng.standard_normal((20_000, 3)) @ loadings
    measured = fresh[:, CHOSEN] + 0.5 * rng.standard_normal((20_000, 3))
    rebuilt = (measured - found.mean[CHOSEN]) @ found.weights + found.mean
    spread = np.sqrt(np.mean((rebuilt - fresh) ** 2, axis=0))
    np.testing.assert_allclose(found.standard_deviations, spread, rtol=0.05)


def test_errors_of_prefixes_are_those_of_refitting():
    train, test = table(4, 40), table(5, 20)
    gram = gram_operator(train)
    rows = (test - train.mean(axis=0)) / gram.scale
    columns = gram.columns(CHOSEN).T
    errors = prefix_errors(columns, CHOSEN, 0.2, rows)
    variances = np.diagonal(columns[:, CHOSEN])
    units = (variances + variances.mean()) / 2
    for count in (1, 2, 3):
        part = CHOSEN[:count]
        inner = columns[:count][:, part] + 0.2 * np.diag(units[:count])
        rest = rows - rows[:, part] @ np.linalg.solve(inner, columns[:count])
        rest[:, part] = 0
        assert errors[count - 1] == pytest.approx(np.linalg.norm(rest) / np.linalg.norm(rows))


@pytest.mark.parametrize(("rank", "noise"), [(4, 0.0), (10, 0.05), (15, 0.1)])
def test_a_planted_rank_is_found_within_a_fifth(rank, noise):
    rng = np.random.default_rng(rank)
    X = rng.standard_normal((300, rank)) @ rng.standard_normal((rank, 80))
    X += noise * np.sqrt(rank) * rng.standard_normal(X.shape)
    for selector in (RebuildSelector("auto"), GreedyProjection("auto", target="features")):
        assert selector.fit(X).support_.sum() == pytest.approx(rank, rel=0.2)
        (chosen,) = (row for row in selector.count_curve_ if row["chosen"])
        assert chosen["count"] == selector.support_.sum()
        assert chosen["note"].startswith("knee")


def test_a_bend_after_which_the_error_still_falls_much_is_no_knee():
    counts = np.arange(1, 61)
    steep = np.where(counts < 8, 0.9**counts, 0.04)
    assert find_knee(steep * np.where(counts < 8, 1, (8 / counts) ** 0.35)) == 8
    assert find_knee(steep * np.where(counts < 8, 1, (8 / counts) ** 0.6)) is None


def test_a_curve_without_a_knee_says_so():
    counts = np.arange(1, 41)
    falling = 1 / np.sqrt(counts)
    assert find_knee(falling) is None
    chosen, note = suggest_count(falling, np.full(40, 0.001))
    assert chosen > 36
    assert note.startswith("no knee: the curve still falls at 40")
    turning = falling + 0.01 * counts
    chosen, note = suggest_count(turning, np.full(40, 0.05))
    assert chosen < np.argmin(turning)
    assert "one standard error of the best" in note


def test_the_table_marks_the_chosen_count():
    rows = CountCurve(np.array([0.5, 0.2]), np.array([0.1, 0.1]), 2, "why").table()
    assert [row["chosen"] for row in rows] == [False, True]
    assert [row["note"] for row in rows] == ["", "why"]


def test_too_few_rows_to_hold_out_are_refused():
    with pytest.raises(ValueError, match="at least 10"):
        count_curve(table(0, 9), lambda gram, count: np.arange(count))
