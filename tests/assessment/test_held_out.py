"""Assessments: errors and agreements against scikit-learn, verdicts on data with and without structure."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.signal import lfilter
from sklearn.feature_selection import VarianceThreshold
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.clusters.examples import planted, sparse_clusters

from ufselect import (
    DSCOFS,
    Assessment,
    MaxVariance,
    PartitionSelector,
    RandomSubset,
    ReconstructionSelector,
    assess,
)
from ufselect.assessment.held_out import _Reconstruction, assess_rows, compare
from ufselect.exceptions import DominatedByUnitsWarning


def factors(seed=0, n=120, d=60, m=4):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, m)) @ rng.standard_normal((m, d)) + 0.3 * rng.standard_normal((n, d))


@settings(max_examples=20)
@given(seed=st.integers(0, 10**6), k=st.integers(1, 10), noise=st.floats(0.01, 2))
def test_the_error_is_that_of_the_best_ridge_regression_of_the_other_columns(seed, k, noise):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((90, 3)) @ rng.standard_normal((3, 15)) + noise * rng.standard_normal((90, 15))
    columns = rng.permutation(15)[:k]
    others = np.setdiff1d(np.arange(15), columns)
    train, test = np.arange(60), np.arange(60, 90)
    # the ridge is that of least error in the other split, which is the same here
    found = _Reconstruction(X, False, rng).values([(train, test)] * 2, [[columns]] * 2)[0, 0]
    new = X[test] - X[train].mean(axis=0)
    expected = []
    for ridge in np.geomspace(1e-8, 1e3, 30):
        model = Ridge(60 * ridge).fit(X[train][:, columns], X[train][:, others])
        rest = X[test][:, others] - model.predict(X[test][:, columns])
        expected.append(np.linalg.norm(rest) / np.linalg.norm(new[:, others]))
    # the ridge has other units for each column
    assert 0.9 * min(expected) <= np.exp(found) <= 1.1 * min(expected)


@given(st.lists(st.floats(-1, 1), min_size=4, max_size=8), st.floats(0.06, 1), st.integers(0, 10**6))
def test_verdicts_are_mirrored_with_the_sign(values, shift, seed):
    random = 0.01 * np.random.default_rng(seed).standard_normal((20, len(values)))
    ours = np.array(values) + shift
    words = {"better": "worse", "worse": "better"}
    verdict, effect, (low, high) = compare(ours, random, 1.0, 0.05)
    mirrored = compare(-ours, -random, 1.0, 0.05)
    assert mirrored[0] == words.get(verdict, verdict)
    assert compare(-ours, -random, -1.0, 0.05)[0] == verdict
    assert low <= effect <= high


def test_better_takes_an_effect_all_splits_and_nearly_all_random_columns():
    random = np.tile(np.linspace(-0.1, 0.1, 20)[:, None], 6)
    assert compare(np.full(6, 0.2), random, 1.0, 0.05)[0] == "better"
    assert compare(np.full(6, 0.2), random, 1.0, 0.25)[0] == "no better"
    assert compare(np.append(np.full(5, 0.3), -0.01), random, 1.0, 0.05)[0] == "undecided"
    assert compare(np.full(6, 0.07), random, 1.0, 0.05)[0] == "undecided"


def test_factors_are_found_and_the_error_is_that_of_new_rows():
    found = assess(ReconstructionSelector(5), factors(), random_state=0)
    assert found.verdict == "better"
    assert found.effect < 0.8
    assert found.interval[0] < found.effect < found.interval[1] < 1
    assert found.mean("principal components") < found.mean("selected") < found.mean("random columns")
    assert "5 random columns do worse" in found.message
    assert found.frequencies.sum() == pytest.approx(5)
    masks = 6 * found.frequencies  # of six selections: how many columns do two of them share?
    shared = np.sum(masks * (masks - 1)) / 30 / 5
    assert f"about {5 * round(20 * shared)} % of the columns stay the same" in found.message


def test_planted_clusters_are_found():
    X, _ = planted()
    found = assess(PartitionSelector(6, n_clusters=4, random_state=0), X, goal="clusters", n_clusters=4)
    assert found.verdict == "better"
    assert found.effect > 0.1
    assert found.n_clusters == 4
    assert "show the 4 clusters" in found.message


@pytest.mark.parametrize("goal", ["reconstruct", "clusters"])
@pytest.mark.parametrize("kind", ["noise", "drift", "triplicates"])
def test_structureless_data_are_not_called_better(goal, kind):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((120, 30))
    if kind == "drift":
        X = lfilter([1], [1, -0.9], X, axis=0)
    if kind == "triplicates":
        X = rng.permutation(np.repeat(X[:40], 3, axis=0) + 0.2 * rng.standard_normal((120, 30)))
    chooser = (
        ReconstructionSelector(6)
        if goal == "reconstruct"
        else PartitionSelector(6, n_clusters=4, random_state=0)
    )
    found = assess(chooser, X, goal=goal, n_clusters=4, random_state=0)
    assert found.verdict != "better"
    if goal == "reconstruct":  # rows without clusters are not split
        assert bool(found.notes) == (kind != "noise")


def test_fixed_columns_are_assessed_by_name_and_by_place():
    pandas = pytest.importorskip("pandas")
    X, _ = planted()
    frame = pandas.DataFrame(X, columns=[f"c{k}" for k in range(40)])
    named = assess([f"c{k}" for k in range(30, 36)], frame, goal="clusters", n_clusters=4, random_state=0)
    placed = assess(range(30, 36), X, goal="clusters", n_clusters=4, random_state=0)
    assert named.table == placed.table
    assert placed.verdict != "better"
    assert placed.effect < -0.2
    assert placed.stability is None
    assert placed.frequencies is None


def test_a_selection_of_all_columns_is_no_better_than_random():
    found = assess(VarianceThreshold(), planted()[0], random_state=0)
    assert found.verdict == "no better"
    assert found.effect == pytest.approx(1)


def test_stable_and_unstable_selections_are_told_apart():
    X = np.random.default_rng(0).standard_normal((90, 30)) * np.geomspace(1, 100, 30)
    assert assess(MaxVariance(5), X, random_state=0).stability > 0.8
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
def test_too_few_rows_are_undecided_and_say_so(n_rows, goal):
    X = np.random.default_rng(0).standard_normal((n_rows, 6))
    found = assess([0, 1], X, goal=goal, n_clusters=2, random_state=0)
    assert found.verdict == "undecided"
    assert f"{n_rows} rows are too few" in found.message
    assert np.isnan(found.effect)


def test_one_cluster_is_said_to_be_none():
    found = assess([0], np.random.default_rng(0).standard_normal((100, 5)), goal="clusters", random_state=0)
    assert (found.n_clusters, found.verdict) == (1, "no better")
    assert "No cluster structure" in found.message


def test_a_given_number_of_clusters_that_do_not_stand_out_is_denied_with_care():
    X = np.random.default_rng(0).standard_normal((100, 5))
    found = assess([0], X, goal="clusters", n_clusters=3, random_state=0)
    assert (found.n_clusters, found.verdict) == (3, "no better")
    assert "do not fall into 3 clear clusters" in found.message
    assert "can be missed" in found.message


def test_replicates_do_not_pass_for_clusters():
    rng = np.random.default_rng(0)
    X = np.repeat(rng.standard_normal((60, 30)), 2, axis=0) + 0.2 * rng.standard_normal((120, 30))
    found = assess(range(6), rng.permutation(X), goal="clusters", n_clusters=4, random_state=0)
    assert "do not fall into 4 clear clusters" in found.message


@pytest.mark.parametrize(("effect", "said"), [(0.96, "do slightly worse (0.28)"), (0.5, "do worse (0.28)")])
def test_a_small_gain_is_called_small(effect, said):
    table = [{"columns": name, "mean": mean} for name, mean in (("selected", 0.27), ("random columns", 0.28))]
    assert (
        f"; 6 random columns {said}."
        in Assessment("reconstruct", "better", effect, table=table, n_selected=6).message
    )


def test_ties_with_random_columns_count_half():
    random = np.zeros((10, 4))
    random[0] = 1.0
    assert compare(np.ones(4), random, 1.0, 0.1)[0] == "better"
    random[1:3] = 1.0
    assert compare(np.ones(4), random, 1.0, 0.1)[0] == "undecided"


def test_rows_are_named_by_their_place_in_the_whole_table():
    X = factors()
    X[40] *= 30
    found = assess_rows([0, 1, 2], X, np.arange(20, 120), "reconstruct", "auto", "kmeans", None, 10, 500, 0)
    assert "Row 40 stands" in found.message
    assert found.table == assess([0, 1, 2], X[20:], random_state=0).table


def test_row_groups_are_held_out_together():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(12), 10)
    X = np.repeat(rng.standard_normal((12, 20)), 10, axis=0) + 0.3 * rng.standard_normal((120, 20))
    found = assess(ReconstructionSelector(4), X, groups=groups, random_state=0)
    assert "12 groups" in found.message


@pytest.mark.parametrize(("options", "name"), [({"goal": "x"}, "goal"), ({"clusterer": "x"}, "clusterer")])
def test_unknown_choices_are_refused(options, name):
    with pytest.raises(ValueError, match=name):
        assess([0], np.eye(20), **options)


@pytest.mark.parametrize("name", ["sample_weight", "batch"])
def test_weights_and_batches_are_refused_with_what_to_do(name):
    with pytest.raises(ValueError, match="groups"):
        assess([0], np.eye(20), **{name: np.ones(20)})


def test_the_same_seed_gives_the_same_assessment_of_a_random_selector():
    X = factors()
    first, second = (assess(RandomSubset(5, random_state=0), X, random_state=4) for _ in range(2))
    assert first.table == second.table


def test_the_plot_names_what_is_compared():
    pytest.importorskip("matplotlib").use("Agg")
    found = assess(ReconstructionSelector(5), factors(), random_state=0)
    axes = found.plot()
    assert [label.get_text() for label in axes.get_yticklabels()] == [row["columns"] for row in found.table]
    assert found.plot(ax=axes) is axes


def test_wrong_lists_and_groups_are_refused():
    X = factors()
    with pytest.raises(ValueError, match="groups has 40 entries, but X has 120 rows"):
        assess(MaxVariance(5), X, groups=np.arange(40))
    with pytest.raises(ValueError, match="list of columns is empty"):
        assess([], X)


def test_nullable_frames_are_assessed():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(factors(d=8)).astype("Float64")
    frame.iloc[0, 0] = pandas.NA
    assert assess([1, 2], frame, random_state=0).table


def test_what_cannot_be_assessed_or_drawn_is_said():
    X = np.random.default_rng(0).standard_normal((60, 8))
    with pytest.raises(TypeError, match="Instead of a pipeline, transform X"):
        assess(make_pipeline(StandardScaler(), ReconstructionSelector(3)), X)
    pytest.importorskip("matplotlib")
    with pytest.raises(ValueError, match="nothing to draw: No cluster structure"):
        assess(ReconstructionSelector(3), X, goal="clusters", random_state=0).plot()


def test_rows_are_named_by_indices_or_a_mask():
    X = np.random.default_rng(0).standard_normal((120, 3)) @ np.ones((3, 12)) + 0.1
    X += np.random.default_rng(1).standard_normal(X.shape)
    mask = np.arange(120) < 70
    how = ("reconstruct", "auto", "kmeans", None, 10, 500, 0)
    found = [assess_rows(ReconstructionSelector(3), X, rows, *how) for rows in (mask, np.arange(70))]
    assert found[0].effect == found[1].effect != assess(ReconstructionSelector(3), X, random_state=0).effect


def test_units_are_warned_of_once():
    X = np.random.default_rng(0).standard_normal((90, 10)) * [100, *[1] * 9]
    with pytest.warns(DominatedByUnitsWarning) as caught:
        assess(ReconstructionSelector(3), X, random_state=0)
    assert len(caught) == 1
