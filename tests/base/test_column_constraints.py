"""Columns to keep, columns to leave out, groups and redundancy: promises that every selector keeps."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from tests.selectors import RUNNABLE, make

from ufselect import (
    DSCOFS,
    FSPCA,
    ConstrainedDSCOFS,
    DOptimalLeverage,
    GramSelector,
    GreedyProjection,
    MaxVariance,
    PCALeverage,
    RandomSubset,
    Reconstructor,
    dscofs_path,
)
from ufselect.gram import GramAccumulator, gram_operator

N_FEATURES = 12
EVERY = pytest.mark.parametrize("name", RUNNABLE)


def make_data(seed, n_samples=40):
    rng = np.random.default_rng(seed)
    scores = rng.standard_normal((n_samples, 4)) + 3 * rng.integers(0, 2, (n_samples, 1))
    return scores @ rng.standard_normal((4, N_FEATURES)) + 0.3 * rng.standard_normal((n_samples, N_FEATURES))


def fit(selector, X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return selector.fit(X)


@st.composite
def asked_columns(draw):
    """Draw columns to keep and to exclude, groups of the others, and a count that has room for them."""
    order = draw(st.permutations(range(N_FEATURES)))
    n_kept, n_excluded = draw(st.integers(0, 4)), draw(st.integers(0, 4))
    keep, exclude = order[:n_kept], order[N_FEATURES - n_excluded :]
    count = draw(st.integers(max(n_kept, 3), N_FEATURES - 4))
    return list(keep), list(exclude), count


@EVERY
@settings(max_examples=4)
@given(seed=st.integers(0, 10**6), asked=asked_columns())
def test_kept_columns_are_selected_first_and_excluded_ones_come_last(name, seed, asked):
    keep, exclude, count = asked
    fitted = fit(make(name, n_features_to_select=count, keep=keep, exclude=exclude), make_data(seed))
    assert sorted(fitted.ranking_) == list(range(1, N_FEATURES + 1))
    assert fitted.support_.sum() == count
    assert np.array_equal(fitted.support_, fitted.ranking_ <= count)
    assert set(fitted.ranking_[keep]) == set(range(1, len(keep) + 1))
    assert np.all(fitted.ranking_[exclude] > N_FEATURES - len(exclude))
    assert np.all(np.isfinite(fitted.scores_))
    assert np.all(fitted.scores_[exclude] <= fitted.scores_.min())
    for attribute, axis in fitted.feature_axes.items():
        if getattr(fitted, attribute, None) is not None:
            weights = np.moveaxis(getattr(fitted, attribute), axis, 0)
            assert len(weights) == N_FEATURES
            assert not np.any(weights[exclude])


@EVERY
@settings(max_examples=4)
@given(seed=st.integers(0, 10**6), asked=asked_columns())
def test_excluded_columns_are_as_if_absent(name, seed, asked):
    """Whatever they hold, the fit is that of the other columns."""
    _, exclude, count = asked
    X = make_data(seed)
    left = np.setdiff1d(np.arange(N_FEATURES), exclude)
    without = fit(make(name, n_features_to_select=count), X[:, left])
    X[:, exclude] = 1e6 * np.random.default_rng(seed).standard_normal((len(X), len(exclude)))
    fitted = fit(make(name, n_features_to_select=count, exclude=exclude), X)
    np.testing.assert_allclose(fitted.scores_[left], without.scores_, rtol=1e-9)
    assert np.array_equal(fitted.support_[left], without.support_)
    assert fitted.transform(X).shape == (len(X), count)


# With these it shows in the scores whether a constraint is part of the criterion.
SHOWN = {
    "GreedyProjection": {"target": "features"},
    "DSCOFS": {"n_components": 2, "entry_sparsity": None, "mu_row": 0.5},
    "FSPCA": {"n_components": 2},
    "DOptimalLeverage": {"n_components": 2, "ridge": 0.1},
}


# AutoSelector hands its constraints to its candidates, which are tested one by one.
@pytest.mark.parametrize("name", [name for name in RUNNABLE if name != "AutoSelector"])
@pytest.mark.parametrize("constraint", ["keep", "feature_groups"])
def test_a_constraint_enters_the_criterion_where_it_is_supported_and_nowhere_else(name, constraint):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 4)) @ rng.standard_normal((4, 12)) + 0.4 * rng.standard_normal((50, 12))
    options = {"n_features_to_select": 4, **SHOWN.get(name, {})}
    plain = fit(make(name, **options), X).scores_
    order = np.argsort(plain).tolist()
    given = order[:2] if constraint == "keep" else {"pair": [order[0], order[-1]]}
    found = fit(make(name, **options, **{constraint: given}), X).scores_
    others = order[2:] if constraint == "keep" else order
    changed = not np.allclose(found[others], plain[others], rtol=1e-9)
    assert changed == (constraint in RUNNABLE[name].supports)


GROUPS = np.array(["a", "b", "a", None, "c", "c", "c", None, None, "b", None, None], dtype=object)


@EVERY
@settings(max_examples=4)
@given(
    seed=st.integers(0, 10**6),
    count=st.integers(3, 6),
    keep=st.sampled_from([[], [3], [2, 9]]),
    exclude=st.sampled_from([[], [5], [10]]),
)
@example(seed=0, count=3, keep=[2, 9], exclude=[])  # more columns are kept than groups are asked for
def test_groups_are_selected_whole_or_not_at_all(name, seed, count, keep, exclude):
    selector = make(name, n_features_to_select=count, feature_groups=GROUPS, keep=keep, exclude=exclude)
    fitted = fit(selector, make_data(seed))
    units = [[0, 2], [1, 9], [3], [4, 5, 6], [7], [8], [10], [11]]
    whole = [unit for unit in units if fitted.support_[unit].all()]
    assert len(whole) == count
    assert fitted.support_.sum() == sum(map(len, whole))
    for unit in units:
        assert np.ptp(fitted.ranking_[unit]) == len(unit) - 1  # one after the other
    kept = [column for unit in units if set(unit) & set(keep) for column in unit]
    assert sorted(fitted.ranking_[kept]) == list(range(1, len(kept) + 1))
    assert not np.any(fitted.support_[[4, 5, 6] if exclude == [5] else exclude])


@EVERY
@settings(max_examples=2)
@given(seed=st.integers(0, 10**6))
def test_copies_wait_their_turn(name, seed):
    """Four copies of each of three columns: one of each is selected first, whatever the method prefers."""
    X = make_data(seed)[:, :3].repeat(4, axis=1)
    X[:, 1::4] *= -2
    fitted = fit(make(name, n_features_to_select=3, max_correlation=0.999), X)
    assert sorted(np.flatnonzero(fitted.support_) // 4) == [0, 1, 2]
    assert [columns.tolist() for columns in fitted.duplicates_] == [[0, 2, 3], [4, 6, 7], [8, 10, 11]]
    kept = fit(make(name, n_features_to_select=4, max_correlation=0.999, keep=[0, 2]), X)
    assert kept.support_[[0, 2]].all()  # kept in any case
    assert sorted(np.flatnonzero(kept.support_) // 4) == [0, 0, 1, 2]


FRAME = pd.DataFrame(make_data(0), columns=[f"gene{j}" for j in range(N_FEATURES)])


def test_names_indices_and_masks_say_the_same():
    by_name = MaxVariance(4, keep=["gene7", "gene2"], exclude=["gene1"]).fit(FRAME)
    by_index = MaxVariance(4, keep=np.array([2, 7]), exclude=[1]).fit(FRAME.to_numpy())
    by_mask = MaxVariance(4, keep=np.isin(np.arange(N_FEATURES), [2, 7]), exclude=[1]).fit(FRAME)
    assert np.array_equal(by_name.ranking_, by_index.ranking_)
    assert np.array_equal(by_name.ranking_, by_mask.ranking_)
    assert {"gene2", "gene7"} <= set(by_name.get_feature_names_out())


def test_labels_and_a_mapping_say_the_same():
    mapping = {"first": ["gene0", "gene2"], "second": ["gene1", 9], "third": [4, 5, 6]}
    by_mapping = PCALeverage(3, n_components=2, feature_groups=mapping).fit(FRAME)
    without = [np.nan if label is None else label for label in GROUPS]
    for labels in (GROUPS, without, pd.Series(without)):
        by_label = PCALeverage(3, n_components=2, feature_groups=labels).fit(FRAME)
        assert np.array_equal(by_mapping.ranking_, by_label.ranking_)


def test_excluded_columns_are_ranked_in_their_order():
    ranking = MaxVariance(3, exclude=[9, 2, 5]).fit(FRAME).ranking_
    assert ranking[[2, 5, 9]].tolist() == [10, 11, 12]


@pytest.mark.parametrize(
    ("constraints", "message"),
    [
        ({"keep": ["gene77"]}, "keep has 'gene77', which is not a column of X; did you mean 'gene7'"),
        ({"exclude": [12]}, "exclude has index 12; the columns of X are 0 to 11"),
        ({"exclude": [-1]}, "exclude has index -1"),
        ({"keep": ["gene1", "gene1"]}, "keep has 'gene1' twice"),
        ({"keep": ["gene1", 1]}, "keep has 'gene1' twice"),
        ({"keep": ["gene1"], "exclude": [1]}, "keep and exclude both cover 'gene1'"),
        ({"keep": [0], "exclude": [2], "feature_groups": GROUPS}, "both cover 'gene0', 'gene2'"),
        ({"keep": range(4)}, "keep has 4 columns or groups, and n_features_to_select=3 asks for only 3"),
        ({"exclude": range(10)}, "between 1 and the 2 features that are not excluded"),
        ({"exclude": range(12)}, "exclude covers all columns"),
        ({"keep": [True, False]}, "keep has 2 entries and X has 12"),
        ({"feature_groups": ["a", "b"]}, "feature_groups has 2 entries and X has 12 columns"),
        ({"feature_groups": {"a": [0, 1], "b": [1, 2]}}, "feature_groups has 'gene1' in two groups"),
        ({"feature_groups": {"a": []}}, "has no columns"),
        ({"feature_groups": {"a": ["gene"]}}, "feature_groups\\['a'\\] has 'gene', which is not a column"),
        ({"feature_groups": {"a": range(11)}}, "between 1 and the 2 groups and single columns"),
        ({"max_correlation": 0}, "'max_correlation' parameter"),
        ({"max_correlation": 1.1}, "'max_correlation' parameter"),
    ],
)
def test_constraints_that_cannot_be_met_are_refused_in_one_sentence(constraints, message):
    with pytest.raises(ValueError, match=message):
        MaxVariance(3, **constraints).fit(FRAME)


@pytest.mark.parametrize(
    ("constraints", "message"),
    [
        ({"keep": "gene1"}, "keep must be a list of column names or indices; write \\['gene1'\\]"),
        ({"keep": 3}, "keep must be a list"),
        ({"keep": [1.5]}, "column names or indices, not 1.5"),
        ({"feature_groups": "abc"}, "feature_groups must have one value per column"),
    ],
)
def test_constraints_of_the_wrong_kind_are_refused(constraints, message):
    with pytest.raises(TypeError, match=message):
        MaxVariance(3, **constraints).fit(FRAME)


def test_names_need_named_columns():
    with pytest.raises(ValueError, match="X has no column names; give indices"):
        MaxVariance(3, keep=["gene1"]).fit(FRAME.to_numpy())


@pytest.mark.filterwarnings("ignore::ufselect.exceptions.DominatedByUnitsWarning")
def test_a_share_is_of_the_columns_that_exclude_leaves():
    assert MaxVariance(0.5, exclude=[0, 1, 2, 3]).fit(FRAME).support_.sum() == 4
    assert MaxVariance(0.3).fit(FRAME).support_.sum() == 4  # 3.6, to the nearest
    assert MaxVariance(0.01).fit(FRAME).support_.sum() == 1
    assert MaxVariance(3, keep=[0, 1, 2]).fit(FRAME).support_.sum() == 3  # just enough room


GRAM_SELECTORS = [name for name, selector in RUNNABLE.items() if issubclass(selector, GramSelector)]


@pytest.mark.parametrize("name", GRAM_SELECTORS)
def test_constraints_work_through_the_gram_operator(name):
    X = make_data(5)
    X[:, 8] = 0.5 * X[:, 7]
    constraints = {"keep": [3], "exclude": [1], "feature_groups": {"g": [4, 5]}, "max_correlation": 0.99}
    selector = make(name, n_features_to_select=5, **constraints)
    in_memory = fit(clone(selector), X)
    operator = fit(clone(selector), gram_operator(X))
    batches = fit(clone(selector), GramAccumulator().update(X[:20]).update(X[20:]))
    for other in (operator, batches):
        # Of two copies rounding may take the one or the other.
        found, expected = (
            np.append(each.support_[:7], each.support_[7:9].sum()) for each in (other, in_memory)
        )
        assert np.array_equal(found, expected)
        assert np.array_equal(other.support_[9:], in_memory.support_[9:])
        assert not other.support_[[7, 8]].all()


@pytest.mark.parametrize("selector", [DSCOFS, ConstrainedDSCOFS])
def test_given_starts_have_a_row_for_every_column_of_X(selector):
    X = make_data(2)
    start = np.linalg.qr(np.random.default_rng(0).standard_normal((N_FEATURES, 2)))[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = selector(4, init=start, exclude=[0, 5]).fit(X)
    assert fitted.components_.shape == (2, N_FEATURES)
    assert not fitted.components_[:, [0, 5]].any()


def test_a_path_keeps_the_constraints():
    X = make_data(3)
    constraints = {"keep": [3], "exclude": [1], "feature_groups": {"g": [4, 5]}, "max_correlation": 0.99}
    path = dscofs_path(X, (3, 5), (None,), n_components=2, warm_start=False, **constraints)
    for count in (3, 5):
        single = fit(DSCOFS(count, n_components=2, entry_sparsity=None, **constraints), X)
        assert np.array_equal(path.support(count, None), single.support_)
        assert np.array_equal(path.ranking(count, None), single.ranking_)


def test_best_estimator_of_auto_knows_all_columns():
    X = make_data(4)
    auto = fit(make("AutoSelector", n_features_to_select=4, keep=[2], exclude=[0, 1]), X)
    assert np.array_equal(auto.best_estimator_.support_, auto.support_)
    assert auto.best_estimator_.transform(X).shape == (len(X), 4)
    assert auto.best_estimator_.get_params()["exclude"] == [0, 1]


def test_a_reconstructor_keeps_the_constraints_of_its_selector():
    X = make_data(4, 60)
    selector = GreedyProjection(4, keep=[2], exclude=[0, 1], target="features")
    reconstructor = Reconstructor(selector).fit(X)
    assert reconstructor.support_[2]
    assert not reconstructor.support_[[0, 1]].any()
    assert reconstructor.inverse_transform(reconstructor.transform(X)).shape == X.shape  # excluded ones too


def test_constraints_that_change_nothing_change_nothing():
    X = make_data(6)
    for selector in (
        DSCOFS(5, n_components=2),
        FSPCA(5, n_components=2),
        DOptimalLeverage(5),
        GreedyProjection(5),
    ):
        plain = fit(clone(selector), X)
        best = int(np.argmin(plain.ranking_))
        same = fit(clone(selector).set_params(max_correlation=1.0, feature_groups=np.arange(N_FEATURES)), X)
        assert np.array_equal(same.ranking_, plain.ranking_)
        if isinstance(selector, (FSPCA, GreedyProjection)):
            kept = fit(clone(selector).set_params(keep=[best]), X)
            assert np.array_equal(kept.support_, plain.support_)


def test_random_subsets_are_uniform_beside_kept_columns():
    X = make_data(7)
    counts = sum(RandomSubset(4, keep=[0], random_state=seed).fit(X).support_ for seed in range(300))
    assert counts[0] == 300
    assert np.all(np.abs(counts[1:] - 300 * 3 / 11) < 40)


@pytest.mark.parametrize("name", GRAM_SELECTORS)
def test_constraints_go_with_missing_values_weights_and_batches(name):
    X = make_data(8)
    gapped = X.copy()
    gapped[:, 1] = np.nan  # excluded, so that it does not matter
    rows = {"sample_weight": np.arange(1, 41), "batch": np.arange(40) % 2}
    constraints = {"keep": [3], "exclude": [1], "feature_groups": {"g": [4, 5]}, "max_correlation": 0.95}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = make(name, n_features_to_select=5, **constraints).fit(gapped, **rows)
        complete = make(name, n_features_to_select=5, **constraints).fit(X, **rows)
    assert np.array_equal(found.ranking_, complete.ranking_)
    gapped[::7, 2] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = make(name, n_features_to_select=5, **constraints).fit(gapped, **rows)
    assert found.support_[3]
    assert not found.support_[1]
    assert found.support_[4] == found.support_[5]
