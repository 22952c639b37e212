"""Each figure shows what its rows say."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ufselect.evaluation.keys import Params
from ufselect.evaluation.rank_test import rank_test
from ufselect.evaluation.rows import Row

figure_module = pytest.importorskip("matplotlib.figure")

from ufselect.plotting import ConvergenceDisplay, PixelsDisplay  # noqa: E402
from ufselect.plotting.style import line_styles  # noqa: E402
from ufselect.reproduction.panels import (  # noqa: E402
    plot_boxes,
    plot_critical_difference,
    plot_curves,
    plot_plane,
    plot_sensitivity,
    plot_sparsity,
    plot_time,
)

PLAIN = Params()


def row(method, count, acc, params=PLAIN):
    return Row(
        dataset="toy", method=method, label=method, params=params, n_features=count, n_starts=1, n_runs=3,
        acc_mean=acc, acc_std=1.0, acc_start_std=0.0, nmi_mean=acc - 10, nmi_std=1.0, nmi_start_std=0.0,
        seconds=0.1, subsets=("s",), acc_runs=(acc - 1, acc, acc + 1), nmi_runs=(1.0, 2.0, 3.0), note="",
    )  # fmt: skip


@pytest.fixture
def ax():
    return figure_module.Figure().subplots()


def test_curves_follow_the_best_rows(ax):
    rows = [row("AllFeatures", 64, 70), row("DSCOFS", 10, 50), row("DSCOFS", 20, 60)]
    rows.append(replace(rows[2], params=Params({"a": 1}), acc_mean=65.0))
    plot_curves(rows, "acc", ax)
    level, curve = ax.get_lines()
    assert level.get_ydata()[0] == 70
    np.testing.assert_array_equal(curve.get_xdata(), [10, 20])
    np.testing.assert_array_equal(curve.get_ydata(), [50, 65])
    assert ax.get_ylabel() == "ACC (%)"


def test_styles_tell_many_methods_apart():
    labels = [f"m{k}" for k in range(20)] + ["DSCOFS"]
    styles = line_styles(labels)
    assert len({(s["color"], s["linestyle"]) for s in styles.values()}) == len(labels)
    marks = {(s["color"], s["markerfacecolor"], s["marker"]) for s in list(styles.values())[:16]}
    assert len(marks) == 16  # where no line is drawn


def test_convergence_goes_down(ax):
    ConvergenceDisplay(np.array([5.0, 3.0, 2.0, 1.0])).plot_gap(ax)
    np.testing.assert_allclose(ax.get_lines()[0].get_ydata(), [1.0, 0.5, 0.25])


def test_time_places_each_method(ax):
    plot_time([("A", 0.5, 60.0), ("DSCOFS", 0.1, 70.0)], "acc", ax)
    points = {line.get_label(): (line.get_xdata()[0], line.get_ydata()[0]) for line in ax.get_lines()}
    assert points == {"A": (0.5, 60.0), "DSCOFS": (0.1, 70.0)}


def test_boxes_name_method_and_count(ax):
    plot_boxes([row("A", 10, 50), row("DSCOFS", 20, 60)], "acc", ax)
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["A (10)", "DSCOFS (20)"]
    assert len(ax.patches) == 2


def test_critical_difference_names_every_method(ax):
    pytest.importorskip("scikit_posthocs")
    scores = np.random.default_rng(0).random((6, 4))
    plot_critical_difference(rank_test(scores, ["A", "B", "C", "DSCOFS"]), ax)
    words = " ".join(text.get_text() for text in ax.texts)
    assert all(name in words for name in ("A (", "B (", "C (", "DSCOFS ("))


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
        row("DSCOFS", count, 50 + count + 10 * mu, Params({"entry_sparsity": share, "mu_row": mu}))
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


@pytest.mark.parametrize(("order", "place"), [("C", (0, 2)), ("F", (0, 1))])
def test_pixels_lie_where_the_image_has_them(ax, order, place):
    PixelsDisplay(np.arange(6) == 2, (2, 3), order, np.zeros(6)).plot(ax=ax)
    (square,) = ax.patches
    assert (square.get_y() + 0.5, square.get_x() + 0.5) == place
