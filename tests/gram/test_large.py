"""Selectors on data that are not in memory: the same result as in memory."""

from __future__ import annotations

import tracemalloc
import uuid
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from tests.selectors import RUNNABLE

from ufselect import (
    DSCOFS,
    AutoSelector,
    GramSelector,
    GreedyProjection,
    LaplacianScore,
    MaxVariance,
    PCALeverage,
    base,
    dscofs_path,
)
from ufselect._registry import all_selectors
from ufselect.exceptions import ApproximationWarning
from ufselect.gram import GramAccumulator, gram_operator, reduce, reduce_data
from ufselect.gram.reduce import sample_rows

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
pd = pytest.importorskip("pandas")

N_SAMPLES, N_FEATURES, N_SELECTED = 240, 30, 8
GRAM_SELECTORS = [
    pytest.param(selector, id=name)
    for name, selector in RUNNABLE.items()
    if issubclass(selector, GramSelector)
]
# These look at a sample of rows where the data are not in memory.
SAMPLING_SELECTORS = (AutoSelector, LaplacianScore)
MEMORY_SELECTORS = [
    pytest.param(selector, id=name)
    for name, selector in all_selectors().items()
    if not issubclass(selector, (GramSelector, *SAMPLING_SELECTORS))
]


def make_data(n_samples=N_SAMPLES, n_features=N_FEATURES, seed=3):
    rng = np.random.default_rng(seed)
    signal = (rng.standard_normal((n_samples, 3)) * [5, 3, 2]) @ rng.standard_normal((3, n_features))
    noise = rng.standard_normal((n_samples, n_features)) * np.linspace(0.2, 0.6, n_features)
    return signal + noise + 10


X = make_data()
FRAME = pd.DataFrame(X, columns=[f"f{j}" for j in range(N_FEATURES)])


def parquet(folder):
    dd.from_pandas(FRAME, npartitions=3).to_parquet(folder / "parts")
    return dd.read_parquet(folder / "parts")


def zarr(folder):
    pytest.importorskip("zarr").save_array(folder / "table.zarr", X)
    return da.from_zarr(folder / "table.zarr")


def hdf5(folder):
    h5py = pytest.importorskip("h5py")
    with h5py.File(folder / "table.h5", "w") as file:
        file.create_dataset("X", data=X, chunks=(100, 10))
    return da.from_array(h5py.File(folder / "table.h5")["X"], chunks=(100, -1))


def csr_in_h5ad(folder):
    anndata, h5py = pytest.importorskip("anndata"), pytest.importorskip("h5py")
    anndata.AnnData(sparse.csr_matrix(X)).write_h5ad(folder / "cells.h5ad")
    return anndata.experimental.read_elem_lazy(h5py.File(folder / "cells.h5ad")["X"])


def memory_map(folder):
    np.save(folder / "table.npy", X)
    return np.load(folder / "table.npy", mmap_mode="r")


CONTAINERS = {
    "rows": lambda _: da.from_array(X, chunks=(70, -1)),
    "both ways": lambda _: da.from_array(X, chunks=(70, 11)),
    "sparse": lambda _: da.from_array(X, chunks=(70, -1)).map_blocks(sparse.csr_array),
    "frame": lambda _: dd.from_pandas(FRAME, npartitions=4),
    "parquet": parquet,
    "zarr": zarr,
    "hdf5": hdf5,
    "CSR in h5ad": csr_in_h5ad,
    "memory-mapped": memory_map,
    "accumulator": lambda _: GramAccumulator().update(X[:50]).update(sparse.csr_array(X[50:])),
    "reduced": lambda _: reduce_data(da.from_array(X, chunks=(70, -1))),
    "operator": lambda _: gram_operator(X),
}


def objective(fitted):
    """Return the number that a method optimises, or its scores."""
    history = getattr(fitted, "objective_history_", None)
    return fitted.scores_ if history is None else np.asarray(history)[-1]


def assert_same_fit(found, expected):
    np.testing.assert_array_equal(found.support_, expected.support_)
    np.testing.assert_allclose(objective(found), objective(expected), rtol=1e-8)
    assert found.n_features_in_ == expected.n_features_in_


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("selector", GRAM_SELECTORS)
def test_every_selector_finds_outside_memory_what_it_finds_in_it(selector):
    fitted = (selector(n_features_to_select=N_SELECTED).fit(X) for X in (CONTAINERS["both ways"](None), X))
    assert_same_fit(*fitted)


