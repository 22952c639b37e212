"""The map back of Reconstructor: ridge, kernel or a regressor, and which of them is taken."""

from __future__ import annotations

from io import BytesIO

import joblib
import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.feature_selection import SelectKBest, VarianceThreshold, f_classif
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.neighbors import KNeighborsRegressor

from ufselect import LaplacianScore, MaxVariance, ReconstructionSelector, Reconstructor, RedundancyFilter
from ufselect.plotting import ReconstructionDisplay
from ufselect.reconstruct.kernel import ColumnMap, bend, linear_errors
from ufselect.reconstruct.ridge import LinearMap

COLUMNS = np.array([0, 1])


def on_a_curve(n_rows, rng, noise=0.02):
    """Two coordinates and ten functions of them, most of which are no lines."""
    at = rng.uniform(-1, 1, (n_rows, 2))
    bent = [np.sin(3 * at @ rng.standard_normal(2) + shift) for shift in range(8)]
    return np.column_stack([at, *bent, at @ [1, 2], at @ [2, -1]]) + noise * rng.standard_normal((n_rows, 12))


@pytest.fixture(scope="module")
def curved():
    return on_a_curve(400, np.random.default_rng(0))


@pytest.fixture(scope="module")
def bent(curved):
    return Reconstructor([0, 1]).fit(curved[:300])


def fitted(rows, **settings):
    linear = LinearMap.from_rows(rows, COLUMNS)
    flat = ColumnMap.of(linear, rows[:, COLUMNS] - linear.mean[COLUMNS], COLUMNS)
    return linear, flat, *bend(flat, rows, **settings)


def test_it_is_kernel_ridge_regression(curved):
    """With an offset of its own, which is what centred kernels and targets amount to."""
    rows = curved[:60]
    _, flat, found, _, _ = fitted(rows, widths=(0.5,), weights=(1.0,))
    part = (rows[:, COLUMNS] - flat.mean[COLUMNS]) / flat.unit

    def kernel(left, right):
        gaussian = np.exp(-euclidean_distances(left, right, squared=True) / (2 * found.width**2))
        return gaussian + left @ right.T

    centre = np.eye(60) - 1 / 60
    new = part[:7] * 0.9
    mapped = found.predict(new * flat.unit + flat.mean[COLUMNS])
    errors = [
        np.abs(
            KernelRidge(alpha=penalty, kernel="precomputed")
            .fit(centre @ kernel(part, part) @ centre, rows[:, 2:] - rows[:, 2:].mean(axis=0))
            .predict((kernel(new, part) - kernel(part, part).mean(axis=0)) @ centre)
            + rows[:, 2:].mean(axis=0)
            - mapped[:, 2:]
        ).max()
        for penalty in np.geomspace(1e-4, 10, 11)
    ]
    assert min(errors) < 1e-5


def test_leave_one_out_errors_of_lines_are_those_without_the_row(curved):
    rows = curved[:40]
    linear = LinearMap.from_rows(rows, COLUMNS)
    found = linear_errors(linear, rows, COLUMNS)
    part = rows[:, COLUMNS] - rows[:, COLUMNS].mean(axis=0)
    squares = np.square(part).sum(axis=0)
    part /= np.sqrt((squares + squares.mean()) / 2)
    for row in range(4):
        others = np.delete(np.arange(40), row)
        lines = Ridge(alpha=linear.ridge).fit(part[others], rows[others, 2:]).predict(part[[row]])[0]
        assert found[row] == pytest.approx(np.square(rows[row, 2:] - lines).sum(), rel=1e-6)


def test_leave_one_out_errors_of_the_kernel_are_those_without_the_row(curved):
    rows = curved[:40]
    _, flat, bent, by_column, by_row = fitted(rows, widths=(0.5,), weights=(1.0,))
    part = (rows[:, COLUMNS] - flat.mean[COLUMNS]) / flat.unit
    kernel = np.exp(-euclidean_distances(part, squared=True) / (2 * bent.width**2)) + part @ part.T
    for row in range(4):
        others, found = np.delete(np.arange(40), row), []
        for penalty in np.geomspace(1e-4, 10, 11):
            system = np.ones((40, 40))  # the last unknown is the offset, which nothing penalises
            system[:-1, :-1] = kernel[np.ix_(others, others)] + penalty * np.eye(39)
            system[-1, -1] = 0
            solved = np.linalg.solve(system, np.vstack([rows[others, 2:], np.zeros((1, 10))]))
            left = rows[row, 2:] - np.append(kernel[row, others], 1.0) @ solved
            found.append(np.square(left).sum())
        assert np.min(np.abs(np.array(found) / by_row[row] - 1)) < 1e-4
    assert by_column[2:].sum() <= by_row.sum() * (1 + 1e-9)


def test_auto_bends_where_lines_do_not_do(curved, bent):
    test = curved[300:]
    lines = Reconstructor([0, 1], "ridge").fit(curved[:300])
    assert bent.regressor_ == "kernel"
    assert "more than one standard error" in bent.reason_
    assert "not more" not in bent.reason_
    assert bent.errors_["kernel"] < 0.5 * bent.errors_["ridge"]
    error = np.sqrt(1 - bent.score(test))
    assert error < 0.5 * np.sqrt(1 - lines.score(test))
    assert bent.error_ == pytest.approx(error, rel=0.3)
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


@pytest.mark.parametrize("scale", [1e-6, 1e6])
@pytest.mark.parametrize("seed", [0, 1])
def test_neither_the_unit_nor_a_shift_of_the_data_matters(scale, seed):
    rows = on_a_curve(60, np.random.default_rng(seed))
    plain = Reconstructor([0, 1], "kernel").fit(rows)
    moved = Reconstructor([0, 1], "kernel").fit(scale * (rows + 3))
    expected = scale * (plain.inverse_transform(rows[:9, :2]) + 3)
    np.testing.assert_allclose(
        moved.inverse_transform(scale * (rows[:9, :2] + 3)), expected, rtol=1e-4, atol=1e-4 * scale
    )


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
    assert [row["count"] for row in curve] == [1, 2, 3]
    assert curve[-1]["error"] == pytest.approx(np.sqrt(1 - reconstructor.score(test)))
    assert curve[0]["error"] > max(curve[1]["error"], curve[2]["error"])
    display = ReconstructionDisplay.from_estimator(reconstructor, test, X_train=train)
    assert display.errors.tolist() == [row["error"] for row in curve]
    assert reconstructor.standard_deviations_.shape == (12,)


def test_a_regressor_that_is_given_is_used(curved):
    found = Reconstructor([0, 1], KNeighborsRegressor(3)).fit(curved[:300])
    rows = curved[300:305]
    expected = KNeighborsRegressor(3).fit(curved[:300, :2], curved[:300, 2:]).predict(rows[:, :2])
    np.testing.assert_allclose(found.inverse_transform(rows[:, :2])[:, 2:], expected)
    assert found.errors_["regressor"] < found.errors_["ridge"]
    assert found.error_ == pytest.approx(np.sqrt(1 - found.score(curved[300:])), rel=0.3)


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
    assert again.curve(curved, [1, 3]) == found.curve(curved, [1, 3])


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
