"""Greedy steps and exchanges against solving the problem anew for every set of columns."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from tests.reconstruct.oracles import (
    brute_force_error,
    brute_force_left_out,
    fold_errors,
    shrinkage_weight,
    table,
)

from ufselect import DOptimalLeverage, GreedyProjection, PCALeverage, ReconstructionSelector

TALL, WIDE = (25, 9), (9, 14)
GROUPS = np.array([0, 1, 1, 2, 3, 3, 3, 4, 0, 5])


def centred(X):
    A = X - X.mean(axis=0)
    return A, np.square(A).sum(axis=0)


def groups_in_order(selector, codes):
    """Return the selected groups, best first."""
    columns = np.argsort(selector.ranking_)[: np.count_nonzero(selector.support_)]
    return list(dict.fromkeys(codes[columns].tolist()))


def columns_of(groups, codes):
    return [int(column) for group in groups for column in np.flatnonzero(codes == group)]


def gains_of(selector, codes):
    """Return what each group not selected would add, as a share of the variance."""
    scores = selector.scores_[np.unique(codes, return_index=True)[1]]
    outside = np.where(np.isin(np.unique(codes), codes[selector.support_]), 0.0, scores)
    return outside / (1 - outside.sum())


def least(candidates, error):
    """Return the candidates whose error is the least but for rounding."""
    errors = {each: error(each) for each in candidates}
    return [each for each in errors if errors[each] <= min(errors.values()) * (1 + 1e-9) + 1e-9]


@st.composite
def problems(draw):
    """Draw a table, groups of its columns or single ones, and penalties with and without leave-one-out."""
    codes = draw(st.sampled_from([np.arange(9), np.arange(14), GROUPS]))
    X = table(draw(st.integers(0, 50)), draw(st.sampled_from([9, 25])), codes.size)
    squares = centred(X)[1]
    weight = draw(st.sampled_from([0.02, 0.3, 2.0]))
    settings = draw(
        st.sampled_from([{"penalty": weight}, {"penalty": 0, "noise_variance": weight * squares / len(X)}])
    )
    keep = draw(st.lists(st.integers(0, 8), max_size=2, unique=True))
    most = codes.max() + 1 if codes.size == 14 else 5
    rules = {"keep": keep, "max_iter": draw(st.integers(0, 3))}
    if codes is GROUPS:
        rules["feature_groups"] = codes
    count = draw(st.integers(max(1, len(set(codes[keep]))), most))
    return X, codes, weight * squares, ReconstructionSelector(count, **settings, **rules)


@settings(max_examples=80)
@given(problems())
def test_errors_gains_and_ranks_are_those_of_solving_anew(problem):
    X, codes, penalties, selector = problem
    A, squares = centred(X)
    selector.fit(X)
    chosen, total = groups_in_order(selector, codes), squares.sum()

    def error(groups):
        return brute_force_error(A, penalties, columns_of(groups, codes)) / total

    history = selector.objective_history_
    assert history[-1] == pytest.approx(error(chosen), rel=1e-6, abs=1e-8)
    assert np.all(np.diff(history) <= 1e-12)
    assert len(history) == selector.n_iter_ + 1
    falls = [error(chosen) - error({*chosen, group}) for group in range(codes.max() + 1)]
    np.testing.assert_allclose(gains_of(selector, codes), falls, rtol=1e-5, atol=1e-6)
    n_kept = len(set(codes[selector.keep]))
    assert set(chosen[:n_kept]) == set(codes[selector.keep])
    for place in range(len(chosen) if n_kept == 0 else 0):
        rest = chosen[place:]
        assert chosen[place] in least(rest, lambda group, place=place: error([*chosen[:place], group]))


@pytest.mark.parametrize("count", [4, 13])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("shape", [TALL, WIDE])
def test_each_step_takes_the_column_of_least_error(seed, shape, count):
    X = table(seed, *shape)
    A, squares = centred(X)
    count = min(count, shape[1] - 1)
    leaves_out = shape == WIDE
    error, chosen = (brute_force_left_out if leaves_out else brute_force_error), []
    for _ in range(count):
        rest = [j for j in range(shape[1]) if j not in chosen]
        chosen.append(min(rest, key=lambda j: error(A, 0.1 * squares, [*chosen, j])))
    selector = ReconstructionSelector(count, penalty=0.1, max_iter=0).fit(X)
    assert set(selector.get_support(indices=True)) == set(chosen)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("shape", "codes"), [(TALL, None), (WIDE, None), ((40, 10), GROUPS)])
def test_exchanges_go_on_until_none_would_help(seed, shape, codes):
    """No exchange lowers both errors by more than the hundredth at which sweeps end."""
    X = table(seed, *shape)
    A, squares = centred(X)
    selector = ReconstructionSelector(3, penalty=0.1, max_iter=50, feature_groups=codes).fit(X)
    codes = np.arange(shape[1]) if codes is None else codes
    chosen = groups_in_order(selector, codes)
    errors = [brute_force_error] + [brute_force_left_out] * (shape == WIDE)
    before = np.array([error(A, 0.1 * squares, columns_of(chosen, codes)) for error in errors])
    for group in chosen:
        for other in set(range(codes.max() + 1)) - set(chosen):
            columns = columns_of([*(each for each in chosen if each != group), other], codes)
            assert np.any([error(A, 0.1 * squares, columns) for error in errors] > 0.99 * before)


@pytest.mark.parametrize("shape", [(800, 9), (40, 60)])
def test_the_penalty_is_four_times_the_shrinkage_times_the_share_left(shape):
    found = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((shape[0], 5)) @ rng.standard_normal((5, shape[1]))
        X += 0.3 * rng.standard_normal(shape)
        A, squares = centred(X)
        greedy = GreedyProjection(6, target="features").fit(X).get_support(indices=True).tolist()
        error = brute_force_left_out if shape[0] < shape[1] else brute_force_error
        unit = 4 * shrinkage_weight(A)
        penalty = unit / 2
        nothing = brute_force_left_out(A, squares, []) if shape[0] < shape[1] else squares.sum()
        for _ in range(3):
            penalty = unit * min(error(A, penalty * squares, greedy) / nothing, 1)
        selector = ReconstructionSelector(6).fit(X)
        found.append(selector.penalty_)
        assert selector.penalty_ in (0.0, pytest.approx(penalty, rel=1e-3))
    assert max(found) > 0


def test_with_few_rows_columns_are_exchanged_if_they_are_better_on_held_out_rows():
    outcomes = []
    for seed in range(16):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((60, 5)) @ rng.standard_normal((5, 30)) + rng.standard_normal((60, 30))
        A, squares = centred(X)
        found = ReconstructionSelector(6).fit(X)
        greedy = GreedyProjection(6, target="features").fit(X).get_support(indices=True)
        if found.penalty_ == 0:
            np.testing.assert_array_equal(found.get_support(indices=True), greedy)
            left = brute_force_error(A, 0 * squares, greedy.tolist()) / squares.sum()
            assert found.objective_history_ == pytest.approx([left])
        else:
            gains = fold_errors(X, greedy) - fold_errors(X, found.get_support(indices=True))
            assert gains.mean() > gains.std(ddof=1) / np.sqrt(5)
            again = ReconstructionSelector(6, penalty=found.penalty_).fit(X)
            np.testing.assert_array_equal(found.support_, again.support_)
        outcomes.append(found.penalty_ > 0)
    assert 0 < sum(outcomes) < 16


@pytest.mark.parametrize("height", [1.0, 2.6, 3.4, 8.0])
@pytest.mark.parametrize("shape", [(30, 100), (60, 12)])
def test_a_weight_is_so_many_rows(shape, height):
    rng = np.random.default_rng(0)
    X, times = table(1, *shape) + rng.standard_normal(shape), rng.integers(1, 4, shape[0])
    X[:3] *= height  # the greatest of which make tails heavy
    weighted = ReconstructionSelector(4).fit(X, sample_weight=times)
    repeated = ReconstructionSelector(4).fit(np.repeat(X, times, axis=0))
    np.testing.assert_array_equal(weighted.ranking_, repeated.ranking_)
    assert weighted.penalty_ == pytest.approx(repeated.penalty_)
    assert weighted.objective_history_ == pytest.approx(repeated.objective_history_)


def test_many_sparse_columns_of_many_rows_have_nearly_the_gains_of_all():
    rng = np.random.default_rng(0)
    topics = (rng.random((5100, 6)) < 0.02) * rng.random((5100, 6))
    loadings = (rng.random((6, 2010)) < 0.3) * rng.random((6, 2010))
    X = sparse.csr_array(topics) @ sparse.csr_array(loadings)
    X = X + 0.02 * sparse.random_array((5100, 2010), density=0.002, rng=rng)
    thin, dense = (
        ReconstructionSelector(4, penalty=0.1, max_iter=0).fit(kind) for kind in (X.tocsr(), X.toarray())
    )
    A = X.toarray() - X.mean(axis=0)
    penalties = 0.1 * np.square(A).sum(axis=0)
    errors = [
        brute_force_error(A, penalties, found.get_support(indices=True).tolist()) for found in (thin, dense)
    ]
    assert errors[0] < 1.02 * errors[1]


@pytest.mark.parametrize("shape", [TALL, WIDE])
def test_kept_columns_stay_whatever_they_add(shape):
    X = table(3, *shape)
    X[:, 0] = 1e-3 * np.random.default_rng(0).standard_normal(shape[0])  # worth nothing
    X[:, 5] = X[:, 2] - 2 * X[:, 1]  # in the span
    assert ReconstructionSelector(3, penalty=0.05, keep=[0]).fit(X).support_[0]
    assert not ReconstructionSelector(3, penalty=0.05).fit(X).support_[0]
    found = ReconstructionSelector(4, penalty=0, keep=[1, 2, 5]).fit(X)
    A, squares = centred(X)
    assert found.support_[[1, 2, 5]].all()
    error = brute_force_error(A, 0 * squares, found.get_support(indices=True).tolist())
    assert found.objective_history_[-1] == pytest.approx(error / squares.sum())


@pytest.mark.filterwarnings("ignore::ufselect.exceptions.RepeatedColumnsWarning")
@pytest.mark.parametrize("keep", [[1], [5, 9]])
def test_copies_within_and_across_groups_join_without_effect(keep):
    X = table(3, 40, 10)
    X[:, 2], X[:, 5] = X[:, 1], X[:, 9]
    A, squares = centred(X)
    selector = ReconstructionSelector(4, feature_groups=GROUPS, penalty=0, keep=keep, max_iter=5).fit(X)
    assert selector.support_[keep].all()
    assert np.unique(GROUPS[selector.support_]).size == 4
    error = brute_force_error(A, 0 * squares, selector.get_support(indices=True).tolist())
    assert selector.objective_history_[-1] == pytest.approx(error / squares.sum(), abs=1e-9)


def test_a_group_counts_as_a_whole_and_not_by_the_mean_of_its_columns():
    """Two columns that only together explain the rest, beside one that explains some of it."""
    rng = np.random.default_rng(0)
    first, second = rng.standard_normal((2, 200))
    rest = np.outer(first, rng.standard_normal(8)) + np.outer(second, rng.standard_normal(8))
    alone = first + second + 0.3 * rng.standard_normal(200)
    X = np.column_stack([first, second, alone, rest])
    labels = ["pair", "pair", "alone", *[f"rest {j}" for j in range(8)]]
    chosen = ReconstructionSelector(1, feature_groups=labels).fit(X).get_support(indices=True)
    assert chosen.tolist() == [0, 1]


@pytest.mark.parametrize("seed", range(3))
def test_the_groups_found_are_about_as_good_as_the_best(seed):
    """Of all 15 pairs; exchanges of one group may end in a pair that only a double exchange would better."""
    X = table(seed, 40, 10)
    A, squares = centred(X)
    selector = ReconstructionSelector(2, feature_groups=GROUPS, penalty=0.05, max_iter=9).fit(X)
    errors = sorted(
        brute_force_error(A, 0.05 * squares, columns_of(pair, GROUPS)) for pair in combinations(range(6), 2)
    )
    assert selector.objective_history_[-1] * squares.sum() <= errors[1] * (1 + 1e-9)


def test_without_penalty_more_columns_than_rows_give_finite_errors():
    X = np.random.default_rng(0).standard_normal((12, 60))
    with np.errstate(all="raise"):
        selector = ReconstructionSelector(20, penalty=0).fit(X)
    assert selector.support_.sum() == 20
    assert 0 <= selector.objective_history_[-1] < 1e-6


@pytest.mark.parametrize("seed", [8, 14, 22, 28])
def test_exchanges_weigh_prices_too(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((60, 6)) @ rng.standard_normal((6, 16)) + 0.5 * rng.standard_normal((60, 16))
    A, squares = centred(X)
    prices = rng.uniform(0, 1, 16)

    def value(columns):
        return brute_force_error(A, 0.1 * squares, columns) / squares.sum() + 0.05 * prices[columns].sum()

    greedy, found = (
        ReconstructionSelector(6, penalty=0.1, max_iter=count, costs=prices, cost_weight=0.05).fit(X)
        for count in (0, 50)
    )
    before, after = (selector.get_support(indices=True).tolist() for selector in (greedy, found))
    assert before != after
    assert value(after) < value(before)
    for column in after:
        for other in set(range(16)) - set(after):
            assert value([*(each for each in after if each != column), other]) > 0.99 * value(after)


# GreedyProjection and DOptimalLeverage


def explained(A, chosen, target):
    """Squared norm of the target's projection onto the chosen columns, by least squares."""
    fit = A[:, chosen] @ np.linalg.lstsq(A[:, chosen], target, rcond=None)[0]
    return float(np.square(fit).sum())


