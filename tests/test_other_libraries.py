"""Data as other libraries hand them over: joblib, xarray, torch, polars, pyarrow, SQL, Spark."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from joblib import parallel_config
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import FeatureUnion

from tests.conftest import frame_class
from tests.selectors import RUNNABLE, make
from ufselect import (
    BSUFS,
    DSCOFS,
    FSPCA,
    SPCAFS,
    SPCAPSD,
    AutoSelector,
    ConstrainedDSCOFS,
    DOptimalLeverage,
    GramSelector,
    GraphClustering,
    GreedyProjection,
    LaplacianScore,
    MaxVariance,
    PCALeverage,
    ReconstructionSelector,
    Reconstructor,
    RedundancyFilter,
    StableSelector,
    dscofs_path,
    gram_from_covariance,
)
from ufselect.gram import GramAccumulator

RNG = np.random.default_rng(5)
X = RNG.standard_normal((120, 3)) @ RNG.standard_normal((3, 10)) + 0.3 * RNG.standard_normal((120, 10)) + 7
NAMES = [f"sensor {j}" for j in range(10)]
GRAM_METHODS = [
    DSCOFS(4, n_components=3),
    FSPCA(4, n_components=3),
    GreedyProjection(4),
    ReconstructionSelector(4, penalty=0.01),
    RedundancyFilter(0.8),
    PCALeverage(4, n_components=3),
    BSUFS(4),
    ConstrainedDSCOFS(4, n_components=2),
    DOptimalLeverage(4, n_components=3),
    MaxVariance(4),
    SPCAFS(4, n_components=3),
    SPCAPSD(4),
]


def identify(selector):
    return type(selector).__name__


def frame(library, rows=X, names=NAMES):
    return frame_class(library)(dict(zip(names, rows.T, strict=True)))


# Memory maps


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["DSCOFS", "ReconstructionSelector", "LaplacianScore", "AutoSelector"])
def test_a_memory_map_selects_as_an_array_does(name, tmp_path):
    """joblib hands arrays over 1 MB to other processes as memory maps."""
    gaps = np.where(RNG.random(X.shape) < 0.03, np.nan, X) if RUNNABLE[name].accepts_missing else X
    for data in (X, gaps):
        np.save(tmp_path / "X.npy", data)
        expected = make(name, n_features_to_select=4).fit(data)
        found = make(name, n_features_to_select=4).fit(np.load(tmp_path / "X.npy", mmap_mode="r"))
        np.testing.assert_array_equal(found.ranking_, expected.ranking_)
        assert vars(found).keys() == vars(expected).keys()


@pytest.mark.filterwarnings("ignore")
def test_processes_select_as_one_does():
    names = ("DSCOFS", "RandomSubset", "LaplacianScore", "AutoSelector")
    steps = [(name, make(name, n_features_to_select=4)) for name in names]
    alone = FeatureUnion(steps, n_jobs=1).fit(X)
    with parallel_config(max_nbytes=1000):  # so that X reaches the processes as a memory map
        together = FeatureUnion(steps, n_jobs=2).fit(X)
    assert together.get_feature_names_out().tolist() == alone.get_feature_names_out().tolist()


# Accumulators


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_an_accumulator_knows_the_names_of_frames(library):
    whole = frame(library)
    accumulator = GramAccumulator().update(whole[:50]).update(X[50:80]).update(whole[80:])
    found, expected = DSCOFS(4).fit(accumulator), DSCOFS(4).fit(whole)
    assert found.feature_names_in_.tolist() == NAMES
    assert found.get_feature_names_out().tolist() == expected.get_feature_names_out().tolist()
    assert MaxVariance(2, keep=[NAMES[0]]).fit(accumulator).support_[0]
    assert not hasattr(found.fit(GramAccumulator().update(X)), "feature_names_in_")


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_an_accumulator_refuses_columns_in_another_order(library):
    accumulator = GramAccumulator().update(frame(library))
    turned = frame(library, X[:, ::-1], NAMES[::-1])
    others = frame(library, names=[*NAMES[:-1], "stranger"])
    for add in (accumulator.update, lambda batch: accumulator.merge(GramAccumulator().update(batch))):
        with pytest.raises(ValueError, match=r"in another order than before; order them as sensor 0, "):
            add(turned)
        with pytest.raises(ValueError, match="differ from those before: stranger"):
            add(others)
    assert accumulator.n_samples == 120


def test_an_accumulator_takes_nullable_frames():
    pandas = pytest.importorskip("pandas")
    nullable = frame("pandas").convert_dtypes()
    nullable["whole"] = pandas.array(np.arange(120), dtype="Int64")
    nullable.iloc[3, 0] = nullable.iloc[5, -1] = pandas.NA
    plain = nullable.to_numpy(dtype=float, na_value=np.nan)
    np.testing.assert_array_equal(
        GramAccumulator().update(nullable).gram().to_dense(),
        GramAccumulator().update(plain).gram().to_dense(),
    )


def test_accumulators_of_workers_travel_and_merge():
    """What a Spark or Ray job does: one accumulator a partition, pickled, merged where the result is."""
    rows = frame("pandas")
    parts = [pickle.dumps(GramAccumulator().update(rows[start : start + 25])) for start in range(0, 120, 25)]
    total = GramAccumulator()
    for part in parts:
        total.merge(pickle.loads(part))
    assert total.feature_names.tolist() == NAMES
    np.testing.assert_array_equal(DSCOFS(4).fit(total).support_, DSCOFS(4).fit(X).support_)


# Covariances from elsewhere


def test_every_method_of_the_gram_matrix_is_tried():
    known = {each for each in RUNNABLE.values() if issubclass(each, GramSelector)}
    assert known == {type(selector) for selector in GRAM_METHODS} - {RedundancyFilter}


@pytest.mark.parametrize("selector", GRAM_METHODS, ids=identify)
def test_a_covariance_selects_as_its_rows_do(selector):
    rows = np.vstack([X] * 8)  # many rows, of which none are held out
    gram = gram_from_covariance(np.cov(rows.T), len(rows), feature_names=NAMES)
    found, expected = clone(selector).fit(gram), clone(selector).fit(rows)
    np.testing.assert_array_equal(found.support_, expected.support_)
    assert found.feature_names_in_.tolist() == NAMES


def test_a_covariance_is_the_gram_matrix_of_its_rows():
    gram = gram_from_covariance(np.cov(X.T), len(X), X.mean(axis=0))
    centred = X - X.mean(axis=0)
    np.testing.assert_allclose(gram.to_dense() * gram.scale**2, centred.T @ centred, rtol=1e-10)
    assert gram.n_samples == 120


@pytest.mark.parametrize("unit", [1e-140, 1e140])
def test_a_covariance_of_any_unit(unit):
    found = DSCOFS(4).fit(gram_from_covariance(np.cov(X.T * unit), len(X)))
    np.testing.assert_array_equal(found.support_, DSCOFS(4).fit(X).support_)


def test_a_reconstructor_from_a_covariance():
    mean = X.mean(axis=0)
    chosen = Reconstructor(MaxVariance(4)).fit(gram_from_covariance(np.cov(X.T), len(X), mean))
    by_rows = Reconstructor(MaxVariance(4)).fit(GramAccumulator().update(X))
    np.testing.assert_allclose(chosen.weights_, by_rows.weights_, atol=1e-10)
    np.testing.assert_allclose(chosen.mean_, mean)
    assert chosen.score(X) > 0.8
    with pytest.raises(ValueError, match="has no means of its columns"):
        Reconstructor(MaxVariance(4)).fit(gram_from_covariance(np.cov(X.T), len(X)))


def test_a_frame_of_covariances_has_names():
    rows = frame("pandas")
    found = MaxVariance(3).fit(gram_from_covariance(rows.cov(), len(rows)))
    assert found.get_feature_names_out().tolist() == MaxVariance(3).fit(rows).get_feature_names_out().tolist()


def changed(place, value):
    covariance = np.cov(X.T)
    covariance[place] = value
    return covariance


@pytest.mark.parametrize(
    ("covariance", "options", "message"),
    [
        (np.cov(X.T)[:, :4], {}, "must be a square matrix"),
        (np.triu(np.cov(X.T)), {}, "not symmetric"),
        (changed((2, 2), -1.0), {}, "Column 2 .* negative variance"),
        (changed((2, 2), 0.0), {}, "variance 0 that covaries"),
        (changed((2, 2), np.nan), {}, "NaN or infinity"),
        (np.eye(3) * 2 - 1, {}, "negative eigenvalues"),
        (np.cov(X.T), {"n_samples": 1}, "n_samples must be an integer"),
        (np.cov(X.T), {"mean": [1.0, 2.0]}, "mean has 2 entries and X has 10"),
        (np.cov(X.T), {"feature_names": ["a"]}, "feature_names must have 10 entries"),
    ],
)
def test_what_is_no_covariance_is_refused(covariance, options, message):
    with pytest.raises(ValueError, match=message):
        gram_from_covariance(covariance, **{"n_samples": 120, **options})


def test_a_covariance_of_copies_and_constants_is_one():
    rows = np.column_stack([X, X[:, 0], np.ones(120), X[:, 1] * 1e-9])
    gram = gram_from_covariance(np.cov(rows.T), 120)
    np.testing.assert_array_equal(
        RedundancyFilter().fit(gram).support_, RedundancyFilter().fit(rows).support_
    )


def test_sql_computes_what_is_needed():
    duckdb = pytest.importorskip("duckdb")
    rows = frame("pandas")
    with duckdb.connect() as database:
        table = database.from_df(rows)
        pairs = ", ".join(f'covar_samp("{a}", "{b}")' for a in NAMES for b in NAMES)
        covariance = np.reshape(table.aggregate(pairs).fetchall()[0], (10, 10))
        found = DSCOFS(4).fit(gram_from_covariance(covariance, len(rows), feature_names=NAMES))
        with pytest.raises(TypeError, match=r"^X is a DuckDBPyRelation, .* pass X\.df\(\)"):
            DSCOFS(4).fit(table)
    np.testing.assert_array_equal(found.support_, DSCOFS(4).fit(rows).support_)


# Lazy tables


def lazy_frame(tmp_path):
    frame("polars").write_parquet(tmp_path / "table.parquet")
    return pytest.importorskip("polars").scan_parquet(tmp_path / "table.parquet")


def arrow_dataset(tmp_path):
    pytest.importorskip("pyarrow")
    frame("polars").write_parquet(tmp_path / "table.parquet")
    return pytest.importorskip("pyarrow.dataset").dataset(tmp_path / "table.parquet")


LAZY = pytest.mark.parametrize("lazy", [lazy_frame, arrow_dataset])


@LAZY
def test_lazy_tables_select_as_their_rows_do(lazy, tmp_path):
    found = DSCOFS(4, n_components=3).fit(lazy(tmp_path))
    np.testing.assert_array_equal(found.support_, DSCOFS(4, n_components=3).fit(X).support_)
    assert found.feature_names_in_.tolist() == NAMES
    assert found.reduction_.n_passes == 1


@LAZY
def test_lazy_tables_at_other_doors(lazy, tmp_path):
    table = lazy(tmp_path)
    path = dscofs_path(table, (3,), (0.5,), n_components=3)
    assert path.support(3, 0.5).sum() == 3
    assert Reconstructor(MaxVariance(3)).fit(table).get_feature_names_out().size == 3
    with pytest.raises(TypeError, match="needs the data in memory"):
        LaplacianScore(3).fit(table)
    with pytest.raises(TypeError, match="sample_weight cannot be given for a"):
        MaxVariance(3).fit(table, sample_weight=np.ones(120))


def test_a_lazy_frame_stays_lazy(tmp_path):
    polars = pytest.importorskip("polars")
    table, rows = lazy_frame(tmp_path), frame("polars")
    for selector in (MaxVariance(3).fit(table), Reconstructor(MaxVariance(3)).fit(rows)):
        small = selector.transform(table)
        assert isinstance(small, polars.LazyFrame)
        assert small.collect().columns == selector.get_feature_names_out().tolist()
    with pytest.raises(ValueError, match="feature names should match"):
        MaxVariance(3).fit(rows).transform(table.rename({NAMES[0]: "other"}))
    text = frame("polars").lazy().with_columns(polars.lit("a").alias("word"))
    with pytest.raises((TypeError, ValueError), match="columns of X hold text: word"):
        MaxVariance(3).fit(text)


@pytest.mark.parametrize("rows_at_once", [1, 7, 1000])
def test_lazy_tables_are_read_in_batches(rows_at_once, tmp_path):
    from ufselect.gram.accumulate import accumulate_table

    for lazy in (lazy_frame, arrow_dataset):
        gram = accumulate_table(lazy(tmp_path), batch_bytes=80 * rows_at_once).gram()
        centred = X - X.mean(axis=0)
        np.testing.assert_allclose(gram.to_dense() * gram.scale**2, centred.T @ centred, rtol=1e-9)


def test_a_dataset_is_never_whole_in_memory(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import dataset, parquet

    rows = pyarrow.table(dict(zip(NAMES, RNG.standard_normal((10, 20_000)), strict=True)))
    with parquet.ParquetWriter(tmp_path / "table.parquet", rows.schema) as writer:
        for _ in range(60):
            writer.write_table(rows)
    before = pyarrow.default_memory_pool()
    pool = pyarrow.proxy_memory_pool(before)  # which counts what is taken from now on
    pyarrow.set_memory_pool(pool)
    try:
        MaxVariance(3).fit(dataset.dataset(tmp_path / "table.parquet"))
    finally:
        pyarrow.set_memory_pool(before)
    assert rows.nbytes < pool.max_memory() < 30 * rows.nbytes


# Frames and arrays in memory


def test_pandas_frames_keep_the_types_of_their_columns():
    pandas = pytest.importorskip("pandas")
    rows = frame("pandas").astype({NAMES[1]: np.float32})
    rows["whole"], rows["even"] = pandas.array(np.arange(120) % 3, dtype="Int64"), np.arange(120) % 2 == 0
    small = MaxVariance(12).set_output(transform="pandas").fit(rows).transform(rows)
    pandas.testing.assert_frame_equal(small, rows)


def test_polars_frames_keep_the_types_of_their_columns():
    polars = pytest.importorskip("polars")
    rows = frame("polars").with_columns(
        polars.col(NAMES[1]).cast(polars.Float32), polars.lit(3).alias("whole")
    )
    selector = MaxVariance(11).set_output(transform="polars").fit(rows)
    assert selector.transform(rows).schema == rows.schema
    with pytest.raises(ValueError, match="feature names should match"):
        selector.transform(rows.select(reversed(rows.columns)))
    with pytest.raises(NotFittedError):
        MaxVariance(2).set_output(transform="polars").transform(rows)


def test_arrays_of_xarray():
    xarray = pytest.importorskip("xarray")
    labelled = xarray.DataArray(X, dims=("time", "sensor"))
    selector = DSCOFS(4).fit(labelled)
    np.testing.assert_array_equal(selector.support_, DSCOFS(4).fit(X).support_)
    np.testing.assert_array_equal(selector.transform(labelled), X[:, selector.support_])
    pytest.importorskip("dask")
    with pytest.raises(TypeError, match=r"^X is a dask DataArray; pass X\.data"):
        DSCOFS(4).fit(labelled.chunk(50))
    np.testing.assert_array_equal(DSCOFS(4).fit(labelled.chunk(50).data).support_, selector.support_)


def test_tensors_of_torch():
    torch = pytest.importorskip("torch")
    tensor = torch.tensor(X)
    np.testing.assert_array_equal(DSCOFS(4).fit(tensor).support_, DSCOFS(4).fit(X).support_)
    with pytest.raises(TypeError, match=r"^X is a Tensor, which records gradients; pass X\.detach\(\)\.$"):
        DSCOFS(4).fit(tensor.requires_grad_())
    with pytest.raises(TypeError, match=r"which is on another device; call sklearn\.set_config"):
        DSCOFS(4).fit(torch.empty((5, 5), device="meta"))


def stand_in(module, base=object, **members):
    """Return a class as another library has it; ours looks at its module alone, which need not be there."""
    return type("DataFrame", (base,), {"__module__": module, **members})


def test_a_frame_of_spark_says_how_to_bring_its_rows():
    with pytest.raises(TypeError, match=r"rows are on a cluster; .*GramAccumulator .*toPandas\(\)"):
        DSCOFS(4).fit(stand_in("pyspark.sql.dataframe", collect=lambda self: [], columns=["a"])())


def test_a_frame_with_geometries_says_which_column():
    pandas = pytest.importorskip("pandas")

    class Geometries(pandas.api.extensions.ExtensionDtype):
        name = "geometry"

    places = frame("pandas")
    with_geometry = stand_in(
        "geopandas.geodataframe", columns=["area", "place"], dtypes=[places.dtypes.iloc[0], Geometries()]
    )
    with pytest.raises(
        TypeError, match="holds geometries in column 'place'; convert it to numbers or drop it"
    ):
        DSCOFS(1).fit(with_geometry())


# What neighbours promise of a selector


def test_dropped_columns_come_back_as_zeros():
    fitted = DSCOFS(4).fit(X)
    back = fitted.inverse_transform(fitted.transform(X))
    np.testing.assert_array_equal(back, np.where(fitted.support_, X, 0))
    sparse_back = fitted.inverse_transform(fitted.transform(sparse.csr_array(X)))
    np.testing.assert_array_equal(sparse_back.toarray(), back)


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "lil", "dok", "dia", "bsr"])
def test_sparse_data_of_every_format(kind):
    thinned = np.where(X > 7, X, 0)[:50]
    fitted = MaxVariance(4).fit(sparse.coo_array(thinned).asformat(kind))
    np.testing.assert_array_equal(fitted.scores_, MaxVariance(4).fit(sparse.csr_array(thinned)).scores_)
    small = fitted.transform(sparse.coo_array(thinned).asformat(kind))
    np.testing.assert_array_equal(small.toarray(), thinned[:, fitted.support_])


@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.uint8, bool])
def test_selected_columns_keep_their_type(dtype):
    values = np.clip(20 * (X - 7), 0, 255).astype(dtype)
    small = MaxVariance(4).fit_transform(values)
    assert small.dtype == dtype
    assert MaxVariance(4).fit(values).inverse_transform(small).dtype == dtype


# Storing


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "estimator",
    [
        *GRAM_METHODS,
        LaplacianScore(4),
        Reconstructor(ReconstructionSelector(4)),
        GraphClustering(2),
        AutoSelector(4, goal="clusters", random_state=0),
        StableSelector(MaxVariance(4), n_resamples=4, random_state=0),
    ],
    ids=identify,
)
def test_skops_stores_what_is_fitted(estimator):
    """All that must be trusted is ours, a NumPy dtype or a sparse matrix."""
    skops = pytest.importorskip("skops.io")
    fitted = clone(estimator).fit(X)
    stored = skops.dumps(fitted)
    types = skops.get_untrusted_types(data=stored)
    ours = [name for name in types if name.startswith("ufselect.")]
    assert set(types) - set(ours) <= {"numpy.dtype", "scipy.sparse._csr.csr_array"}
    again = skops.loads(stored, trusted=types)
    assert again.get_params().keys() == fitted.get_params().keys()
    attribute = "labels_" if getattr(fitted, "labels_", None) is not None else "support_"
    np.testing.assert_array_equal(getattr(again, attribute), getattr(fitted, attribute))
    if hasattr(fitted, "transform"):
        np.testing.assert_array_equal(again.transform(X), fitted.transform(X))
