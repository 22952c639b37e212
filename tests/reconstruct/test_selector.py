"""ReconstructionSelector and Reconstructor as a user meets them."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.utils.estimator_checks import parametrize_with_checks
from tests.conftest import frame_class

from ufselect import DOptimalLeverage, GreedyProjection, PCALeverage, ReconstructionSelector, Reconstructor
from ufselect.gram import GramAccumulator


@pytest.fixture(scope="module")
def pixels():
    return load_digits().data[:600]


def test_exchanges_lower_the_error_that_greedy_steps_reach(pixels):
    history = ReconstructionSelector(12, max_iter=5).fit(pixels).objective_history_
    assert len(history) > 1
    assert np.all(np.diff(history) <= 0)
    assert history[-1] < history[0]
    greedy = ReconstructionSelector(12, max_iter=0).fit(pixels)
    assert greedy.objective_history_ == pytest.approx(history[:1])


def test_without_penalty_and_exchanges_it_is_greedy_projection(pixels):
    ours = ReconstructionSelector(9, penalty=0, max_iter=0).fit(pixels)
    theirs = GreedyProjection(9, target="features").fit(pixels)
    np.testing.assert_array_equal(ours.support_, theirs.support_)


def test_it_reconstructs_held_out_rows_better_than_greedy_and_leverage(pixels):
    train, test = pixels[:400], pixels[400:]
    share = {
        type(selector).__name__: Reconstructor(selector).fit(train).score(test)
        for selector in (ReconstructionSelector(15), GreedyProjection(15, target="features"), PCALeverage(15))
    }
    assert share["ReconstructionSelector"] > share["GreedyProjection"] > share["PCALeverage"]


@pytest.mark.parametrize("n_rows", [60, 600])
def test_a_constant_column_that_must_be_kept_changes_nothing_else(pixels, n_rows):
    kept = (
        ReconstructionSelector(9, keep=[0]).fit(pixels[:n_rows]).get_support(indices=True)
    )  # pixel 0 is constant
    free = ReconstructionSelector(8).fit(pixels[:n_rows]).get_support(indices=True)
    np.testing.assert_array_equal(kept, [0, *free])


def test_bad_parameters_are_refused(pixels):
    with pytest.raises(ValueError, match="penalty"):
        ReconstructionSelector(penalty=-1).fit(pixels)
    with pytest.raises(ValueError, match="max_iter"):
        ReconstructionSelector(max_iter=1.5).fit(pixels)
    with pytest.raises(TypeError, match="n_features_to_select"):
        ReconstructionSelector("most").fit(pixels)
    with pytest.raises(ValueError, match="holds out rows"):
        ReconstructionSelector("auto").fit(GramAccumulator().update(pixels))


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([Reconstructor()])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_selected_columns_come_back_as_they_were(pixels):
    train, test = pixels[::2], pixels[1::2]  # in turn, as the writers come one after the other
    reconstructor = Reconstructor(ReconstructionSelector(15)).fit(train)
    measured = reconstructor.transform(test)
    reconstructed = reconstructor.inverse_transform(measured)
    np.testing.assert_allclose(reconstructed[:, reconstructor.support_], measured)
    error = np.linalg.norm(reconstructed - test) / np.linalg.norm(test - train.mean(axis=0))
    assert reconstructor.score(test) == pytest.approx(1 - error**2)
    assert 1 - reconstructor.score_ == pytest.approx(error**2, rel=0.2)
    assert reconstructor.standard_deviations_.shape == (64,)


def test_the_curve_ends_where_the_score_is_and_rises_on_the_way(pixels):
    train, test = pixels[:150], pixels[300:]
    reconstructor = Reconstructor(ReconstructionSelector(15)).fit(train)
    curve = reconstructor.curve(test)
    assert np.all(np.diff(curve["n_features"]) > 0)
    assert curve["n_features"][-1] == 15
    assert curve["score"][-1] == pytest.approx(reconstructor.score(test))
    assert np.all(np.diff(curve["score"]) > 0)
    assert reconstructor.curve(test, [2, 7])["n_features"].tolist() == [2, 7]
    assert reconstructor.curve(test, 7)["score"] == reconstructor.curve(test, [7])["score"]
    for wrong in ([16], 0, [2.5]):
        with pytest.raises(ValueError, match="whole number between 1 and the 15"):
            reconstructor.curve(test, wrong)


@pytest.mark.parametrize("kind", ["sparse", "accumulator", "dask"])
def test_every_kind_of_data_gives_the_same_map(pixels, kind):
    dense = Reconstructor(ReconstructionSelector(6), "ridge", ridge=0.01).fit(pixels)
    if kind == "sparse":
        data = sparse.csr_array(pixels)
    elif kind == "accumulator":
        data = GramAccumulator().update(pixels[:500]).update(pixels[500:])
    else:
        data = pytest.importorskip("dask.array").from_array(pixels, chunks=(400, 64))
    found = clone(dense).fit(data)
    # without rows to leave out, columns next to constant count as reconstructable that are not
    reconstructed = dense.reconstructable_
    assert np.all(found.reconstructable_[reconstructed])
    np.testing.assert_allclose(found.weights_[:, reconstructed], dense.weights_[:, reconstructed], atol=1e-6)
    np.testing.assert_allclose(found.mean_, dense.mean_, atol=1e-9)
    assert 1 - found.score_ == pytest.approx(1 - dense.score_, rel=0.1)


@pytest.fixture(params=["pandas", "polars"])
def frame(request):
    return frame_class(request.param)


def test_after_a_fit_without_names_any_names_will_do(frame, pixels):
    reconstructor = Reconstructor(ReconstructionSelector(3)).fit(pixels[:60])
    values = reconstructor.transform(pixels[:60])
    made_up = list(reconstructor.get_feature_names_out())
    named = frame(dict(zip(made_up, values.T, strict=True)))
    expected = reconstructor.inverse_transform(values)
    np.testing.assert_array_equal(reconstructor.inverse_transform(named), expected)
    others = frame(dict(zip("abc", values.T, strict=True)))
    np.testing.assert_array_equal(reconstructor.inverse_transform(others), expected)
    np.testing.assert_array_equal(reconstructor.inverse_transform(named[made_up[::-1]]), expected)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"ridge": "some"}, "'ridge' parameter"),
        ({"ridge": -1.0}, "'ridge' parameter"),
        ({"noise_variance": -1.0}, "noise_variance"),
        ({"noise_variance": [1.0, 2.0]}, "noise_variance"),
    ],
)
def test_bad_settings_of_the_map_are_refused(pixels, change, message):
    with pytest.raises(ValueError, match=message):
        Reconstructor(**change).fit(pixels)


@pytest.mark.parametrize("seed", range(2))
def test_d_optimal_leverage_with_little_ridge_is_pivoted_qr(seed):
    """PySensors takes the pivots of a QR factorisation of the loadings."""
    from scipy.linalg import qr

    rng = np.random.default_rng(seed)
    X = rng.standard_normal((80, 12)) @ rng.standard_normal((12, 40)) + 0.1 * rng.standard_normal((80, 40))
    loadings = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)[2][:8]
    pivots = qr(loadings, mode="economic", pivoting=True)[2][:8]
    chosen = DOptimalLeverage(8, n_components=8, ridge=1e-6).fit(X).get_support(indices=True)
    np.testing.assert_array_equal(chosen, np.sort(pivots))


def test_d_optimal_leverage_takes_modes_of_your_own():
    """Fourier modes, whose pivoted QR knows no data; the basis is by name and without excluded columns."""
    from scipy.linalg import qr

    pandas = pytest.importorskip("pandas")
    X = np.random.default_rng(0).standard_normal((30, 40))
    modes = np.fft.irfft(np.eye(21)[1:7], 40).T
    chosen = DOptimalLeverage(6, basis=modes, ridge=1e-6).fit(X).get_support(indices=True)
    pivots = qr(modes.T, mode="economic", pivoting=True)[2][:6]
    volume = [np.linalg.svd(modes[rows])[1].prod() for rows in (chosen, pivots)]
    assert volume[0] == pytest.approx(volume[1], rel=0.2)
    names = [f"c{j}" for j in range(40)]
    basis = pandas.DataFrame(modes, index=names).sample(frac=1, random_state=0)
    again = DOptimalLeverage(6, basis=basis, ridge=1e-6).fit(pandas.DataFrame(X, columns=names))
    np.testing.assert_array_equal(again.get_support(indices=True), chosen)
    without = DOptimalLeverage(6, basis=modes, exclude=chosen[:1]).fit(X)
    assert not without.support_[chosen[0]]
    with pytest.raises(ValueError, match="a row of finite numbers for each column"):
        DOptimalLeverage(6, basis=np.full((40, 2), np.nan)).fit(X)


@pytest.mark.parametrize("scale", [1.0, 1e-150, 1e150])
def test_noise_of_the_measurements_is_part_of_the_selection(scale):
    """The expected error of the best linear map from noisy columns, over all pairs."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 3)) @ rng.standard_normal((3, 8)) + 0.1 * rng.standard_normal((300, 8))
    noise = np.array([9.0, 0.1, 4.0, 1.0, 0.5, 2.0, 0.1, 6.0])
    S = np.cov(X.T, bias=True)

    def error(pair):
        pair = list(pair)
        inner = S[np.ix_(pair, pair)] + np.diag(noise[pair])
        return np.trace(S) - np.trace(S[pair].T @ np.linalg.solve(inner, S[pair]))

    best = min(combinations(range(8), 2), key=error)
    found = ReconstructionSelector(2, noise_variance=noise * scale * scale).fit(scale * X)
    np.testing.assert_array_equal(found.get_support(indices=True), best)
    assert found.objective_history_[-1] == pytest.approx(error(best) / np.trace(S))
    assert not np.array_equal(ReconstructionSelector(2).fit(X).get_support(indices=True), best)
    by_default = Reconstructor(noise_variance=noise * scale * scale).fit(scale * X).support_
    assert by_default[ReconstructionSelector(1, noise_variance=noise).fit(X).get_support(indices=True)[0]]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("count", [5, 10, 20])
