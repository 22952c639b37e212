"""Reconstructor: the map to all columns, ridge, kernel or a regressor, its errors, and failed sensors."""

from __future__ import annotations

from io import BytesIO

import joblib
import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.feature_selection import SelectKBest, VarianceThreshold, f_classif
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.neighbors import KNeighborsRegressor
from tests.conftest import frame_class

from ufselect import LaplacianScore, MaxVariance, ReconstructionSelector, Reconstructor, RedundancyFilter
from ufselect.plotting import ReconstructionDisplay


def on_a_curve(n_rows, rng, noise=0.02):
    """Two coordinates and ten functions of them, most of which are no lines."""
    at = rng.uniform(-1, 1, (n_rows, 2))
    bent = [np.sin(3 * at @ rng.standard_normal(2) + shift) for shift in range(8)]
    return np.column_stack([at, *bent, at @ [1, 2], at @ [2, -1]]) + noise * rng.standard_normal((n_rows, 12))


def correlated(n_rows, seed, n_features=12, rank=4, noise=0.3):
    """Return rows of a few factors, the same for every seed, and noise."""
    loadings = np.random.default_rng(99).standard_normal((rank, n_features))
    rng = np.random.default_rng(seed)
    scores = rng.standard_normal((n_rows, rank))
    return scores @ loadings + noise * rng.standard_normal((n_rows, n_features)) + np.arange(n_features)


@pytest.fixture(scope="module")
def curved():
    return on_a_curve(400, np.random.default_rng(0))


@pytest.fixture(scope="module")
def bent(curved):
    return Reconstructor([0, 1]).fit(curved[:300])


def kernel_ridge(rows, new, unit, width, weight, penalty):
    """Return columns 2 and up of new rows by scikit-learn, with an offset: centred kernels and targets."""
    mean = rows[:, :2].mean(axis=0)
    part, new = (rows[:, :2] - mean) / unit, (new[:, :2] - mean) / unit

    def kernel(left, right):
        return np.exp(-euclidean_distances(left, right, squared=True) / (2 * width**2)) + weight * (
            left @ right.T
        )

    centre, offset = np.eye(len(rows)) - 1 / len(rows), rows[:, 2:].mean(axis=0)
    fitted = KernelRidge(alpha=penalty, kernel="precomputed")
    fitted.fit(centre @ kernel(part, part) @ centre, rows[:, 2:] - offset)
    return fitted.predict((kernel(new, part) - kernel(part, part).mean(axis=0)) @ centre) + offset


