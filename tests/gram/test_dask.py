"""Dask collections as blocks: every chunking, type and route against the data in memory."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from ufselect.gram import dask as blocks_dask
from ufselect.gram import gram_operator, reduce, reduce_data
from ufselect.gram.dask import DaskBlocks

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
pd = pytest.importorskip("pandas")

N_SAMPLES, N_FEATURES = 120, 40


def make_data(n_samples=N_SAMPLES, n_features=N_FEATURES, seed=0):
    rng = np.random.default_rng(seed)
    weights = np.geomspace(8, 1, 4)
    signal = (rng.standard_normal((n_samples, 4)) * weights) @ rng.standard_normal((4, n_features))
    return signal + 0.3 * rng.standard_normal((n_samples, n_features)) + 20.0


X = make_data()
FRAME = pd.DataFrame(X, columns=[f"gene {j}" for j in range(N_FEATURES)])


def unknown_rows(array):
    return array[array[:, 0] > -np.inf]


LAYOUTS = {
    "rows": lambda: da.from_array(X, chunks=(50, -1)),
    "columns": lambda: da.from_array(X, chunks=(-1, 7)),
    "both ways": lambda: da.from_array(X, chunks=(50, 7)),
    "one block": lambda: da.from_array(X, chunks=-1),
    "unknown rows": lambda: unknown_rows(da.from_array(X, chunks=(50, -1))),
    "unknown rows, both ways": lambda: unknown_rows(da.from_array(X, chunks=(50, 7))),
    "an empty block": lambda: da.concatenate([da.from_array(X[:0]), da.from_array(X, chunks=(70, -1))]),
    "frame": lambda: dd.from_pandas(FRAME, npartitions=3),
    "sparse": lambda: da.from_array(X, chunks=(50, -1)).map_blocks(sparse.csr_array),
    "sparse, both ways": lambda: da.from_array(X, chunks=(50, 7)).map_blocks(sparse.csr_matrix),
}


def centred(data):
    return data - data.mean(axis=0)


def assert_is_gram_of(reduced, data, tolerance=1e-12):
    expected = centred(data).T @ centred(data)
    found = reduced.to_dense() * reduced.scale**2
    assert np.abs(found - expected).max() < tolerance * np.abs(expected).max()
    assert (reduced.n_samples, len(expected)) == data.shape


@pytest.mark.parametrize("layout", LAYOUTS)
def test_formed_from_any_chunking(layout):
    reduced = reduce_data(LAYOUTS[layout]())
    assert (reduced.route, reduced.n_passes) == ("formed", 1)
    assert_is_gram_of(reduced, X)


@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.uint8, bool])
@pytest.mark.parametrize("as_sparse", [False, True])
def test_types(dtype, as_sparse):
    data = np.random.default_rng(0).integers(0, 2 if dtype is bool else 9, X.shape).astype(dtype)
    array = da.from_array(data, chunks=(50, 9))
    reduced = reduce_data(array.map_blocks(sparse.csr_array) if as_sparse else array)
    assert reduced.dtype == (np.float32 if dtype is np.float32 else np.float64)
    assert_is_gram_of(reduced, data.astype(float), 1e-5 if dtype is np.float32 else 1e-12)


def test_wide_rows_are_cut_so_that_blocks_stay_small(monkeypatch):
    monkeypatch.setattr(blocks_dask, "TARGET_BYTES", 10 * N_FEATURES * 8)
    array = da.from_array(X, chunks=(60, 10))
    blocks = DaskBlocks(array)._row_blocks()
    assert blocks.chunks[1] == (N_FEATURES,)
    assert max(blocks.chunks[0]) <= 10
    assert_is_gram_of(reduce_data(array), X)


@pytest.mark.parametrize("as_memmap", [False, True])
def test_gathered_route_is_the_operator_in_memory(as_memmap, monkeypatch):
    monkeypatch.setattr(reduce, "MAX_ORDER", 30)
    reduced = reduce_data(X[:25] if as_memmap else da.from_array(X[:25], chunks=(10, 9)))
    assert (reduced.route, reduced.n_passes) == ("gathered", 1)
    np.testing.assert_array_equal(reduced.to_dense(), gram_operator(X[:25]).to_dense())


def test_gathered_sparse_data_stay_sparse(monkeypatch):
    monkeypatch.setattr(reduce, "MAX_ORDER", 30)
    array = da.from_array(X[:25], chunks=(10, -1)).map_blocks(sparse.csr_array)
    reduced = reduce_data(array)
    assert sparse.issparse(reduced.data)
    assert_is_gram_of(reduced, X[:25])


@pytest.mark.parametrize("as_memmap", [False, True])
@pytest.mark.parametrize("rank", [10, 30])
def test_rotated_factor_has_the_leading_pairs(rank, as_memmap, monkeypatch, tmp_path):
    wide = make_data(30, 200)
    monkeypatch.setattr(reduce, "MAX_ORDER", 100)
    monkeypatch.setattr(reduce, "LOCAL_BYTES", rank * 200 * 8 if rank < 30 else 30 * 200 * 8 - 8)
    monkeypatch.setattr(reduce, "LOCAL_BLOCK_BYTES", 30 * 64 * 8)
    monkeypatch.setattr(blocks_dask, "TARGET_BYTES", 30 * 64 * 8)
    np.save(tmp_path / "wide.npy", wide)
    given = (
        np.load(tmp_path / "wide.npy", mmap_mode="r") if as_memmap else da.from_array(wide, chunks=(20, 90))
    )
    reduced = reduce_data(given)
    assert (reduced.route, reduced.n_passes) == ("rotated", 3)
    expected = gram_operator(wide)
    found, true = reduced.eigenpairs(5), expected.eigenpairs(5)
    np.testing.assert_allclose(found.values * reduced.scale**2, true.values * expected.scale**2, rtol=1e-10)
    np.testing.assert_allclose(np.abs(found.vectors.T @ true.vectors), np.eye(5), atol=1e-9)
    np.testing.assert_allclose(
        reduced.diag() * reduced.scale**2, expected.diag() * expected.scale**2, rtol=1e-10
    )
    assert reduced.subspace_error(5) == 0
    singular = np.linalg.svd(centred(wide), compute_uv=False) ** 2
    kept = reduced.factor.shape[0]
    np.testing.assert_allclose(
        reduced.missing_share(), singular[kept:].sum() / singular.sum(), rtol=1e-6, atol=1e-12
    )


@pytest.mark.parametrize("as_sparse", [False, True])
def test_sketch_estimates_its_error(as_sparse, monkeypatch):
    data = make_data(400, 300)
    monkeypatch.setattr(reduce, "MAX_ORDER", 100)
    array = da.from_array(data, chunks=(90, 130))
    reduced = reduce_data(array.map_blocks(sparse.csr_array) if as_sparse else array)
    assert reduced.route == "sketched"
    assert reduced.n_passes <= 3
    gram = centred(data).T @ centred(data)
    true = np.linalg.eigh(gram)[1][:, ::-1]
    for count in (1, 2, 4):
        found = reduced.eigenpairs(count).vectors
        sine = np.linalg.norm(true[:, :count] - found @ (found.T @ true[:, :count]), 2)
        assert sine <= reduced.subspace_error(count) + 1e-9
        assert reduced.subspace_error(count) < 1e-2
    scaled = gram / reduced.scale**2
    np.testing.assert_allclose(reduced.diag(), np.diag(scaled), rtol=1e-9)
    np.testing.assert_allclose(reduced.trace(), np.trace(scaled), rtol=1e-9)
    left_out = np.linalg.eigvalsh(scaled - reduced.to_dense())
    assert left_out[0] > -1e-9 * np.trace(scaled)
    np.testing.assert_allclose(reduced.missing_share(), left_out.sum() / np.trace(scaled), rtol=1e-6)
    chosen = np.array([3, 7, 150])
    np.testing.assert_allclose(np.diag(reduced.subgram(chosen)), np.diag(scaled)[chosen], rtol=1e-9)


def test_sketch_stops_when_the_rank_is_reached(monkeypatch):
    monkeypatch.setattr(reduce, "MAX_ORDER", 100)
    rng = np.random.default_rng(0)
    data = rng.standard_normal((300, 3)) @ rng.standard_normal((3, 200))
    reduced = reduce_data(da.from_array(data, chunks=(100, -1)))
    assert reduced.n_passes == 2
    assert reduced.factor.shape[0] == 3
    assert_is_gram_of(reduced, data, 1e-10)
    assert reduced.subspace_error(3) < 1e-10


def test_sketch_widens_for_many_components(monkeypatch):
    monkeypatch.setattr(reduce, "MAX_ORDER", 100)
    data = np.random.default_rng(0).standard_normal((300, 290))
    assert reduce_data(da.from_array(data), n_components=80).factor.shape[0] >= 3 * 80


def test_the_collection_is_not_changed():
    array = unknown_rows(da.from_array(X, chunks=(50, 7)))
    DaskBlocks(array).count_rows()
    assert np.isnan(array.shape[0])


@pytest.mark.parametrize("bad", [-np.inf, np.inf])
@pytest.mark.parametrize("as_sparse", [False, True])
def test_bad_values_name_the_block(bad, as_sparse):
    broken = X.copy()
    broken[77, 3] = bad
    array = da.from_array(broken, chunks=(50, 7))
    array = array.map_blocks(sparse.csr_array) if as_sparse else array
    with pytest.raises(ValueError, match=r"^Block 1 of X \(rows 50 to 99\) contains (NaN or )?infinity"):
        reduce_data(array)
    with pytest.raises(ValueError, match=r"^Block 1 of X contains NaN or infinity"):
        reduce_data(unknown_rows(da.from_array(broken, chunks=(50, -1))))


@pytest.mark.parametrize(("route", "bad"), [("gathered", np.inf), ("rotated", np.inf), ("rotated", np.nan)])
def test_bad_values_are_refused_on_the_other_routes(route, bad, monkeypatch):
    broken = X[:30].copy()
    broken[20, 35] = bad
    monkeypatch.setattr(reduce, "MAX_ORDER", 35)
    if route == "rotated":
        monkeypatch.setattr(reduce, "LOCAL_BYTES", 1000)
    with pytest.raises(ValueError, match=r"^X contains (NaN or )?infinity"):
        reduce_data(da.from_array(broken, chunks=(10, 20)))


def read_or_fail(block, block_info=None, unreadable=()):
    if block_info[0]["chunk-location"][0] in unreadable:
        raise OSError("the disk is on fire")
    return block


@pytest.mark.parametrize("unreadable", [(0,), (3,), (11,), (4, 9)])
def test_unreadable_block_is_named(unreadable):
    array = da.from_array(X, chunks=(10, -1)).map_blocks(
        read_or_fail, unreadable=unreadable, dtype=X.dtype, meta=np.empty((0, 0))
    )
    with pytest.raises(ValueError, match=rf"^Block {unreadable[0]} of X .* cannot be read: the disk is on"):
        reduce_data(array)


def test_an_error_that_does_not_come_back_is_passed_on(monkeypatch):
    def fail(*_):
        raise RuntimeError("once")

    monkeypatch.setattr(blocks_dask, "merge_moments", fail)
    with pytest.raises(RuntimeError, match="once"):
        reduce_data(da.from_array(X, chunks=(50, -1)))


def test_words_and_wrong_shapes_are_refused():
    with pytest.raises(ValueError, match="two dimensions"):
        reduce_data(da.ones(5))
    with pytest.raises(ValueError, match="These columns of X hold text: word"):
        reduce_data(dd.from_pandas(pd.DataFrame({"a": [1.0, 2.0], "word": ["x", "y"]}), npartitions=1))
    with pytest.raises(TypeError, match="convert its columns to numbers"):
        reduce_data(da.from_array(np.array([["a"]], dtype=object), chunks=1))
    with pytest.raises(ValueError, match=r"1 sample\(s\)"):
        reduce_data(da.from_array(X[:1]))


def test_nullable_columns_of_a_frame():
    frame = pd.DataFrame({"a": pd.array([1, 2, 4], dtype="Int64"), "b": [True, False, True]})
    reduced = reduce_data(dd.from_pandas(frame, npartitions=2))
    assert_is_gram_of(reduced, frame.astype(float).to_numpy())


def test_missing_dask_says_how_to_install_it():
    with pytest.raises(ImportError, match=r'pip install "ufselect\[dask\]"'):
        blocks_dask.import_dask("dask.no_such_part")