def greedy_by_brute_force(value, first, count, codes):
    """Add the group after which the value of all is largest; return groups, and gains of each at the end."""
    chosen = list(first)
    while len(chosen) < count:
        rest = [group for group in range(codes.max() + 1) if group not in chosen]
        chosen.append(max(rest, key=lambda group: value(columns_of([*chosen, group], codes))))
    last = [
        value(columns_of([*chosen, group], codes)) - value(columns_of(chosen, codes))
        for group in range(codes.max() + 1)
    ]
    return chosen, np.array(last)


GREEDY = given(
    seed=st.integers(0, 10**6),
    groups=st.sampled_from([(np.arange(10), []), (GROUPS, []), (GROUPS, [3]), (GROUPS, [0, 4])]),
    is_other=st.booleans(),
)


@settings(max_examples=40)
@GREEDY
def test_projection_equals_brute_force(seed, groups, is_other):
    codes, first = groups
    rng = np.random.default_rng(seed)
    A = centred(rng.standard_normal((8 if codes is not GROUPS else 40, 10)) * rng.uniform(0.7, 1.4, 10))[0]
    target = np.linalg.svd(A)[0][:, :3] if is_other else A
    selector = GreedyProjection(
        4, target="scores" if is_other else "features", n_components=3 if is_other else "auto",
        feature_groups=codes, keep=columns_of(first, codes),
    ).fit(A)  # fmt: skip
    expected, last = greedy_by_brute_force(lambda columns: explained(A, columns, target), first, 4, codes)
    found = groups_in_order(selector, codes)
    assert sorted(found) == sorted(expected)
    if not first:
        assert found == expected
        gains = gains_of(selector, codes)
        np.testing.assert_allclose(gains / gains.sum(), last / last.sum(), atol=1e-7)


