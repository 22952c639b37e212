"""Every representation of the Gram matrix against the dense reference in extended precision."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from scipy import sparse
from tests.strategies import structured_data

from ufselect.gram import (
    FactoredGram,
    FormedGram,
    GramAccumulator,
    GramOperator,
    ImplicitGram,
    LowRankGram,
    RestrictedGram,
    SparseGram,
    TallGram,
    correlations,
    gram_operator,
    reduce_data,
)

RNG = np.random.default_rng(0)
TALL = RNG.standard_normal((400, 30)) @ np.diag(np.geomspace(1, 1e-3, 30)) @ RNG.standard_normal((30, 30))
WIDE = RNG.standard_normal((20, 90))
DATA = {
    "tall": TALL,
    "wide": WIDE,
    "square": RNG.standard_normal((60, 60)),
    "large mean": TALL + 1e4,
    "badly scaled columns": TALL * np.geomspace(1e-6, 1e6, 30),
    "tiny": TALL * 1e-150,
    "huge": WIDE * 1e150,
    "constant and duplicate": np.column_stack([TALL, np.full(400, 3.3), TALL[:, 0]]),
    "zeros": np.where(RNG.random((50, 40)) < 0.9, 0.0, RNG.standard_normal((50, 40))),
    "integers": RNG.integers(-3, 4, (40, 8)).astype(float),
}
BUILDERS = {
    "dense": gram_operator,
    "sparse": lambda X: gram_operator(sparse.csr_array(X)),
    "low rank": lambda X: _factored(X),
    "implicit": lambda X: ImplicitGram(X, *mean_and_scale(X)),
    "tall": lambda X: TallGram(X, *mean_and_scale(X)),
    "streamed": lambda X: _streamed(X),
    "dask": lambda X: _from_dask(X),
    "restricted": lambda X: _restricted(X),
}


def mean_and_scale(X):
    return X[0] + (X - X[0]).mean(axis=0), gram_operator(X).scale


def _factored(X):
    mean, scale = mean_and_scale(X)
    _, singular, vt = np.linalg.svd((X - mean) / scale, full_matrices=False)
    return FactoredGram((singular[:, None] * vt).astype(X.dtype), X.shape[0], scale)


def _streamed(X):
    accumulator = GramAccumulator()
    for batch in np.array_split(X, 3):
        accumulator.update(batch)
    return accumulator.gram()


def _restricted(X):
    """Put columns of noise around and between those of X, and take them out again."""
    rng = np.random.default_rng(1)
    places = np.sort(rng.choice(X.shape[1] + 7, X.shape[1], replace=False))
    whole = np.zeros((X.shape[0], X.shape[1] + 7), dtype=X.dtype)
    whole[:, np.setdiff1d(np.arange(whole.shape[1]), places)] = np.ptp(X) / 10 * rng.random((len(X), 7))
    whole[:, places] = X
    return RestrictedGram(gram_operator(whole), places)


def _from_dask(X):
    array = pytest.importorskip("dask.array")
    return reduce_data(array.from_array(X, chunks=(11, 7)))


def reference(X, scale):
    """Return S / scale² in extended precision."""
    extended = X.astype(np.longdouble)
    centred = (extended - extended.mean(axis=0)) / np.longdouble(scale)
    return centred.T @ centred


def tolerance(X, dtype):
    """Allow rounding in proportion to mean/std: no operator can know more than its data hold."""
    spread = np.ptp(X, axis=0).max()
    return 200 * np.finfo(dtype).eps * max(1.0, float(np.abs(X).max() / spread))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("builder", BUILDERS)
@pytest.mark.parametrize("kind", DATA)
def test_operator_equals_the_dense_reference(kind, builder, dtype):
    if dtype == np.float32 and kind in ("tiny", "huge"):
        pytest.skip("outside the range of float32")
    X = DATA[kind].astype(dtype)
    gram = BUILDERS[builder](X)
    expected = reference(X, gram.scale)
    size = float(np.abs(expected).max())
    atol = tolerance(X, dtype) * size
    vectors = RNG.standard_normal((X.shape[1], 3)).astype(dtype)
    picked = np.array([5, 0, 2])

    assert isinstance(gram, GramOperator)
    assert gram.shape == expected.shape
    assert gram.n_samples == X.shape[0]
    assert np.frexp(gram.scale)[0] == 0.5  # a power of two
    for result, exact in [
        (gram.matmat(vectors), expected @ vectors),
        (gram.diag(), np.diagonal(expected)),
        (gram.columns(picked), expected[:, picked]),
        (gram.subgram(picked), expected[np.ix_(picked, picked)]),
        (gram.to_dense(), expected),
    ]:
        assert result.dtype == dtype
        np.testing.assert_allclose(result, exact.astype(np.float64), rtol=0, atol=10 * atol)
    np.testing.assert_allclose(
        gram.squared_column_norms(),
        np.square(expected).sum(axis=0).astype(np.float64),
        rtol=0,
        atol=10 * tolerance(X, dtype) * size**2 * len(expected),
    )
    assert gram.trace() == pytest.approx(float(np.trace(expected)), rel=1e-3 if dtype == np.float32 else 1e-9)


@pytest.mark.parametrize("builder", BUILDERS)
@pytest.mark.parametrize("kind", DATA)
def test_eigenpairs_are_those_of_the_reference(kind, builder):
    X = DATA[kind]
    gram = BUILDERS[builder](X)
    spectrum = gram.eigenpairs(4)
    exact = np.linalg.eigvalsh(reference(X, gram.scale).astype(np.float64))[::-1]
    np.testing.assert_allclose(spectrum.values, exact[: spectrum.values.size], rtol=1e-8)
    residual = gram.matmat(spectrum.vectors) - spectrum.vectors * spectrum.values
    assert np.abs(residual).max() <= 1e-8 * exact[0]
    np.testing.assert_allclose(spectrum.vectors.T @ spectrum.vectors, np.eye(4), atol=1e-9)


def test_a_truncated_factor_has_columns_with_the_known_diagonal():
    rng = np.random.default_rng(1)
    factor, spare = rng.standard_normal((4, 12)), rng.random(12)
    diagonal = np.square(factor).sum(axis=0) + spare
    gram = LowRankGram(factor, 30, 1.0, diagonal)
    expected = factor.T @ factor + np.diag(spare)
    picked = np.array([7, 0, 11])
    np.testing.assert_allclose(gram.columns(picked), expected[:, picked], atol=1e-12)
    np.testing.assert_allclose(gram.columns(picked)[picked], gram.subgram(picked), atol=1e-12)
    np.testing.assert_allclose(gram.squared_column_norms(), np.square(expected).sum(axis=0))


def test_eigenpairs_stop_at_the_rank():
    low_rank = RNG.standard_normal((50, 3)) @ RNG.standard_normal((3, 20))
    for builder in BUILDERS.values():
        assert builder(low_rank).eigenpairs(10).values.size == 3


def test_dense_data_are_formed_when_tall_and_kept_as_factor_when_wide():
    assert isinstance(gram_operator(TALL), FormedGram)
    assert isinstance(gram_operator(WIDE), FactoredGram)


def test_wide_data_are_not_copied_where_products_can_be_centred():
    gram = gram_operator(WIDE, copy=False)
    assert isinstance(gram, ImplicitGram)
    assert gram.data is WIDE
    assert isinstance(gram_operator(WIDE + 1e6, copy=False), FactoredGram)
    assert isinstance(gram_operator(TALL, copy=False), TallGram)
    assert isinstance(gram_operator(TALL + 1e6, copy=False), FormedGram)


def test_sparse_data_are_not_made_dense():
    data = sparse.random_array((200, 50), density=0.05, format="csr", rng=np.random.default_rng(0))
    gram = gram_operator(data)
    assert isinstance(gram, SparseGram)
    assert sparse.issparse(gram.data)
    assert gram.data.nnz == data.nnz


@pytest.mark.parametrize("kind", ["coo_array", "csc_array", "csr_matrix"])
def test_any_sparse_format_is_taken(kind):
    data = getattr(sparse, kind)(DATA["zeros"])
    gram = gram_operator(data)
    expected = reference(DATA["zeros"], gram.scale).astype(float)
    np.testing.assert_allclose(gram.to_dense(), expected, atol=1e-12)


def test_a_constant_column_has_exactly_zero_variance():
    X = DATA["constant and duplicate"]
    for builder in ("dense", "sparse"):
        gram = BUILDERS[builder](X)
        assert gram.diag()[30] == 0.0
        assert np.abs(gram.matmat(np.eye(32))[30]).max() <= 1e-12 * gram.trace()


@given(structured_data())
def test_operator_is_symmetric_and_positive_semidefinite(data):
    for builder in BUILDERS.values():
        gram = builder(data)
        dense = gram.matmat(np.eye(data.shape[1]))
        np.testing.assert_allclose(dense, dense.T, atol=1e-10 * gram.trace() + 1e-300)
        assert np.linalg.eigvalsh(dense).min() >= -1e-10 * gram.trace() - 1e-300


@pytest.mark.parametrize("factor", [2.0**-40, 2.0**70])
def test_a_power_of_two_changes_no_digit(factor):
    for data in (TALL, WIDE):
        np.testing.assert_array_equal(gram_operator(data * factor).diag(), gram_operator(data).diag())


def test_a_range_beyond_floating_point_is_refused():
    with pytest.raises(ValueError, match="divide X by a constant"):
        gram_operator(np.array([[1.7e308, 0.0], [-1.7e308, 1.0]]))


@pytest.mark.parametrize("builder", BUILDERS)
@pytest.mark.parametrize("kind", ["tall", "wide", "constant and duplicate"])
def test_correlations_are_those_of_numpy(kind, builder):
    X = DATA[kind]
    picked = np.array([5, 0, 2])
    with np.errstate(invalid="ignore"):
        expected = np.nan_to_num(np.corrcoef(X, rowvar=False)[:, picked])
    found = correlations(BUILDERS[builder](X), picked)
    assert np.abs(found).max() <= 1
    np.testing.assert_allclose(found, expected, atol=1e-5)
