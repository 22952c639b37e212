"""The formulas behind the table of applications, against computations by hand."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from benchmarks.applied.questions import (
    ITEMS,
    KEYS,
    SCALES,
    at_random,
    balanced,
    by_item_total,
    item_total,
    judged,
)
from benchmarks.applied.questions import cronbach_alpha as alpha
from benchmarks.applied.shared import Table, cell, random_columns, split
from benchmarks.applied.spectra import by_components, equidistant, pls, spaced
from sklearn.cross_decomposition import PLSRegression

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results" / "applications.json"


def test_alpha_by_hand():
    # Variances 1, 4 and 1; the sums 2, 6, 10 have variance 16: 3/2 · (1 − 6/16).
    answers = np.array([[1.0, 0.0, 1.0], [2.0, 2.0, 2.0], [3.0, 4.0, 3.0]])
    assert alpha(answers) == pytest.approx(3 / 2 * (1 - 6 / 16))


def test_alpha_of_two_items_is_the_spearman_brown_formula_of_equal_variances():
    rng = np.random.default_rng(0)
    first, second = rng.standard_normal((2, 200))
    pair = np.column_stack([first, 0.6 * first + second])
    pair = (pair - pair.mean(axis=0)) / pair.std(axis=0, ddof=1)
    r = np.corrcoef(pair.T)[0, 1]
    assert alpha(pair) == pytest.approx(2 * r / (1 + r))


def test_item_total_leaves_the_item_out():
    answers = np.random.default_rng(0).integers(1, 7, size=(50, 4)).astype(float)
    found = item_total(answers)
    for j in range(4):
        rest = sum(answers[:, k] for k in range(4) if k != j)
        assert found[j] == pytest.approx(np.corrcoef(answers[:, j], rest)[0, 1])


@pytest.fixture(scope="module")
def answers():
    rng = np.random.default_rng(0)
    traits = rng.standard_normal((300, 5))
    return np.repeat(traits, 5, axis=1) * np.tile([0.2, 1.0, 0.6, 1.4, 0.4], 5) + rng.standard_normal(
        (300, 25)
    )


def test_the_usual_rule_takes_the_two_items_nearest_to_their_scale(answers):
    assert [ITEMS[j] for j in by_item_total(answers)] == [f"{scale}{n}" for scale in "ACENO" for n in (2, 4)]


def test_every_short_form_with_scales_has_two_items_of_each(answers):
    for items in (by_item_total(answers), at_random(3), balanced().fit(answers).get_support(indices=True)):
        assert [np.sum(SCALES[items] == scale) for scale in KEYS] == [2] * 5


def test_all_items_tell_everything_and_lost_scales_have_no_alpha(answers):
    train, test = answers[:200], answers[200:]
    everything = judged(train, test, np.arange(25))
    assert everything[1:] == pytest.approx([1, 1, 100, 0], abs=1e-6)
    assert everything[0] == pytest.approx(np.mean([alpha(test[:, scale == SCALES]) for scale in KEYS]))
    few = judged(train, test, np.arange(10))
    assert np.isnan(few[:2]).all()
    assert few[4] == 3


def test_equidistant_wavelengths_are_middles_of_equal_parts():
    assert equidistant(100, 4).tolist() == [12, 37, 62, 87]


def test_spaced_wavelengths_keep_a_quarter_of_the_equidistant_distance():
    positions = np.linspace(0, 80, 161)
    curves = np.exp(-((positions - np.linspace(20, 30, 40)[:, None]) ** 2) / 8)
    kept = positions[spaced(positions, 8).fit(curves).support_]
    assert np.diff(kept).min() >= 80 / 8 / 4


def test_the_number_of_components_of_a_pls_model_suits_the_data():
    rng = np.random.default_rng(0)
    scores = rng.standard_normal((60, 2))
    X = scores @ rng.standard_normal((2, 30)) + 0.01 * rng.standard_normal((60, 30))
    assert pls(X, scores @ [1.0, -1.0]).n_components == 2
    assert pls(X[:, :1], scores[:, 0]).n_components == 1


@pytest.mark.parametrize("n_targets", [1, 3])
def test_one_pls_model_predicts_as_those_with_fewer_components_do(n_targets):
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((40, 12)), rng.standard_normal((40, n_targets))
    y = Y.ravel() if n_targets == 1 else Y
    found = list(by_components(PLSRegression(4, scale=False).fit(X, y), X))
    for count, predicted in enumerate(found, start=1):
        expected = PLSRegression(count, scale=False).fit(X, y).predict(X)
        np.testing.assert_allclose(predicted, expected, atol=1e-10)


def test_cells_of_a_table():
    assert cell([1.0, 3.0], 1) == "2.0 ± 1.0"
    assert cell([1.234], 2) == "1.23"
    assert cell([1.0, np.nan], 1) == "–"
    table = Table(["error"], [1])
    table.add("DSCOFS", "no", [0.5])
    assert table.record() == {
        "columns": ["columns by", "labels used", "error"],
        "rows": [["DSCOFS", "no", "0.5"]],
    }


def test_random_columns_are_repeatable_and_splits_cover_every_row_once():
    first, second = ([each.tolist() for each in random_columns(50, 5, 2)] for _ in range(2))
    assert first == second
    assert first[0] != first[1]
    train, test = split(11, seed=0)
    assert (sorted([*train, *test]), test.size) == (list(range(11)), 3)


def test_every_table_has_random_columns_beside_it():
    for name, table in json.loads(RESULTS.read_text(encoding="utf-8")).items():
        methods = [row[0] for row in table["rows"]]
        assert any("random" in method for method in methods), name
        assert all(len(row) == len(table["columns"]) for row in table["rows"]), name