@settings(max_examples=40)
@GREEDY
def test_d_optimal_leverage_equals_brute_force(seed, groups, is_other):
    codes, first = groups
    rng = np.random.default_rng(seed)
    rows, X = rng.standard_normal((10, 3)), rng.standard_normal((12, 10))
    leverages = np.sort(np.bincount(codes, weights=np.square(rows).sum(axis=1)))[::-1]
    ridge = (0.02 if is_other else 2.0) * leverages[:4].mean()

    def value(columns):
        return np.linalg.slogdet(ridge * np.eye(3) + rows[columns].T @ rows[columns])[1]

    selector = DOptimalLeverage(
        4, basis=rows, ridge=0.02 if is_other else 2.0, feature_groups=codes, keep=columns_of(first, codes)
    ).fit(X)
    expected, last = greedy_by_brute_force(value, first, 4, codes)
    found = groups_in_order(selector, codes)
    assert sorted(found) == sorted(expected)
    scores = selector.scores_[np.unique(codes, return_index=True)[1]]
    for place, group in enumerate(expected):
        before, after = (value(columns_of(expected[: place + more], codes)) for more in (0, 1))
        assert scores[group] == pytest.approx(after - before, abs=1e-9)
    rest = np.setdiff1d(np.arange(codes.max() + 1), expected)
    np.testing.assert_allclose(scores[rest], last[rest], atol=1e-9)


