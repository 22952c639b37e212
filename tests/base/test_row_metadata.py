"""Missing values, weights and batches in the fit of every selector: taken into account, or refused."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import pytest
import sklearn
from scipy import sparse
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from tests.selectors import RUNNABLE

from ufselect import (
    FSPCA,
    GramSelector,
    LaplacianScore,
    MaxVariance,
    PCALeverage,
    StableSelector,
    dscofs_path,
)
from ufselect._registry import all_selectors
from ufselect._utils import validation
from ufselect.exceptions import ApproximationWarning
from ufselect.gram import GramAccumulator, reduce
from ufselect.gram import dask as blocks_dask
from ufselect.gram.reduce import sample_rows

GRAM_SELECTORS = [
    pytest.param(each, id=name) for name, each in RUNNABLE.items() if issubclass(each, GramSelector)
]
OTHERS = [
    pytest.param(each, id=name)
    for name, each in all_selectors().items()
    if not issubclass(each, GramSelector)
]
KINDS = {"dense": np.asarray, "sparse": sparse.csr_array}

# data of two factors, in which one column has most of the variance and some are nearly the same
pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::ufselect.exceptions.DominatedByUnitsWarning"),
    pytest.mark.filterwarnings("ignore::ufselect.exceptions.RepeatedColumnsWarning"),
]


def make_data(n_samples=80, n_features=15, seed=0):
    """Return three strong directions of five features each, and noise."""
    rng = np.random.default_rng(seed)
    loadings = np.kron(np.eye(3), np.ones(n_features // 3)) * rng.uniform(0.5, 1.5, n_features)
    signal = (rng.standard_normal((n_samples, 3)) * [5, 4, 3]) @ loadings
    return signal + rng.standard_normal((n_samples, n_features)) * np.linspace(0.2, 0.6, n_features)


X = make_data()
WEIGHTS = np.random.default_rng(1).integers(0, 4, len(X))


def with_gaps(data, share=0.05, seed=2):
    return np.where(np.random.default_rng(seed).random(data.shape) < share, np.nan, data)


def assert_same_scores(found, expected):
    """Scores are equal up to a common factor, which a power of two in the operator may be."""
    relative = [each.scores_ / np.abs(each.scores_).max() for each in (found, expected)]
    # What ReconstructionSelector says of columns that it leaves out depends on that power; their order does
    # not.
    compared = (
        found.support_ if type(found).__name__ == "ReconstructionSelector" else np.ones_like(found.support_)
    )
    np.testing.assert_allclose(*(each[compared] for each in relative), rtol=1e-6, atol=1e-6)
    np.testing.assert_array_equal(found.ranking_, expected.ranking_)
    np.testing.assert_array_equal(found.support_, expected.support_)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("selector", GRAM_SELECTORS)
def test_integer_weights_are_repeated_rows(selector, kind):
    expected = selector(5).fit(np.repeat(X, WEIGHTS, axis=0))
    found = selector(5).fit(KINDS[kind](X), sample_weight=WEIGHTS)
    assert_same_scores(found, expected)


def test_fractional_weights_in_an_accumulator_are_taken_in_proportion():
    accumulated = GramAccumulator().update(X, WEIGHTS / 10).update(X, np.zeros(len(X)) + 1e-3)
    both = np.concatenate([WEIGHTS / 10, np.full(len(X), 1e-3)])
    assert_same_scores(
        MaxVariance(5).fit(accumulated), MaxVariance(5).fit(np.vstack([X, X]), sample_weight=both)
    )


@pytest.mark.parametrize("selector", GRAM_SELECTORS)
def test_batches_do_not_count_as_structure(selector):
    """A shift of one feature by batch would make it the strongest; within batches nothing has changed."""
    labels = np.repeat(["monday", "tuesday"], 40)
    shifted = X.copy()
    shifted[labels == "tuesday", -1] += 100
    assert_same_scores(selector(5).fit(shifted, batch=labels), selector(5).fit(X, batch=labels))


def test_laplacian_score_balances_its_neighbours():
    """A feature that only tells the batches apart is smooth on the plain graph and as rough as noise else."""
    labels = np.arange(80) % 2
    data = np.hstack([X, 30 * labels[:, None] + np.random.default_rng(0).standard_normal((80, 1))])
    assert LaplacianScore(1).fit(data).support_[-1]
    for each in (data, sparse.csr_array(data)):
        balanced = LaplacianScore(5).fit(each, batch=labels)
        assert not balanced.support_[-1]
        assert balanced.n_neighbors_ == 6
    one = LaplacianScore(5).fit(data, batch=np.zeros(80))
    np.testing.assert_array_equal(one.scores_, LaplacianScore(5).fit(data).scores_)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("selector", GRAM_SELECTORS)
def test_missing_values_are_taken(selector, kind):
    fitted = selector(5).fit(KINDS[kind](with_gaps(X)))
    assert fitted.support_.sum() == 5
    is_completed = kind == "dense" and selector is not MaxVariance  # variances need no other column
    assert fitted.missing_.route == ("completed" if is_completed else "pairwise")
    assert fitted.missing_.share == pytest.approx(0.05, abs=0.02)
    assert get_tags(fitted).input_tags.allow_nan
    assert fitted.transform(with_gaps(X)).shape == (80, 5)
    assert fitted.fit(X).missing_ is None


@pytest.mark.parametrize("selector", GRAM_SELECTORS)
def test_missing_values_of_wide_data_are_taken(selector):
    wide = with_gaps(make_data(20, 60))
    fitted = selector(9).fit(wide)
    assert fitted.support_.sum() == 9
    assert np.all(np.isfinite(fitted.scores_))
    assert fitted.missing_.route == ("pairwise" if selector is MaxVariance else "completed")


@pytest.mark.parametrize("selector", OTHERS)
def test_others_refuse_in_one_sentence(selector):
    with pytest.raises(ValueError, match="NaN"):
        selector(5).fit(with_gaps(X))
    with pytest.raises(TypeError, match="unexpected keyword argument 'sample_weight'"):
        selector(5).fit(X, sample_weight=WEIGHTS)
    assert not get_tags(selector()).input_tags.allow_nan


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_infinity_among_missing_values_is_refused(method):
    broken = with_gaps(X)
    broken[3, 4] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        getattr(MaxVariance(5), method)(broken)


@pytest.fixture
def small_maps_stay_outside(monkeypatch):
    """Treat small memory maps as the large ones that they stand for."""
    monkeypatch.setattr(validation, "ENTRIES_IN_MEMORY", 0)


@pytest.mark.usefixtures("small_maps_stay_outside")
def test_missing_values_outside_memory_are_pairwise(tmp_path):
    da = pytest.importorskip("dask.array")
    gapped = with_gaps(X)
    expected = PCALeverage(5).fit(sparse.csr_array(gapped))
    np.save(tmp_path / "gapped.npy", gapped)
    blocks = gapped[:30], gapped[30:31], X[31:50], gapped[50:]
    streamed = PCALeverage(5)
    for block in blocks:
        streamed.partial_fit(block)
    whole = np.vstack(blocks)
    assert_same_scores(streamed, PCALeverage(5).fit(sparse.csr_array(whole)))
    mapped = np.load(tmp_path / "gapped.npy", mmap_mode="r")
    for source in (da.from_array(gapped, chunks=(30, 4)), mapped):
        found = PCALeverage(5).fit(source)
        assert_same_scores(found, expected)
        assert found.missing_.route == "pairwise"


def test_a_large_repair_is_said():
    few = with_gaps(make_data(12, 15), 0.5, seed=3)
    with pytest.warns(ApproximationWarning, match="Gram matrix is inconsistent") as caught:
        fitted = MaxVariance(5).fit(sparse.csr_array(few))
    assert Path(caught[0].filename) == Path(__file__)
    assert fitted.missing_.correction > 0.1


def test_path_takes_missing_values():
    path = dscofs_path(with_gaps(X), (5,), (0.3,), n_components=3)
    assert path.support(5, 0.3).sum() == 5


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"sample_weight": [1, 2]}, "sample_weight has shape"),
        ({"sample_weight": -np.ones(80)}, "at least zero"),
        ({"sample_weight": np.eye(80)[0]}, "minimum of 2"),
        ({"batch": ["a", "b"]}, "2 labels, but X has 80 rows"),
        ({"batch": np.arange(80)}, "Every batch has one row"),
        ({"batch": [None, *"a" * 79]}, "missing labels"),
        ({"batch": [np.nan, *np.ones(79)]}, "missing labels"),
    ],
)
def test_bad_row_metadata_are_refused(given, message):
    with pytest.raises(ValueError, match=message):
        PCALeverage(5).fit(X, **given)


LABELS = np.random.default_rng(3).choice(["red", "green", "blue"], len(X))
SHIFTED = X + 1e4 * np.unique(LABELS, return_inverse=True)[1][:, None] * (np.arange(15) > 11)


def outside_memory(kind, folder, data=SHIFTED):
    if kind == "memory-mapped":
        np.save(folder / "table.npy", data)
        return np.load(folder / "table.npy", mmap_mode="r")
    da = pytest.importorskip("dask.array")
    if kind == "frame":
        pd, dd = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
        frame = dd.from_pandas(pd.DataFrame(data), npartitions=3)
        return frame[frame[0] > -np.inf]  # row counts are then unknown
    blocks = da.from_array(data, chunks=(30, 4 if kind == "both ways" else -1))
    return blocks.map_blocks(sparse.csr_array) if kind == "sparse dask" else blocks


OUTSIDE = ["memory-mapped", "rows", "both ways", "sparse dask", "frame"]


@pytest.mark.usefixtures("small_maps_stay_outside")
@pytest.mark.parametrize("kind", OUTSIDE)
@pytest.mark.parametrize(
    "given",
    [
        pytest.param({"sample_weight": WEIGHTS}, id="weights"),
        pytest.param({"batch": LABELS}, id="batches"),
        pytest.param({"sample_weight": WEIGHTS / 7, "batch": LABELS}, id="both"),
        pytest.param({"sample_weight": np.ones(80), "batch": np.zeros(80)}, id="plain"),
    ],
)
def test_weights_and_batches_outside_memory_are_those_in_memory(kind, given, tmp_path):
    """Scores, and not only their order: the variance of a row that counts n times is that of n rows."""
    found = MaxVariance(5).fit(outside_memory(kind, tmp_path), **given)
    expected = MaxVariance(5).fit(SHIFTED, **given)
    np.testing.assert_allclose(found.scores_, expected.scores_, rtol=1e-9)
    found = PCALeverage(5, n_components=3).fit(outside_memory(kind, tmp_path), **given)
    assert_same_scores(found, PCALeverage(5, n_components=3).fit(SHIFTED, **given))
    assert found.reduction_.route == "formed"


@pytest.mark.usefixtures("small_maps_stay_outside")
@pytest.mark.parametrize(
    ("route", "kind"),
    [
        ("gathered", "rows"),
        ("gathered", "sparse dask"),
        *(("sketched", kind) for kind in ("memory-mapped", "rows", "sparse dask")),
    ],
)
@pytest.mark.parametrize("weights", [WEIGHTS, WEIGHTS / 7], ids=["whole", "shares"])
def test_weights_and_batches_of_very_many_features(kind, route, weights, tmp_path, monkeypatch):
    """The routes of data with too many features for S, taken here by lowering the limits."""
    given = {"sample_weight": weights, "batch": LABELS}
    monkeypatch.setattr(reduce, "MAX_ORDER", 14 if route == "sketched" else 80)
    monkeypatch.setattr(blocks_dask.DaskBlocks, "has_room_for", lambda *_: False)
    found = PCALeverage(5, n_components=3).fit(outside_memory(kind, tmp_path), **given)
    assert found.reduction_.route == route
    assert_same_scores(found, PCALeverage(5, n_components=3).fit(SHIFTED, **given))
    variances = MaxVariance(5).fit(outside_memory(kind, tmp_path), **given)
    np.testing.assert_allclose(variances.scores_, MaxVariance(5).fit(SHIFTED, **given).scores_, rtol=1e-9)


@pytest.mark.usefixtures("small_maps_stay_outside")
def test_wide_dense_data_with_weights_are_sketched(tmp_path, monkeypatch):
    """The factor from the sample Gram matrix centres all rows together, so another route is taken."""
    monkeypatch.setattr(reduce, "MAX_ORDER", 14)
    monkeypatch.setattr(reduce, "LOCAL_BYTES", 0)
    mapped = outside_memory("memory-mapped", tmp_path)[::8]
    assert MaxVariance(5).fit(mapped).reduction_.route == "rotated"
    assert MaxVariance(5).fit(mapped, batch=LABELS[::8]).reduction_.route == "sketched"


@pytest.mark.usefixtures("small_maps_stay_outside")
def test_missing_values_outside_memory_go_with_weights_but_not_with_batches(tmp_path):
    gapped = with_gaps(X)
    expected = PCALeverage(5).fit(sparse.csr_array(gapped), sample_weight=WEIGHTS)
    for kind in ("memory-mapped", "rows"):
        outside = outside_memory(kind, tmp_path, gapped)
        assert_same_scores(PCALeverage(5).fit(outside, sample_weight=WEIGHTS), expected)
        with pytest.raises(ValueError, match=r"rows .* has missing values, which are supported with batches"):
            PCALeverage(5).fit(outside, batch=LABELS)


@pytest.mark.parametrize("kind", KINDS)
def test_batches_in_partial_fit_are_centred_over_all_calls(kind):
    expected = PCALeverage(5).fit(SHIFTED, sample_weight=WEIGHTS, batch=LABELS)
    found = PCALeverage(5)
    for rows in (slice(0, 7), slice(7, 8), slice(8, 80)):
        found.partial_fit(KINDS[kind](SHIFTED[rows]), sample_weight=WEIGHTS[rows], batch=LABELS[rows])
    assert_same_scores(found, expected)
    before = found.scores_.copy()
    with pytest.raises(ValueError, match="give labels for all rows or for none"):
        found.partial_fit(SHIFTED)
    np.testing.assert_array_equal(found.scores_, before)


def test_batches_in_an_accumulator_keep_their_digits_and_means():
    far = X + 1e9 * (LABELS == "red")[:, None]
    accumulator = GramAccumulator()
    for rows in np.array_split(np.arange(80), 9):
        accumulator.update(far[rows], labels=LABELS[rows])
    np.testing.assert_allclose(accumulator.mean, far.mean(axis=0))
    within = sum(scatter(X[label == LABELS]) for label in np.unique(LABELS))
    gram = accumulator.gram()
    np.testing.assert_allclose(gram.to_dense() * gram.scale**2, within, rtol=1e-5, atol=1e-4)
    assert gram.n_samples == 80
    halves = [GramAccumulator().update(X[part::2], labels=LABELS[part::2]) for part in range(2)]
    merged = halves[0].merge(halves[1]).gram()
    np.testing.assert_allclose(merged.to_dense() * merged.scale**2, within, rtol=1e-10)


@pytest.mark.parametrize("distance", [1e3, 1e6])
def test_far_batches_of_single_precision_keep_their_digits(distance):
    """Against sums in double precision of the same numbers."""
    far = (X + distance * (LABELS == "red")[:, None]).astype(np.float32)
    gram = GramAccumulator().update(far, WEIGHTS, LABELS).gram()
    within = sum(
        scatter(np.repeat(far.astype(float)[label == LABELS], WEIGHTS[label == LABELS], axis=0))
        for label in np.unique(LABELS)
    )
    error = np.abs(gram.to_dense() * gram.scale**2 - within).max()
    assert error < 1e-6 * np.abs(within).max()
    constant = np.where(LABELS == "red", 0.1, 0.7)[:, None] * np.ones((1, 3))
    assert not GramAccumulator().update(constant, WEIGHTS / 3, LABELS).gram().to_dense().any()


def test_single_rows_of_huge_data_in_batches_stay_in_range():
    """A row by itself has no spread to tell its size; only the distance to the next one has."""
    huge = X * 1e200
    accumulator = GramAccumulator()
    for row, label in zip(huge, LABELS, strict=True):
        accumulator.update(row[None], labels=[label])
    found = PCALeverage(5, n_components=3).fit(accumulator)
    assert_same_scores(found, PCALeverage(5, n_components=3).fit(X, batch=LABELS))


def scatter(rows):
    centred = rows - rows.mean(axis=0)
    return centred.T @ centred


def test_the_sample_of_dask_rows_takes_its_labels_along(monkeypatch):
    da = pytest.importorskip("dask.array")
    monkeypatch.setattr("ufselect.base.sample_rows", partial(sample_rows, max_rows=40))
    blocks = da.from_array(SHIFTED, chunks=(30, -1))
    rows = np.sort(np.random.default_rng(0).choice(80, 40, replace=False))
    found = LaplacianScore(5).fit(blocks, batch=LABELS)
    expected = LaplacianScore(5).fit(SHIFTED[rows], batch=LABELS[rows])
    np.testing.assert_allclose(found.scores_, expected.scores_)


def test_weights_for_rows_that_are_gone_are_refused():
    accumulator = GramAccumulator().update(X)
    for gone in (accumulator, accumulator.gram(), reduce.reduce_data(accumulator)):
        with pytest.raises(TypeError, match=r"batch cannot be given for a .* not in memory"):
            PCALeverage(5).fit(gone, sample_weight=WEIGHTS, batch=LABELS)


def test_reduced_data_remember_weights_and_batches(tmp_path):
    given = {"sample_weight": WEIGHTS, "batch": LABELS}
    reduced = reduce.reduce_data(outside_memory("rows", tmp_path), **given)
    assert reduced.mean is None  # each batch has its own
    assert_same_scores(PCALeverage(5).fit(reduced), PCALeverage(5).fit(SHIFTED, **given))


def test_metadata_reach_a_selector_in_a_pipeline():
    labels = np.arange(80) % 2
    expected = FSPCA(5).fit(X, sample_weight=WEIGHTS, batch=labels)
    with sklearn.config_context(enable_metadata_routing=True):
        selector = FSPCA(5).set_fit_request(sample_weight=True, batch=True)
        pipeline = make_pipeline(StandardScaler(with_mean=False, with_std=False), selector)
        pipeline[0].set_fit_request(sample_weight=False)
        pipeline.fit(X, sample_weight=WEIGHTS, batch=labels)
        assert_same_scores(pipeline[-1], expected)
        deaf = make_pipeline(FSPCA(5))
        with pytest.raises(sklearn.exceptions.UnsetMetadataPassedError):
            deaf.fit(X, sample_weight=WEIGHTS)
    by_name = make_pipeline(FSPCA(5)).fit(X, fspca__sample_weight=WEIGHTS, fspca__batch=labels)
    assert_same_scores(by_name[-1], expected)


def test_stable_selector_halves_weights_and_batches_with_the_rows():
    labels = np.arange(80) % 2
    shifted = X + 100 * labels[:, None] * (np.arange(15) == 14)
    stable = StableSelector(MaxVariance(3), n_resamples=6, threshold=0.5, random_state=0)
    assert stable.fit(shifted).support_[-1]
    assert not stable.fit(shifted, batch=labels, sample_weight=np.ones(80)).support_[-1]
    assert get_tags(stable).input_tags.allow_nan
    assert stable.fit(with_gaps(X)).frequencies_.max() == 1
