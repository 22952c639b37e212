"""Each figure shows what its rows say."""

from __future__ import annotations

import numpy as np
import pytest
from tests.evaluation.rows import make_row

figure_module = pytest.importorskip("matplotlib.figure")

from benchmarks.paper.figures import (  # noqa: E402
    plot_boxes,
    plot_plane,
    plot_sensitivity,
    plot_sparsity,
)


@pytest.fixture
def ax():
    return figure_module.Figure().subplots()


def test_boxes_name_method_and_count(ax):
    plot_boxes([make_row([50, 51], "A", 10), make_row([60, 61], "DSCOFS", 20)], "acc", ax)
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["A (10)", "DSCOFS (20)"]
    assert len(ax.patches) == 2


def test_zero_loadings_are_white(ax):
    plot_sparsity(np.array([[0.0, 1.0], [0.5, 0.0]]), "toy", ax)
    np.testing.assert_array_equal(ax.images[0].get_array().mask, [[True, False], [False, True]])
    assert "50%" in ax.get_title()


def test_no_kept_feature_is_lost_among_many(ax):
    matrix = np.zeros((4001, 2))
    matrix[3999, 1] = 0.2
    plot_sparsity(matrix, "toy", ax)
    shown = ax.images[0].get_array()
    assert len(shown) < 200
    assert (~shown.mask).sum() == 1


def test_sensitivity_takes_the_best_of_the_other_parameters(ax):
    rows = [
        make_row(50 + count + 10 * mu, "DSCOFS", count, entry_sparsity=share, mu_row=mu)
        for count in (10, 20)
        for share in (0.1, 0.3)
        for mu in (0.1, 1.0)
    ]
    image = plot_sensitivity(rows, "acc", ax)
    np.testing.assert_allclose(image.get_array(), [[70, 80], [70, 80]])


def test_plane_shows_the_two_features(ax):
    X, y = np.arange(12.0).reshape(4, 3), np.array([0, 0, 1, 1])
    plot_plane(X, y, [0, 2], "toy", ax)
    offsets = np.vstack([collection.get_offsets() for collection in ax.collections])
    np.testing.assert_array_equal(offsets, X[:, [0, 2]])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("Feature 1", "Feature 3")
