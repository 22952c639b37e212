"""Assessments: one measure for all sets of columns, verdicts that last, and what a reader is told."""

from __future__ import annotations

from itertools import combinations
from typing import ClassVar

import numpy as np
import pytest
from scipy import sparse
from scipy.signal import lfilter
from sklearn.base import BaseEstimator
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectorMixin, VarianceThreshold
from sklearn.linear_model import RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.clusters.examples import planted, sparse_clusters

from ufselect import (
    DSCOFS,
    Assessment,
    AutoSelector,
    MaxVariance,
    ReconstructionSelector,
    Reconstructor,
    assess,
)
from ufselect.exceptions import DominatedByUnitsWarning


def factors(seed=0, n=120, d=60, m=4):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, m)) @ rng.standard_normal((m, d)) + 0.3 * rng.standard_normal((n, d))


def share_of_all(X, columns, seed=0):
    """Return the share of the variance of all columns explained on held-out rows, by other people's code."""
    order, shares = np.random.default_rng(seed).permutation(len(X)), []
    for test in np.array_split(order, 3):
        train = np.setdiff1d(order, test)
        mean, others = X[train].mean(axis=0), np.setdiff1d(np.arange(X.shape[1]), columns)
        model = RidgeCV(np.geomspace(1e-6, 1e3, 19)).fit(X[train][:, columns], X[train][:, others])
        rest = X[test][:, others] - model.predict(X[test][:, columns]).reshape(len(test), -1)
        shares.append(1 - np.square(rest).sum() / np.square(X[test] - mean).sum())
    return float(np.mean(shares))


def test_all_sets_are_judged_by_the_variance_of_all_columns():
    """A selection of the columns that are hard to reconstruct is not punished for leaving the easy ones."""
    rng = np.random.default_rng(0)
    shared = rng.standard_normal((150, 1))
    X = np.hstack([4 * rng.standard_normal((150, 3)), shared + 0.1 * rng.standard_normal((150, 5))])
    shares = {columns: share_of_all(X, list(columns)) for columns in combinations(range(8), 3)}
    best = max(shares, key=shares.get)
    assert best == (0, 1, 2)
    found = assess(best, X, random_state=0)
    assert found.verdict == "yes"
    assert found.beaten > 0.95
    assert found.mean("selected") == pytest.approx(shares[best], abs=0.01)
    assert found.mean("random columns") == pytest.approx(np.mean(list(shares.values())), abs=0.03)


@pytest.mark.parametrize("shape", [(300, 20), (120, 900)])
def test_figures_are_those_of_the_reconstructor_and_of_components_of_all_columns(shape):
    X = factors(1, *shape)
    found = assess(ReconstructionSelector(5), X, random_state=0)
    order, ours, components = np.random.default_rng(0).permutation(shape[0]), [], []
    for test in np.array_split(order, 3):
        train = np.setdiff1d(order, test)
        ours.append(Reconstructor(ReconstructionSelector(5), "ridge").fit(X[train]).score(X[test]))
        model, centred = PCA(5).fit(X[train]), X[test] - X[train].mean(axis=0)
        left = X[test] - model.inverse_transform(model.transform(X[test]))
        components.append(1 - np.square(left).sum() / np.square(centred).sum())
    assert found.mean("selected") == pytest.approx(np.mean(ours), abs=0.01)
    assert found.mean("principal components") == pytest.approx(np.mean(components), abs=0.01)


def test_the_message_is_two_sentences_with_the_figures_of_the_table():
    found = assess(ReconstructionSelector(5), factors(), random_state=0)
    ours, random, components = (f"{100 * row['mean']:.0f} %" for row in found.table)
    assert found.finding == (
        f"These 5 columns explain {ours} of the variance of all 60 on held-out rows; 5 random columns "
        f"{random}, 5 principal components {components}. They beat every random set tried."
    )
    assert found.effect == pytest.approx(found.mean("selected") - found.mean("random columns"))
    printed = str(found).splitlines()
    assert printed[0] == found.message
    assert [line.split("  ")[0] for line in printed[3:]] == [row["columns"] for row in found.table]