def test_d_optimal_leverage_chooses_what_pysensors_does(count):
    """With its own ridge and as many components as columns."""
    pixels = load_digits().data
    basis = pytest.importorskip("pysensors.basis", reason="python-sensors is not installed")
    reconstruction = pytest.importorskip("pysensors.reconstruction")
    model = reconstruction.SSPOR(
        basis=basis.SVD(n_basis_modes=count, algorithm="arpack"), n_sensors=count
    ).fit(pixels - pixels.mean(axis=0), quiet=True)
    selector = DOptimalLeverage(count, n_components=count).fit(pixels)
    assert selector.ridge == 0.01
    np.testing.assert_array_equal(
        selector.get_support(indices=True), np.sort(model.get_selected_sensors()[:count])
    )


def beats(seed, height=1.0):
    """Return 100 windows of a signal of beats at uneven distances, every twentieth of another height."""
    rng = np.random.default_rng(seed)
    time, signal, beat = np.arange(10_000), 0.05 * rng.standard_normal(10_000), 0.0
    while beat < time.size:
        signal += np.exp(-(((time - beat) / 2) ** 2) / 2) + 0.4 * np.exp(-(((time - beat - 12) / 5) ** 2) / 2)
        beat += 35 * (1 + 0.1 * rng.standard_normal())
    X = signal.reshape(100, 100)
    X[::20] *= height
    return X