@pytest.mark.parametrize("groups", [None, np.arange(60) // 4])
def test_it_is_kernel_ridge_regression_and_its_score_that_of_held_out_folds(curved, groups):
    rows, new = curved[:60], 0.9 * curved[100:107]
    found = Reconstructor([0, 1], "kernel").fit(rows, groups=groups)
    map_ = found.column_map_
    mapped, errors = found.inverse_transform(new[:, :2])[:, 2:], []
    settings = [(weight, penalty) for weight in (0.1, 1.0, 10.0) for penalty in np.geomspace(1e-4, 10, 11)]
    for setting in settings:
        errors.append(np.abs(kernel_ridge(rows, new, map_.unit, map_.width, *setting) - mapped).max())
    assert min(errors) < 1e-5
    if groups is None:
        setting, left, total = settings[int(np.argmin(errors))], 0.0, 0.0
        for fold in range(5):
            is_out = np.arange(60) % 5 == fold
            guess = kernel_ridge(rows[~is_out], rows[is_out], map_.unit, map_.width, *setting)
            left += np.square(rows[is_out][:, 2:] - guess).sum()
            total += np.square(rows[is_out] - rows[~is_out].mean(axis=0)).sum()
        assert found.score_ == pytest.approx(1 - left / total, abs=1e-3)


def test_auto_bends_where_lines_do_not_do(curved, bent):
    test = curved[300:]
    lines = Reconstructor([0, 1], "ridge").fit(curved[:300])
    assert bent.regressor_ == "kernel"
    assert "more than one standard error" in bent.reason_
    assert "not more" not in bent.reason_
    assert 1 - bent.score_ < 0.25 * (1 - lines.score_)
    assert bent.map_scores_ == {"ridge": lines.score_, "kernel": bent.score_}
    assert 1 - bent.score(test) < 0.25 * (1 - lines.score(test))
    assert 1 - bent.score_ == pytest.approx(1 - bent.score(test), rel=0.5)
    left = bent.inverse_transform(test[:, :2]) - test
    expected = bent.standard_deviations_[2:]
    np.testing.assert_allclose(left.std(axis=0)[2:], expected, rtol=0.5)
    np.testing.assert_allclose(left[:, :2], 0, atol=1e-12)


def test_lines_and_noise_stay_with_the_linear_map():
    rng = np.random.default_rng(1)
    lines = rng.standard_normal((200, 2)) @ rng.standard_normal((2, 9)) + 0.1 * rng.standard_normal((200, 9))
    found = Reconstructor([0, 1]).fit(lines)
    assert found.regressor_ == "ridge"
    assert "not more than one standard error" in found.reason_
    noise = rng.standard_normal((200, 9))
    assert Reconstructor([0, 1]).fit(noise[:100]).score(noise[100:]) == pytest.approx(0.22, abs=0.06)


def test_rows_far_from_those_seen_are_left_to_the_linear_map(bent):
    far = np.array([[40.0, -70.0], [0.1, 0.1]])
    assert bent.is_far(far).tolist() == [True, False]
    linear = (far - bent.mean_[:2]) @ bent.weights_ + bent.mean_
    reconstructed = bent.inverse_transform(far)
    np.testing.assert_allclose(reconstructed[0], linear[0])
    assert np.abs(reconstructed[1] - linear[1]).max() > 0.05


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e-6, 1e6, 1e160, 1e300])
@pytest.mark.parametrize("settings", [{"regressor": "kernel"}, {"noise_variance": 0.01}, {}])
def test_neither_the_unit_nor_a_shift_of_the_data_matters(scale, settings):
    rows = on_a_curve(60, np.random.default_rng(0))
    plain = Reconstructor([0, 1], **settings).fit(rows)
    in_units = {name: value * scale * scale if value == 0.01 else value for name, value in settings.items()}
    if not 1e-300 < in_units.get("noise_variance", 1.0) < np.inf:
        pytest.skip("no number can be the variance")
    moved = Reconstructor([0, 1], **in_units).fit(scale * (rows + 3))
    expected, spread = plain.inverse_transform(rows[:9, :2], return_std=True)
    found, own_spread = moved.inverse_transform(scale * (rows[:9, :2] + 3), return_std=True)
    np.testing.assert_allclose(found / scale, expected + 3, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(own_spread / scale, spread, rtol=1e-4)
    np.testing.assert_allclose(moved.standard_deviations_ / scale, spread[0], rtol=1e-4)
    assert moved.score(scale * (rows + 3)) == pytest.approx(plain.score(rows), abs=1e-4)
    assert moved.fewer(1).score(scale * (rows + 3)) == pytest.approx(plain.fewer(1).score(rows), abs=1e-4)


def test_more_rows_than_landmarks_do_as_well_as_a_sample_of_them():
    rng = np.random.default_rng(0)
    rows, state = on_a_curve(3000, rng), rng.bit_generator.state
    found = Reconstructor([0, 1], "kernel").fit(rows[:2500])
    some = Reconstructor([0, 1], "kernel").fit(rows[:500])
    assert found.column_map_.landmarks.shape == (1000, 2)
    assert found.score(rows[2500:]) > some.score(rows[2500:]) - 1e-3
    assert rng.bit_generator.state == state


@pytest.mark.parametrize("regressor", ["ridge", "kernel", KNeighborsRegressor(3)])
def test_curve_score_and_picture_work_for_every_map(curved, regressor):
    pytest.importorskip("matplotlib").use("Agg")
    train, test = curved[:120], curved[300:]
    reconstructor = Reconstructor([0, 1, 5], regressor).fit(train)
    curve = reconstructor.curve(test)
    assert curve["n_features"].tolist() == [1, 2, 3]
    assert curve["score"][-1] == reconstructor.score(test)
    assert curve["score"][0] < curve["score"][1:].min()
    display = ReconstructionDisplay.from_estimator(reconstructor, test, X_train=train)
    np.testing.assert_array_equal(display.shares, curve["score"])
    assert reconstructor.standard_deviations_.shape == (12,)


def test_a_regressor_that_is_given_is_used(curved):
    found = Reconstructor([0, 1], KNeighborsRegressor(3)).fit(curved[:300])
    rows = curved[300:305]
    expected = KNeighborsRegressor(3).fit(curved[:300, :2], curved[:300, 2:]).predict(rows[:, :2])
    np.testing.assert_allclose(found.inverse_transform(rows[:, :2])[:, 2:], expected)
    assert found.map_scores_["regressor"] > found.map_scores_["ridge"]
    assert 1 - found.score_ == pytest.approx(1 - found.score(curved[300:]), rel=0.5)


def test_data_for_lines_alone_say_so(curved):
    gaps = curved.copy()
    gaps[::7, 3] = np.nan
    cases = {
        "sparse": (sparse.csr_array(curved), {}),
        "missing": (gaps, {}),
        "noise_variance": (curved, {"noise_variance": 0.1}),
        "fewer than 10": (curved[:9], {}),
    }
    for word, (data, settings) in cases.items():
        found = Reconstructor([0, 1], **settings).fit(data)
        assert found.regressor_ == "ridge"
        assert word in found.reason_
        with pytest.raises(ValueError, match=word):
            Reconstructor([0, 1], "kernel", **settings).fit(data)
    with pytest.raises(ValueError, match="cannot be held out, because values are missing"):
        Reconstructor([0, 1]).fit(gaps, groups=np.arange(400) // 4)
    whole = Reconstructor([0, 1], "ridge").fit(curved)
    found = Reconstructor([0, 1]).fit(gaps)
    assert found.score(curved) == pytest.approx(whole.score(curved), abs=0.05)
    assert not found.is_far(curved[:, :2]).any()


def test_columns_can_be_given_by_name():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(np.random.default_rng(0).standard_normal((30, 4)), columns=list("abcd"))
    found = Reconstructor(["d", "b"]).fit(frame)
    assert found.get_feature_names_out().tolist() == ["b", "d"]
    assert found.transform(frame).shape == (30, 2)


@pytest.mark.parametrize(
    "selector",
    [RedundancyFilter(0.9), LaplacianScore(5), VarianceThreshold(0.3), SelectKBest(f_classif, k=4)],
)
def test_any_selector_will_do(selector, curved):
    found = Reconstructor(selector).fit(curved[:200], curved[:200, 3] > 0)
    assert found.support_.sum() < 12
    assert found.score(curved[200:]) > 0.3


@pytest.mark.parametrize("regressor", ["ridge", "kernel", KNeighborsRegressor(3)])
@pytest.mark.parametrize("package", ["joblib", "skops"])
def test_it_can_be_stored(package, regressor, curved):
    curved = curved[:60]
    found = Reconstructor(MaxVariance(3), regressor).fit(curved)
    if package == "joblib":
        store = BytesIO()
        joblib.dump(found, store)
        store.seek(0)
        again = joblib.load(store)
    else:
        skops = pytest.importorskip("skops.io")
        stored = skops.dumps(found)
        again = skops.loads(stored, trusted=skops.get_untrusted_types(data=stored))
    measured = found.transform(curved)
    np.testing.assert_array_equal(again.inverse_transform(measured), found.inverse_transform(measured))
    np.testing.assert_array_equal(again.curve(curved)["score"], found.curve(curved)["score"])


def test_handwritten_digits_come_back_better_than_by_lines():
    pixels = load_digits().data
    errors = [
        1 - Reconstructor(ReconstructionSelector(20), regressor).fit(pixels[:600]).score(pixels[1200:])
        for regressor in ("auto", "ridge")
    ]
    assert errors[0] < 0.85 * errors[1]


def test_a_mask_gives_its_columns(curved):
    mask = np.arange(curved.shape[1]) < 2
    np.testing.assert_array_equal(Reconstructor(mask).fit(curved).support_, mask)


@pytest.mark.parametrize("noise_variance", [None, 0.2])
def test_a_failed_sensor_is_predicted_from_the_others(noise_variance):
    """The oracle is the map that was fitted without that column; the standard deviations are true."""
    train, test = correlated(3000, 0), correlated(4000, 1)
    found = Reconstructor([0, 3, 5, 8, 9], noise_variance=noise_variance).fit(train)
    measured = test[:, [0, 3, 5, 8, 9]]
    if noise_variance:
        measured = measured + np.sqrt(noise_variance) * np.random.default_rng(2).standard_normal((4000, 5))
    failed = measured.copy()
    failed[:2000, 1] = np.nan
    failed[1000:3000, 4] = np.nan
    for rows, known in (
        (slice(0, 1000), [0, 2, 3, 4]),
        (slice(1000, 2000), [0, 2, 3]),
        (slice(2000, 3000), [0, 1, 2, 3]),
        (slice(3000, None), [0, 1, 2, 3, 4]),
    ):
        reconstructed, spread = found.inverse_transform(failed[rows], return_std=True)
        columns = np.array([0, 3, 5, 8, 9])[known].tolist()
        without = Reconstructor(columns, "ridge", noise_variance=noise_variance).fit(train)
        expected = without.inverse_transform(measured[rows][:, known])
        left, best = (np.square(each - test[rows]).mean() for each in (reconstructed, expected))
        assert left <= 1.02 * best
        error = np.sqrt(np.square(reconstructed - test[rows]).mean(axis=0))
        np.testing.assert_allclose(spread[0], error, rtol=0.15, atol=1e-9)
    nothing, spread = found.inverse_transform(np.full((1, 5), np.nan), return_std=True)
    np.testing.assert_allclose(nothing[0], found.mean_)
    np.testing.assert_allclose(spread[0], train.std(axis=0), rtol=0.1)
    assert found.is_far(failed).mean() < 0.1


def test_a_failed_sensor_does_not_stop_the_kernel(curved, bent):
    failed = curved[300:, :2].copy()
    failed[:, 1] = np.nan
    left = np.square(bent.inverse_transform(failed) - curved[300:]).sum()
    assert left < np.square(curved[300:] - bent.mean_).sum()


@pytest.mark.parametrize("regressor", ["ridge", "kernel"])
def test_errors_for_new_persons_hold_persons_out(regressor):
    """Persons differ in ways of their own, which rows of the same person give away."""
    rng = np.random.default_rng(0)
    offsets, persons = 2 * rng.standard_normal((80, 12)), np.repeat(np.arange(80), 6)
    X = correlated(480, 3) + offsets[persons]
    known = persons < 40
    found = Reconstructor([0, 3, 5, 8, 9], regressor).fit(X[known], groups=persons[known])
    left = found.inverse_transform(X[~known][:, [0, 3, 5, 8, 9]]) - X[~known]
    ratio = (
        np.sqrt(np.square(left).mean(axis=0)[~found.support_]) / found.standard_deviations_[~found.support_]
    )
    assert np.median(ratio) == pytest.approx(1, abs=0.15)
    with pytest.raises(ValueError, match="has 3 entries, but X has 480"):
        found.fit(X, groups=[1, 2, 3])
    with pytest.raises(ValueError, match="a single group"):
        found.fit(X, groups=np.zeros(480))


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_all_columns_come_back_by_name(package):
    frame = frame_class(package)
    X = correlated(60, 0)
    X[:, 2] = 7.0  # constant
    names = [f"c{j}" for j in range(12)]
    data = frame(dict(zip(names, X.T, strict=True)))
    found = Reconstructor(["c3", "c0", "c8"]).set_output(transform=package).fit(data)
    everything, spread = found.inverse_transform(data[["c8", "c3", "c0"]], return_std=True)
    assert isinstance(everything, type(data))
    assert list(everything.columns) == names
    assert (np.asarray(everything)[:, 2] == 7).all()
    assert spread.shape == (60, 12)
    for table in (data, found.transform(data)):
        np.testing.assert_array_equal(np.asarray(found.inverse_transform(table)), np.asarray(everything))
    with pytest.raises(ValueError, match="X lacks selected columns: c8; it needs c0, c3, c8"):
        found.inverse_transform(data[["c3", "c0", "c1"]])


@pytest.mark.parametrize("how", ["list", "ranking"])
def test_an_array_in_another_order_is_refused(how):
    X = load_digits().data
    sensors = np.array([30, 20, 43, 27, 10, 52])
    found = Reconstructor(sensors.tolist() if how == "list" else ReconstructionSelector(12)).fit(X[:900])
    if how == "ranking":
        chosen = np.flatnonzero(found.support_)
        sensors = chosen[np.argsort(found.estimator_.ranking_[chosen])]
    with pytest.raises(ValueError, match=f"in the order of the {how}"):
        found.inverse_transform(X[900:, sensors])
    found.inverse_transform(X[900:, np.sort(sensors)])
    with pytest.raises(ValueError, match="in the order of the data, as transform returns them"):
        found.inverse_transform(X[900:])


def test_rows_like_those_of_the_fit_are_not_refused_for_being_closer_in_another_order():
    rows = np.random.default_rng(0).standard_normal((5000, 2))
    found = Reconstructor([1, 0]).fit(rows * [1, 1.2])
    calmer = rows * [0.9, 0.7]  # the second column now varies less than the first
    np.testing.assert_allclose(found.inverse_transform(calmer), calmer)


@pytest.mark.parametrize("kind", ["ridge", "kernel", "covariance"])
def test_fewer_columns_need_no_new_fit(kind, curved):
    rows = sparse.csr_array(curved[:300]) if kind == "covariance" else curved[:300]
    regressor = "kernel" if kind == "kernel" else "ridge"
    found = Reconstructor(ReconstructionSelector(6), regressor).fit(rows)
    part = found.fewer(3)
    chosen = np.flatnonzero(found.support_)
    best = np.sort(chosen[np.argsort(found.estimator_.ranking_[chosen])[:3]])
    np.testing.assert_array_equal(part.get_feature_names_out(), [f"x{j}" for j in best])
    again = Reconstructor(best.tolist(), regressor).fit(rows)
    assert part.score(curved[300:]) == pytest.approx(again.score(curved[300:]), abs=0.02)
    assert part.score_ == pytest.approx(again.score_, abs=0.03)
    assert part.transform(curved).shape == (400, 3)
    assert found.support_.sum() == 6
    for wrong in (0, 7, 2.5):
        with pytest.raises(ValueError, match="whole number between 1 and the 6"):
            found.fewer(wrong)
    with pytest.raises(ValueError, match="VarianceThreshold does not rank"):
        Reconstructor(VarianceThreshold(0.3)).fit(curved).fewer(1)


def test_a_listed_order_holds_for_fewer_columns():
    rows = correlated(100, 0)
    fewer = Reconstructor([7, 2, 11]).fit(rows).fewer(2)
    np.testing.assert_allclose(
        fewer.inverse_transform(rows[:, fewer.support_]), fewer.inverse_transform(fewer.transform(rows))
    )
    assert fewer.transform(rows).shape == (100, 2)


def test_the_score_of_rows_with_missing_values_is_over_the_others():
    rows, new = correlated(300, 0), correlated(200, 1)
    fitted = Reconstructor(ReconstructionSelector(5)).fit(rows)
    gaps = np.random.default_rng(2).random(new.shape) < 0.05
    dropped = np.where(gaps & ~fitted.support_, np.nan, new)
    left = np.square(new - fitted.inverse_transform(fitted.transform(new)))[~np.isnan(dropped)].sum()
    total = np.square(new - rows.mean(axis=0))[~np.isnan(dropped)].sum()
    assert fitted.score(dropped) == pytest.approx(1 - left / total)
    assert fitted.score(np.where(gaps, np.nan, new)) < fitted.score(new)