@pytest.mark.parametrize(
    ("verdict", "beaten", "share", "said"),
    [
        ("yes", 0.97, 0.9, "They beat 97 % of the random sets tried."),
        (
            "yes",
            0.97,
            0.3,
            "They beat 97 % of the random sets tried; more columns would explain more.",
        ),
        (
            "unclear",
            0.7,
            0.9,
            "Whether random columns do as well is unclear: the selected ones are better in 70 % of",
        ),
        (
            "unclear",
            0.9,
            0.9,
            "They beat 90 % of the random sets tried, but not by enough to rule out chance.",
        ),
        ("no", 0.9, 0.9, "They beat 90 % of the random sets tried, but not by enough to matter."),
        (
            "no",
            0.5,
            0.9,
            "Random columns do as well: the selected ones are better in only 50 % of comparisons.",
        ),
        ("no", 0.1, 0.9, "Random columns do better in 90 % of comparisons: select other columns."),
    ],
)
def test_what_follows_depends_on_both_answers(verdict, beaten, share, said):
    table = [{"columns": each, "mean": share} for each in ("selected", "random columns", "components")]
    sizes = {"n_selected": 5, "n_features": 9}
    assert said in Assessment("reconstruct", verdict, beaten, 0.0, table, **sizes).finding


def test_a_share_that_is_nearly_all_is_not_called_all():
    table = [{"columns": "x", "mean": share} for share in (0.9999, 0.997, 1.0)]
    found = Assessment("reconstruct", "yes", 1.0, 0.0, table, n_selected=1, n_features=9).finding
    assert found.startswith(
        "This column explains over 99.9 % of the variance of all 9 on held-out rows; 1 random "
    )
    assert "column over 99 %, 1 principal component 100 %." in found


def test_planted_clusters_are_found():
    X, _ = planted()
    selector = AutoSelector(6, goal="clusters", n_clusters=4)
    found = assess(selector, X, random_state=0)
    assert (found.goal, found.verdict) == ("clusters", "yes")
    assert found.effect > 0.1
    assert found.n_clusters == 4  # as the selector was told
    assert found.table == assess(selector, X, random_state=0).table
    assert "These 6 columns show the 4 clusters with an agreement of 0." in found.message


@pytest.mark.parametrize("goal", ["reconstruct", "clusters"])
@pytest.mark.parametrize("kind", ["noise", "drift", "triplicates"])
def test_structureless_data_in_equal_units_are_not_called_better(goal, kind):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((120, 30))
    if kind == "drift":
        X = lfilter([1], [1, -0.9], X, axis=0)
    if kind == "triplicates":
        X = rng.permutation(np.repeat(X[:40], 3, axis=0) + 0.2 * rng.standard_normal((120, 30)))
    X = X / X.std(axis=0)
    chooser = ReconstructionSelector(6)
    if goal == "clusters":
        chooser = DSCOFS(6, guide="graph", n_components=3)
    found = assess(chooser, X, goal=goal, n_clusters=4, random_state=0)
    assert found.verdict != "yes"
    if goal == "reconstruct":  # rows without clusters are not split
        assert bool(found.notes) == (kind != "noise")


def test_columns_of_larger_variance_hold_more_of_it():
    X = np.random.default_rng(0).standard_normal((120, 40)) * np.geomspace(1, 10, 40)
    assert assess(MaxVariance(8), X, random_state=0).verdict == "yes"
    assert assess(MaxVariance(8), X / X.std(axis=0), random_state=0).verdict == "no"


@pytest.mark.parametrize("name", ["wine", "diabetes", "breast_cancer"])
def test_another_seed_gives_the_same_answer(name):
    datasets = pytest.importorskip("sklearn.datasets")
    X = StandardScaler().fit_transform(getattr(datasets, f"load_{name}")().data)
    found = [assess(ReconstructionSelector(6), X, random_state=seed) for seed in range(5)]
    assert {each.verdict for each in found} == {"yes"}
    assert np.ptp([each.mean("selected") for each in found]) < 0.03
    assert found[0].table != found[1].table  # the seed counts


