"""The picture of shares against counts."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits

from ufselect import ReconstructionSelector, Reconstructor
from ufselect.plotting import ReconstructionDisplay

pytest.importorskip("matplotlib").use("Agg")


@pytest.fixture(scope="module")
def rows():
    pixels = load_digits().data
    return pixels[:300], pixels[600:900]


def test_the_curve_lies_between_random_columns_and_components(rows):
    train, test = rows
    reconstructor = Reconstructor(ReconstructionSelector(12), "ridge").fit(train)
    display = ReconstructionDisplay.from_estimator(reconstructor, test, X_train=train, counts=[2, 6, 12])
    assert display.counts.tolist() == [2, 6, 12]
    assert display.random.shape == (5, 3)
    assert np.all(display.components > display.shares)
    assert np.all(display.shares > display.random.mean(axis=0))
    V = np.linalg.svd(train - train.mean(axis=0), full_matrices=False)[2][:6]
    A = test - train.mean(axis=0)
    share = 1 - np.square(A - A @ V.T @ V).sum() / np.square(A).sum()
    assert display.components[1] == pytest.approx(share)
    labels = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert labels == ["random columns", "principal components", "selected columns"]


def test_a_selector_alone_is_refused_with_what_is_wanted(rows):
    with pytest.raises(
        TypeError, match=r"ReconstructionSelector does not reconstruct columns; give a fitted R"
    ):
        ReconstructionDisplay.from_estimator(ReconstructionSelector(5).fit(rows[0]), rows[1])


def test_the_chosen_count_is_marked(rows):
    selector = ReconstructionSelector("auto").fit(rows[0])
    display = ReconstructionDisplay.from_count_curve(selector)
    assert display.chosen == selector.support_.sum()
    assert f"{display.chosen} columns" in [text.get_text() for text in display.ax_.get_legend().get_texts()]


def test_a_selector_that_was_given_its_count_has_no_curve(rows):
    with pytest.raises(ValueError, match='n_features_to_select="auto"'):
        ReconstructionDisplay.from_count_curve(ReconstructionSelector(5).fit(rows[0]))