@pytest.mark.parametrize("container", CONTAINERS)
def test_every_container_gives_the_result_of_an_array(container, tmp_path):
    expected = DSCOFS(n_features_to_select=N_SELECTED).fit(X)
    found = DSCOFS(n_features_to_select=N_SELECTED).fit(CONTAINERS[container](tmp_path))
    assert_same_fit(found, expected)
    assert expected.reduction_ is None
    if container != "memory-mapped":  # small ones count as arrays
        assert found.reduction_.route == ("given" if container == "operator" else "formed")
        assert found.reduction_.subspace_error == 0


@pytest.mark.parametrize("route", ["gathered", "rotated", "sketched"])
def test_other_routes_give_the_selection_too(route, monkeypatch):
    """The sketch is approximate, but its error on clear structure is far below the differences of scores."""
    wide = make_data(60, 150)
    monkeypatch.setattr(reduce, "MAX_ORDER", 20 if route == "sketched" else 100)
    if route == "rotated":
        monkeypatch.setattr(reduce, "LOCAL_BYTES", 59 * 150 * 8)
    selector = DSCOFS(n_features_to_select=10, n_components=3, entry_sparsity=0.05)
    expected = clone(selector).fit(wide)
    found = selector.fit(da.from_array(wide, chunks=(25, 70)))
    assert found.reduction_.route == route
    np.testing.assert_array_equal(found.support_, expected.support_)
    tolerance = 1e-3 if route == "sketched" else 1e-8
    np.testing.assert_allclose(objective(found), objective(expected), rtol=tolerance)
    assert found.reduction_.subspace_error < 0.05


def test_untrustworthy_sketch_warns_and_keeps_the_estimate(monkeypatch):
    monkeypatch.setattr(reduce, "MAX_ORDER", 20)
    noise = da.from_array(np.random.default_rng(0).standard_normal((500, 300)), chunks=(100, -1))
    selector = PCALeverage(n_features_to_select=10, n_components=4)
    with pytest.warns(ApproximationWarning, match="may miss its 4 leading components") as caught:
        selector.fit(noise)
    assert Path(caught[0].filename) == Path(__file__)
    assert selector.reduction_.subspace_error > 0.1
    assert selector.reduction_.missing_share > 0.1
    with pytest.warns(ApproximationWarning):
        dscofs_path(noise, (5,), (0.5,), n_components=4)
    for greedy in (GreedyProjection(10, n_components=4), GreedyProjection(10, target="features")):
        with pytest.warns(ApproximationWarning):
            greedy.fit(noise)
    # Variances come from the exact diagonal: nothing to warn about.
    assert MaxVariance(n_features_to_select=10).fit(noise).reduction_.subspace_error == 0


def test_path_on_dask():
    expected = dscofs_path(X, (5, 8), (0.1, 0.4), n_components=3)
    found = dscofs_path(da.from_array(X, chunks=(70, 11)), (5, 8), (0.1, 0.4), n_components=3)
    np.testing.assert_array_equal(found.support(8, 0.1), expected.support(8, 0.1))
    np.testing.assert_allclose(found.objective, expected.objective, rtol=1e-8)


def test_laplacian_score_uses_a_sample_of_rows(monkeypatch):
    array = da.from_array(X, chunks=(70, 11))
    np.testing.assert_array_equal(LaplacianScore().fit(array).scores_, LaplacianScore().fit(X).scores_)
    monkeypatch.setattr("ufselect.base.sample_rows", partial(sample_rows, max_rows=100))
    rows = []
    monkeypatch.setattr(LaplacianScore, "_fit", lambda self, data, *_: rows.append(data) or data[0])
    LaplacianScore().fit(array)
    LaplacianScore().fit(array)
    np.testing.assert_array_equal(rows[0], rows[1])
    positions = [int(np.flatnonzero((row == X).all(axis=1))[0]) for row in rows[0]]
    assert len(positions) == 100
    assert np.all(np.diff(positions) > 0)
    broken = X.copy()
    broken[positions[0]] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        LaplacianScore().fit(da.from_array(broken, chunks=(70, 11)))


def count_reads(block, folder):
    (Path(folder) / str(uuid.uuid4())).touch()
    return block


@pytest.mark.parametrize(("route", "passes"), [("formed", 1), ("sketched", 3)])
def test_passes_over_the_data_are_counted(route, passes, tmp_path, monkeypatch):
    """Iterations of the solver read nothing."""
    if route == "sketched":
        monkeypatch.setattr(reduce, "MAX_ORDER", 20)
    data = make_data(240, 200)
    array = da.from_array(data, chunks=(60, -1)).map_blocks(
        count_reads, folder=str(tmp_path), dtype=float, meta=np.empty((0, 0))
    )
    fitted = DSCOFS(10, n_components=3, entry_sparsity=0.04, tol=1e-8, max_iter=1000).fit(array)
    assert fitted.n_iter_ > 3
    assert fitted.reduction_.route == route
    assert fitted.reduction_.n_passes == passes
    assert len(list(tmp_path.iterdir())) == 4 * passes


