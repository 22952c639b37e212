"""Pictures of a fitted selector show what it found."""

from __future__ import annotations

import re

import numpy as np
import pytest

pytest.importorskip("matplotlib")
from matplotlib.figure import Figure
from sklearn.feature_selection import SelectKBest, VarianceThreshold, f_classif

from ufselect import DSCOFS, MaxVariance, RedundancyFilter, dscofs_path
from ufselect.plotting import (
    ConvergenceDisplay,
    LoadingsDisplay,
    PixelsDisplay,
    RedundancyDisplay,
    ScoresDisplay,
    SelectionPathDisplay,
)
from ufselect.plotting.style import figure_svg


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    return rng.standard_normal((60, 4)) @ rng.standard_normal((4, 12)) + 0.3 * rng.standard_normal((60, 12))


@pytest.fixture(scope="module")
def selector(data):
    return DSCOFS(5, n_components=3, entry_sparsity=None).fit(data)


@pytest.fixture
def ax():
    return Figure().subplots()


def labels(axis):
    return [text.get_text() for text in axis.get_ticklabels()]


def test_bars_are_the_scores_best_first(selector, ax):
    names = [f"$c{j}" for j in range(12)]
    display = ScoresDisplay.from_estimator(selector, feature_names=names, n_shown=8, ax=ax)
    assert display.ax_ is ax
    assert display.figure_ is ax.figure
    order = np.argsort(selector.ranking_)[:8]
    np.testing.assert_allclose([bar.get_width() for bar in ax.patches], selector.scores_[order])
    assert labels(ax.yaxis) == [rf"\$c{j}" for j in order]
    assert len({bar.get_facecolor() for bar in ax.patches[:5]}) == 1
    assert ax.patches[4].get_facecolor() != ax.patches[5].get_facecolor()
    ax.figure.canvas.draw()


def test_convergence_is_the_history(selector, ax, data):
    line = ConvergenceDisplay.from_estimator(selector, ax=ax).ax_.lines[0]
    np.testing.assert_array_equal(line.get_ydata(), selector.objective_history_)
    with pytest.raises(ValueError, match="does not iterate"):
        ConvergenceDisplay.from_estimator(MaxVariance(3).fit(data), ax=ax)


@pytest.mark.parametrize("order", ["C", "F"])
def test_squares_lie_on_the_chosen_pixels(selector, ax, data, order):
    PixelsDisplay.from_estimator(selector, (3, 4), order=order, background=data.mean(axis=0), ax=ax)
    drawn = {(round(p.get_y() + 0.5), round(p.get_x() + 0.5)) for p in ax.patches}
    picture = selector.support_.reshape((3, 4), order=order)
    assert drawn == {tuple(place) for place in np.argwhere(picture).tolist()}
    with pytest.raises(ValueError, match="does not fit 12 features"):
        PixelsDisplay.from_estimator(selector, (5, 5), ax=ax)


def test_path_shows_which_features_are_chosen(data, ax):
    path = dscofs_path(data, (2, 4, 6), (0.5,), n_components=2)
    SelectionPathDisplay.from_estimator(path, ax=ax)
    shown = [int(name) for name in labels(ax.yaxis)]
    cells = np.asarray(ax.collections[0].get_array()).reshape(len(shown), 3)
    for column, count in enumerate(path.n_features_to_select):
        np.testing.assert_array_equal(np.isin(cells[:, column], [1, 2]), path.support(count, 0.5)[shown])
    assert labels(ax.xaxis) == ["2", "4", "6"]


def test_path_shows_what_enters_and_leaves():
    masks = np.array([[1, 0, 1], [1, 1, 0], [1, 1, 0]], dtype=bool)
    states = SelectionPathDisplay(masks, (1, 2, 3), ("a", "b", "c")).states()
    np.testing.assert_array_equal(states, [[1, 0, 1], [1, 2, 3], [1, 1, 0]])


def test_loadings_are_those_of_the_kept_features(selector, ax, data):
    LoadingsDisplay.from_estimator(selector, n_shown=4, ax=ax)
    order = np.argsort(selector.ranking_)[:4]
    np.testing.assert_array_equal(ax.images[0].get_array(), selector.components_[:, order].T)
    assert labels(ax.yaxis) == [str(j) for j in order]
    with pytest.raises(ValueError, match="no loadings"):
        LoadingsDisplay.from_estimator(MaxVariance(3).fit(data), ax=ax)


def test_new_axes_are_made_where_none_are_given(selector, monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "agg")
    from matplotlib import pyplot

    axes = ScoresDisplay.from_estimator(selector).ax_
    assert axes.figure.number in pyplot.get_fignums()
    pyplot.close(axes.figure)


def test_wrong_number_of_names(selector, ax):
    with pytest.raises(ValueError, match="2 feature names were given for 12 features"):
        ScoresDisplay.from_estimator(selector, feature_names=["a", "b"], ax=ax)


@pytest.mark.parametrize("foreign", [VarianceThreshold(2.0), SelectKBest(f_classif, k=3)])
def test_selectors_of_scikit_learn_are_drawn(foreign, data, ax):
    foreign.fit(data, (data[:, 0] > 0).astype(int))
    PixelsDisplay.from_estimator(foreign, (3, 4), ax=ax)
    assert len(ax.patches) == foreign.get_support().sum() > 0


def test_scores_of_scikit_learn_are_drawn_best_first(data, ax):
    chosen = SelectKBest(f_classif, k=3).fit(data, (data[:, 0] > 0).astype(int))
    display = ScoresDisplay.from_estimator(chosen, ax=ax)
    np.testing.assert_array_equal(display.scores, np.sort(chosen.scores_)[::-1])
    with pytest.raises(ValueError, match="VarianceThreshold has no scores to plot"):
        ScoresDisplay.from_estimator(VarianceThreshold().fit(data), ax=ax)


def test_a_figure_on_a_page_keeps_its_text_and_shares_no_id(selector):
    display = ScoresDisplay.from_estimator(selector, feature_names=["<b>"] * 12, ax=Figure().subplots())
    first, second = (figure_svg(display.figure_, name, "Scores <of> all") for name in ("a", "b"))
    assert "&lt;b&gt;" in first
    assert 'aria-label="Scores &lt;of&gt; all"' in first
    assert "<b>" not in first
    ids = [set(re.findall(r'\bid="([^"]+)"', svg)) for svg in (first, second)]
    assert ids[0]
    assert not ids[0] & ids[1]
    used = re.findall(r'href="#([^"]+)"', first) + re.findall(r"url\(#([^)]+)\)", first)
    assert set(used) <= ids[0]


def test_bars_count_the_columns_of_a_cluster(ax):
    a, b = np.random.default_rng(0).standard_normal((2, 40))
    found = RedundancyFilter().fit(np.column_stack([a, b, 2 * a, 3 * a]))
    display = RedundancyDisplay.from_estimator(found, feature_names=list("abcd"), ax=ax)
    assert display.counts.tolist() == [3, 1]
    assert labels(ax.yaxis) == ["d", "b"]