class Counting(SelectorMixin, BaseEstimator):
    """The first columns; counts its fits and their rows."""

    fits: ClassVar[list[int]] = []

    def fit(self, X, y=None):
        self.n_features_in_ = X.shape[1]
        self.fits.append(X.shape[0])
        return self

    def _get_support_mask(self):
        return np.arange(self.n_features_in_) < 4


def test_more_splits_are_added_while_it_is_close_up_to_a_number_of_fits():
    X, limit = factors(d=12), 3 * 120
    for data, is_close in ((X, False), (np.random.default_rng(1).standard_normal((120, 12)), True)):
        Counting.fits.clear()
        found = assess(Counting(), data * [3, 3, 3, 3, *[1] * 8] if not is_close else data, random_state=0)
        assert 12 <= len(Counting.fits) <= limit
        assert (len(Counting.fits) > 12) == is_close or found.verdict == "no"
    assert set(Counting.fits) == {80}


def test_a_large_table_is_assessed_on_samples_to_which_the_selector_is_fitted_again():
    X = factors(n=5000, d=8)
    Counting.fits.clear()
    found = assess(Counting(), X, random_state=0)
    assert max(Counting.fits) < 2000
    assert found.message.startswith(
        "Each comparison used 2,000 of the 5,000 rows, and the selector was fitted again to parts of these. "
    )
    small = assess(Counting(), X, max_samples=300, random_state=0)
    assert small.mean("selected") == pytest.approx(found.mean("selected"), abs=0.02)


def test_of_a_list_it_is_said_first_that_it_cannot_be_selected_again():
    pandas = pytest.importorskip("pandas")
    X, _ = planted()
    frame = pandas.DataFrame(X, columns=[f"c{k}" for k in range(40)])
    named = assess([f"c{k}" for k in range(30, 36)], frame, goal="clusters", n_clusters=4, random_state=0)
    placed = assess(range(30, 36), X, goal="clusters", n_clusters=4, random_state=0)
    assert named.table == placed.table
    assert placed.verdict == "no"
    assert placed.effect < -0.2
    assert placed.stability is None
    assert placed.frequencies is None
    assert placed.message.startswith("A list cannot be selected again")


def test_a_selection_of_all_columns_is_not_compared():
    found = assess(VarianceThreshold(), planted()[0], random_state=0)
    assert (found.verdict, found.beaten) == ("no", 0.5)
    assert found.message == "All columns are selected."


def test_stable_and_unstable_selections_are_told_apart():
    X = np.random.default_rng(0).standard_normal((90, 30)) * np.geomspace(1, 100, 30)
    found = assess(MaxVariance(5), X, random_state=0)
    assert found.stability > 0.8
    assert found.frequencies.sum() == pytest.approx(5)
    noise = np.random.default_rng(0).standard_normal((90, 30))
    assert assess(DSCOFS(5, n_components=2), noise, random_state=0).stability < 0.5


@pytest.mark.parametrize("goal", ["reconstruct", "clusters"])
def test_sparse_data_and_missing_values_are_assessed(goal):
    X, _ = sparse_clusters()
    options = {"goal": goal, "n_clusters": 3, "random_state": 0}
    stored, dense = (assess(range(24), kind, **options) for kind in (X, X.toarray()))
    np.testing.assert_allclose(stored.effect, dense.effect, atol=0.05)
    gaps = X.toarray()
    gaps[::7, 3] = np.nan
    gaps[:, 59] = np.nan
    np.testing.assert_allclose(assess(range(24), gaps, **options).effect, dense.effect, atol=0.1)
    assert sparse.issparse(X)


@pytest.mark.parametrize("n_rows", [2, 5, 11])
@pytest.mark.parametrize("goal", ["reconstruct", "clusters"])
def test_too_few_rows_are_unclear_and_say_so(n_rows, goal):
    X = np.random.default_rng(0).standard_normal((n_rows, 6))
    found = assess(MaxVariance(2), X, goal=goal, n_clusters=2, random_state=0)
    assert found.verdict == "unclear"
    assert f"{n_rows} rows are too few" in found.message
    assert np.isnan(found.effect)


