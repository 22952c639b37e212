"""Whether some columns rebuild rows left out better than others, against fits without each row."""

import numpy as np
import pytest
from scipy import sparse

from ufselect.gram import gram_operator
from ufselect.gram.rows import row_layout
from ufselect.solvers.rebuild.evidence import MOST_EFFECTIVE, RIDGE_STEP, Rows
from ufselect.solvers.rebuild.ridge import RIDGES, ridge_units


def refitted(A, columns, ridge):
    """Return each row's squared error by the map of the other rows, all less the mean of all rows."""
    inner = A[:, columns].T @ A[:, columns]
    penalty = np.diag(ridge * ridge_units(inner))
    rest = np.setdiff1d(np.arange(A.shape[1]), columns)
    errors = []
    for left in range(len(A)):
        others = np.delete(A, left, axis=0)[:, columns]
        weights = np.linalg.solve(others.T @ others + penalty, others.T @ np.delete(A, left, axis=0)[:, rest])
        errors.append(np.sum(np.square(A[left, rest] - A[left, columns] @ weights)))
    return np.array(errors)


@pytest.mark.parametrize("shape", [(30, 9), (12, 20)])
def test_errors_are_those_of_fits_without_each_row(shape, monkeypatch):
    rng = np.random.default_rng(0)
    A = rng.standard_normal((shape[0], 4)) @ rng.standard_normal((4, shape[1])) + rng.standard_normal(shape)
    A -= A.mean(axis=0)
    columns = np.array([5, 1, 7])
    # the share 1 / n of the mean is no part of the fits below
    monkeypatch.setattr("ufselect.solvers.rebuild.evidence.freedom", lambda h: (1 - h + 1 / len(A)) ** 2)
    tried = [refitted(A, columns, ridge) for ridge in RIDGES[::RIDGE_STEP]]
    found = Rows(A, np.ones(len(A))).errors(columns)
    np.testing.assert_allclose(found, min(tried, key=np.sum), rtol=1e-6)


def test_integer_weights_are_repeated_rows():
    rng = np.random.default_rng(1)
    X, times = rng.standard_normal((15, 40)), rng.integers(1, 4, 15)
    repeated = np.repeat(X, times, axis=0)
    layout = row_layout(times.astype(float), np.zeros(15))
    weighted = Rows.of(X, gram_operator(X, layout=layout), layout)
    plain = Rows.of(repeated, gram_operator(repeated))
    columns, others = np.array([1, 2, 3]), np.array([9, 8, 7])
    scale = np.sum(plain.errors(columns)) / np.sum(weighted.errors(columns))
    np.testing.assert_allclose(
        np.repeat(weighted.errors(columns) / times, times) * scale, plain.errors(columns), rtol=1e-6
    )
    assert weighted.favour(columns, others) == plain.favour(columns, others)
    assert weighted.favour(others, columns) == plain.favour(others, columns)
    assert weighted.are_few() == plain.are_few()


def test_better_columns_win_and_equal_ones_do_not():
    rng = np.random.default_rng(2)
    three = rng.standard_normal((60, 3))
    A = np.hstack([three, three @ rng.standard_normal((3, 10)), rng.standard_normal((60, 3))])
    rows = Rows(A - A.mean(axis=0), np.ones(60))
    told, noise = np.array([0, 1, 2]), np.array([13, 14, 15])
    assert rows.favour(told, noise)
    assert not rows.favour(noise, told)
    assert not rows.favour(told, told)


@pytest.mark.parametrize(("gains", "enough"), [([9.0], False), ([9.0, 3.0], True), ([9.0, -3.0], False)])
def test_what_a_single_row_gains_is_not_enough(gains, enough, monkeypatch):
    errors = {0: np.zeros(40), 1: np.pad(gains, (0, 40 - len(gains)))}
    monkeypatch.setattr(Rows, "errors", lambda rows, columns: errors[int(columns[0])])
    rows = Rows(np.eye(40), np.ones(40))
    assert rows.favour(np.array([0]), np.array([1])) == enough


@pytest.mark.parametrize("count", [MOST_EFFECTIVE, MOST_EFFECTIVE + 1])
def test_rows_of_equal_length_are_as_many_as_they_are(count):
    directions = np.random.default_rng(3).standard_normal((count, 5))
    rows = Rows(directions / np.linalg.norm(directions, axis=1, keepdims=True), np.ones(count))
    assert rows.are_few() == (count <= MOST_EFFECTIVE)


def test_many_rows_of_which_few_have_the_variance_are_few():
    values = np.random.default_rng(4).standard_normal((5000, 3))
    values[:20] *= 1000
    assert Rows(values, np.ones(5000)).are_few()


@pytest.mark.parametrize("shape", [(30, 8), (8, 30)])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("is_laid_out", [False, True])
def test_rows_are_those_behind_s(shape, kind, is_laid_out):
    rng = np.random.default_rng(5)
    X = kind(rng.standard_normal(shape) + 3)
    layout = row_layout(rng.integers(1, 4, shape[0]).astype(float), np.arange(shape[0]) % 2)
    layout = layout if is_laid_out else None
    gram = gram_operator(X, layout=layout)
    rows = Rows.of(X, gram, layout)
    np.testing.assert_allclose(rows.values.T @ rows.values, gram.to_dense(), atol=1e-12)


def test_rows_with_gaps_or_too_many_entries_are_not_taken(monkeypatch):
    X = np.random.default_rng(6).standard_normal((30, 8))
    gram = gram_operator(X)
    monkeypatch.setattr("ufselect.solvers.rebuild.evidence.MOST_ENTRIES", 239)
    assert Rows.of(X, gram) is None
    monkeypatch.setattr("ufselect.solvers.rebuild.evidence.MOST_ENTRIES", 240)
    assert Rows.of(X, gram) is not None
    X[0, 0] = np.nan
    assert Rows.of(X, gram) is None


@pytest.mark.parametrize("exponent", [-1000, 1021])
def test_the_unit_of_the_data_does_not_matter(exponent):
    X = np.random.default_rng(0).standard_normal((60, 4)) + 1
    far = X * 2.0**exponent
    gram = gram_operator(far)
    with np.errstate(over="raise"):
        found = Rows.of(far, gram)
    np.testing.assert_allclose(found.values, Rows.of(X, gram_operator(X)).values, rtol=1e-12)
