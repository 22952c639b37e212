"""Missing values, weights and batches in the fit of every selector: taken into account, or refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import sklearn
from scipy import sparse
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags

from ufselect import DSCOFS, FSPCA, LaplacianScore, MaxVariance, PCALeverage, StableSelector, dscofs_path
from ufselect.blocks import GramAccumulator
from ufselect.exceptions import ApproximationWarning
from ufselect.registry import all_selectors, missing_requirements
from ufselect.selectors.gram_selector import GramSelector

RUNNABLE = {name: each for name, each in all_selectors().items() if not missing_requirements(each)}
GRAM_SELECTORS = [
    pytest.param(each, id=name) for name, each in RUNNABLE.items() if issubclass(each, GramSelector)
]
OTHERS = [
    pytest.param(each, id=name)
    for name, each in all_selectors().items()
    if not issubclass(each, GramSelector)
]
KINDS = {"dense": np.asarray, "sparse": sparse.csr_array}

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


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
    # What RebuildSelector says of columns that it leaves out depends on that power; their order does not.
    compared = found.support_ if type(found).__name__ == "RebuildSelector" else np.ones_like(found.support_)
    np.testing.assert_allclose(*(each[compared] for each in relative), rtol=1e-6, atol=1e-6)
    np.testing.assert_array_equal(found.ranking_, expected.ranking_)
    np.testing.assert_array_equal(found.support_, expected.support_)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("selector", GRAM_SELECTORS)
def test_integer_weights_are_repeated_rows(selector, kind):
    expected = selector(5).fit(np.repeat(X, WEIGHTS, axis=0))
    found = selector(5).fit(KINDS[kind](X), sample_weight=WEIGHTS)
    assert_same_scores(found, expected)


@pytest.mark.parametrize("kind", KINDS)
def test_weights_in_partial_fit(kind):
    expected = PCALeverage(5).fit(np.repeat(X, WEIGHTS, axis=0))
    found = PCALeverage(5)
    for rows in (slice(0, 30), slice(30, 80)):
        found.partial_fit(KINDS[kind](X[rows]), sample_weight=WEIGHTS[rows])
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


@pytest.mark.parametrize("kind", KINDS)
def test_shift_of_a_noise_feature_is_not_selected(kind):
    labels = np.arange(80) % 3
    noise = np.random.default_rng(0).standard_normal((80, 2))
    data = np.hstack([X, noise + 20 * labels[:, None]])
    assert MaxVariance(2).fit(KINDS[kind](data)).support_[-2:].all()
    assert not MaxVariance(2).fit(KINDS[kind](data), batch=labels).support_[-2:].any()


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
    assert fitted.missing_.route == ("completed" if kind == "dense" else "pairwise")
    assert fitted.missing_.share == pytest.approx(0.05, abs=0.02)
    assert get_tags(fitted).input_tags.allow_nan
    assert fitted.transform(with_gaps(X)).shape == (80, 5)
    assert not hasattr(fitted.fit(X), "missing_")


@pytest.mark.parametrize("selector", GRAM_SELECTORS)
def test_missing_values_of_wide_data_are_taken(selector):
    wide = with_gaps(make_data(20, 60))
    fitted = selector(9).fit(wide)
    assert fitted.support_.sum() == 9
    assert np.all(np.isfinite(fitted.scores_))
    assert fitted.missing_.route == "completed"


@pytest.mark.parametrize("selector", GRAM_SELECTORS)
def test_wishes_for_columns_go_with_gaps_weights_and_batches(selector):
    """Excluded columns change nothing, whatever they hold, and a kept one is there."""
    gapped, labels = with_gaps(X), np.arange(80) % 2
    given = {"sample_weight": WEIGHTS, "batch": labels}
    fitted = selector(5, exclude=[3, 7], keep=[14]).fit(gapped, **given)
    others = np.setdiff1d(np.arange(15), [3, 7])
    expected = selector(5, keep=[12]).fit(gapped[:, others], **given)
    np.testing.assert_array_equal(fitted.support_[others], expected.support_)
    assert fitted.support_[14]
    assert not fitted.support_[[3, 7]].any()
    assert fitted.missing_ == expected.missing_


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("selector", [MaxVariance, PCALeverage, DSCOFS])
def test_few_missing_values_change_little(selector, kind):
    fitted = selector(5).fit(KINDS[kind](with_gaps(X, 0.02)))
    assert (fitted.support_ & selector(5).fit(X).support_).sum() >= 4


@pytest.mark.parametrize("selector", OTHERS)
def test_others_refuse_in_one_sentence(selector):
    with pytest.raises(ValueError, match="NaN"):
        selector(5).fit(with_gaps(X))
    with pytest.raises(TypeError, match=f"{selector.__name__} cannot take sample_weight into account; use"):
        selector(5).fit(X, sample_weight=WEIGHTS)
    if selector is not LaplacianScore:
        with pytest.raises(TypeError, match=f"{selector.__name__} cannot take batch into account; use"):
            selector(5).fit(X, batch=WEIGHTS)
    with pytest.raises(TypeError, match="unexpected keyword argument 'colour'"):
        selector(5).fit(X, colour="red")
    assert not get_tags(selector()).input_tags.allow_nan


@pytest.mark.parametrize("selector", GRAM_SELECTORS)
def test_infinity_is_refused(selector):
    broken = with_gaps(X)
    broken[3, 4] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        selector(5).fit(broken)
    with pytest.raises(ValueError, match="infinity"):
        selector(5).partial_fit(broken)


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
    for source in (da.from_array(gapped, chunks=(30, 4)), str(tmp_path / "gapped.npy")):
        found = PCALeverage(5).fit(source)
        assert_same_scores(found, expected)
        assert found.missing_.route == "pairwise"


def test_a_large_repair_is_said():
    few = with_gaps(make_data(12, 15), 0.5, seed=3)
    with pytest.warns(ApproximationWarning, match="contradicts itself") as caught:
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


def test_row_metadata_for_data_outside_memory_are_refused():
    da = pytest.importorskip("dask.array")
    for selector in (PCALeverage(5), LaplacianScore(5)):
        with pytest.raises(TypeError, match="batch cannot be given for data outside memory"):
            selector.fit(da.from_array(X, chunks=(30, -1)), batch=np.arange(80) % 2)


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


def test_dscofs_takes_a_frame_with_gaps():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(with_gaps(X), columns=[f"f{j}" for j in range(15)])
    assert list(DSCOFS(3).set_output(transform="pandas").fit_transform(frame).columns) == list(
        DSCOFS(3).fit(frame).get_feature_names_out()
    )