@pytest.mark.parametrize("container", ["rows", "both ways", "sparse", "frame"])
def test_transform_stays_lazy(container, tmp_path):
    collection = CONTAINERS[container](tmp_path)
    fitted = MaxVariance(n_features_to_select=N_SELECTED).fit(collection)
    lazy = fitted.transform(collection)
    assert hasattr(lazy, "__dask_graph__")
    computed = lazy.compute()
    computed = computed.toarray() if sparse.issparse(computed) else np.asarray(computed)
    np.testing.assert_array_equal(computed, X[:, fitted.support_])


def test_transform_checks_the_features():
    frame = dd.from_pandas(FRAME, npartitions=2)
    fitted = MaxVariance(n_features_to_select=3).fit(frame)
    assert list(fitted.feature_names_in_) == list(FRAME.columns)
    assert list(fitted.transform(frame).columns) == list(fitted.get_feature_names_out())
    with pytest.raises(ValueError, match="feature names"):
        fitted.transform(frame.rename(columns={"f0": "other"}))
    with pytest.raises(ValueError, match="5 features"):
        MaxVariance(n_features_to_select=3).fit(X).transform(da.ones((4, 5)))
    with pytest.raises(NotFittedError):
        MaxVariance().transform(da.ones((4, 5)))


@pytest.mark.parametrize("selector", MEMORY_SELECTORS)
def test_others_say_that_they_need_memory(selector):
    with pytest.raises(TypeError, match=f"{selector.__name__} needs the data in memory"):
        selector().fit(da.from_array(X, chunks=(70, -1)))
    with pytest.raises(TypeError, match="needs the data in memory"):
        selector().fit(GramAccumulator().update(X))
    assert not hasattr(selector(), "partial_fit")


def never(block):
    raise AssertionError("the data were read")


def test_bad_parameters_are_refused_before_reading():
    array = da.from_array(X, chunks=(70, -1)).map_blocks(never, dtype=float, meta=np.empty((0, 0)))
    with pytest.raises(ValueError, match="n_features_to_select"):
        MaxVariance(n_features_to_select=31).fit(array)
    with pytest.raises(ValueError, match="mu_row"):
        DSCOFS(mu_row=-1.0).fit(array)
    with pytest.raises(ValueError, match="n_features_to_select"):
        dscofs_path(array, (31,))


def test_memory_maps_are_not_copied(tmp_path):
    """The peak of traced memory stays far below the size of the file, for whole numbers too."""
    path = tmp_path / "counts.npy"
    counts = np.random.default_rng(0).integers(0, 100, (410_000, 50), dtype=np.int16)
    np.save(path, counts)
    mapped = np.load(path, mmap_mode="r")
    tracemalloc.start()
    selector = DSCOFS(n_features_to_select=5, n_components=2, entry_sparsity=None)
    support = selector.fit(mapped).support_
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < counts.nbytes / 2
    np.testing.assert_array_equal(support, selector.fit(counts).support_)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("selector", GRAM_SELECTORS)
def test_partial_fit_of_all_batches_is_fit(selector):
    streamed = selector(n_features_to_select=N_SELECTED)
    for batch in (FRAME[:100], FRAME[100:101], FRAME[101:]):
        assert streamed.partial_fit(batch) is streamed
    assert_same_fit(streamed, selector(n_features_to_select=N_SELECTED).fit(FRAME))
    assert list(streamed.feature_names_in_) == list(FRAME.columns)


def test_partial_fit_refuses_without_forgetting(monkeypatch):
    streamed = MaxVariance(n_features_to_select=3).partial_fit(X[:100])
    bad = X[100:].copy()
    bad[4, 4] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        streamed.partial_fit(bad)
    with pytest.raises(ValueError, match="29 features"):
        streamed.partial_fit(X[100:, :29])
    with pytest.raises(ValueError, match="minimum of 2"):
        MaxVariance().partial_fit(X[:1])
    assert_same_fit(streamed.partial_fit(X[100:]), MaxVariance(n_features_to_select=3).fit(X))
    streamed.fit(X[:50]).partial_fit(X[50:90])
    assert_same_fit(streamed, MaxVariance(n_features_to_select=3).fit(X[50:90]))
    monkeypatch.setattr(base, "MAX_ORDER", 20)
    with pytest.raises(ValueError, match="at most 20 features, not 30"):
        MaxVariance().partial_fit(X)