def test_one_cluster_is_said_to_be_none():
    X = np.random.default_rng(0).standard_normal((100, 5))
    found = assess(MaxVariance(1), X, goal="clusters", random_state=0)
    assert (found.n_clusters, found.verdict) == (1, "no")
    assert "No cluster structure" in found.message
    pytest.importorskip("matplotlib")
    with pytest.raises(ValueError, match="nothing to draw: No cluster structure"):
        found.plot()


def test_clusters_that_do_not_stand_out_or_are_replicates_are_denied_with_care():
    rng = np.random.default_rng(0)
    noise = rng.standard_normal((100, 5))
    replicates = np.repeat(rng.standard_normal((60, 30)), 2, axis=0) + 0.2 * rng.standard_normal((120, 30))
    for X, count in ((noise, 3), (rng.permutation(replicates), 4)):
        found = assess([0, 1], X, goal="clusters", n_clusters=count, random_state=0)
        assert (found.n_clusters, found.verdict) == (count, "no")
        assert f"do not fall into {count} clear clusters" in found.message
        assert "can be missed" in found.message


def test_a_row_far_from_all_others_counts_and_the_figure_without_it_is_given():
    X = factors()
    wild = X.copy()
    wild[40] *= 100
    found = assess([0, 1, 2], wild, random_state=0)
    assert found.far_rows == [40]
    assert "Row 40 is more than twice as far from the nearest other row as any other row." in found.message
    without = f"Without it the columns explain {100 * found.without_far_rows:.0f} % of the variance."
    assert without in found.message
    wild[41] = wild[40]  # nothing far about two equal rows
    assert assess([0, 1, 2], wild, random_state=0).far_rows == []
    assert found.far_rows_notes([f"p{row}" for row in range(120)])[0].startswith("Row p40 is")


def test_a_pipeline_is_assessed_by_its_last_step():
    X = factors(d=12) * np.geomspace(1, 1000, 12)
    pipeline = make_pipeline(make_pipeline(StandardScaler(), ReconstructionSelector(3)))
    found = assess(pipeline, X, random_state=0)
    scaled = StandardScaler().fit_transform(X)
    assert found.table == assess(ReconstructionSelector(3), scaled, random_state=0).table
    assert "after the first steps of the pipeline, 12 in all" in found.message
    with pytest.raises(TypeError, match="PCA has no get_support"):
        assess(make_pipeline(StandardScaler(), PCA(3)), X)


@pytest.mark.parametrize(
    ("columns", "options", "name"),
    [
        ([0], {"goal": "x"}, "goal"),
        ([0], {"clusterer": "x"}, "clusterer"),
        ([], {}, "list of columns is empty"),
    ],
)
def test_unknown_choices_and_empty_lists_are_refused(columns, options, name):
    with pytest.raises(ValueError, match=name):
        assess(columns, np.eye(20), **options)


def test_the_plot_names_what_is_compared():
    pytest.importorskip("matplotlib").use("Agg")
    found = assess(ReconstructionSelector(5), factors(), random_state=0)
    axes = found.plot()
    assert [label.get_text() for label in axes.get_yticklabels()] == [row["columns"] for row in found.table]
    assert found.plot(ax=axes) is axes


def test_units_are_warned_of_once():
    X = np.random.default_rng(0).standard_normal((90, 10)) * [100, *[1] * 9]
    with pytest.warns(DominatedByUnitsWarning) as caught:
        assess(ReconstructionSelector(3), X, random_state=0)
    assert len(caught) == 1


@pytest.mark.parametrize("goal", ["reconstruct", "clusters"])
@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e160, 1e307])
def test_the_unit_of_all_columns_changes_nothing(scale, goal):
    X, _ = planted()
    columns, options = range(6), {"goal": goal, "n_clusters": 4, "n_random": 3, "random_state": 0}
    expected = assess(columns, X, **options)
    for kind in (np.asarray, sparse.csr_array):
        found = assess(columns, kind(scale * X), **options)
        assert found.verdict == expected.verdict
        assert found.mean("selected") == pytest.approx(expected.mean("selected"), abs=0.03)