@pytest.mark.filterwarnings("ignore::ufselect.exceptions.RepeatedColumnsWarning")
def test_near_copies_are_selected_once_but_by_leverage_alone():
    rng = np.random.default_rng(3)
    sources = rng.standard_normal((300, 2))
    # Two near copies of the first source against eight of the second: loadings of a small group are larger.
    X = np.hstack([sources[:, [0, 0]], 0.6 * sources[:, [1] * 8]]) + 0.01 * rng.standard_normal((300, 10))
    assert PCALeverage(2, n_components=2).fit(X).get_support(indices=True).tolist() == [0, 1]
    for selector in (
        DOptimalLeverage(2, n_components=2, ridge=0.1),
        GreedyProjection(2, n_components=2),
        GreedyProjection(2, target="features"),
    ):
        assert (selector.fit(X).get_support(indices=True) < 2).tolist() == [True, False]


@given(seed=st.integers(0, 10**6))
def test_large_ridge_gives_leverage(seed):
    X = np.random.default_rng(seed).standard_normal((40, 15)) * np.linspace(1, 2, 15)
    plain = PCALeverage(5, n_components=3).fit(X)
    spread = DOptimalLeverage(5, n_components=3, ridge=1e9).fit(X)
    assert np.array_equal(plain.support_, spread.support_)


@pytest.mark.parametrize("ridge", [0, -1.0, "big", np.inf])
def test_bad_parameters_are_named(ridge):
    with pytest.raises(ValueError, match="ridge"):
        DOptimalLeverage(2, ridge=ridge).fit(table(0, *TALL))
    with pytest.raises(ValueError, match="target"):
        GreedyProjection(2, target="labels").fit(table(0, *TALL))


@pytest.mark.parametrize("target", ["scores", "features"])
def test_more_features_than_rank_start_a_second_round(target):
    X = np.random.default_rng(0).standard_normal((6, 20))
    A = X - X.mean(axis=0)
    explained = np.linalg.svd(A)[0][:, :2] if target == "scores" else A
    n_components = 2 if target == "scores" else "auto"
    order = np.argsort(GreedyProjection(9, target=target, n_components=n_components).fit(X).ranking_)
    assert np.linalg.matrix_rank(A[:, order[:5]]) == 5
    rest = np.setdiff1d(np.arange(20), order[:5])
    share = np.square(explained.T @ A[:, rest]).sum(axis=0) / np.square(A[:, rest]).sum(axis=0)
    assert order[5] == rest[np.argmax(share)]