@pytest.mark.parametrize("seed", range(2))
def test_few_rows_of_most_variance_make_it_no_worse_than_greedy_steps(seed):
    train, test = np.split(beats(seed, height=8), [70])
    ours, greedy = (
        Reconstructor(selector, "ridge").fit(train).score(test)
        for selector in (ReconstructionSelector(50), GreedyProjection(50, target="features"))
    )
    assert ours >= greedy - 0.005


def test_few_rows_of_most_variance_leave_a_given_penalty_and_its_exchanges_alone():
    X = beats(0, height=8)[:70]
    found = ReconstructionSelector(20, penalty=0.1).fit(X)
    assert found.penalty_ == 0.1
    assert found.n_iter_ > 0
    assert ReconstructionSelector(20).fit(X).penalty_ == 0
    assert ReconstructionSelector(20).fit(X).n_iter_ == 0


def test_greedy_steps_that_stay_go_on_in_rounds_beyond_the_rank():
    X = np.random.default_rng(0).standard_normal((12, 40))
    X[0] *= 30
    ours, greedy = ReconstructionSelector(20).fit(X), GreedyProjection(20, target="features").fit(X)
    assert ours.penalty_ == 0
    np.testing.assert_array_equal(ours.support_, greedy.support_)


@pytest.mark.parametrize("shape", [(40, 64), (500, 64)])
def test_a_memory_map_that_is_small_gives_what_an_array_does(pixels, shape, tmp_path):
    X = pixels[: shape[0]]
    mapped = np.lib.format.open_memmap(tmp_path / "X.npy", mode="w+", dtype=float, shape=shape)
    mapped[:] = X
    for count in (12, "auto"):
        ranking = ReconstructionSelector(count).fit(X).ranking_
        np.testing.assert_array_equal(ReconstructionSelector(count).fit(mapped).ranking_, ranking)
        np.testing.assert_array_equal(
            ReconstructionSelector(count).fit(np.load(tmp_path / "X.npy", mmap_mode="r")).ranking_, ranking
        )
    weights = Reconstructor(ReconstructionSelector(12)).fit(X).weights_
    np.testing.assert_array_equal(Reconstructor(ReconstructionSelector(12)).fit(mapped).weights_, weights)


