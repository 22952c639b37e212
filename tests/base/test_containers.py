"""Containers whose marks NumPy would drop, and things that have no rows and columns of numbers."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.feature_selection import VarianceThreshold

from ufselect import (
    DSCOFS,
    AutoSelector,
    GraphClustering,
    LaplacianScore,
    MaxVariance,
    PCALeverage,
    ReconstructionSelector,
    Reconstructor,
    StableSelector,
    assess,
)
from ufselect.gram import GramAccumulator
from ufselect.metrics import evaluate_selection, neighbours_kept, variance_reconstructed
from ufselect.preprocessing import AutoScaler, LogCounts

RNG = np.random.default_rng(0)
X = RNG.standard_normal((24, 6)) * np.arange(1, 7)
MASK = RNG.random(X.shape) < 0.1
FAR = np.where(MASK, 1e6, X)  # what lies under the mask must not count
MASKED = np.ma.masked_array(FAR, MASK)
WITH_NAN = np.where(MASK, np.nan, X)


def dask_masked():
    dask_array = pytest.importorskip("dask.array")
    chunks = (7, 6)
    return dask_array.ma.masked_array(
        dask_array.from_array(FAR, chunks=chunks), mask=dask_array.from_array(MASK, chunks=chunks)
    )


def dask_nan():
    return pytest.importorskip("dask.array").from_array(WITH_NAN, chunks=(7, 6))


@pytest.mark.parametrize("selector", [MaxVariance(2), PCALeverage(2, n_components=2)])
@pytest.mark.parametrize(
    ("masked", "with_nan"),
    [
        (lambda: MASKED, lambda: WITH_NAN),
        (lambda: GramAccumulator().update(MASKED), lambda: GramAccumulator().update(WITH_NAN)),
        (dask_masked, dask_nan),
    ],
    ids=["array", "accumulator", "dask"],
)
def test_masked_entries_are_missing_values(selector, masked, with_nan):
    expected = selector.fit(with_nan()).scores_.copy()
    np.testing.assert_array_equal(selector.fit(masked()).scores_, expected)


def test_masked_entries_of_a_batch_and_of_whole_numbers_are_missing_values():
    whole = np.ma.masked_array(np.round(FAR).astype(np.int64), MASK)
    with_nan = np.where(MASK, np.nan, np.round(X))
    expected = MaxVariance(2).partial_fit(with_nan).scores_
    np.testing.assert_array_equal(MaxVariance(2).partial_fit(whole).scores_, expected)


def test_masked_entries_are_not_passed_on():
    assert np.isnan(MaxVariance(6).fit(X).transform(MASKED)[MASK]).all()


@pytest.mark.parametrize("container", [lambda: MASKED, dask_masked])
def test_methods_without_missing_values_refuse_masked_entries(container):
    with pytest.raises(ValueError, match="contains NaN"):
        LaplacianScore(2).fit(container())


@pytest.mark.parametrize(
    "call",
    [
        lambda data: GraphClustering(2).fit(data),
        lambda data: Reconstructor(VarianceThreshold()).fit(data),
        lambda data: evaluate_selection(data, np.arange(24) % 2, features=[0, 1]),
        lambda data: neighbours_kept(data, [0, 1]),
    ],
)
def test_others_refuse_masked_entries_too(call):
    with pytest.raises(ValueError, match="contains NaN"):
        call(MASKED)


def test_a_mask_without_entries_changes_nothing():
    free = np.ma.masked_array(X, np.zeros(X.shape, bool))
    np.testing.assert_array_equal(LaplacianScore(2).fit(free).scores_, LaplacianScore(2).fit(X).scores_)


def damaged_csr():
    matrix = sparse.csr_array(X)
    matrix.indices[3] = 2_000_000_000
    return matrix


@pytest.mark.parametrize(
    "call",
    [
        lambda data: GraphClustering(2).fit(data),
        lambda data: GraphClustering(2).fit(X).predict(data),
        lambda data: MaxVariance(2).fit(X).transform(data),
        lambda data: Reconstructor(MaxVariance(2)).fit(data),
        lambda data: Reconstructor(MaxVariance(2)).fit(X).transform(data),
        lambda data: Reconstructor(MaxVariance(6)).fit(X).inverse_transform(data),
        lambda data: evaluate_selection(data, np.arange(24) % 2, features=[0, 1]),
    ],
)
def test_damaged_sparse_matrices_are_refused_at_every_door(call):
    with pytest.raises(ValueError, match="damaged sparse matrix"):
        call(damaged_csr())


@pytest.mark.parametrize(
    "nothing", [None, {"a": [1, 2]}, {1, 2}, iter([[1.0, 2.0]])], ids=["None", "dict", "set", "iterator"]
)
def test_what_has_no_rows_and_columns_is_named(nothing):
    with pytest.raises(TypeError, match=r"^X is of type .*, which has no rows and columns; give an array"):
        MaxVariance(1).fit(nothing)


def test_other_kinds_of_arrays_are_refused_in_a_sentence():
    records = np.array([(1.0, 2.0), (3.0, 4.0)], dtype=[("a", float), ("b", float)])
    dates = np.arange(12).reshape(6, 2).astype("datetime64[ms]")
    for data, words in ((records, "records of named fields"), (dates, "dates or times")):
        with pytest.raises(TypeError, match=f"^X holds {words}"):
            MaxVariance(1).fit(data)
    with pytest.raises(ValueError, match=r"^X has rows of different lengths"):
        MaxVariance(1).fit([[1.0, 2.0, 3.0], [1.0, 2.0]])
    for one_row in (sparse.csr_array(X[0]), sparse.coo_array(X[None])):
        with pytest.raises(ValueError, match=rf"^X must have two dimensions, .* not {one_row.ndim}\.$"):
            MaxVariance(1).fit(one_row)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_with_dates_or_without_columns(library):
    frames = pytest.importorskip(library)
    times = X[:, 0].astype("datetime64[ms]")
    with pytest.raises(TypeError, match=r"^X holds dates or times in column 'when'"):
        MaxVariance(1).fit(frames.DataFrame({"value": X[:, 1], "when": times}))
    with pytest.raises(ValueError, match="X has no columns"):
        MaxVariance(1).fit(frames.DataFrame())


def test_a_lazy_frame_says_how_to_get_its_values():
    polars = pytest.importorskip("polars")
    with pytest.raises(TypeError, match=r"X is a LazyFrame, .* call collect\(\) first"):
        GraphClustering(2).fit(polars.DataFrame({"a": X[:, 0], "b": X[:, 1]}).lazy())


@pytest.mark.parametrize("selector", [MaxVariance(2), LaplacianScore(2)])
def test_blocks_that_are_not_as_dask_was_told(selector):
    dask_array = pytest.importorskip("dask.array")
    blocks = dask_array.from_array(X, chunks=(7, 6))
    with pytest.raises(ValueError, match="but dask expects 6 columns"):
        selector.fit(blocks.map_blocks(lambda block: block[:, :3], dtype=float))
    with pytest.raises(ValueError, match="X has no columns"):
        selector.fit(blocks[:, :0])
    with pytest.raises(ValueError, match=r"^Block 0 of X .* cannot be read: division by zero"):
        selector.fit(blocks.map_blocks(lambda block: 1 / 0, meta=np.empty((0, 0))))


def test_gathered_blocks_that_are_not_as_dask_was_told(monkeypatch):
    """Wide data are brought here."""
    dask_array = pytest.importorskip("dask.array")
    monkeypatch.setattr("ufselect.gram.reduce.MAX_ORDER", 5)
    monkeypatch.setattr("ufselect.gram.reduce.LOCAL_BYTES", 10**9)
    blocks = dask_array.from_array(X[:4], chunks=(2, 6)).map_blocks(lambda block: block[:, :3], dtype=float)
    with pytest.raises(ValueError, match="but dask expects 6 columns"):
        MaxVariance(1).fit(blocks)


WEIGHTS = {
    "words": ["1"] * 24,
    "letters": ["a"] * 24,
    "complex": np.ones(24) * 1j,
    "masked": np.ma.masked_array(np.ones(24), np.arange(24) < 3),
    "objects": [None] * 23 + [object()],
}


@pytest.mark.parametrize("weights", WEIGHTS.values(), ids=WEIGHTS)
def test_weights_that_are_no_numbers_are_refused_by_name(weights):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match=r"^sample_weight must hold finite numbers"):
            MaxVariance(2).fit(X, sample_weight=weights)


@pytest.mark.parametrize("weight", [1e308, 5e-324])
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_weights_out_of_range_are_refused_with_the_range(weight, method):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match=r"^sample_weight .* between 1e-100 and 1e\+100\.$"):
            getattr(MaxVariance(2), method)(X, sample_weight=np.full(24, weight))


@pytest.mark.parametrize("weight", [1e100, 1e-100])
def test_weights_at_the_ends_of_their_range_are_in_proportion(weight):
    plain = PCALeverage(2, n_components=2).fit(X)
    weighted = PCALeverage(2, n_components=2).fit(X, sample_weight=np.full(24, weight))
    np.testing.assert_allclose(weighted.scores_, plain.scores_, rtol=1e-9)


def test_batches_that_are_no_labels_are_refused_by_name():
    pandas = pytest.importorskip("pandas")
    for batch in (np.ones((24, 2)), "abc"):
        with pytest.raises(ValueError, match=r"^batch has the shape .*; give one label per row\.$"):
            MaxVariance(2).fit(X, batch=batch)
    masked = np.ma.masked_array(np.arange(24) % 2, np.arange(24) < 3)
    for batch in (masked, pandas.array([pandas.NA, *[1, 2] * 11, 1], dtype="Int64")):
        with pytest.raises(ValueError, match=r"^batch has missing labels"):
            MaxVariance(2).fit(X, batch=batch)


def test_memory_maps_and_paths_without_rows_and_columns(tmp_path):
    mapped = np.memmap(tmp_path / "raw.bin", dtype=float, mode="w+", shape=X.shape)
    with pytest.raises(ValueError, match="Expected 2D array"):
        MaxVariance(1).fit(mapped[0])
    for path in (tmp_path / "raw.bin", "", "table.csv"):
        with pytest.raises(TypeError, match=r"^X is a path; open the file first"):
            MaxVariance(1).fit(path)
    with pytest.raises(TypeError, match=r"^X is of type bytes"):
        MaxVariance(1).fit(bytes(tmp_path / "none.h5"))


def unlike_numbers():
    pl, ds, dd = (pytest.importorskip(name) for name in ("polars", "pyarrow.dataset", "dask.dataframe"))
    pa, n = pytest.importorskip("pyarrow"), 24
    frame = pd.DataFrame(X[:, :3], columns=list("abc"))
    table, twice = pl.from_pandas(frame), pa.Table.from_arrays([pa.array(X[:, 0])] * 2, names=["a", "a"])
    return {
        "periods": frame.assign(b=pd.period_range("2020", periods=n, freq="D")),
        "intervals": frame.assign(b=pd.interval_range(0, n)),
        "durations": frame.assign(b=pd.to_timedelta(np.arange(n), unit="s")),
        "categories": frame.assign(b=pd.Categorical(["x", "y"] * (n // 2))),
        "lists": frame.assign(b=[[1, 2]] * n),
        "integers beyond floats": [[10**400, 1], [2, 3], [4, 5]],
        "objects beyond floats": np.array([[10**400, 1], [2, 3], [4, 5]], dtype=object),
        "text of polars": table.with_columns(pl.lit("x").alias("t")),
        "categories of polars": table.with_columns(pl.lit("x").cast(pl.Categorical).alias("t")),
        "records of polars": table.with_columns(pl.struct("a", "b").alias("t")),
        "text in a lazy table": table.lazy().with_columns(pl.lit("x").alias("t")),
        "a lazy table without its column": table.lazy().select(pl.col("nope")),
        "a lazy table that fails": table.lazy().with_columns(pl.lit("x").cast(pl.Float64).alias("t")),
        "a name twice in polars": table.lazy().select(pl.col("a"), pl.col("a")),
        "a name twice in Arrow": twice,
        "a name twice in a dataset": ds.dataset(twice),
        "text in Arrow": pa.table({"a": X[:, 0], "t": ["x"] * n}),
        "a name twice in dask": dd.from_pandas(frame.set_axis(list("aab"), axis=1), npartitions=2),
        "text in dask": dd.from_pandas(frame.assign(b="x"), npartitions=2),
        "one number": np.array(3.0),
        "a path": "table.csv",
        "nothing": None,
    }


DOORS = {
    "GramSelector": lambda data: MaxVariance(1).fit(data),
    "other selectors": lambda data: LaplacianScore(1).fit(data),
    "AutoSelector": lambda data: AutoSelector(1, random_state=0).fit(data),
    "assess": lambda data: assess(MaxVariance(1), data),
    "Reconstructor": lambda data: Reconstructor(MaxVariance(1)).fit(data),
    "StableSelector": lambda data: StableSelector(MaxVariance(1), 4, 0.5).fit(data),
    "GraphClustering": lambda data: GraphClustering().fit(data),
    "AutoScaler": lambda data: AutoScaler().fit(data),
    "LogCounts": lambda data: LogCounts().fit(data),
    "partial_fit": lambda data: MaxVariance(1).partial_fit(data),
    "transform": lambda data: MaxVariance(1).fit(X[:, :3]).transform(data),
}


@pytest.mark.parametrize("door", DOORS)
def test_what_is_no_table_of_numbers_is_refused_in_one_line(door):
    for kind, data in unlike_numbers().items():
        if door == "transform" and "twice" in kind:
            continue
        with pytest.raises((ValueError, TypeError)) as caught:
            DOORS[door](data)
        message = str(caught.value)
        assert "\n" not in message or message.startswith("Expected 2D array"), (kind, message)
        assert not message.startswith(("could not", "float()", "setting", "int too")), (kind, message)


def test_sparse_columns_filled_with_missing_values_count_as_missing():
    gapped = np.where(X[:, :3] > 1, np.nan, X[:, :3])
    frame = pd.DataFrame({name: pd.arrays.SparseArray(gapped[:, j]) for j, name in enumerate("abc")})
    np.testing.assert_allclose(MaxVariance(1).fit(frame).scores_, MaxVariance(1).fit(gapped).scores_)


@pytest.mark.parametrize("seed", [-1, 2.5, float("nan"), "auto", True])
def test_seeds_are_checked_wherever_they_are_taken(seed):
    for fit in (
        lambda: assess(MaxVariance(1), X, random_state=seed),
        lambda: StableSelector(MaxVariance(1), 4, 0.5, random_state=seed).fit(X),
        lambda: GraphClustering(random_state=seed).fit(X),
        lambda: AutoSelector(1, random_state=seed).fit(X),
    ):
        with pytest.raises((ValueError, TypeError), match="random_state"):
            fit()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: StableSelector("PCA", 4).fit(X), "'estimator' parameter of StableSelector"),
        (lambda: StableSelector(None, 4).fit(X), "'estimator' parameter of StableSelector"),
        (lambda: StableSelector(MaxVariance(2), 4, n_jobs="two").fit(X), "'n_jobs' parameter"),
        (lambda: assess(MaxVariance(2), X, groups=[None] * 24), "groups has missing labels"),
        (lambda: assess(MaxVariance(2), X[:, 0]), "must have rows and columns"),
        (lambda: ReconstructionSelector(2, regions=["a"] * 6, quotas=3).fit(X), "'quotas' parameter"),
        (lambda: ReconstructionSelector(2, regions=[None] * 6, quotas={"a": 1}).fit(X), "region 'a'"),
    ],
)
def test_wrong_kinds_are_refused_by_name(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_weights_of_half_precision_are_those_of_double():
    weights = {"mu_row": np.float16(0.01), "mu_entry": np.float32(0.1), "tau": np.float16(0.001)}
    plain = DSCOFS(2, **{name: float(weight) for name, weight in weights.items()}).fit(1e4 * X)
    np.testing.assert_array_equal(DSCOFS(2, **weights).fit(1e4 * X).scores_, plain.scores_)


@pytest.mark.parametrize(
    "call",
    [
        lambda data: DSCOFS(2).fit(data),
        lambda data: AutoSelector(2, random_state=0).fit(data),
        lambda data: StableSelector(MaxVariance(2), 2, random_state=0).fit(data),
        lambda data: Reconstructor(MaxVariance(2)).fit(data),
        lambda data: GraphClustering(2).fit(data),
        lambda data: assess(MaxVariance(2), data, random_state=0),
        lambda data: evaluate_selection(data, np.arange(200) % 2, features=[0, 1]),
        lambda data: neighbours_kept(data, [0, 1]),
        lambda data: AutoScaler().fit(data),
    ],
)
@pytest.mark.filterwarnings("error")
def test_a_range_beyond_floating_point_is_refused_in_one_sentence(call):
    """The sum of such values has no value either."""
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match=r"divide X by a constant|change their unit"):
        call(rng.choice([-1.7e308, 1.7e308], (200, 40)))


@pytest.mark.parametrize("unit", [1e-200, 1e200])
def test_scores_of_a_selection_do_not_depend_on_the_unit(unit):
    assert neighbours_kept(unit * X, [0, 1]) == neighbours_kept(X, [0, 1])
    assert variance_reconstructed(unit * X, [0, 1]) == pytest.approx(variance_reconstructed(X, [0, 1]))