def test_columns_that_hardly_vary_beside_others_are_no_trouble():
    """Ends of a bell curve: variances down to 1e-215 of the largest, over few rows."""
    places = np.linspace(-30, 30, 200)
    X = np.exp(-np.square(places - np.linspace(-5, 5, 40)[:, None]) / 2)
    selector = ReconstructionSelector(6).fit(X)
    assert np.all(np.abs(places[selector.support_]) < 12)


@pytest.mark.parametrize(
    "rows", [{}, {"sample_weight": 1.0 + np.arange(250) % 3, "batch": np.arange(250) % 2}]
)
def test_many_sparse_columns_are_selected_as_dense_ones(rows):
    rng = np.random.default_rng(5)
    X = rng.gamma(0.5, 1, (250, 8)) @ rng.gamma(0.3, 1, (8, 2100)) + rng.gamma(0.2, 0.5, (250, 2100))
    X[rng.random(X.shape) < 0.6] = 0.0
    dense = ReconstructionSelector(12, penalty=0.2).fit(X, **rows)
    thin = ReconstructionSelector(12, penalty=0.2).fit(sparse.csr_array(X), **rows)
    np.testing.assert_array_equal(thin.support_, dense.support_)
    np.testing.assert_allclose(thin.objective_history_, dense.objective_history_, rtol=1e-8)


@st.composite
def fits(draw):
    """Draw a table of few or many rows, a number of columns, and the table as another user has it."""
    shape = draw(st.sampled_from([(30, 120), (40, 45), (60, 60), (250, 300), (300, 20)]))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    X = rng.standard_normal((shape[0], 4)) @ rng.standard_normal((4, shape[1]))
    X += draw(st.sampled_from([0.1, 1.0])) * rng.standard_normal(shape)
    if draw(st.booleans()):
        X = np.maximum(X.round(), 0)
    other = draw(st.sampled_from(["dask", "lazy", "order", "csr", "unit", "sign", "shift"]))
    return X, draw(st.sampled_from([5, "auto"])), other


def brought(X, other):
    """Return the same table in another container, order of rows, unit, sign or about another mean."""
    if other == "dask":
        return pytest.importorskip("dask.array").from_array(X, chunks=(len(X) // 3, X.shape[1]))
    if other == "lazy":
        return pytest.importorskip("polars").LazyFrame({f"c{j}": column for j, column in enumerate(X.T)})
    rng = np.random.default_rng(0)
    kinds = {
        "order": lambda: rng.permutation(X), "csr": lambda: sparse.csr_array(X),
        "unit": lambda: 2.0**-600 * X, "sign": lambda: -X,
        "shift": lambda: X + 100 * rng.standard_normal(X.shape[1]),
    }  # fmt: skip
    return kinds[other]()


@settings(max_examples=40, deadline=None)
@given(fits())
def test_the_columns_do_not_depend_on_container_order_of_rows_unit_or_sign(fit):
    X, count, other = fit
    found = ReconstructionSelector(count).fit(brought(X, other)).support_
    np.testing.assert_array_equal(found, ReconstructionSelector(count).fit(X).support_)
